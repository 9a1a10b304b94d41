// Calls that end some time later: so many at once, the rest in turn.
//
// A call that never says that it has ended is taken to have after a while, so that one which was
// forgotten does not stop the others.
//
// Ownership: the executor outlives it; calls that wait go with it. Threads: the executor's only.
// Errors: none.
//
//   HistoryCalls queue(executor, {.at_once = 4});
//   queue.Add([&](HistoryCalls::Ended ended) {
//     transport.Do(request, [ended](…) { ended(); });
//   });

#ifndef DASHBOARD_HISTORY_HISTORY_CALLS_H_
#define DASHBOARD_HISTORY_HISTORY_CALLS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "operator/base/executor.h"

namespace taas::dashboard {

class HistoryCalls {
 public:
  struct Options {
    size_t at_once = 4;
    size_t waiting_max = 10'000;
    std::chrono::seconds timeout{60};
  };
  using Ended = std::function<void()>;  // More than once is as once.
  using Call = std::function<void(Ended ended)>;

  HistoryCalls(Executor& executor, Options options);
  ~HistoryCalls();

  // False: too many wait. Never calls inside.
  bool Add(Call call);
  size_t waiting() const { return waiting_.size(); }

 private:
  void Next();
  void End(uint64_t id);

  Executor& executor_;
  const Options options_;
  std::deque<Call> waiting_;
  std::map<uint64_t, Executor::TimerId> running_;  // Their timeouts.
  uint64_t last_id_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_CALLS_H_
