// Which job a user means: of either kind, by name alone where that is enough.
//
// Ownership: the client outlives the calls. Threads: one. Errors: NotFound where no such job
// exists, with the name that was probably meant; InvalidArgument for a kind that is not ours and
// for a name that both kinds have. A job with a field that cannot be read is found all the same
// (seen_job.h).
//
//   ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, "team", "tfjob/mnist"));
//   io.out << QualifiedName(found.job.kind, found.job.meta.name);

#ifndef CLI_JOB_REF_H_
#define CLI_JOB_REF_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/api_client.h"
#include "cli/seen_job.h"
#include "operator/api/job.h"
#include "operator/api/pod.h"

namespace taas {

inline constexpr JobKind kJobKinds[] = {JobKind::kTrainingJob, JobKind::kTfJob};

// "trainingjob", "trainingjobs", "tj", "trainingjobs.taas.dev", "TrainingJob"; "tfjob" and so on.
std::optional<JobKind> JobKindFromName(std::string_view name);

struct JobRef {
  std::optional<JobKind> kind;  // Nothing: whichever there is.
  std::string name;
};
// "mnist" or "KIND/mnist".
absl::StatusOr<JobRef> ParseJobRef(std::string_view text);

// "trainingjob.taas.dev/mnist", as kubectl's -o name.
std::string QualifiedName(JobKind kind, std::string_view name);

// Of all jobs of a kind in `ns` (empty: in all namespaces), and of one.
std::string JobsPath(JobKind kind, std::string_view ns);
std::string JobPath(JobKind kind, std::string_view ns, std::string_view name);

// The server does not let this user do it: asking again is of no use.
bool IsRefused(const absl::Status& status);

struct FoundJob {
  SeenJob job;
  std::string json;  // As the server has it.
};
absl::StatusOr<FoundJob> FindJob(ApiClient& api, const std::string& ns, std::string_view ref);
// Of one whose kind and name are known; of one that there is not nothing else is proposed.
absl::StatusOr<FoundJob> GetJob(ApiClient& api, JobKind kind, const std::string& ns,
                                const std::string& name);

// Every job of `kinds`. A kind that the cluster does not serve has none; if it serves none of them
// the error says how to install them.
absl::Status ListJobs(ApiClient& api, const std::string& ns, const std::vector<JobKind>& kinds,
                      const std::string& label_selector,
                      const std::function<absl::Status(JobKind, std::string_view json)>& on_job);

// The pods of one job and of no earlier one of its name, by role and index.
struct JobPod {
  Pod pod;
  std::string json;
};
absl::StatusOr<std::vector<JobPod>> PodsOf(ApiClient& api, const Job& job);

}  // namespace taas

#endif  // CLI_JOB_REF_H_
