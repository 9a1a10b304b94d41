// A network with virtual time: messages take as long as the seed says and overtake each other, but
// for the bytes of one connection; hosts can be silent to each other for a while; connections break
// on one side first, and end with their processes.
//
// Of a real network's kernel it has what matters here: what is silent for a while comes when it is
// over, and a connection that was silent for 10 s is broken at both ends (trainer/comm/channel.cc
// asks for that).
//
// Ownership: borrows events and random numbers. Threads: one. Errors: links' as link.h says.
//
//   network.Message(0, 2, [&] { … });
//   auto [near, far] = network.Connect(0, 2, wake_near, wake_far);

#ifndef TRAINER_RING_TESTING_NETWORK_H_
#define TRAINER_RING_TESTING_NETWORK_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "trainer/collective/link.h"
#include "trainer/ring/testing/events.h"

namespace taas::sim {

constexpr std::chrono::seconds kSilenceBreaks{10};

class Connection;

class Network {
 public:
  Network(Events& events, Random& random) : events_(events), random_(random) {}

  // What is sent from one host to another is not heard of for so long.
  void Silence(int from, int to, Clock::Duration duration);
  // All silence ends now.
  void Heal() { silent_until_.clear(); }
  // Messages are slow from now on, for so long.
  void Slow(Clock::Duration duration) { slow_until_ = events_.now() + duration; }

  // When a message that is sent now arrives.
  Clock::Time Arrival(int from, int to);
  void Message(int from, int to, std::function<void()> what) {
    events_.At(Arrival(from, to), std::move(what));
  }
  bool Chance(double of) { return random_.Unit() < of; }
  Clock::Duration Between(Clock::Duration least, Clock::Duration most) {
    return least + Clock::Duration(static_cast<int64_t>(
                       random_.Unit() * static_cast<double>((most - least).count())));
  }

  using Ends = std::pair<std::unique_ptr<collective::Link>, std::unique_ptr<collective::Link>>;
  // `wake`: of the end that has news.
  Ends Connect(int host, int other, std::function<void()> wake, std::function<void()> wake_other);
  // One end of a connection of the host is broken at once; the other hears of it when silence
  // would have broken it. False if it has none.
  bool CutOneSided(int host);

  Events& events() { return events_; }

 private:
  Events& events_;
  Random& random_;
  std::map<std::pair<int, int>, Clock::Time> silent_until_;
  Clock::Time slow_until_{};
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_NETWORK_H_
