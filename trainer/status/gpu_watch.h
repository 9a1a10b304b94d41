// Measures the GPUs that this process may use, for /status, until it is destroyed.
//
// Which those are: all that NVML shows, in a container those that were given to it, but only those
// of CUDA_VISIBLE_DEVICES where that is set. A machine without GPUs, or without a driver, has none.
//
// Ownership: borrows the board; owns one thread. Threads: the owner's. Errors: none; a driver that
// does not answer is logged once, and what it said before is forgotten.
//
//   const GpuWatch watch(board, {.visible = Env("CUDA_VISIBLE_DEVICES")});

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

#include "operator/base/nvml.h"
#include "trainer/status/status_board.h"

namespace taas {

class GpuWatch {
 public:
  // NVML's utilization is that of the last second or less; whoever looks asks every 10 s.
  static constexpr std::chrono::seconds kEvery{5};

  struct Options {
    std::optional<std::string> visible;  // Of CUDA_VISIBLE_DEVICES.
    const char* library = Nvml::kLibrary;
    std::chrono::milliseconds every = kEvery;
  };

  GpuWatch(StatusBoard& board, Options options);
  ~GpuWatch();

 private:
  void Run();
  bool Pause();

  StatusBoard& board_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

// As CUDA reads its variable: numbers, or ids that may be cut short, up to the first that is none
// of the devices. Nullopt: it is not set, and all are visible.
std::vector<GpuReading> VisibleGpus(const std::vector<GpuReading>& all,
                                    const std::optional<std::string>& visible);

}  // namespace taas

#endif  // TRAINER_STATUS_GPU_WATCH_H_
