// Measures the GPUs that this process may use, for /status, until it is destroyed.
//
// Which those are: those that it computes on, as soon as it has said so; until then, and where it
// computes on none, all that NVML shows, in a container those that were given to it, but only those
// of CUDA_VISIBLE_DEVICES where that is set. A machine without GPUs, or without a driver, has none.
//
// Ownership: borrows the board; owns two threads, of which one asks the driver. Threads: any.
// Errors: none; a driver that says no, or does not answer in time, is logged once, and what it said
// before is forgotten. Nobody waits for it: neither who trains, nor /status, nor the end.
//
//   GpuWatch watch(board, {.visible = Env("CUDA_VISIBLE_DEVICES")});
//   watch.ComputesOn({"GPU-3d1e…"});

#ifndef TRAINER_STATUS_GPU_WATCH_H_
#define TRAINER_STATUS_GPU_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"
#include "operator/base/nvml_reader.h"
#include "trainer/status/status_board.h"

namespace taas {

class GpuWatch {
 public:
  // NVML's utilization is that of the last second or less; whoever looks asks every 10 s.
  static constexpr std::chrono::seconds kEvery{5};
  // It answers in milliseconds, and in a second or two where it wakes a card up or another process
  // resets one.
  static constexpr std::chrono::seconds kPatience{3};

  struct Options {
    std::optional<std::string> visible;  // Of CUDA_VISIBLE_DEVICES.
    const char* library = Nvml::kLibrary;
    std::chrono::milliseconds every = kEvery;
    std::chrono::milliseconds patience = kPatience;
  };

  GpuWatch(StatusBoard& board, Options options);
  ~GpuWatch();

  // Ids as CUDA has them, whatever CUDA_VISIBLE_DEVICES and its order say; from now on.
  void ComputesOn(std::vector<std::string> ids);

 private:
  void Run();
  bool Pause();
  absl::StatusOr<std::vector<GpuReading>> Ask();

  StatusBoard& board_;
  const Options options_;
  NvmlReader nvml_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool hurried_ = false;           // What is measured has changed.
  std::vector<std::string> ids_;  // Empty: not said.
  std::thread thread_;
};

// As CUDA reads its variable: numbers, or ids that may be cut short, up to the first that is none
// of the devices. Nullopt: it is not set, and all are visible. `part` reads the part of a GPU of
// this whole id ("MIG-…"); nothing: there is none.
std::vector<GpuReading> VisibleGpus(
    const std::vector<GpuReading>& all, const std::optional<std::string>& visible,
    absl::FunctionRef<std::optional<GpuReading>(const std::string& id)> part);

}  // namespace taas

#endif  // TRAINER_STATUS_GPU_WATCH_H_
