// The numbers of a TensorProto, as TensorBoard's make_ndarray gives them: from its bytes, or from
// the list of its type, of which a single entry stands for all.
//
// Ownership: value type. Threads: any. Errors: nothing for what is no message, no tensor of
// numbers, of a shape that its numbers do not fill, or of more than `most` numbers.
//
//   const std::optional<Tensor> tensor = ParseTensor(bytes, 1);
//   if (tensor) Plot(tensor->values[0]);

#ifndef DASHBOARD_EVENTS_TENSOR_H_
#define DASHBOARD_EVENTS_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace taas::dashboard {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;  // The last dimension runs fastest.
};

std::optional<Tensor> ParseTensor(std::string_view message, size_t most);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_TENSOR_H_
