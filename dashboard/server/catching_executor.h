// An Executor whose tasks may throw: what one throws is logged, and the next one runs.
//
// What a request, an object of the cluster or a file can make a library throw must not end the
// process for all others. A request that is given up so is answered all the same, since nobody is
// left who could (web_server.h); a stream gets an executor of its own and ends itself in `thrown`.
//
// Ownership: the inner one outlives it; tasks may run after it has gone, `thrown` is not called
// then. Threads: as the inner one; `thrown` runs where the task did. Errors: none.
//
//   CatchingExecutor executor(thread, "a page's stream", [this] { Fail(); });
//   executor.Post([this] { MayThrow(); });

#ifndef DASHBOARD_SERVER_CATCHING_EXECUTOR_H_
#define DASHBOARD_SERVER_CATCHING_EXECUTOR_H_

#include <functional>
#include <memory>
#include <string>

#include "operator/base/executor.h"

namespace taas::dashboard {

// False: it threw, and that was logged: "`what` failed".
bool RunCaught(const std::string& what, const std::function<void()>& run);

class CatchingExecutor : public Executor {
 public:
  CatchingExecutor(Executor& inner, std::string what, std::function<void()> thrown = nullptr);

  void Post(Task task) override;
  TimerId PostAfter(Clock::Duration delay, Task task) override;
  bool Cancel(TimerId id) override { return inner_.Cancel(id); }
  const Clock& clock() const override { return inner_.clock(); }

 private:
  Task Caught(Task task) const;

  Executor& inner_;
  const std::shared_ptr<const std::string> what_;
  const std::shared_ptr<const std::function<void()>> thrown_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_CATCHING_EXECUTOR_H_
