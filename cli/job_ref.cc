#include "cli/job_ref.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "operator/api/dialect.h"
#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

// Of more jobs no name is proposed for one that there is not.
constexpr size_t kNamesMax = 500;

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// A job that there is not: which was probably meant.
absl::Status WithNearName(ApiClient& api, const std::string& ns, const JobRef& ref,
                          const absl::Status& error) {
  if (!absl::IsNotFound(error)) return error;
  std::vector<JobKind> kinds(std::begin(kJobKinds), std::end(kJobKinds));
  if (ref.kind.has_value()) kinds = {*ref.kind};
  std::vector<std::string> names;
  // Who may not list them is told of none.
  (void)ListJobs(api, ns, kinds, "", [&](JobKind kind, std::string_view json) -> absl::Status {
    if (names.size() == kNamesMax) return absl::CancelledError("enough");
    ASSIGN_OR_RETURN(SeenJob job, ReadSeenJob(kind, json));
    names.push_back(std::move(job.meta.name));
    return absl::OkStatus();
  });
  const std::string near = DidYouMean(ref.name, names);
  if (near.empty()) return error;
  return absl::NotFoundError(std::string(error.message()) + "; " + near);
}

absl::StatusOr<FoundJob> FindEither(ApiClient& api, const std::string& ns, const JobRef& ref) {
  absl::StatusOr<FoundJob> ours = GetJob(api, JobKind::kTrainingJob, ns, ref.name);
  if (!ours.ok() && !absl::IsNotFound(ours.status())) return ours;
  absl::StatusOr<FoundJob> tf = GetJob(api, JobKind::kTfJob, ns, ref.name);
  if (ours.ok() && tf.ok()) {
    return absl::InvalidArgumentError("there is a TrainingJob and a TFJob named " + ns + "/" +
                                      ref.name + ": write tj/" + ref.name + " or tfjob/" +
                                      ref.name);
  }
  // Who may not read TFJobs, or has none, still has the TrainingJob.
  if (ours.ok() || absl::IsNotFound(tf.status())) return ours;
  return tf;
}

}  // namespace

std::optional<JobKind> JobKindFromName(std::string_view name) {
  const std::string wanted = Lower(name);
  for (const JobKind kind : kJobKinds) {
    const Dialect& dialect = DialectOf(kind);
    const std::string one = Lower(dialect.kind_name);
    const std::string many(dialect.plural);
    const std::string group = "." + std::string(dialect.group());
    if (wanted == one || wanted == many || wanted == one + group || wanted == many + group) {
      return kind;
    }
  }
  if (wanted == "tj") return JobKind::kTrainingJob;
  return std::nullopt;
}

absl::StatusOr<JobRef> ParseJobRef(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return JobRef{std::nullopt, std::string(text)};
  JobRef ref{.kind = JobKindFromName(text.substr(0, slash)),
             .name = std::string(text.substr(slash + 1))};
  if (!ref.kind.has_value() || ref.name.empty()) {
    return absl::InvalidArgumentError("\"" + std::string(text) +
                                      "\" names no job: write NAME, tj/NAME or tfjob/NAME");
  }
  return ref;
}

std::string QualifiedName(JobKind kind, std::string_view name) {
  const Dialect& dialect = DialectOf(kind);
  return Lower(dialect.kind_name) + "." + std::string(dialect.group()) + "/" + std::string(name);
}

std::string JobsPath(JobKind kind, std::string_view ns) {
  const Dialect& dialect = DialectOf(kind);
  std::string path = "/apis/" + std::string(dialect.group_version);
  if (!ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  return path + "/" + std::string(dialect.plural);
}

std::string JobPath(JobKind kind, std::string_view ns, std::string_view name) {
  return JobsPath(kind, ns) + "/" + PercentEncode(name);
}

bool IsRefused(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status);
}

absl::StatusOr<FoundJob> GetJob(ApiClient& api, JobKind kind, const std::string& ns,
                                const std::string& name) {
  FoundJob found;
  ASSIGN_OR_RETURN(found.json, api.Get(JobPath(kind, ns, name), "get job " + ns + "/" + name));
  ASSIGN_OR_RETURN(found.job, ReadSeenJob(kind, found.json));
  return found;
}

absl::StatusOr<FoundJob> FindJob(ApiClient& api, const std::string& ns, std::string_view text) {
  ASSIGN_OR_RETURN(const JobRef ref, ParseJobRef(text));
  absl::StatusOr<FoundJob> found = ref.kind.has_value() ? GetJob(api, *ref.kind, ns, ref.name)
                                                        : FindEither(api, ns, ref);
  if (!found.ok()) return WithNearName(api, ns, ref, found.status());
  return found;
}

absl::Status ListJobs(ApiClient& api, const std::string& ns, const std::vector<JobKind>& kinds,
                      const std::string& label_selector,
                      const std::function<absl::Status(JobKind, std::string_view json)>& on_job) {
  absl::Status missing;
  size_t served = 0;
  for (const JobKind kind : kinds) {
    const std::string plural(DialectOf(kind).plural);
    const absl::Status listed =
        api.List(JobsPath(kind, ns), label_selector, "list " + plural,
                 [&](std::string_view json) { return on_job(kind, json); });
    if (absl::IsNotFound(listed)) {
      missing = listed;
    } else {
      RETURN_IF_ERROR(listed);
      ++served;
    }
  }
  if (served > 0 || kinds.empty()) return absl::OkStatus();
  return Annotate(missing, "this cluster serves no such jobs (`taas doctor` says what is missing)");
}

absl::StatusOr<std::vector<JobPod>> PodsOf(ApiClient& api, const Job& job) {
  std::vector<JobPod> pods;
  RETURN_IF_ERROR(api.List(
      CollectionPath(Resource::kPods, job.meta.ns), LabelEquals(kJobLabel, job.meta.name),
      "list pods of job " + job.meta.ns + "/" + job.meta.name,
      [&](std::string_view json) -> absl::Status {
        ASSIGN_OR_RETURN(Pod pod, DecodePod(json));
        if (pod.role.has_value() && (pod.owner_uid.empty() || pod.owner_uid == job.meta.uid)) {
          pods.push_back({std::move(pod), std::string(json)});
        }
        return absl::OkStatus();
      }));
  std::sort(pods.begin(), pods.end(), [](const JobPod& a, const JobPod& b) {
    return std::tie(a.pod.role, a.pod.index, a.pod.meta.name) <
           std::tie(b.pod.role, b.pod.index, b.pod.meta.name);
  });
  return pods;
}

}  // namespace taas
