// How deeply a JSON text is nested, before anything is made of it: what copies, compares and writes
// values does so by recursion, and a text of a megabyte can have a million levels.
//
// Ownership: none. Threads: any. Errors: none; of a text that is no JSON the answer means nothing.
//
//   if (IsNestedDeeper(text, kJsonDepthMax)) return absl::InvalidArgumentError(…);

#ifndef OPERATOR_API_JSON_DEPTH_H_
#define OPERATOR_API_JSON_DEPTH_H_

#include <string_view>

namespace taas {

// Of an object that we read: ten times what ours have. An API server keeps 10,000 levels in a field
// whose members it does not know.
inline constexpr int kJsonDepthMax = 100;

bool IsNestedDeeper(std::string_view text, int levels);

}  // namespace taas

#endif  // OPERATOR_API_JSON_DEPTH_H_
