#include "trainer/status/gpu_watch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "operator/base/log.h"

namespace taas {
namespace {

bool Names(std::string_view word, const GpuReading& gpu) {
  return word == std::to_string(gpu.index) ||
         (word.starts_with("GPU-") && std::string_view(gpu.id).starts_with(word));
}

}  // namespace

std::vector<GpuReading> VisibleGpus(const std::vector<GpuReading>& all,
                                    const std::optional<std::string>& visible) {
  if (!visible) return all;
  std::vector<GpuReading> out;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(*visible, ','))) {
    const auto named = std::find_if(all.begin(), all.end(),
                                    [word](const GpuReading& gpu) { return Names(word, gpu); });
    if (named == all.end()) break;
    out.push_back(*named);
  }
  return out;
}

GpuWatch::GpuWatch(StatusBoard& board, Options options)
    : board_(board), options_(std::move(options)) {
  // A role without GPUs gets an empty one: the driver is not even loaded.
  if (options_.visible && options_.visible->empty()) return;
  thread_ = std::thread([this] { Run(); });
}

GpuWatch::~GpuWatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void GpuWatch::Run() {
  const auto nvml = Nvml::Load(options_.library);
  if (!nvml.ok()) {
    // Most machines have no GPU, so that is no news.
    Log(LogLevel::kDebug, "GPUs are not measured", {{"error", nvml.status().ToString()}});
    return;
  }
  bool told = false;
  do {
    const auto all = (*nvml)->Read();
    board_.SetGpus(all.ok() ? VisibleGpus(*all, options_.visible) : std::vector<GpuReading>{});
    if (!all.ok() && !std::exchange(told, true)) {
      Log(LogLevel::kWarning, "GPUs cannot be measured", {{"error", all.status().ToString()}});
    }
  } while (Pause());
}

// False: it ends.
bool GpuWatch::Pause() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, options_.every, [this] { return ending_; });
}

}  // namespace taas
