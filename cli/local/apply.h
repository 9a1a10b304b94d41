// A manifest file, applied to the local cluster in the same process.
//
// Ownership: values. Threads: any. Errors: InvalidArgument with file and cause: not YAML, a kind
// that the local cluster does not serve, what the API server refuses.
//
//   ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(text, "mnist.yaml"));
//   RETURN_IF_ERROR(ApplyManifest(&manifest, calls));

#ifndef CLI_LOCAL_APPLY_H_
#define CLI_LOCAL_APPLY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/node/api_calls.h"
#include "operator/api/job.h"

namespace taas {

struct ManifestObject {
  std::string json;
  std::string kind;
  std::string ns;  // Empty for objects of the cluster.
  std::string name;
  std::string path;  // Of its collection.
  std::optional<JobKind> job;  // It is a job of this kind.
};

struct Manifest {
  std::string file;
  std::vector<ManifestObject> objects;
};

// `file` is for messages.
absl::StatusOr<Manifest> ReadManifest(const std::string& text, const std::string& file);

// What --volume binds and nothing in the manifest names: a sentence each, with the names that are
// there. `bindings`: as of LocalCluster::Options.
std::vector<std::string> UnusedVolumes(const Manifest& manifest,
                                       const std::map<std::string, std::string>& bindings);

// Makes the namespaces that the manifest's objects need, then the objects, strictly validated. An
// object with a `generateName` alone gets the name that the server chose.
absl::Status ApplyManifest(Manifest* manifest, localkube::ApiCalls& calls);

}  // namespace taas

#endif  // CLI_LOCAL_APPLY_H_
