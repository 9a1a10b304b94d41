// The cases of testdata/manifests.yaml: objects, and what a server says to each.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the case that is not understood.
//
//   ASSIGN_OR_RETURN(const std::vector<ManifestCase> cases, ParseManifestCases(text));

#ifndef OPERATOR_API_MANIFEST_CASES_H_
#define OPERATOR_API_MANIFEST_CASES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

enum class Verdict { kAccepted, kUndecodable, kInvalid };
std::string_view VerdictName(Verdict verdict);

struct ManifestCase {
  std::string name;
  Verdict verdict = Verdict::kAccepted;
  std::string field;   // Named by the answer.
  std::string server;  // What a server's answer has in its place; most often the same.
  std::string object;  // JSON text.
  std::string before;  // What `object` replaces; empty: it is created.
};

absl::StatusOr<std::vector<ManifestCase>> ParseManifestCases(std::string_view yaml);

}  // namespace taas

#endif  // OPERATOR_API_MANIFEST_CASES_H_
