// What a caller changes: one request to the API server each, with the caller's own token.
//
// Pure: a call becomes a request, and nobody but the API server decides whether it is allowed.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what is no such change, with what to
// write instead.
//
//   ASSIGN_OR_RETURN(HttpRequest request, CreateRequest(body, "team-a", /*dry_run=*/true));

#ifndef DASHBOARD_SERVER_JOB_WRITES_H_
#define DASHBOARD_SERVER_JOB_WRITES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

// The namespaces in which a manifest may want its job, found without reading it as YAML: `ns`, or
// "default", and what stands behind each "namespace:", a few of them. Whether a caller may make
// jobs there is asked before her text is worked on.
std::vector<std::string> NamespacesNamed(std::string_view manifest, const std::string& ns);

// Of a manifest in YAML or JSON with one document. `ns` is for one that names none.
absl::StatusOr<HttpRequest> CreateRequest(std::string_view manifest, const std::string& ns,
                                          bool dry_run);
// `change`: a JobChange of dashboard/web.
absl::StatusOr<HttpRequest> ChangeRequest(const WatchedJob& job, std::string_view change);
HttpRequest DeleteRequest(const WatchedJob& job);

// Texts of a Warning header: 299 - "TEXT", 299 - "TEXT".
std::vector<std::string> WarningsOf(std::string_view header);
// A stored object as people want it: without managedFields.
std::string WithoutManagedFields(std::string_view json);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_JOB_WRITES_H_
