// The GPU of one process among those of others, as ranks of NCCL: what the engine's DeviceGroup is
// there.
//
// Communicators do not block, so that a call returns before it is done; until it is, nothing else
// is asked of one nor goes into its stream. How far the GPU is two events say, before the mean and
// behind it. A mean counts only while NCCL says that nothing is wrong: one that was aborted ends,
// too. Aborts have hung in some releases, so a thread does them, which is left behind where nothing
// of the group can be under way on the GPU any more.
//
// Ownership: borrows the device. Threads: as device_group.h. Errors: of nccl.h and driver.h, with
// the GPU.
//
//   ASSIGN_OR_RETURN(const auto peers, NcclPeers::Load(device));

#ifndef TRAINER_CUDA_NCCL_PEERS_H_
#define TRAINER_CUDA_NCCL_PEERS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/cuda/nccl.h"
#include "trainer/graph/device.h"
#include "trainer/graph/device_group.h"

namespace taas::cuda {

class NcclPeers : public DeviceGroup {
 public:
  // Those of nccl.h.
  static absl::StatusOr<std::unique_ptr<NcclPeers>> Load(
      CudaDevice& device, const std::string& library = Nccl::kLibrary);
  ~NcclPeers() override;
  NcclPeers(const NcclPeers&) = delete;
  NcclPeers& operator=(const NcclPeers&) = delete;

  std::string name() const override;
  absl::StatusOr<std::string> DrawId() override;
  absl::Status Form(const Ranks& ranks) override;
  absl::Status Launch(const TensorRef& values, bool narrow) override;
  absl::StatusOr<Stage> Look() override;
  void Abort() override;
  bool Ended(Clock::Duration patience) override;

 private:
  // What the aborting thread tells, which may outlive this.
  struct Abortion {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  NcclPeers(CudaDevice& device, std::unique_ptr<Nccl> nccl);
  // Whether the last call has been done.
  absl::StatusOr<bool> Settled(const std::string& what);
  absl::StatusOr<Stage> LookAtMean();
  absl::Status Narrow();
  absl::Status Widen();
  absl::Status Check(const std::string& what, absl::Status status) const;
  absl::Status Check(const std::string& what, int result) const;
  bool AbortIsDone(Clock::Duration patience);
  // Of the last abort: its thread has ended, or is left behind.
  void EndAborting(Clock::Duration patience);

  CudaDevice& device_;
  const std::unique_ptr<Nccl> nccl_;
  const RealClock clock_;
  CudaStream stream_;
  CudaEvent arrived_, passed_;
  NcclComm comm_ = nullptr;
  Stage stage_ = Stage::kForms;
  bool settles_ = false;  // The mean is not in the stream yet.
  TensorRef values_;      // Of the mean that is under way, and whether they go in bfloat16.
  bool is_narrow_ = false;
  Buffer narrow_;
  std::shared_ptr<Abortion> abortion_;  // Of the last communicator.
  std::thread aborting_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_NCCL_PEERS_H_
