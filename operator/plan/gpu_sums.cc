#include "operator/plan/gpu_sums.h"

#include <algorithm>
#include <cmath>

namespace taas {
namespace {

// Beyond what any GPU has: 16 TiB, 100 kW, a billion errors.
constexpr double kMibMax = 1 << 24;
constexpr double kMilliwattsMax = 1e8;
constexpr double kErrorsMax = 1e9;
constexpr double kColdest = -100, kHottest = 500;
// No name of the contract is as long.
constexpr size_t kNameBytesMax = 32;

int64_t Whole(double value, double least, double most) {
  return std::isnan(value) ? 0 : std::llround(std::clamp(value, least, most));
}

std::string Bounded(std::string_view name) {
  return name.size() <= kNameBytesMax ? std::string(name) : std::string();
}

}  // namespace

GpuSums& GpuSums::Add(const GpuSums& other, int64_t sign) {
  told += sign * other.told;
  measured += sign * other.measured;
  busy_thousandths += sign * other.busy_thousandths;
  memory_used_mib += sign * other.memory_used_mib;
  memory_total_mib += sign * other.memory_total_mib;
  power_milliwatts += sign * other.power_milliwatts;
  power_limit_milliwatts += sign * other.power_limit_milliwatts;
  for (size_t i = 0; i < throttled.size(); ++i) throttled[i] += sign * other.throttled[i];
  ecc_errors += sign * other.ecc_errors;
  with_ecc_errors += sign * other.with_ecc_errors;
  return *this;
}

void GpuReader::Enter(int depth, bool list) {
  if (depth == 2 && list && page_key_ == "gpus") list_ = 2;
  if (depth == 2) in_peers_ = list && page_key_ == "peers";
  if (depth == 3) peer_key_.clear();
  if (depth == 4 && list && in_peers_ && peer_key_ == "gpus") list_ = 4;
  if (list_ == 0 || depth != list_ + 1) return;
  gpu_ = {};
  gpu_key_.clear();
}

void GpuReader::Leave(int depth) {
  if (list_ != 0 && depth == list_ + 1 && sums_.told < kGpusMax) {
    const auto hottest = std::max(sums_.hottest_c, gpu_.hottest_c);
    gpu_.told = 1;
    sums_ += gpu_;
    sums_.hottest_c = hottest;
  }
  if (depth == list_) list_ = 0;
  if (depth == 2) in_peers_ = false;
}

void GpuReader::Key(int depth, std::string_view name) {
  if (depth == 1) page_key_ = Bounded(name);
  if (depth == 3 && in_peers_) peer_key_ = Bounded(name);
  if (list_ != 0 && depth == list_ + 1) gpu_key_ = Bounded(name);
}

void GpuReader::Number(int depth, double value) {
  if (list_ != 0 && depth == list_ + 1) Take(value, gpu_key_);
}

// The last of two under one name counts.
void GpuReader::Take(double value, std::string_view key) {
  if (key == "utilization") {
    gpu_.measured = 1;
    gpu_.busy_thousandths = Whole(value * 1000, 0, 1000);
  } else if (key == "memoryUsedMiB") {
    gpu_.memory_used_mib = Whole(value, 0, kMibMax);
  } else if (key == "memoryTotalMiB") {
    gpu_.memory_total_mib = Whole(value, 0, kMibMax);
  } else if (key == "powerWatts") {
    gpu_.power_milliwatts = Whole(value * 1000, 0, kMilliwattsMax);
  } else if (key == "powerLimitWatts") {
    gpu_.power_limit_milliwatts = Whole(value * 1000, 0, kMilliwattsMax);
  } else if (key == "temperatureC") {
    gpu_.hottest_c = Whole(value, kColdest, kHottest);
  } else if (key == "eccUncorrected") {
    gpu_.ecc_errors = Whole(value, 0, kErrorsMax);
    gpu_.with_ecc_errors = gpu_.ecc_errors > 0 ? 1 : 0;
  }
}

void GpuReader::Text(int depth, std::string_view value) {
  if (list_ == 0 || depth != list_ + 2 || gpu_key_ != "throttle") return;
  const auto* const found = std::find(kGpuThrottles.begin(), kGpuThrottles.end(), value);
  if (found != kGpuThrottles.end()) {
    gpu_.throttled[static_cast<size_t>(found - kGpuThrottles.begin())] = 1;
  }
}

}  // namespace taas
