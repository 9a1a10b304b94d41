// JSON that a person wrote: a mistake in it is told with its line and column.
//
// Ownership: values. Threads: any. Errors: InvalidArgument, "TF_CONFIG: not JSON: line 1, column
// 34: …", also for what nests deeper than kJsonDepthMax.
//
//   ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonText(text, "TF_CONFIG"));

#ifndef TRAINER_CONFIG_JSON_TEXT_H_
#define TRAINER_CONFIG_JSON_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace taas {

// What is written again as JSON is written by a function that calls itself; nothing that is read
// here has a tenth of it.
inline constexpr int kJsonDepthMax = 100;

// `source` is what the message calls it.
absl::StatusOr<nlohmann::json> ParseJsonText(std::string_view text, const std::string& source);

}  // namespace taas

#endif  // TRAINER_CONFIG_JSON_TEXT_H_
