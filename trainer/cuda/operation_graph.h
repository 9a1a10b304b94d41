// A graph of cuDNN's operations while it is put together: tensors, and operations between them in
// the order in which they compute.
//
// Ownership: owns all descriptors, which stay as long as it; borrows the Cudnn. Threads: as
// Cudnn's. Errors: the first stays, and is Finish's; what comes after it does nothing.
//
//   OperationGraph graph(cudnn, /*alignment=*/16, /*first_virtual=*/100);
//   const auto a = graph.InMemory(1, kCudnnBFloat16, shape), b = …;
//   graph.Matmul(a, b, graph.Virtual(kCudnnFloat, shape));
//   ASSIGN_OR_RETURN(const CudnnDescriptor* const whole, graph.Finish());

#ifndef TRAINER_CUDA_OPERATION_GRAPH_H_
#define TRAINER_CUDA_OPERATION_GRAPH_H_

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn.h"

namespace taas::cuda {

class OperationGraph {
 public:
  // A tensor of this graph.
  struct Tensor {
    const CudnnDescriptor* descriptor = nullptr;
    int64_t id = 0;
  };
  // Tensors outside of the graph lie at multiples of `alignment` bytes; those that stay in it have
  // ids from `first_virtual` on.
  OperationGraph(const Cudnn& cudnn, int64_t alignment, int64_t first_virtual)
      : cudnn_(cudnn), alignment_(alignment), next_virtual_(first_virtual) {}
  OperationGraph(const OperationGraph&) = delete;
  OperationGraph& operator=(const OperationGraph&) = delete;

  // In memory: read, or written. `type` is a cudnnDataType_t.
  Tensor InMemory(int64_t id, int type, const CudnnTensorShape& shape);
  // Between operations.
  Tensor Virtual(int type, const CudnnTensorShape& shape);
  // A float, to which the host points at each launch.
  Tensor Scalar(int64_t id);

  // c = a b.
  void Matmul(const Tensor& a, const Tensor& b, const Tensor& c);
  // y = mode(x), or of x and b; `mode` is a cudnnPointwiseMode_t.
  void Pointwise(int mode, const Tensor& x, const Tensor& y);
  void Pointwise(int mode, const Tensor& x, const Tensor& b, const Tensor& y);
  // Over the axes in which y has one element.
  void Sum(const Tensor& x, const Tensor& y);
  // y is what lies in x, read by y's dimensions and strides.
  void Reshape(const Tensor& x, const Tensor& y);
  // y is x where the row is at least the column, else `fill`.
  void CausalMask(const Tensor& x, const Tensor& fill, const Tensor& y);
  // o = softmax(scores of q kᵀ scale) v of [n, heads, steps, head], and the statistics: of each
  // row log Σ exp. `mask`, null or a graph of its own from `masked_from` to `masked_to`, is between
  // scale and softmax.
  struct Attention {
    Tensor q, k, v, o, scale, statistics;
    CudnnTensorShape scores;
    const CudnnDescriptor* mask = nullptr;
    Tensor masked_from, masked_to;
  };
  void Attend(const Attention& of);

  // The graph of all operations.
  absl::StatusOr<const CudnnDescriptor*> Finish();

 private:
  const CudnnDescriptor* Make(CudnnType type,
                              absl::FunctionRef<absl::Status(CudnnDescriptor&)> set);
  Tensor Made(int64_t id, int type, const CudnnTensorShape& shape, bool is_virtual,
              bool by_value);
  void Pointwise(int mode, const Tensor& x, const Tensor* b, const Tensor& y);

  const Cudnn& cudnn_;
  const int64_t alignment_;
  int64_t next_virtual_;
  absl::Status status_;
  std::deque<CudnnDescriptor> parts_;  // Others have their addresses.
  std::vector<const CudnnDescriptor*> operations_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_OPERATION_GRAPH_H_
