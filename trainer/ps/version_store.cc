#include "trainer/ps/version_store.h"

#include <algorithm>

namespace taas::ps {

VersionStore::Version::Version(size_t count, std::vector<float> initial) {
  const size_t bytes = count * sizeof(float);
  if (bytes >= comm::kSharedBytesMin && bytes <= comm::kSharedBytesMax) {
    auto made = comm::SharedArea::Make(bytes);
    if (made.ok()) area = *std::move(made);
  }
  if (area.size() == 0) {
    own = std::move(initial);
    own.resize(count);
    values = own;
    return;
  }
  values = std::span(reinterpret_cast<float*>(area.data()), count);
  std::ranges::copy(initial, values.begin());
}

VersionStore::VersionStore(std::vector<float> values, int64_t step) {
  versions_.push_back(std::make_unique<Version>(values.size(), std::move(values)));
  current_ = versions_.back().get();
  current_->step = step;
}

bool VersionStore::Reader::alone() const {
  std::lock_guard lock(store_->mutex_);
  return version_->readers == 1;
}

VersionStore::Reader VersionStore::Reader::Another() const {
  std::lock_guard lock(store_->mutex_);
  ++version_->readers;
  return Reader(store_, version_);
}

void VersionStore::Reader::Release() {
  if (store_ == nullptr) return;
  std::lock_guard lock(store_->mutex_);
  --version_->readers;
  store_ = nullptr;
}

VersionStore::Reader VersionStore::Hold() {
  std::lock_guard lock(mutex_);
  ++current_->readers;
  return Reader(this, current_);
}

void VersionStore::Update(
    int64_t step, const std::function<void(std::span<const float>, std::span<float>)>& update) {
  Version* source;
  Version* target;
  bool in_place;
  {
    std::lock_guard lock(mutex_);
    source = current_;
    in_place = source->readers == 0;
    if (in_place) {
      // Nobody may take hold of values that are half updated: Hold waits for the end of this block.
      update(source->values, source->values);
      source->step = step;
      return;
    }
    target = FindSpare();
    if (target == nullptr) {
      versions_.push_back(std::make_unique<Version>(source->values.size()));
      target = versions_.back().get();
    }
  }
  // `target` is nobody's until it is current.
  update(source->values, target->values);
  std::lock_guard lock(mutex_);
  target->step = step;
  current_ = target;
}

void VersionStore::Reserve() {
  std::lock_guard lock(mutex_);
  if (versions_.size() > 1) return;
  versions_.push_back(std::make_unique<Version>(current_->values.size()));
  std::ranges::copy(current_->values, versions_.back()->values.begin());
  versions_.back()->step = current_->step;
}

VersionStore::Version* VersionStore::FindSpare() const {
  Version* found = nullptr;
  for (const auto& version : versions_) {
    if (version.get() == current_ || version->readers > 0) continue;
    if (found == nullptr || version->step > found->step) found = version.get();
  }
  return found;
}

VersionStore::Spare VersionStore::spare() {
  std::lock_guard lock(mutex_);
  const Version* const found = FindSpare();
  return {current_->values, found == nullptr ? std::span<float>() : found->values};
}

std::optional<VersionStore::HeldSpare> VersionStore::HoldSpare() {
  std::lock_guard lock(mutex_);
  Version* const spare = FindSpare();
  if (spare == nullptr) return std::nullopt;
  spare->step = current_->step;
  ++spare->readers;
  return HeldSpare{current_->values, spare->values, Reader(this, spare)};
}

size_t VersionStore::buffers() const {
  std::lock_guard lock(mutex_);
  return versions_.size();
}

}  // namespace taas::ps
