// "Did you mean": the name that somebody who mistyped one has probably meant.
//
// Ownership: values. Threads: any. Errors: std::nullopt where no name is near.
//
//   ClosestName("nodeSelecter", {"nodeName", "nodeSelector"});  // "nodeSelector"

#ifndef OPERATOR_BASE_CLOSEST_NAME_H_
#define OPERATOR_BASE_CLOSEST_NAME_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

// The candidate with the fewest letters left out, added, changed or swapped, whatever their case,
// the first of several; else the only one that begins with `name`.
std::optional<std::string> ClosestName(std::string_view name,
                                       const std::vector<std::string>& candidates);

// `did you mean "nodeSelector"?`; empty where no name is near.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace taas

#endif  // OPERATOR_BASE_CLOSEST_NAME_H_
