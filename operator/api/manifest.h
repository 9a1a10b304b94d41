// YAML manifests as JSON texts, read as kubectl reads them.
//
// Several documents in one text, JSON as a special case of YAML, anchors and merge keys, `kind:
// List` taken apart. Plain scalars become null, booleans (yes, no, on and off among them),
// integers, floats; quoted ones stay strings.
//
// Ownership: values. Threads: any. Errors: InvalidArgument with line and column: not YAML, a key
// twice in one mapping, a key that is not a string, or larger than the limits below.
//
//   ASSIGN_OR_RETURN(const std::vector<std::string> objects, ManifestDocuments(text));

#ifndef OPERATOR_API_MANIFEST_H_
#define OPERATOR_API_MANIFEST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

// An API server takes at most 3 MiB in one request.
inline constexpr size_t kMaxManifestBytes = 3 << 20;
// Anchors can make a small text a huge document; no manifest of ours comes near this many values.
inline constexpr size_t kMaxManifestValues = 1'000'000;
// What is in a text, and what its aliases repeat, as JSON: five times the largest text. Few values
// can be large ones, and all of it is made before anybody looks at it.
inline constexpr size_t kMaxManifestExpandedBytes = 16 << 20;
// Brackets, braces and commas: the parser keeps 240 bytes for each until the outermost ends, and
// there are a few ten thousand in the largest JSON that an API server stores.
inline constexpr size_t kMaxManifestMarks = 200'000;
// Deeper documents are refused before a recursive reader runs out of stack.
inline constexpr size_t kMaxManifestDepth = 100;

// One compact JSON text for each document; empty documents are left out.
absl::StatusOr<std::vector<std::string>> ManifestDocuments(std::string_view yaml);

// The way back, for `-o yaml`: block style, keys sorted, strings quoted where they would read as
// something else.
absl::StatusOr<std::string> JsonToYaml(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_MANIFEST_H_
