// Virtual time: what is to happen when, one after the other in one thread. What falls on one moment
// comes in an order that the seed decides.
//
// Ownership: borrows the random numbers. Threads: one. Errors: none.
//
//   events.In(5ms, [&] { … });
//   while (events.RunNext()) {}

#ifndef TRAINER_RING_TESTING_EVENTS_H_
#define TRAINER_RING_TESTING_EVENTS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/random.h"

namespace taas::sim {

class Events {
 public:
  explicit Events(Random& random) : random_(random) {}

  Clock::Time now() const { return now_; }
  uint64_t ran() const { return ran_; }

  void At(Clock::Time when, std::function<void()> what) {
    if (ended_) return;
    events_.push_back({std::max(when, now_), random_.Next(), std::move(what)});
    std::push_heap(events_.begin(), events_.end(), Later);
  }
  void In(Clock::Duration delay, std::function<void()> what) { At(now_ + delay, std::move(what)); }

  // False if nothing is to happen any more.
  bool RunNext() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end(), Later);
    const Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.when;
    ++ran_;
    event.what();
    return true;
  }
  // What was to happen does not, nor what follows from that.
  void End() {
    ended_ = true;
    events_.clear();
  }

 private:
  struct Event {
    Clock::Time when;
    uint64_t order;
    std::function<void()> what;
  };
  static bool Later(const Event& a, const Event& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }

  Random& random_;
  Clock::Time now_{};
  uint64_t ran_ = 0;
  bool ended_ = false;
  std::vector<Event> events_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_EVENTS_H_
