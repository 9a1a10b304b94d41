#include "trainer/cuda/nccl_collective.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/report.h"

namespace taas::cuda {
namespace {

// Between two looks of the watch; a small part of what is noticed by it.
constexpr std::chrono::milliseconds kLook{100};
// Between two looks at a call that goes on: some tens of microseconds are what one takes.
constexpr std::chrono::microseconds kSettle{50};

std::string SecondsOf(Clock::Duration duration) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  return milliseconds.count() % 1'000 == 0 ? std::to_string(milliseconds.count() / 1'000) + " s"
                                           : std::to_string(milliseconds.count()) + " ms";
}

}  // namespace

absl::StatusOr<std::unique_ptr<NcclCollective>> NcclCollective::Start(
    std::vector<CudaDevice*> devices, Options options) {
  std::unique_ptr<NcclCollective> collective(
      new NcclCollective(std::move(devices), std::move(options)));
  ASSIGN_OR_RETURN(collective->nccl_, Nccl::Load(collective->options_.library));
  const absl::Status made = collective->MakeRanks();
  if (!made.ok()) {
    collective->AbortRanks();
    return MachineFault(made);
  }
  NcclCollective* const watched = collective.get();
  collective->watch_ = std::thread([watched] { watched->Watch(); });
  return collective;
}

NcclCollective::NcclCollective(std::vector<CudaDevice*> devices, Options options)
    : options_(std::move(options)) {
  for (CudaDevice* const device : devices) ranks_.push_back(std::make_unique<Rank>(*device));
}

absl::Status NcclCollective::MakeRanks() {
  for (const auto& rank : ranks_) RETURN_IF_ERROR(MakeWords(*rank));
  const NcclApi& api = nccl_->api();
  NcclId id{};
  RETURN_IF_ERROR(nccl_->Check("draw an id for the GPUs of this process", api.GetUniqueId(&id)));
  RETURN_IF_ERROR(nccl_->Check("begin a group", api.GroupStart()));
  absl::Status made;
  for (size_t i = 0; i < ranks_.size() && made.ok(); ++i) {
    Rank& rank = *ranks_[i];
    NcclConfig config;
    config.blocking = 0;
    made = rank.device.Enter();
    if (!made.ok()) break;
    made = Check(rank, "make a rank",
                 api.CommInitRankConfig(&rank.comm, ranks(), id, static_cast<int>(i), &config));
  }
  // Also after an error, of which it lets go what the group has made.
  const absl::Status ended = nccl_->Check("make the ranks", api.GroupEnd());
  RETURN_IF_ERROR(made);
  RETURN_IF_ERROR(ended);
  for (const auto& rank : ranks_) {
    const std::lock_guard lock(rank->mutex);
    RETURN_IF_ERROR(Settle(*rank, "make a rank", options_.start));
  }
  return absl::OkStatus();
}

absl::Status NcclCollective::MakeWords(Rank& rank) {
  ASSIGN_OR_RETURN(rank.words, rank.device.Allocate(sizeof(Words), MemoryKind::kPinned));
  ASSIGN_OR_RETURN(rank.arrived, rank.device.Allocate(sizeof(int64_t), MemoryKind::kDevice));
  return absl::OkStatus();
}

NcclCollective::~NcclCollective() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (watch_.joinable()) watch_.join();
  if (nccl_ == nullptr) return;
  const NcclApi& api = nccl_->api();
  absl::Status ended = failure();
  // Each flushes what it has, for which it may need the others.
  for (const auto& rank : ranks_) {
    const std::lock_guard lock(rank->mutex);
    if (ended.ok() && rank->comm != nullptr) {
      ended = Check(*rank, "end a rank", api.CommFinalize(rank->comm));
    }
  }
  for (const auto& rank : ranks_) {
    const std::lock_guard lock(rank->mutex);
    if (!ended.ok() || rank->comm == nullptr) continue;
    ended = Settle(*rank, "end a rank", options_.start);
    if (ended.ok()) ended = Check(*rank, "let go of a rank", api.CommDestroy(rank->comm));
    if (ended.ok()) rank->comm = nullptr;
  }
  if (!ended.ok() && !failed_) {
    Log(LogLevel::kWarning, "the ranks of NCCL are aborted", {{"why", ended.ToString()}});
  }
  AbortRanks();
}

std::string NcclCollective::NameOf(const Rank& rank) {
  const DeviceInfo& info = rank.device.info();
  return "GPU " + std::to_string(info.index) + " (" + info.name + ")";
}

absl::Status NcclCollective::Check(const Rank& rank, const std::string& what, int result) const {
  return Annotate(nccl_->Check(what, result), NameOf(rank));
}

absl::Status NcclCollective::Settle(Rank& rank, const std::string& what,
                                    Clock::Duration patience) {
  const Clock::Time until = clock_.Now() + patience;
  for (;;) {
    int state = kNcclInProgress;
    RETURN_IF_ERROR(Check(rank, what, nccl_->api().CommGetAsyncError(rank.comm, &state)));
    if (state != kNcclInProgress) return Check(rank, what, state);
    if (failed_) return failure();
    if (clock_.Now() >= until) {
      return absl::UnavailableError(NameOf(rank) + ": NCCL: " + what +
                                    ": it has not ended within " + SecondsOf(patience) +
                                    "; NCCL_DEBUG=INFO in the environment makes NCCL say more");
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSettle);
  }
}

absl::Status NcclCollective::Launch(int number, const Exchange& exchange, Stream& stream) {
  Rank& rank = *ranks_[static_cast<size_t>(number)];
  const std::lock_guard lock(rank.mutex);
  RETURN_IF_ERROR(failure());
  Words* const words = reinterpret_cast<Words*>(rank.words.data());
  const CountParams count{.count = reinterpret_cast<int64_t*>(rank.arrived.data())};
  auto& gpu = static_cast<CudaStream&>(stream);
  RETURN_IF_ERROR(gpu.Enter());
  RETURN_IF_ERROR(gpu.LaunchFunction(kCountKernel.index, {.threads = 1}, &count));
  RETURN_IF_ERROR(stream.Copy(&words->arrived, count.count, sizeof(int64_t)));
  RETURN_IF_ERROR(LaunchGroup(rank, exchange, stream));
  return stream.Copy(&words->passed, count.count, sizeof(int64_t));
}

absl::Status NcclCollective::LaunchGroup(Rank& rank, const Exchange& exchange, Stream& stream) {
  const NcclApi& api = nccl_->api();
  const CuStream handle = static_cast<CudaStream&>(stream).handle();
  RETURN_IF_ERROR(Check(rank, "begin a group", api.GroupStart()));
  absl::Status added;
  for (const TensorRef& tensor : exchange.means) {
    if (!added.ok()) break;
    added = Check(rank, "average", api.AllReduce(tensor.data(), tensor.data(), tensor.count(),
                                                 kNcclFloat32, kNcclAvg, rank.comm, handle));
  }
  for (const TensorRef& tensor : exchange.firsts) {
    if (!added.ok()) break;
    added = Check(rank, "send to all",
                  api.Broadcast(tensor.data(), tensor.data(), tensor.count(), kNcclFloat32,
                                /*root=*/0, rank.comm, handle));
  }
  const absl::Status ended = Check(rank, "launch a mean", api.GroupEnd());
  RETURN_IF_ERROR(added);
  RETURN_IF_ERROR(ended);
  return Settle(rank, "launch a mean", options_.arrival);
}

NcclCollective::Words NcclCollective::Rank::Read() const {
  Words& its = *reinterpret_cast<Words*>(words.data());
  return {.arrived = std::atomic_ref(its.arrived).load(),
          .passed = std::atomic_ref(its.passed).load()};
}

RankPosition NcclCollective::Rank::position() const {
  using Stage = RankPosition::Stage;
  const auto [arrived, passed] = Read();
  if (passed < arrived) return {.round = arrived, .stage = Stage::kWaits};
  // Whether it is still in the round before, or in this one, it has not come to its mean.
  if (arrived < begun) return {.round = arrived + 1, .stage = Stage::kBegun};
  return {.round = arrived, .stage = ended < begun ? Stage::kPassed : Stage::kEnded};
}

void NcclCollective::Begin(int number) {
  const std::lock_guard lock(mutex_);
  ++ranks_[static_cast<size_t>(number)]->begun;
}

absl::Status NcclCollective::End(int number, absl::Status ended, int64_t under_way) {
  Rank& rank = *ranks_[static_cast<size_t>(number)];
  if (IsMachineFault(ended) && !failed_) ended = Annotate(ended, NameOf(rank));
  std::unique_lock lock(mutex_);
  rank.ended = rank.begun - under_way;
  const bool came = rank.Read().passed >= rank.ended;
  lock.unlock();
  // What was wrong with the data is found by a run that has come to its end.
  if (!ended.ok() && !came) Fail(ended);
  lock.lock();
  changed_.notify_all();
  return failure_.ok() ? ended : failure_;
}

void NcclCollective::Fail(absl::Status why) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = MachineFault(std::move(why));
    failed_ = true;
  }
  changed_.notify_all();
}

absl::Status NcclCollective::failure() const {
  if (!failed_) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  return failure_;
}

void NcclCollective::Watch() {
  Stragglers stragglers(ranks_.size(), options_.arrival);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kLook, [this] { return closing_ || failed_; });
      if (closing_ && !failed_) return;
    }
    if (!failed_) {
      if (absl::Status found = Look(&stragglers); !found.ok()) Fail(std::move(found));
    }
    if (!failed_) continue;
    Abort();
    return;
  }
}

absl::Status NcclCollective::Look(Stragglers* stragglers) {
  for (const auto& rank : ranks_) {
    // One whose thread is with it looks by itself.
    const std::unique_lock lock(rank->mutex, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    int state = kNcclSuccess;
    RETURN_IF_ERROR(Check(*rank, "look at a rank",
                          nccl_->api().CommGetAsyncError(rank->comm, &state)));
    RETURN_IF_ERROR(Check(*rank, "compute a mean", state));
  }
  const std::lock_guard lock(mutex_);
  std::vector<RankPosition> positions;
  for (const auto& rank : ranks_) positions.push_back(rank->position());
  const std::optional<Stragglers::Found> found = stragglers->Look(positions, clock_.Now());
  return found ? TooLate(*found) : absl::OkStatus();
}

absl::Status NcclCollective::TooLate(const Stragglers::Found& found) const {
  const auto names = [this](const std::vector<size_t>& numbers) {
    std::string text;
    for (const size_t number : numbers) {
      const Rank& rank = *ranks_[number];
      text += (text.empty() ? "" : ", ") + NameOf(rank) + ", " + rank.device.info().id;
    }
    return text;
  };
  const std::string patience = SecondsOf(options_.arrival);
  if (found.stage == RankPosition::Stage::kWaits) {
    const bool all = found.behind.empty();
    return absl::UnavailableError(
        "the mean of the gradients has not ended within " + patience + " on " +
        names(all ? found.ahead : found.behind) +
        ", though all have come to it: what connects them does not work (NCCL_DEBUG=INFO makes "
        "NCCL say more)");
  }
  const bool passed = found.stage == RankPosition::Stage::kPassed;
  return absl::UnavailableError(
      names(found.behind) + (passed ? ", did not end its step" :
                                      ", did not come to the mean of the gradients") +
      " within " + patience + " of " + names(found.ahead) +
      ": it hangs, or is broken; take it out of service");
}

void NcclCollective::Abort() {
  // By another thread: some releases have hung in it.
  std::thread aborter([this] {
    AbortRanks();
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const bool ended = changed_.wait_for(lock, options_.abort, [this] {
    return aborted_ && std::ranges::all_of(ranks_, [](const auto& rank) {
             return rank->ended == rank->begun;
           });
  });
  const absl::Status why = failure_;
  lock.unlock();
  if (!ended) options_.stuck(why);
  aborter.join();
}

void NcclCollective::AbortRanks() {
  for (const auto& rank : ranks_) {
    // A thread that is with it sees that it is over, and goes.
    const std::lock_guard lock(rank->mutex);
    if (rank->comm != nullptr) nccl_->api().CommAbort(rank->comm);
    rank->comm = nullptr;
  }
}

}  // namespace taas::cuda
