// What trainers tell of their GPUs, added up: of a job from the /status of its chief, which has its
// own and those of its peers (docs/contract.md), and of jobs.
//
// Whoever wrote it is not trusted: each figure is brought between bounds that no GPU leaves, and
// what does not fit in a machine's or a job's number of GPUs is left out. Whole numbers, so that
// what was added can be taken away again without a rest.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is not told counts as nothing.
//
//   GpuReader reader;  // Is fed by whoever reads the page.
//   totals += reader.sums();

#ifndef OPERATOR_PLAN_GPU_SUMS_H_
#define OPERATOR_PLAN_GPU_SUMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taas {

// What slows a GPU down, as /status spells it.
inline constexpr std::array<std::string_view, 6> kGpuThrottles = {
    "PowerCap", "HardwareSlowdown", "SyncBoost", "Heat", "HardwareHeat", "PowerBrake"};

struct GpuSums {
  int64_t told = 0;      // GPUs of which anything is told.
  int64_t measured = 0;  // Of them those that tell how busy they are.
  int64_t busy_thousandths = 0;
  int64_t memory_used_mib = 0, memory_total_mib = 0;
  int64_t power_milliwatts = 0, power_limit_milliwatts = 0;
  std::array<int64_t, kGpuThrottles.size()> throttled{};
  int64_t ecc_errors = 0;       // That could not be corrected.
  int64_t with_ecc_errors = 0;  // GPUs that have had some.
  std::optional<int64_t> hottest_c;

  bool operator==(const GpuSums&) const = default;
  // But for the hottest, which is no sum.
  GpuSums& operator+=(const GpuSums& more) { return Add(more, 1); }
  GpuSums& operator-=(const GpuSums& less) { return Add(less, -1); }

 private:
  GpuSums& Add(const GpuSums& other, int64_t sign);
};

// Takes `gpus` of a page and of its `peers` as a parser meets them. `depth` is that of the object
// or list which is entered, left, or has the value: 1 for the page.
class GpuReader {
 public:
  // A thousand peers of eight GPUs.
  static constexpr int64_t kGpusMax = 8'192;

  void Enter(int depth, bool list);
  void Leave(int depth);
  void Key(int depth, std::string_view name);
  void Number(int depth, double value);
  void Text(int depth, std::string_view value);

  const GpuSums& sums() const { return sums_; }

 private:
  void Take(double value, std::string_view key);

  GpuSums sums_;
  GpuSums gpu_;  // The one that is being read.
  bool in_peers_ = false;
  int list_ = 0;  // Depth of the list of GPUs that is being read; 0: none is.
  // The last ones of the page, of a peer, of a GPU; what no name of ours is is "".
  std::string page_key_, peer_key_, gpu_key_;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_GPU_SUMS_H_
