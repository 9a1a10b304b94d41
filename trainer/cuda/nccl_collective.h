// The GPUs of one process as ranks of NCCL: means of what each has, in the streams of all, watched.
//
// Communicators do not block: after each call it is looked at until the call has done what it is
// to, no longer than a deadline. A rank's thread is the only one that launches on its device, also
// programs, since a launch may wait for those of the other ranks (NCCL user guide, "Using NCCL with
// CUDA Graphs"). Each device counts the means that it comes to, and copies that number to memory of
// the host before a mean and behind it, so that it is known how far it is while the host is a step
// ahead; a thread of its own looks at that, and at what NCCL says of itself, ten times a second.
// Where GPUs are ahead of others too long (stragglers.h) it aborts all communicators, so that what
// waits ends, and whoever waited is told which GPU did not come.
//
// Ownership: borrows the devices; goes after all programs in which it was captured, for which NCCL
// would wait. Threads: as collective.h. Errors: of nccl.h; all are the machine's fault, with the
// GPU that they are of. After the first nothing is launched any more, and each End returns it.
//
//   ASSIGN_OR_RETURN(const auto collective, NcclCollective::Start({&first, &second}, {}));
//   collective->Begin(0); …                        // As collective.h has it.

#ifndef TRAINER_CUDA_NCCL_COLLECTIVE_H_
#define TRAINER_CUDA_NCCL_COLLECTIVE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/nccl.h"
#include "trainer/cuda/stragglers.h"
#include "trainer/graph/collective.h"
#include "trainer/graph/device.h"

namespace taas::cuda {

class NcclCollective : public Collective {
 public:
  struct Options {
    std::string library = Nccl::kLibrary;
    // Of the start, and of the end: they take seconds on a machine of eight GPUs. One that takes
    // minutes does not end.
    Clock::Duration start = std::chrono::minutes(2);
    // That one GPU may be behind the others in a step, or all in a mean. All have equal work; what
    // one may lack is time for its first kernels, and clocks that a hot card halves.
    Clock::Duration arrival = std::chrono::seconds(60);
    // What waits ends that long after an abort, else it never does.
    Clock::Duration abort = std::chrono::seconds(30);
    // Told why, by a thread of this, where not even an abort ends what waits: then only the end of
    // the process does.
    std::function<void(const absl::Status& why)> stuck = [](const absl::Status&) {};
  };

  // Each once. One by itself is a rank, too: what a machine with a single GPU can show of NCCL.
  static absl::StatusOr<std::unique_ptr<NcclCollective>> Start(std::vector<CudaDevice*> devices,
                                                               Options options);
  ~NcclCollective() override;
  NcclCollective(const NcclCollective&) = delete;
  NcclCollective& operator=(const NcclCollective&) = delete;

  int ranks() const override { return static_cast<int>(ranks_.size()); }
  absl::Status Launch(int rank, const Exchange& exchange, Stream& stream) override;
  void Begin(int rank) override;
  absl::Status End(int rank, absl::Status ended, int64_t under_way) override;

 private:
  // What a device writes: the means that it has come to, and those that it is behind.
  struct Words {
    int64_t arrived, passed;
  };
  struct Rank {
    explicit Rank(CudaDevice& its) : device(its) {}
    Words Read() const;
    RankPosition position() const;

    CudaDevice& device;
    std::mutex mutex;  // Of calls with `comm`.
    NcclComm comm = nullptr;
    Buffer words;    // Pinned.
    Buffer arrived;  // Of the device: what is copied there.
    // Runs, each of one mean, by mutex_.
    int64_t begun = 0, ended = 0;
  };
  NcclCollective(std::vector<CudaDevice*> devices, Options options);
  absl::Status MakeRanks();
  absl::Status MakeWords(Rank& rank);
  absl::Status LaunchGroup(Rank& rank, const Exchange& exchange, Stream& stream);
  // Looks until what was asked of the rank is done. Its mutex is held.
  absl::Status Settle(Rank& rank, const std::string& what, Clock::Duration patience);
  absl::Status Check(const Rank& rank, const std::string& what, int result) const;
  // "GPU 1 (NVIDIA H100 80GB HBM3)".
  static std::string NameOf(const Rank& rank);

  void Watch();
  absl::Status Look(Stragglers* stragglers);
  absl::Status TooLate(const Stragglers::Found& found) const;
  void Abort();
  void AbortRanks();
  // The first one is kept.
  void Fail(absl::Status why);
  absl::Status failure() const;

  const Options options_;
  const RealClock clock_;
  std::unique_ptr<Nccl> nccl_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  absl::Status failure_;
  std::atomic<bool> failed_ = false;  // That there is one.
  bool aborted_ = false;
  bool closing_ = false;
  std::thread watch_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_NCCL_COLLECTIVE_H_
