#include "dashboard/http/unsent_budget.h"

#include <algorithm>
#include <utility>

namespace taas::dashboard {

uint64_t UnsentBudget::Open(Close close) {
  std::lock_guard lock(mutex_);
  streams_[next_].close = std::move(close);
  return next_++;
}

bool UnsentBudget::Add(uint64_t stream, const SharedText& text) {
  std::vector<Close> over;
  bool open = false;
  {
    std::lock_guard lock(mutex_);
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return false;
    found->second.texts.push_back(text);
    found->second.bytes += text->size();
    if (++waiting_[text.get()] == 1) bytes_ += text->size();
    if (found->second.bytes > limits_.of_one) over.push_back(Take(found));
    while (bytes_ > limits_.of_all && !streams_.empty()) {
      over.push_back(Take(std::ranges::max_element(streams_, {}, [](const auto& entry) {
        return entry.second.bytes;
      })));
    }
    open = streams_.count(stream) > 0;
  }
  for (const Close& close : over) close();
  return open;
}

void UnsentBudget::Sent(uint64_t stream, size_t texts) {
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  for (; texts > 0 && !found->second.texts.empty(); --texts) {
    found->second.bytes -= found->second.texts.front()->size();
    Release(found->second.texts.front());
    found->second.texts.pop_front();
  }
}

void UnsentBudget::End(uint64_t stream) {
  std::lock_guard lock(mutex_);
  if (const auto found = streams_.find(stream); found != streams_.end()) Take(found);
}

size_t UnsentBudget::unsent(uint64_t stream) const {
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.bytes;
}

size_t UnsentBudget::unsent_of_all() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// Under the mutex.
void UnsentBudget::Release(const SharedText& text) {
  const auto found = waiting_.find(text.get());
  if (--found->second > 0) return;
  bytes_ -= text->size();
  waiting_.erase(found);
}

// Under the mutex: what is to be called when it is free.
UnsentBudget::Close UnsentBudget::Take(Streams::iterator stream) {
  for (const SharedText& text : stream->second.texts) Release(text);
  Close close = std::move(stream->second.close);
  streams_.erase(stream);
  return close;
}

}  // namespace taas::dashboard
