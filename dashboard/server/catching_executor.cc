#include "dashboard/server/catching_executor.h"

#include <exception>
#include <utility>

#include "operator/base/log.h"

namespace taas::dashboard {

bool RunCaught(const std::string& what, const std::function<void()>& run) {
  try {
    run();
    return true;
  } catch (const std::exception& error) {
    Log(LogLevel::kError, what + " failed", {{"why", error.what()}});
    return false;
  }
}

CatchingExecutor::CatchingExecutor(Executor& inner, std::string what,
                                   std::function<void()> thrown)
    : inner_(inner),
      what_(std::make_shared<const std::string>(std::move(what))),
      thrown_(std::make_shared<const std::function<void()>>(std::move(thrown))) {}

void CatchingExecutor::Post(Task task) { inner_.Post(Caught(std::move(task))); }

Executor::TimerId CatchingExecutor::PostAfter(Clock::Duration delay, Task task) {
  return inner_.PostAfter(delay, Caught(std::move(task)));
}

Executor::Task CatchingExecutor::Caught(Task task) const {
  return [task = std::move(task), what = what_, thrown = std::weak_ptr(thrown_)] {
    if (RunCaught(*what, task)) return;
    const auto call = thrown.lock();
    if (call != nullptr && *call != nullptr) RunCaught(*what, *call);
  };
}

}  // namespace taas::dashboard
