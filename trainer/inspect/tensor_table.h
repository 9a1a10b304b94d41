// What is known of the tensors of a file, and how it is shown: a table for people, JSON for
// programs.
//
// Ownership: values. Threads: any. Errors: those of the reader, naming file and tensor.
//
//   ASSIGN_OR_RETURN(const std::vector<TensorFacts> facts,
//                    FactsOfCheckpoint(reader, /*with_values=*/true));
//   std::fputs(TableOf(facts).c_str(), stdout);

#ifndef TRAINER_INSPECT_TENSOR_TABLE_H_
#define TRAINER_INSPECT_TENSOR_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/tensor.h"
#include "trainer/formats/safetensors.h"

namespace taas {

// Of the elements that are finite numbers.
struct ValueFacts {
  double min = 0;
  double mean = 0;
  double max = 0;
  int64_t finite = 0;
  int64_t others = 0;  // NaN and infinities.
};

struct TensorFacts {
  std::string name;
  std::string dtype;  // "float32", or as the file calls it.
  std::vector<int64_t> shape;
  int64_t bytes = 0;  // In the file.
  std::string remark;  // "partitioned"; the first strings.
  std::optional<ValueFacts> values;
};

// Nothing of a tensor of strings.
std::optional<ValueFacts> MeasureValues(const TensorValue& tensor);

// With values every tensor is read, and the checksums of a checkpoint are checked.
absl::StatusOr<std::vector<TensorFacts>> FactsOfCheckpoint(const BundleReader& reader,
                                                           bool with_values);
absl::StatusOr<std::vector<TensorFacts>> FactsOfSafetensors(const SafetensorsReader& reader,
                                                            bool with_values);

// Lines, each with its end and two spaces before it. Rows of cells as wide as their column needs.
std::string TableOf(const std::vector<std::vector<std::string>>& rows);
std::string TableOf(const std::vector<TensorFacts>& facts);
nlohmann::json JsonOf(const std::vector<TensorFacts>& facts);

}  // namespace taas

#endif  // TRAINER_INSPECT_TENSOR_TABLE_H_
