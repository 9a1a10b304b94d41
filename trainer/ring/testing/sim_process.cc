#include "trainer/ring/testing/sim_process.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "operator/base/check.h"

namespace taas::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// As collective::Meeting has it.
constexpr seconds kMeetPatience{5};

std::vector<size_t> BucketEnds(const JobShape& shape, size_t elements) {
  std::vector<size_t> ends = shape.bucket_ends;
  ends.push_back(elements);
  return ends;
}

}  // namespace

SimProcess::SimProcess(World& world, const Options& options)
    : world_(world),
      host_(options.host),
      pod_(options.pod),
      address_("host-" + std::to_string(options.host) + "." + std::to_string(options.pod) +
               ":2222"),
      rank_(world.shape().max_steps),
      ring_(model_.state(), {.direct_elements_max = world.shape().direct_elements_max,
                             .chunk_elements = world.shape().chunk_elements,
                             .bucket_ends = BucketEnds(world.shape(), model_.dense_elements()),
                             .tables = model_.tables(),
                             .rows = {.saved_min = world.shape().rows_saved_min}}),
      start_(world.random().Next()) {}

std::string SimProcess::name() const {
  return (host_ == 0 ? "chief-0" : "worker-" + std::to_string(host_ - 1)) + " (pod " +
         std::to_string(pod_) + ")";
}

void SimProcess::In(const std::weak_ptr<SimProcess>& weak, const std::function<void()>& what) {
  const auto process = weak.lock();
  if (process == nullptr || process->dead_) return;
  if (process->frozen_until_ > process->world_.events().now()) {
    process->deferred_.push_back(what);
    return;
  }
  what();
}

void SimProcess::At(Clock::Duration delay, Then what) {
  world_.events().In(delay, [weak = weak_from_this(), what = std::move(what)] { In(weak, what); });
}

void SimProcess::Freeze(Clock::Duration duration) {
  frozen_until_ = std::max(frozen_until_, world_.events().now() + duration);
  world_.events().In(duration, [weak = weak_from_this()] {
    const auto process = weak.lock();
    // It may have been frozen again.
    while (process != nullptr && process->frozen_until_ <= process->world_.events().now() &&
           !process->dead_ && !process->deferred_.empty()) {
      const Then what = std::move(process->deferred_.front());
      process->deferred_.pop_front();
      what();
    }
  });
}

void SimProcess::Die() {
  if (dead_) return;
  dead_ = true;
  if (host_ == 0) world_.ledger().OnChiefGone();
  exchange_ = nullptr;
  mover_.reset();
  links_.clear();
  book_ = {};
  held_.clear();
  deferred_.clear();
  when_joined_.clear();
  for (const auto& tell : std::exchange(when_dead_, {})) tell();
}

bool SimProcess::Reaches(Phase phase) {
  world_.Reaches(*this, phase);
  return !dead_;
}

std::string SimProcess::Words() const {
  std::string text = name() + (dead_ ? ", dead" : "") + ", step " +
                     std::to_string(rank_.standing().step) + ", wants " +
                     std::to_string(static_cast<int>(rank_.want())) + ", epoch " +
                     std::to_string(rank_.epoch().number);
  if (joining_) text += ", joins the chief";
  if (done_) text += ", knows of the end";
  if (mover_) text += ", has links";
  if (desk_) text += ": " + desk_->waiting_for();
  return text;
}

void SimProcess::Exit(int code) { world_.Exits(*this, code); }

void SimProcess::Start() {
  model_.Scribble();
  if (!Reaches(Phase::kStarts)) return;
  if (host_ == 0) {
    desk_.emplace(DeskCore::Options{.roster = {.cluster = world_.shape().cluster(),
                                               .job = {"uid", 1},
                                               .config_hash = "config",
                                               .data_identity = "",
                                               .self = {pod_, start_}},
                                    .address = address_,
                                    .min = world_.shape().min,
                                    .max = world_.shape().max,
                                    .max_steps = world_.shape().max_steps});
    Look();
    Proceed();
    return;
  }
  JoinChief([this] {
    if (!Reaches(Phase::kJoined)) return;
    Heartbeat();
    Proceed();
  });
}

void SimProcess::Proceed() {
  while (!dead_) {
    switch (rank_.want()) {
      case RankWant::kModel: BeginModel(); break;
      case RankWant::kEpoch: AskEpoch(); return;
      case RankWant::kEnter: Enter(); return;
      case RankWant::kStep: BeginStep(); return;
      case RankWant::kOutlast:
        if (!Reaches(Phase::kAllMade)) return;
        if (desk_) return Finish();
        if (done_ || watch_.over()) {
          rank_.Outlasted();
          break;
        }
        outlasts_ = true;
        return;
      case RankWant::kNothing:
        if (Reaches(Phase::kDone) && !desk_) Leave();
        return;
    }
  }
}

// The chief's: the last checkpoint, or the seed's.
void SimProcess::BeginModel() {
  if (!desk_) {
    rank_.Begin({});
    return;
  }
  if (const auto& checkpoint = world_.checkpoint()) {
    model_.Restore(checkpoint->bits);
    rank_.Begin(checkpoint->standing);
  } else {
    model_.Initialize();
    rank_.Begin({.step = kUntrained});
  }
  own_ = {.standing = rank_.standing(), .bits = model_.Bits()};
}

void SimProcess::Enter() {
  if (!Reaches(Phase::kTold)) return;
  const Epoch& epoch = rank_.epoch();
  own_.receives = rank_.receives();
  ++entering_;
  mover_.reset();
  links_.clear();
  links_.resize(epoch.addresses.size());
  ring_.Enter(epoch);
  if (const absl::Status open = book_.Open(epoch.number); !open.ok()) return EnterEnds(open);
  At(kMeetPatience, [this, entering = entering_] {
    if (entering == entering_ && !mover_) EnterEnds(absl::UnavailableError("nobody has called"));
  });
  CallRank(0);
}

// One after the other, those before it; then it is called.
void SimProcess::CallRank(int rank) {
  const Epoch& epoch = rank_.epoch();
  if (rank == epoch.rank) return TakeCallers();
  if (!Reaches(Phase::kMeets)) return;
  const auto peer = world_.AtAddress(epoch.addresses[static_cast<size_t>(rank)]);
  CHECK(peer != nullptr) << "an address of nobody";
  Network& network = world_.network();
  const auto back = [weak = weak_from_this(), entering = entering_](Then what) {
    In(weak, [weak, entering, what = std::move(what)] {
      const auto self = weak.lock();
      if (self->entering_ == entering && !self->mover_) what();
    });
  };
  network.Message(host_, peer->host_, [this, self = shared_from_this(), rank, peer, back,
                                       number = epoch.number, own = epoch.rank, &network] {
    const auto refuse = [this, back, peer, &network] {
      network.Message(peer->host_, host_, [this, back] {
        back([this] { EnterEnds(absl::UnavailableError("it is not there, or refuses")); });
      });
    };
    if (peer->dead_) return refuse();
    In(peer, [=, this, &network] {
      if (!peer->book_.Hears(number)) return refuse();
      peer->TakeCallers();
      if (peer->dead_) return;
      const auto wake = [](const std::weak_ptr<SimProcess>& process) {
        return [process] {
          if (const auto living = process.lock()) living->WakeSoon();
        };
      };
      auto [near, far] =
          network.Connect(host_, peer->host_, wake(weak_from_this()), wake(std::weak_ptr(peer)));
      peer->book_.Keep(number, own, std::move(far));
      peer->TakeCallers();
      auto link = std::make_shared<std::unique_ptr<collective::Link>>(std::move(near));
      network.Message(peer->host_, host_, [this, self, back, rank, link] {
        back([this, rank, link] {
          links_[static_cast<size_t>(rank)] = std::move(*link);
          CallRank(rank + 1);
        });
      });
    });
  });
}

// Those who have called while this rank enters the epoch that they called for.
void SimProcess::TakeCallers() {
  if (dead_ || rank_.want() != RankWant::kEnter || mover_ || links_.empty()) return;
  const Epoch& epoch = rank_.epoch();
  if (const absl::Status stands = book_.Stands(epoch.number); !stands.ok()) {
    return EnterEnds(stands);
  }
  for (int rank = 0; rank < epoch.rank; ++rank) {
    if (links_[static_cast<size_t>(rank)] == nullptr) return;
  }
  const auto missing = [&] {
    return std::ranges::count_if(links_, [](const auto& link) { return link == nullptr; }) > 1;
  };
  while (missing()) {
    auto came = book_.Take();
    if (!came) return;
    const auto rank = static_cast<size_t>(came->first);
    if (came->first <= epoch.rank || rank >= links_.size() || links_[rank] != nullptr) {
      return EnterEnds(absl::FailedPreconditionError("a rank calls that cannot"));
    }
    links_[rank] = std::move(came->second);
  }
  if (!Reaches(Phase::kMet)) return;
  if (epoch.number <= over_) return EnterEnds(absl::AbortedError("it is over"));
  mover_.emplace(std::move(links_));
  links_.clear();
  exchange_ = nullptr;
  WakeSoon();
}

void SimProcess::WakeSoon() {
  if (std::exchange(woken_, true)) return;
  At(Clock::Duration(0), [this] {
    woken_ = false;
    Exchange();
  });
}

void SimProcess::Exchange() {
  if (!mover_) return;
  const bool entering = rank_.want() == RankWant::kEnter;
  if (!entering && exchange_ == nullptr) return;  // It computes, and nothing is there.
  for (;;) {
    if (exchange_ == nullptr || exchange_->done()) {
      if (exchange_ != nullptr && PhaseInExchange(entering) == Phase::kInBucket &&
          !Reaches(Phase::kHasBucket)) {
        return;
      }
      const absl::StatusOr<collective::Exchange*> next = ring_.Next();
      if (!next.ok()) return Exchanged(next.status());
      exchange_ = *next;
      if (exchange_ == nullptr && computes_) return;
      if (exchange_ == nullptr) return Exchanged(absl::OkStatus());
      if (!entering && !Reaches(PhaseAtBegin())) return;
    }
    while (!exchange_->done()) {
      if (rank_.epoch().number <= over_) {
        mover_->Fail();
        return Exchanged(absl::AbortedError("aborted"));
      }
      const absl::StatusOr<bool> moved = mover_->Move(*exchange_);
      if (!moved.ok()) return Exchanged(moved.status());
      if (!*moved) return;
      if (!Reaches(PhaseInExchange(entering))) return;
    }
  }
}

Phase SimProcess::PhaseAtBegin() const {
  switch (ring_.vector()) {
    case RingCore::Vector::kBucket: return Phase::kBeginsBucket;
    case RingCore::Vector::kRest: return Phase::kBeginsRest;
    case RingCore::Vector::kRows: return Phase::kBeginsRows;
    case RingCore::Vector::kLast: return Phase::kBeginsGradients;
  }
  return Phase::kPhases;
}

Phase SimProcess::PhaseInExchange(bool entering) const {
  if (entering) return Phase::kGives;
  switch (ring_.vector()) {
    case RingCore::Vector::kBucket: return Phase::kInBucket;
    case RingCore::Vector::kRest: return Phase::kInRest;
    case RingCore::Vector::kRows: return Phase::kInRows;
    case RingCore::Vector::kLast: return Phase::kInGradients;
  }
  return Phase::kPhases;
}

void SimProcess::Exchanged(const absl::Status& status) {
  exchange_ = nullptr;
  if (computes_) {
    // As Ring has it: the step ends once it is computed.
    beside_ = status;
    return;
  }
  if (rank_.want() == RankWant::kEnter) return EnterEnds(status);
  StepEnds(status);
}

void SimProcess::EnterEnds(const absl::Status& status) {
  ++entering_;
  links_.clear();
  if (status.ok()) {
    rank_.Entered();
    world_.ledger().OnEntered(name(), epoch_name_, rank_.epoch(), own_, model_.Bits());
    own_ = {.standing = rank_.standing(), .bits = model_.Bits()};
    if (!Reaches(Phase::kEntered)) return;
  } else {
    world_.Tell(name() + " does not enter epoch " + std::to_string(rank_.epoch().number) + ": " +
                std::string(status.message()));
    rank_.NotEntered(mover_ ? mover_->lost() : std::nullopt);
    world_.ledger().OnNotEntered(name(), own_, model_.Bits());
  }
  Proceed();
}

void SimProcess::BeginStep() {
  turn_ = rank_.Take().value();
  CHECK(ring_.BeginStep(turn_.step).ok()) << "moments of the host";
  exchange_ = nullptr;
  computes_ = true;
  beside_ = absl::OkStatus();
  if (Reaches(Phase::kComputes)) ComputeBucket(0);
}

// One bucket after the other; those that are there are exchanged meanwhile.
void SimProcess::ComputeBucket(size_t bucket) {
  const std::vector<size_t> ends = BucketEnds(world_.shape(), model_.dense_elements());
  At(world_.network().Between(microseconds(300), milliseconds(3)) /
         static_cast<int64_t>(ends.size()),
     [this, bucket, ends] {
       model_.ComputeGradients(turn_.batch, bucket == 0 ? 0 : ends[bucket - 1], ends[bucket]);
       if (bucket + 1 == ends.size()) {
         model_.ComputeTables(turn_.batch);
         model_.ComputeMoments(turn_.batch);
         return BeginMean();
       }
       ring_.BucketsAre(bucket + 1);
       if (beside_.ok() && exchange_ == nullptr) Begin();
       if (!dead_) ComputeBucket(bucket + 1);
     });
}

// What is next of a step, if anything is there.
void SimProcess::Begin() {
  const absl::StatusOr<collective::Exchange*> next = ring_.Next();
  CHECK(next.ok()) << "gradients of the host";
  exchange_ = *next;
  if (exchange_ == nullptr) return;
  if (Reaches(PhaseAtBegin())) Exchange();
}

void SimProcess::BeginMean() {
  computes_ = false;
  if (!beside_.ok()) return Exchanged(beside_);
  CHECK(ring_.BeginMean(1.0F, 0.001F, model_.rows()).ok()) << "moments of the host";
  if (rank_.epoch().number <= over_) {
    mover_->Fail();
    return Exchanged(absl::AbortedError("aborted"));
  }
  if (exchange_ != nullptr) return Exchange();
  Begin();
}

void SimProcess::StepEnds(const absl::Status& status) {
  const absl::StatusOr<float> mean = ring_.EndMean(status);
  model_.SetRows(ring_.tables());
  if (!mean.ok()) {
    const std::optional<int> lost =
        absl::IsAborted(status) || !mover_ ? std::nullopt : mover_->lost();
    rank_.NotMade(lost);
    own_ = {.standing = rank_.standing(), .bits = model_.Bits()};
    return Proceed();
  }
  if (*mean != 1.0F) world_.ledger().Break(name() + " has another mean loss than all had");
  if (!Reaches(Phase::kHasSums)) return;
  model_.Apply(turn_.step, rank_.epoch().ranks());
  rank_.Made();
  own_ = {.standing = rank_.standing(), .bits = model_.Bits()};
  world_.ledger().OnStep(name(), epoch_name_, rank_.epoch(), rank_.standing(), own_.bits);
  const int64_t every = world_.shape().checkpoint_steps;
  if (desk_ && every > 0 && turn_.step % every == 0) {
    world_.checkpoint() = Checkpoint{own_.standing, own_.bits};
  }
  if (Reaches(Phase::kApplied)) Proceed();
}

// As Ring::Abort.
void SimProcess::OnOver(uint32_t epoch) {
  book_.Cancel(epoch);
  over_ = std::max(over_, epoch);
  At(Clock::Duration(0), [this] {
    if (rank_.want() == RankWant::kEnter && !mover_) return TakeCallers();
    Exchange();
  });
}

}  // namespace taas::sim
