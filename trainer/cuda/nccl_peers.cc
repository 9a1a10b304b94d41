#include "trainer/cuda/nccl_peers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/cuda/shared_library.h"
#include "trainer/kernels/cuda/bfloat16.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// Between two looks at what ends; it takes milliseconds.
constexpr std::chrono::microseconds kLook{200};
// Of an abort that nobody has waited for. One that hangs must not hold the process.
constexpr std::chrono::seconds kFarewell{1};
// Elements of a thread, as the kernels have it.
constexpr int64_t kEach = 4;

static_assert(sizeof(NcclId) == DeviceGroup::kIdBytesMax);

}  // namespace

absl::StatusOr<std::unique_ptr<NcclPeers>> NcclPeers::Load(CudaDevice& device,
                                                           const std::string& library) {
  ASSIGN_OR_RETURN(std::unique_ptr<Nccl> nccl, Nccl::Load(library));
  return std::unique_ptr<NcclPeers>(new NcclPeers(device, std::move(nccl)));
}

NcclPeers::NcclPeers(CudaDevice& device, std::unique_ptr<Nccl> nccl)
    : device_(device),
      nccl_(std::move(nccl)),
      stream_(device),
      arrived_(device, /*timed=*/false),
      passed_(device, /*timed=*/false) {}

NcclPeers::~NcclPeers() {
  Abort();
  EndAborting(kFarewell);
}

void NcclPeers::EndAborting(Clock::Duration patience) {
  if (!aborting_.joinable()) return;
  if (AbortIsDone(patience)) {
    aborting_.join();
  } else {
    aborting_.detach();
  }
}

std::string NcclPeers::name() const { return "NCCL " + LibraryVersion(nccl_->version()); }

absl::Status NcclPeers::Check(const std::string& what, absl::Status status) const {
  return Annotate(status, "GPU " + std::to_string(device_.info().index) + " (" +
                              device_.info().name + "): " + what);
}

absl::Status NcclPeers::Check(const std::string& what, int result) const {
  return Annotate(nccl_->Check(what, result), "GPU " + std::to_string(device_.info().index) + " (" +
                                                  device_.info().name + ")");
}

absl::StatusOr<std::string> NcclPeers::DrawId() {
  NcclId id{};
  RETURN_IF_ERROR(Check("draw an id for the GPUs of all ranks", nccl_->api().GetUniqueId(&id)));
  return std::string(id.internal, sizeof(id.internal));
}

absl::Status NcclPeers::Form(const Ranks& ranks) {
  CHECK(comm_ == nullptr) << "a group before the last was aborted";
  NcclId id{};
  if (ranks.id.size() != sizeof(id.internal)) {
    return absl::InvalidArgumentError("form a group of GPUs: an id of " +
                                      std::to_string(ranks.id.size()) + " bytes is none of NCCL's");
  }
  std::memcpy(id.internal, ranks.id.data(), sizeof(id.internal));
  RETURN_IF_ERROR(Check("form a group", stream_.Enter()));
  NcclConfig config;
  config.blocking = 0;
  stage_ = Stage::kForms;
  settles_ = false;
  return Check("become rank " + std::to_string(ranks.rank) + " of " + std::to_string(ranks.ranks),
               nccl_->api().CommInitRankConfig(&comm_, ranks.ranks, id, ranks.rank, &config));
}

absl::Status NcclPeers::Launch(const TensorRef& values, bool narrow) {
  CHECK(comm_ != nullptr && stage_ == Stage::kReady) << "a mean before the last has ended";
  values_ = values;
  is_narrow_ = narrow;
  RETURN_IF_ERROR(Check("launch a mean", stream_.Enter()));
  if (narrow) {
    RETURN_IF_ERROR(Check("launch a mean", Narrow()));
  }
  RETURN_IF_ERROR(Check("launch a mean", stream_.Record(arrived_)));
  void* const data = narrow ? narrow_.data() : values.data();
  RETURN_IF_ERROR(Check("launch a mean",
                        nccl_->api().AllReduce(data, data, values.count(),
                                               narrow ? kNcclBFloat16 : kNcclFloat32, kNcclAvg,
                                               comm_, stream_.handle())));
  stage_ = Stage::kBegun;
  settles_ = true;
  return absl::OkStatus();
}

absl::Status NcclPeers::Narrow() {
  const size_t bytes = values_.count() * sizeof(uint16_t);
  const bool is_first = narrow_.bytes() < bytes;
  if (is_first) {
    ASSIGN_OR_RETURN(narrow_, device_.Allocate(bytes, MemoryKind::kDevice));
  }
  const auto* const from = static_cast<const float*>(values_.data());
  auto* const to = reinterpret_cast<uint16_t*>(narrow_.data());
  const auto count = static_cast<int64_t>(values_.count());
  const NarrowParams params{.arrays = {{.from = from, .to = to, .count = count}},
                            .by_fours = ByFours({from, to})};
  RETURN_IF_ERROR(
      stream_.LaunchFunction(kNarrowKernel.index, ForElements(count, kEach), &params));
  // A driver may load a kernel at its first launch, and wait for the device meanwhile: not behind a
  // sum, which waits for others.
  return is_first ? Widen() : absl::OkStatus();
}

absl::Status NcclPeers::Widen() {
  const auto* const from = reinterpret_cast<const uint16_t*>(narrow_.data());
  auto* const to = static_cast<float*>(values_.data());
  const auto count = static_cast<int64_t>(values_.count());
  const WidenParams params{
      .from = from, .to = to, .count = count, .by_fours = ByFours({from, to})};
  return stream_.LaunchFunction(kWidenKernel.index, ForElements(count, kEach), &params);
}

absl::StatusOr<bool> NcclPeers::Settled(const std::string& what) {
  int state = kNcclInProgress;
  RETURN_IF_ERROR(Check(what, nccl_->api().CommGetAsyncError(comm_, &state)));
  RETURN_IF_ERROR(Check(what, state));
  return state != kNcclInProgress;
}

absl::StatusOr<DeviceGroup::Stage> NcclPeers::Look() {
  if (comm_ == nullptr) {
    return absl::FailedPreconditionError("look at a group of GPUs: it was left");
  }
  switch (stage_) {
    case Stage::kForms: {
      ASSIGN_OR_RETURN(const bool settled, Settled("become a rank"));
      if (settled) stage_ = Stage::kReady;
      return stage_;
    }
    case Stage::kReady: return stage_;
    case Stage::kBegun:
    case Stage::kWaits: break;
  }
  return LookAtMean();
}

absl::StatusOr<DeviceGroup::Stage> NcclPeers::LookAtMean() {
  constexpr char kWhat[] = "compute a mean";
  ASSIGN_OR_RETURN(const bool settled, Settled(kWhat));
  if (settled && std::exchange(settles_, false)) {
    RETURN_IF_ERROR(Check(kWhat, stream_.Enter()));
    if (is_narrow_) {
      RETURN_IF_ERROR(Check(kWhat, Widen()));
    }
    RETURN_IF_ERROR(Check(kWhat, stream_.Record(passed_)));
  }
  if (stage_ == Stage::kBegun) {
    const absl::StatusOr<bool> arrived = arrived_.HasPassed();
    RETURN_IF_ERROR(Check(kWhat, arrived.status()));
    if (*arrived) stage_ = Stage::kWaits;
  }
  if (settles_) return stage_;
  const absl::StatusOr<bool> passed = passed_.HasPassed();
  RETURN_IF_ERROR(Check(kWhat, passed.status()));
  if (!*passed) return stage_;
  // What went wrong is said before it ends what waits.
  RETURN_IF_ERROR(Settled(kWhat).status());
  stage_ = Stage::kReady;
  return stage_;
}

void NcclPeers::Abort() {
  if (comm_ == nullptr) return;
  EndAborting(Clock::Duration(0));
  abortion_ = std::make_shared<Abortion>();
  aborting_ = std::thread([abortion = abortion_, comm = std::exchange(comm_, nullptr),
                           abort = nccl_->api().CommAbort] {
    abort(comm);
    const std::lock_guard lock(abortion->mutex);
    abortion->done = true;
    abortion->changed.notify_all();
  });
}

bool NcclPeers::AbortIsDone(Clock::Duration patience) {
  std::unique_lock lock(abortion_->mutex);
  return abortion_->changed.wait_for(lock, patience, [this] { return abortion_->done; });
}

bool NcclPeers::Ended(Clock::Duration patience) {
  const Clock::Time until = clock_.Now() + patience;
  // One that hangs is left behind. But while a mean is not in the stream yet it may still come
  // there.
  const bool aborted = abortion_ == nullptr || AbortIsDone(settles_ ? patience : patience / 2);
  if (!aborted && settles_) return false;
  // Behind all that was launched. A device that fails computes nothing any more.
  if (!stream_.Enter().ok() || !stream_.Record(passed_).ok()) return true;
  for (;;) {
    const absl::StatusOr<bool> passed = passed_.HasPassed();
    if (!passed.ok() || *passed) return true;
    if (clock_.Now() >= until) return false;
    clock_.SleepUntil(clock_.Now() + kLook);
  }
}

}  // namespace taas::cuda
