#include "localkube/node/usage_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "localkube/node/run_use.h"

namespace taas::localkube {

UsageSampler::UsageSampler(std::set<std::string> nodes, FileSystem& disk, const Clock& clock)
    : nodes_(std::move(nodes)), disk_(disk), clock_(clock), executor_(clock, "usage") {}

UsageSampler::~UsageSampler() { executor_.Stop(); }

void UsageSampler::Start() {
  executor_.Post([this] { Tick(); });
}

void UsageSampler::Tick() {
  Sample();
  executor_.PostAfter(kSampleEvery, [this] { Tick(); });
}

void UsageSampler::SetRuns(const std::string& uid, const std::string& node,
                           std::vector<Run> runs) {
  std::lock_guard lock(mutex_);
  if (runs.empty()) {
    pods_.erase(uid);
    return;
  }
  Pod& pod = pods_[uid];
  pod.node = node;
  std::vector<Track> tracks;
  for (Run& run : runs) {
    const auto known = std::find_if(pod.tracks.begin(), pod.tracks.end(), [&](const Track& t) {
      return t.run.dir == run.dir && t.run.pid == run.pid;
    });
    tracks.push_back(known != pod.tracks.end() ? std::move(*known)
                                               : Track{std::move(run), {}, {}, 0});
  }
  pod.tracks = std::move(tracks);
}

void UsageSampler::Sample() {
  std::vector<Run> runs;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [uid, pod] : pods_) {
      for (const Track& track : pod.tracks) runs.push_back(track.run);
    }
  }
  // Without the lock: nobody waits for /proc.
  struct Seen {
    std::optional<RunUse> use;
    Clock::Time at;
  };
  std::map<std::string, Seen> seen;  // By directory of the run.
  for (const Run& run : runs) {
    const auto use = MeasureRun(disk_, static_cast<pid_t>(run.pid), run.dir);
    seen[run.dir] = {use, clock_.Now()};
  }
  std::lock_guard lock(mutex_);
  sampled_at_ = clock_.WallNow();
  for (auto& [uid, pod] : pods_) {
    for (Track& track : pod.tracks) {
      const auto found = seen.find(track.run.dir);
      if (found == seen.end()) continue;
      const std::optional<RunUse>& use = found->second.use;
      if (!use.has_value()) {
        track.points.clear();  // It has ended, whatever the node knows of it.
        continue;
      }
      track.points.push_back({found->second.at, use->cpu});
      if (track.points.size() > kSamplesKept) track.points.pop_front();
      track.end = *sampled_at_;
      track.memory_bytes = use->memory_bytes;
    }
  }
}

std::optional<Usage> UsageSampler::UsageOf(const Track& track, UsageWindow* window) {
  if (track.points.size() < 2) return std::nullopt;
  const Clock::Duration length = track.points.back().at - track.points.front().at;
  const Clock::Duration cpu = track.points.back().cpu - track.points.front().cpu;
  if (length <= Clock::Duration::zero()) return std::nullopt;
  // What a container cannot use it has not used: the time of a process that ended while its parent
  // was read comes one sample late.
  static const double kProcessors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double cores =
      std::clamp(static_cast<double>(cpu.count()) / static_cast<double>(length.count()), 0.0,
                 kProcessors);
  window->end = std::max(window->end, track.end);
  window->length = std::max(window->length, length);
  return Usage{.nanocores = static_cast<int64_t>(cores * 1e9), .memory_bytes = track.memory_bytes};
}

std::optional<PodUsage> UsageSampler::OfPod(const std::string& uid) const {
  std::lock_guard lock(mutex_);
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return std::nullopt;
  PodUsage out;
  for (const Track& track : pod->second.tracks) {
    const auto usage = UsageOf(track, &out.window);
    if (!usage.has_value()) return std::nullopt;
    out.containers[track.run.container] = *usage;
  }
  return out;
}

std::optional<NodeUsage> UsageSampler::OfNode(const std::string& name) const {
  std::lock_guard lock(mutex_);
  if (nodes_.count(name) == 0 || !sampled_at_.has_value()) return std::nullopt;
  NodeUsage out{.window = {*sampled_at_, kSampleEvery}, .usage = {}};
  for (const auto& [uid, pod] : pods_) {
    if (pod.node != name) continue;
    for (const Track& track : pod.tracks) {
      const Usage usage = UsageOf(track, &out.window).value_or(Usage());
      out.usage.nanocores += usage.nanocores;
      out.usage.memory_bytes += usage.memory_bytes;
    }
  }
  return out;
}

}  // namespace taas::localkube
