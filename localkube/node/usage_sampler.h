// Measures the containers that run, every two seconds: the figures behind `kubectl top`.
//
// The node says which runs there are; a thread of its own looks at their processes. A container's
// CPU figure is the mean over the last ten seconds, or since it was first seen. A node's usage is
// the sum of its pods': all nodes are one machine, and the machine's usage would say nothing of
// any of them.
//
// Ownership: disk and clock outlive it; owns its thread. Threads: all methods from any thread.
// Errors: none; a run that cannot be measured has no figures.
//
//   UsageSampler sampler({"local"}, disk, clock);
//   sampler.Start();
//   sampler.SetRuns(uid, "local", {{"trainer", state.pid, files.dir}});

#ifndef LOCALKUBE_NODE_USAGE_SAMPLER_H_
#define LOCALKUBE_NODE_USAGE_SAMPLER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "localkube/api/usage_source.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/thread_executor.h"

namespace taas::localkube {

// Seldom enough to cost nothing, often enough that a new pod has figures before a user asks twice.
inline constexpr std::chrono::seconds kSampleEvery{2};
// Six samples span ten seconds: /proc counts time in hundredths of a second, so that a mean over
// less would be coarse.
inline constexpr size_t kSamplesKept = 6;

class UsageSampler : public UsageSource {
 public:
  struct Run {
    std::string container;
    int64_t pid = 0;  // RunState's.
    std::string dir;  // RunFiles'.
  };

  UsageSampler(std::set<std::string> nodes, FileSystem& disk, const Clock& clock);
  ~UsageSampler() override;

  void Start();
  // All runs of a pod that go on now; none: forget the pod.
  void SetRuns(const std::string& uid, const std::string& node, std::vector<Run> runs);
  // Looks at every run once. Start has it called every kSampleEvery.
  void Sample();

  std::optional<PodUsage> OfPod(const std::string& uid) const override;
  std::optional<NodeUsage> OfNode(const std::string& name) const override;

 private:
  struct Point {
    Clock::Time at;
    Clock::Duration cpu;
  };
  // One run, as far as it was measured.
  struct Track {
    Run run;
    std::deque<Point> points;  // Oldest first.
    Clock::WallTime end{};     // Of the last point.
    int64_t memory_bytes = 0;
  };
  struct Pod {
    std::string node;
    std::vector<Track> tracks;
  };

  void Tick();
  static std::optional<Usage> UsageOf(const Track& track, UsageWindow* window);

  const std::set<std::string> nodes_;
  FileSystem& disk_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Pod> pods_;                  // By uid.
  std::optional<Clock::WallTime> sampled_at_;
  ThreadExecutor executor_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_USAGE_SAMPLER_H_
