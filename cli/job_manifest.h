// Manifest files as jobs: where they come from, what is wrong with them.
//
// Ownership: values. Threads: any. Errors: ReadManifests: NotFound and so on with the path,
// InvalidArgument with line and column of a text that is not YAML.
//
//   ASSIGN_OR_RETURN(const std::vector<ManifestText> manifests, ReadManifests({"jobs/", "-"}));
//   for (const FieldError& error : CheckJob(*kind, document)) Print(FormatFieldError(error));

#ifndef CLI_JOB_MANIFEST_H_
#define CLI_JOB_MANIFEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/field_error.h"
#include "operator/api/job.h"

namespace taas {

// "-" stays; a directory becomes the .yaml, .yml and .json files in it, by name.
absl::StatusOr<std::vector<std::string>> ManifestFiles(const std::vector<std::string>& paths);

// Of one JSON document. Nothing: it is of a kind that is not ours.
struct ManifestKind {
  std::string api_version;
  std::string kind;
  std::optional<JobKind> job;
};
ManifestKind KindOf(std::string_view document);

// What an API server would say, and for the bundled trainer what that would say.
std::vector<FieldError> CheckJob(JobKind kind, std::string_view document);

}  // namespace taas

#endif  // CLI_JOB_MANIFEST_H_
