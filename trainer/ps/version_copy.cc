#include "trainer/ps/version_copy.h"

#include <algorithm>

#include "trainer/loops/loops.h"

namespace taas::ps {

VersionCopy::VersionCopy(std::span<const float> from, std::span<float> to, size_t arrays)
    : from_(from),
      to_(to),
      elements_(from.size() / arrays),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void VersionCopy::Await(size_t end) const {
  for (size_t copied = copied_; copied < end; copied = copied_) copied_.wait(copied);
}

void VersionCopy::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void VersionCopy::Run(const std::stop_token& stop) {
  for (size_t at = 0; at < elements_ && !stop.stop_requested();) {
    const size_t count = std::min(kSlice, elements_ - at);
    for (size_t place = at; place < from_.size(); place += elements_) {
      BestLoops().copy_past_caches(&from_[place], &to_[place], static_cast<int64_t>(count));
    }
    FinishPastCaches();
    at += count;
    copied_ = at;
    copied_.notify_all();
  }
  copied_ = elements_;
  copied_.notify_all();
}

}  // namespace taas::ps
