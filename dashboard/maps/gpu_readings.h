// How busy GPUs are, from the trainers that hold them: the /status of each job's chief, which
// collects what its peers measured, and of its evaluator (docs/contract.md).
//
// Nobody is asked while nobody looks and no history records it. The other end may be a program of
// the user's: what it says counts for pods of its own job only, and for devices that these hold
// (gpu_view.h).
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors: none;
// of whoever does not answer nothing is known.
//
//   GpuReadings readings({.transport = poll, .executor = executor, .jobs = …, .changed = …});
//   readings.Look();                                        // Somebody wants to know.
//   const std::vector<DeviceReading>* of_pod = readings.Of(pod);

#ifndef DASHBOARD_MAPS_GPU_READINGS_H_
#define DASHBOARD_MAPS_GPU_READINGS_H_

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/maps/gpu_view.h"
#include "dashboard/server/cluster_cache.h"
#include "dashboard/server/watched.h"
#include "operator/base/executor.h"
#include "operator/kube/poll_transport.h"

namespace taas::dashboard {

class GpuReadings {
 public:
  // Between two rounds; trainers measure every 5 s.
  static constexpr std::chrono::seconds kEvery{10};
  // A stream looks at least every 30 s, so after this nobody has the map open any more.
  static constexpr std::chrono::seconds kWatched{60};
  // A trainer that missed a round or two has measured nothing new for long enough.
  static constexpr std::chrono::seconds kGood{35};
  // Whoever did not answer is left alone for so long: it may serve no such page at all.
  static constexpr std::chrono::seconds kSilent{60};
  // Each may take 3 s of waiting and none of work; a thousand jobs are asked within a round.
  static constexpr size_t kAtOnce = 64;

  // A job with GPUs, and all its pods.
  struct GpuJob {
    std::shared_ptr<const WatchedJob> job;
    std::vector<std::shared_ptr<const WatchedPod>> pods;
  };
  struct Context {
    PollTransport& transport;
    Executor& executor;
    bool local = false;  // Devices have the numbers of slots for ids, as those of `taas local` do.
    std::function<std::vector<GpuJob>()> jobs;
    std::function<void()> changed;
  };

  explicit GpuReadings(Context context) : context_(std::move(context)) {}
  ~GpuReadings();

  void Look();
  // Null: nobody has measured, or not lately.
  const std::vector<DeviceReading>* Of(const WatchedPod& pod) const;

 private:
  using PodPtr = std::shared_ptr<const WatchedPod>;
  struct Entry {
    Clock::Time at{};
    std::vector<DeviceReading> devices;
  };
  struct Question {
    std::shared_ptr<const GpuJob> job;
    PodPtr pod;
  };

  void Begin();
  void AskNext();
  void OnAnswer(const Question& question, const absl::StatusOr<std::string>& body);
  void Take(const WatchedPod& pod, std::vector<DeviceReading> devices);
  void Finish();

  const Context context_;
  Clock::Time looked_at_{};
  Executor::TimerId timer_ = 0;
  bool running_ = false;
  std::deque<Question> questions_;
  size_t asking_ = 0;
  bool changed_ = false;
  std::map<std::string, Entry> entries_;        // By uid of the pod.
  std::map<std::string, Clock::Time> silent_;   // Since when, by uid of the pod that was asked.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Of several devices together: how busy they are on average, 0 … 1, and their memory in use, of
// those that tell it. Null has none.
struct GpuUse {
  std::optional<double> busy, memory_mib;
};
GpuUse UseOf(const std::vector<DeviceReading>* devices);

// Jobs that go on and have pods with GPUs.
std::vector<GpuReadings::GpuJob> GpuJobsOf(const ClusterCache& cache);

// What a /status page says of the replica that serves it, and of its peers.
struct GpuPage {
  struct Peer {
    Role role = Role::kWorker;
    int32_t index = 0;
    std::vector<DeviceReading> devices;
  };
  std::vector<DeviceReading> own;
  std::vector<Peer> peers;
};
// `by_index`: ids are the numbers of devices. InvalidArgument: it is no such page; what is no
// device is left out.
absl::StatusOr<GpuPage> ReadGpuPage(std::string_view body, bool by_index);

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_GPU_READINGS_H_
