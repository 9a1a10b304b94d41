// What the replicas of a job have used over time: processors, memory and GPUs, by replica, however
// long the job runs.
//
// Times that are too many are put together, ever longer ones: a week has as many as an hour.
//
// Pure. Ownership: values. Threads: any. Errors: none; a text that is none of ours counts as empty.
//
//   used = JoinUsage(used, {.at = 1'795'273'616, .replicas = {{"worker-0", {.cpu = 1.5}}}});

#ifndef DASHBOARD_HISTORY_HISTORY_USAGE_H_
#define DASHBOARD_HISTORY_HISTORY_USAGE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace taas::dashboard {

// Times of one replica; a line on the page is 160 dots wide.
inline constexpr size_t kUsageTimesMax = 240;
// Of all replicas of a job together: 500 KB of text.
inline constexpr size_t kUsageValuesMax = 20'000;
inline constexpr size_t kUsageReplicasMax = 1'000;

// What is not measured is nothing.
struct ReplicaUse {
  std::optional<double> cpu;  // Cores.
  std::optional<double> memory_mib;
  std::optional<double> gpu;  // How busy its GPUs are on average, 0 … 1.
  std::optional<double> gpu_memory_mib;

  bool any() const { return cpu || memory_mib || gpu || gpu_memory_mib; }
};

struct UsageSample {
  double at = 0;  // Seconds since 1970.
  std::map<std::string, ReplicaUse> replicas;  // "worker-0"
};

// A RecordedUsage of dashboard/web: `before`, which it gave, with one more time.
std::string JoinUsage(std::string_view before, const UsageSample& sample);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_USAGE_H_
