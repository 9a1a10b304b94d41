#include "trainer/cut/background_saver.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

// Parts in which a model is copied: copying one takes about a millisecond, and so long may one
// thread wait for the other's last part.
constexpr size_t kPartFloats = size_t{1} << 20;
// Between two looks whether it is time to say that the job lives; the store knows when it is.
constexpr std::chrono::seconds kLookAlive{1};

}  // namespace

BackgroundSaver::BackgroundSaver(const Clock& clock, SnapshotStore& store, const ModelState& model)
    : clock_(clock), store_(store), model_(model) {
  const size_t parts = (model.trained_elements() + kPartFloats - 1) / kPartFloats;
  parts_.resize(parts * (1 + model.slots()));
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

void BackgroundSaver::Begin(int64_t step, const CommittedSet& committed) {
  std::unique_lock lock(mutex_);
  CHECK(!busy_) << "one save at a time";
  changed_.wait(lock, [this] { return made_; });
  step_ = step;
  committed_ = committed;
  // Such as moving moments: small, and a forward run changes them.
  other_values_ = model_.other_values().Read(
      std::span(arenas_[0]).subspan(model_.trained_elements()));
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
  CopyParts();
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

void BackgroundSaver::CopyPart(size_t part) {
  const size_t parts = parts_.size() / arenas_.size();
  const size_t arena = part / parts;
  const TensorRef whole = arena == 0 ? model_.trained_values() : model_.slot(arena - 1);
  const size_t at = part % parts * kPartFloats;
  const size_t count = std::min(kPartFloats, whole.count() - at);
  const TensorRef from = whole.Part(at, count);
  float* const to = arenas_[arena].data() + at;
  if (!from.host_sees()) {
    parts_[part] = from.Read({to, count});
    return;
  }
  // Past the caches, which are the step's.
  BestLoops().copy_past_caches(from.host().data(), to, static_cast<int64_t>(count));
  FinishPastCaches();
}

void BackgroundSaver::CopyParts() {
  for (size_t i = next_++; i < parts_.size(); i = next_++) {
    CopyPart(i);
    ++copied_;
    copied_.notify_all();
  }
  // The other thread's last one.
  for (size_t done = copied_; done < parts_.size(); done = copied_) copied_.wait(done);
}

void BackgroundSaver::MakeBuffer() {
  arenas_.emplace_back(model_.elements());
  for (size_t slot = 0; slot < model_.slots(); ++slot) {
    arenas_.emplace_back(model_.trained_elements());
  }
  std::lock_guard lock(mutex_);
  made_ = true;
  changed_.notify_all();
}

std::span<const float> BackgroundSaver::In(const std::vector<float>& arena,
                                           size_t variable) const {
  return std::span(arena).subspan(model_.at(variable), model_.variables()[variable].count);
}

absl::Status BackgroundSaver::Save() {
  // Not of the disk, which a training goes on without.
  const auto read = [](const absl::Status& status) {
    return status.ok() ? status : absl::InternalError("read the model: " + status.ToString());
  };
  RETURN_IF_ERROR(read(other_values_));
  for (const absl::Status& part : parts_) RETURN_IF_ERROR(read(part));
  SnapshotView view{.values = {}, .slots = {}, .committed = committed_, .step = step_};
  view.slots.resize(model_.slots());
  for (size_t i = 0; i < model_.variables().size(); ++i) {
    view.values.push_back(In(arenas_[0], i));
    for (size_t slot = 0; slot < view.slots.size(); ++slot) {
      const bool kept = model_.variables()[i].trainable;
      view.slots[slot].push_back(kept ? In(arenas_[slot + 1], i) : std::span<const float>());
    }
  }
  return store_.Save(view);
}

void BackgroundSaver::Run() {
  MakeBuffer();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, kLookAlive, [this] { return busy_ || closing_; });
    if (!busy_ && closing_) return;
    const bool saves = busy_;
    lock.unlock();
    if (saves) CopyParts();
    const absl::Status status = saves ? Save() : store_.KeepAlive();
    lock.lock();
    if (saves) {
      result_ = Result{step_, status, clock_.Now() - begun_, held_};
      busy_ = false;
      changed_.notify_all();
    } else if (!status.ok()) {
      keep_alive_ = status;
    }
  }
}

}  // namespace taas
