// What the dashboard keeps of jobs, pods, nodes and events: what is shown in lists, and no more.
//
// Reading is lenient, since a page has to show what is there: of an object that is not as its
// schema says, what can be read is shown, and a sentence says what cannot.
//
// Ownership: values. Threads: any. Errors: InvalidArgument only for a text that is no object with a
// name.
//
//   ASSIGN_OR_RETURN(const WatchedJob job, ReadJob(JobKind::kTfJob, json));

#ifndef DASHBOARD_SERVER_WATCHED_H_
#define DASHBOARD_SERVER_WATCHED_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"
#include "operator/api/pod.h"

namespace taas::dashboard {

// Label or annotation of a job: who runs it, for people. Kubernetes itself does not say who made an
// object.
inline constexpr std::string_view kOwnerKey = "taas.dev/owner";
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";
// More labels of a job than this are not shown in lists.
inline constexpr size_t kLabelsShownMax = 20;

struct WatchedRole {
  Role role = Role::kWorker;
  std::string name;  // "chief", "master", "ps", …
  std::string key;   // As the manifest has it: "worker", "Worker", …
  int32_t desired = 1;
  int32_t gpus = 0;  // Of each replica.
  std::optional<ElasticSpec> elastic;
};

// A directory in a volume of a job.
struct VolumePath {
  std::string claim;      // One of these two.
  std::string host_path;
  std::string below;      // "logs/run1"; empty: the volume itself.
};

struct WatchedJob {
  ObjectMeta meta;
  JobKind kind = JobKind::kTrainingJob;
  std::vector<WatchedRole> roles;  // In the order of `Role`.
  bool suspend = false;
  std::string owner;
  std::string queue;
  std::map<std::string, std::string> labels;
  std::optional<int32_t> ttl_seconds;
  std::optional<VolumePath> summaries;  // Of the bundled trainer's event files.
  std::string checkpoint_dir;  // In its pods; empty: it keeps no checkpoints that we know of.
  std::optional<VolumePath> checkpoints;  // The same directory, if a volume holds it.
  // Where the bundled trainer writes the model at its end, if a volume holds it; a SavedModel, or
  // else safetensors.
  std::optional<VolumePath> exported;
  bool exported_saved_model = false;
  bool of_text = false;  // The bundled trainer reads text, so that its evaluation has a perplexity.
  JobStatus status;
  std::string flaw;  // What could not be read; empty: nothing.

  std::string key() const;  // "trainingjobs/NS/NAME"
  // Of the last evaluation, e to the loss as in docs/contract.md: status has the loss alone.
  std::optional<double> perplexity() const;
  bool ended() const {
    return status.state == JobState::kSucceeded || status.state == JobState::kFailed;
  }
};
std::string JobKey(JobKind kind, std::string_view ns, std::string_view name);

struct WatchedPod : Pod {
  std::vector<std::string> containers;  // Their names; of pods of jobs only.
  int32_t status_port = 0;  // Where /status and /series are; 0: nobody says.
  int32_t gpus = 0;
  std::vector<std::string> devices;    // Ids, where the cluster says which.
  std::vector<std::string> unhealthy;  // Of those.
};

struct WatchedNode {
  ObjectMeta meta;
  bool ready = false;
  bool schedulable = true;
  std::string product;
  std::optional<int64_t> memory_mib;  // Of each GPU.
  int32_t capacity = 0;               // GPUs.
  int32_t allocatable = 0;
};

struct WatchedEvent {
  ObjectMeta meta;
  bool warning = false;
  std::string about_kind, about_name, about_uid;
  std::string reason, message;
  int32_t count = 1;
  Clock::WallTime at{};
};

absl::StatusOr<WatchedJob> ReadJob(JobKind kind, std::string_view json);
// `gpu_resource`: "nvidia.com/gpu".
absl::StatusOr<WatchedPod> ReadPod(std::string_view json, const std::string& gpu_resource);
absl::StatusOr<WatchedNode> ReadNode(std::string_view json, const std::string& gpu_resource);
absl::StatusOr<WatchedEvent> ReadEvent(std::string_view json);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_WATCHED_H_
