#include "trainer/strategy/background_saver.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

// Parts in which a model is copied: copying one takes about a millisecond, and so long may one
// thread wait for the other's last part.
constexpr size_t kChunkFloats = size_t{1} << 20;
// Between two looks whether it is time to say that the job lives; the store knows when it is.
constexpr std::chrono::seconds kLookAlive{1};

}  // namespace

BackgroundSaver::BackgroundSaver(const Clock& clock, SnapshotStore& store, Session& session,
                                 const OptimizerSlots& slots)
    : clock_(clock), store_(store), session_(session), slots_(slots) {
  thread_ = std::thread([this] { Run(); });
}

BackgroundSaver::~BackgroundSaver() {
  Detach();
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  store_.pace().Hurry();
  thread_.join();
}

bool BackgroundSaver::busy() const {
  std::lock_guard lock(mutex_);
  return busy_;
}

bool BackgroundSaver::WaitFor(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  if (busy_ && clock_.Now() - begun_ > patience) return false;
  return changed_.wait_for(lock, patience, [this] { return !busy_; });
}

void BackgroundSaver::Wait() const {
  store_.pace().Hurry();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
}

void BackgroundSaver::Begin(int64_t step, const ps::CommittedSet& committed) {
  std::unique_lock lock(mutex_);
  CHECK(!busy_) << "one save at a time";
  changed_.wait(lock, [this] { return made_; });
  buffer_.step = step;
  buffer_.committed = committed;
  chunks_.clear();
  for (size_t i = 0; i < session_.variables().size(); ++i) {
    const std::span<const float> values = session_.variable(i);
    if (session_.variables()[i].trainable) {
      AddChunks(values, buffer_.values[i]);
    } else {
      // Such as moving moments: small, and a forward run changes them.
      std::ranges::copy(values, buffer_.values[i].begin());
    }
  }
  for (size_t slot = 0; slot < slots_.values().size(); ++slot) {
    for (size_t i = 0; i < slots_.values()[slot].size(); ++i) {
      AddChunks(slots_.values()[slot][i], buffer_.slots[slot][i]);
    }
  }
  held_ = {};
  copied_ = 0;
  next_ = 0;
  attached_ = true;
  busy_ = true;
  store_.pace().Limit();
  begun_ = clock_.Now();
  changed_.notify_all();
}

void BackgroundSaver::Detach() {
  if (!std::exchange(attached_, false)) return;
  const Clock::Time start = clock_.Now();
  CopyChunks();
  std::lock_guard lock(mutex_);
  held_ = clock_.Now() - start;
}

std::optional<BackgroundSaver::Result> BackgroundSaver::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(result_, std::nullopt);
}

absl::Status BackgroundSaver::TakeKeepAlive() {
  std::lock_guard lock(mutex_);
  return std::exchange(keep_alive_, absl::OkStatus());
}

void BackgroundSaver::AddChunks(std::span<const float> from, std::vector<float>& to) {
  for (size_t at = 0; at < from.size(); at += kChunkFloats) {
    chunks_.push_back(
        {from.data() + at, to.data() + at, std::min(kChunkFloats, from.size() - at)});
  }
}

void BackgroundSaver::CopyChunks() {
  for (size_t i = next_++; i < chunks_.size(); i = next_++) {
    // Past the caches, which are the step's.
    BestLoops().copy_past_caches(chunks_[i].from, chunks_[i].to,
                                 static_cast<int64_t>(chunks_[i].count));
    FinishPastCaches();
    ++copied_;
    copied_.notify_all();
  }
  // The other thread's last one.
  for (size_t done = copied_; done < chunks_.size(); done = copied_) copied_.wait(done);
}

void BackgroundSaver::MakeBuffer() {
  for (const VariableInfo& variable : session_.variables()) {
    buffer_.values.emplace_back(variable.count);
  }
  for (const Snapshot::Tensors& slot : slots_.values()) {
    Snapshot::Tensors& buffer = buffer_.slots.emplace_back();
    for (const std::vector<float>& values : slot) buffer.emplace_back(values.size());
  }
  std::lock_guard lock(mutex_);
  made_ = true;
  changed_.notify_all();
}

void BackgroundSaver::Run() {
  MakeBuffer();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, kLookAlive, [this] { return busy_ || closing_; });
    if (!busy_ && closing_) return;
    const bool saves = busy_;
    lock.unlock();
    if (saves) CopyChunks();
    const absl::Status status = saves ? store_.Save(buffer_) : store_.KeepAlive();
    lock.lock();
    if (saves) {
      result_ = Result{buffer_.step, status, clock_.Now() - begun_, held_};
      busy_ = false;
      changed_.notify_all();
    } else if (!status.ok()) {
      keep_alive_ = status;
    }
  }
}

}  // namespace taas
