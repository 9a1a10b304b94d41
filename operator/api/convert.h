// A TFJob's manifest as that of the TrainingJob which does the same, for `taas convert`.
//
// The templates stay whole, since they bring the image: the container `tensorflow` becomes
// `trainer`, its port `tfjob-port` becomes spec.network.port. Policies are mapped where TrainingJob
// has them; where it has not, or where the meaning differs, a warning says so in a sentence.
//
// Ownership: values. Threads: any. Errors: InvalidArgument with all that ValidateAll says of the
// TFJob; what is wrong with a template alone is among the warnings.
//
//   ASSIGN_OR_RETURN(const Conversion converted, ConvertTfJob(text));
//   for (const std::string& warning : converted.warnings) Warn(warning);

#ifndef OPERATOR_API_CONVERT_H_
#define OPERATOR_API_CONVERT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct Conversion {
  std::string manifest;               // JSON of a TrainingJob that Validate accepts.
  std::vector<std::string> warnings;  // One sentence each.
};

absl::StatusOr<Conversion> ConvertTfJob(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_CONVERT_H_
