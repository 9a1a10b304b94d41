#include "trainer/status/gpu_watch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

bool Names(std::string_view word, const GpuReading& gpu) {
  return word == std::to_string(gpu.index) ||
         (word.starts_with("GPU-") && std::string_view(gpu.id).starts_with(word));
}

}  // namespace

std::vector<GpuReading> VisibleGpus(
    const std::vector<GpuReading>& all, const std::optional<std::string>& visible,
    absl::FunctionRef<std::optional<GpuReading>(const std::string& id)> part) {
  if (!visible) return all;
  std::vector<GpuReading> out;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(*visible, ','))) {
    const auto named = std::find_if(all.begin(), all.end(),
                                    [word](const GpuReading& gpu) { return Names(word, gpu); });
    std::optional<GpuReading> found;
    if (named != all.end()) found = *named;
    if (!found && word.starts_with("MIG-")) found = part(word);
    if (!found) break;
    out.push_back(*std::move(found));
  }
  return out;
}

GpuWatch::GpuWatch(StatusBoard& board, Options options)
    : board_(board), options_(std::move(options)), nvml_(options_.library) {
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
  nvml_.Stop();
  if (thread_.joinable()) thread_.join();
}

void GpuWatch::ComputesOn(std::vector<std::string> ids) {
  std::lock_guard lock(mutex_);
  ids_ = std::move(ids);
  hurried_ = true;
  changed_.notify_all();
}

absl::StatusOr<std::vector<GpuReading>> GpuWatch::Ask() {
  using Gpus = std::vector<GpuReading>;
  std::vector<std::string> ids;
  {
    std::lock_guard lock(mutex_);
    ids = ids_;
  }
  return nvml_.Ask<Gpus>(
      options_.patience,
      [ids, visible = options_.visible](const Nvml& nvml) -> absl::StatusOr<Gpus> {
        const auto part = [&nvml](const std::string& id) -> std::optional<GpuReading> {
          auto gpu = nvml.Read(id);
          return gpu.ok() ? std::optional(*std::move(gpu)) : std::nullopt;
        };
        if (ids.empty()) {
          ASSIGN_OR_RETURN(const Gpus all, nvml.Read());
          return VisibleGpus(all, visible, part);
        }
        Gpus gpus;
        for (const std::string& id : ids) {
          auto gpu = nvml.Read(id);
          // NotFound is a machine without the library.
          if (!gpu.ok()) return absl::UnavailableError(gpu.status().message());
          gpus.push_back(*std::move(gpu));
        }
        return gpus;
      });
}

void GpuWatch::Run() {
  bool told = false;
  do {
    auto gpus = Ask();
    if (absl::IsCancelled(gpus.status())) return;
    if (absl::IsNotFound(gpus.status())) {
      // Most machines have no GPU, so that is no news.
      Log(LogLevel::kDebug, "GPUs are not measured", {{"error", gpus.status().ToString()}});
      return;
    }
    if (!gpus.ok() && !std::exchange(told, true)) {
      Log(LogLevel::kWarning, "GPUs cannot be measured", {{"error", gpus.status().ToString()}});
    }
    board_.SetGpus(gpus.ok() ? *std::move(gpus) : std::vector<GpuReading>{});
  } while (Pause());
}

// False: it ends.
bool GpuWatch::Pause() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, options_.every, [this] { return ending_ || hurried_; });
  hurried_ = false;
  return !ending_;
}

}  // namespace taas
