// Follows the logs of all replicas of a job, over restarts, until the job has ended.
//
// It ends when the job is over, that is, has ended or is gone, and what its pods wrote was printed.
// No pod and no server can keep it longer: a pod that runs on is followed for kAfterEnd more, and a
// log of which nothing comes for so long is given up, whether its server ends it or not.
//
// Ownership: transport, executor and random outlive it. Threads: the executor's only. Errors: Done
// gets OK when the job has ended, NotFound when it was deleted before its end, and what the server
// says to one who may not list jobs and pods.
//
//   LogFollow follow(transport, executor, random, {.ns = "ns", .job = "mnist"}, print, done);
//   follow.Start();

#ifndef CLI_LOG_FOLLOW_H_
#define CLI_LOG_FOLLOW_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cli/container_log.h"
#include "cli/seen_job.h"
#include "operator/api/job.h"
#include "operator/api/pod.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"

namespace taas {

// Which replicas' logs are wanted.
struct ReplicaFilter {
  std::optional<Role> role;
  int index = -1;   // -1: all.
  std::string uid;  // Of the job, so that pods of an earlier one of its name are none; empty: any.
  bool Wants(const Pod& pod) const {
    return pod.role.has_value() && (!role.has_value() || role == pod.role) &&
           (index < 0 || index == pod.index) &&
           (uid.empty() || pod.owner_uid.empty() || uid == pod.owner_uid);
  }
};

// "worker-0"
std::string ReplicaName(const Pod& pod);
// Also "worker-0/fetch", where it is an init container whose log is read.
std::string LogName(const Pod& pod);

class LogFollow {
 public:
  struct Options {
    std::string ns;
    std::string job;
    ReplicaFilter filter;
    JobKind kind = JobKind::kTrainingJob;
    // Of what was written before: only lines since then, only the last so many. Empty: all.
    std::string since_time;
    std::string tail_lines;
    std::function<void(const SeenJob& job)> on_job;  // Each change; may be null.
  };
  // For what pods write on their way out: they run on when their job has ended, or have been told
  // to go. A person or a pipeline waits for it, and the job's result is known.
  static constexpr std::chrono::milliseconds kAfterEnd{1500};
  using Print = std::function<void(const std::string& replica, std::string_view line)>;
  using Done = std::function<void(const absl::Status&)>;

  LogFollow(KubeTransport& transport, Executor& executor, Random& random, Options options,
            Print print, Done done);
  ~LogFollow();

  void Start();

 private:
  // The log of one container of a pod.
  struct Tail;
  struct LoggedPod : Pod {
    std::string container;  // Whose log it is.
  };
  static absl::StatusOr<LoggedPod> DecodeLoggedPod(std::string_view json, JobKind kind);

  void OnPod(const std::shared_ptr<const LoggedPod>& pod);
  void ForEachTailOf(const std::string& uid, const std::function<void(Tail&)>& visit);
  std::unique_ptr<ContainerLog> LogOf(Tail& tail);
  void OnEnded(Tail& tail);
  std::shared_ptr<const SeenJob> FindJob() const;
  void CheckEnd();
  void End(const absl::Status& status);
  bool IsSettled(const Tail& tail, Clock::Time now) const;
  void BeOver();
  void GoOn();

  KubeTransport& transport_;
  Executor& executor_;
  const Options options_;
  const Print print_;
  Done done_;
  std::map<std::string, std::unique_ptr<Tail>> tails_;  // By "UID/CONTAINER".
  bool has_ended_ = false;  // The job, when it was last seen; its ttl may be 0.
  // The rest is of a job that is over.
  std::optional<Clock::Time> over_since_;
  // Its pods are listed once more: what the watch has not told yet was written before the end, too.
  enum class PodsAfterEnd { kUnasked, kAsked, kListed };
  PodsAfterEnd pods_after_end_ = PodsAfterEnd::kUnasked;
  Executor::TimerId ask_timer_ = 0;
  Executor::TimerId look_timer_ = 0;
  Store<LoggedPod> pods_;
  Store<SeenJob> jobs_;
  Reflector<LoggedPod> pod_reflector_;
  Reflector<SeenJob> job_reflector_;
};

}  // namespace taas

#endif  // CLI_LOG_FOLLOW_H_
