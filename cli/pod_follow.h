// One pod that runs a command to its end: what it writes, how it is, and how it ended.
//
// Ownership: transport, executor and random outlive it; destroy it on the executor, or when that
// has stopped. Threads: the executor's only, all calls too. Errors: `done` gets NotFound where the
// pod was deleted, and what the server says to one who may not list pods.
//
//   PodFollow follow(transport, executor, random, {.ns = "ns", .pod = "a", .container = "c"},
//                    {.print = print, .changed = changed, .done = done});
//   follow.Start();

#ifndef CLI_POD_FOLLOW_H_
#define CLI_POD_FOLLOW_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/container_log.h"
#include "operator/api/pod.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"

namespace taas {

class PodFollow {
 public:
  struct Options {
    std::string ns;
    std::string pod;
    std::string container;  // Whose log is read.
  };
  struct Calls {
    std::function<void(std::string_view line)> print;
    std::function<void(const Pod& pod)> changed;
    // Once: the pod has stopped and its log is read, as far as there is one.
    std::function<void(const absl::StatusOr<Pod>& pod)> done;
  };

  PodFollow(KubeTransport& transport, Executor& executor, Random& random, Options options,
            Calls calls);
  ~PodFollow();

  void Start();

 private:
  void OnPod(const std::shared_ptr<const Pod>& pod);
  void OnLogEnded();
  void OnStopped();
  void LookWhetherSilent();
  void End(const absl::StatusOr<Pod>& result);
  absl::Status WasDeleted() const;

  KubeTransport& transport_;
  Executor& executor_;
  const Options options_;
  Calls calls_;
  std::shared_ptr<const Pod> pod_;  // As last seen.
  std::unique_ptr<ContainerLog> log_;
  Executor::TimerId open_timer_ = 0;
  Executor::TimerId silence_timer_ = 0;
  Clock::Time stopped_at_{};
  Store<Pod> pods_;
  Reflector<Pod> reflector_;
};

}  // namespace taas

#endif  // CLI_POD_FOLLOW_H_
