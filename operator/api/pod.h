// A pod, as far as the operator looks at one: at most 1 KB, whatever the pod carries.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   if (pod.phase == PodPhase::kFailed) Classify(pod.exit_code, pod.exit_reason);

#ifndef OPERATOR_API_POD_H_
#define OPERATOR_API_POD_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/job.h"
#include "operator/base/rare_text.h"

namespace taas {

// The condition of a pod, False where a container's command runs without its image; its message
// says so. The nodes of the local cluster set it.
inline constexpr std::string_view kImagePulledCondition = "taas.dev/ImagePulled";

// Of pods and services: the epoch of the leader that made them, where leaders are elected.
inline constexpr std::string_view kEpochAnnotation = "taas.dev/epoch";

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// The init container that a pod has come to: the first that has not done its work yet. The main
// container starts when there is none left.
struct InitContainer {
  std::string name;
  std::string image;
  std::string waiting_reason;
  std::string waiting_message;
  bool running = false;
  std::optional<int32_t> exit_code;  // It has ended, and not with 0.
  std::string exit_reason;
  std::string termination_message;
  int32_t restart_count = 0;
  // Of the run before this one.
  std::optional<int32_t> last_exit_code;
  std::string last_exit_reason;
  std::string last_termination_message;

  bool operator==(const InitContainer&) const = default;
};

struct Pod {
  ObjectMeta meta;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  // From our labels; a pod without valid ones is not ours whatever its name.
  std::string job;
  std::optional<Role> role;
  int32_t index = -1;
  int32_t attempt = 0;
  int32_t pod_number = 0;
  std::string bootstrap;  // Annotation taas.dev/bootstrap.
  std::string token;      // Annotation taas.dev/job-token.
  RareText cluster_map;   // Annotation taas.dev/cluster-map.
  int64_t epoch = 0;      // Annotation taas.dev/epoch; 0: none that makes sense.
  uint64_t template_hash = 0;  // Annotation taas.dev/template; 0: of an earlier operator.
  RareText requests;  // Annotation taas.dev/requests; empty: nothing, or of an earlier operator.

  // Kueue has a finalizer on it, so it stays after its deletion.
  bool held_by_kueue = false;
  // Says to Kueue that its group has no more to come.
  bool ends_group = false;

  // From the request to delete it to meta.deletion_time, when it is killed.
  std::chrono::seconds deletion_grace{0};

  std::string node;
  PodPhase phase = PodPhase::kPending;
  RareText reason;   // status.reason, such as Evicted.
  RareText message;  // status.message.
  bool ready = false;
  // The condition Ready is there and does not hold; a pod that has none says nothing about it.
  bool unready = false;
  // Some run of one of its containers is known, be it an init container's.
  bool started = false;
  // The condition DisruptionTarget is True: preempted, drained or evicted through the API.
  bool disrupted = false;
  // The control plane calls it not ready though its containers were when its node last spoke.
  bool node_silent = false;
  // The control plane took it away because its node does not answer, or is no more.
  bool node_lost = false;
  // The condition PodScheduled is False: why, in the scheduler's words.
  RareText unschedulable_reason;
  RareText unschedulable_message;

  // Of the dialect's container (`trainer`, `tensorflow`), else of the only container.
  std::string image;
  std::shared_ptr<const InitContainer> init;  // Null: there is none, or all have done their work.
  RareText image_note;      // Why its program may not be the image's; empty: it is.
  RareText waiting_reason;  // ErrImagePull, CrashLoopBackOff, …
  RareText waiting_message;
  std::optional<int32_t> exit_code;
  RareText exit_reason;          // OOMKilled, Error, Completed.
  RareText termination_message;  // What the process wrote at its end.
  // Starts of that container beyond the first, which its node made by itself, together with those
  // of init containers after a failure; and how the container's run before this one ended.
  int32_t restart_count = 0;
  std::optional<int32_t> last_exit_code;
  RareText last_exit_reason;
  RareText last_termination_message;
  std::optional<Clock::WallTime> started_at;
  std::optional<Clock::WallTime> finished_at;
  // It has ended and its node will not start it again, though other containers may still run.
  bool container_ended = false;
  std::string ip;
};

// Nothing of it runs any more.
inline bool HasStopped(const Pod& pod) {
  return pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
}
// The replica's program has ended for this pod; a container beside it may still run.
inline bool HasEnded(const Pod& pod) { return HasStopped(pod) || pod.container_ended; }

// Of a container's waiting reason: it is on its way and needs nobody.
inline bool IsOrdinaryWait(std::string_view reason) {
  return reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing";
}

}  // namespace taas

#endif  // OPERATOR_API_POD_H_
