#include "operator/kube/cpprest_executor.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "operator/base/check.h"
#include "operator/base/task_queue.h"
#include "operator/kube/cpprest_io.h"

namespace taas {
namespace {

// So many tasks, some microseconds each, run before it is the turn of what has arrived meanwhile.
constexpr int kTasksInARow = 16;

}  // namespace

// What outlives the executor as long as the I/O thread has something of it. One Run is on its way
// or at work at a time, however many threads the library has.
class CpprestExecutor::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(const Clock& clock) : clock_(clock), io_(CpprestIo()), timer_(io_) {}

  TimerId PostAfter(Clock::Duration delay, Task task) {
    TaskQueue::Added added;
    {
      std::lock_guard lock(mutex_);
      added = tasks_.Add(clock_.Now(), delay, std::move(task));
      // A Run looks for more at its end.
      if (!added.first || run_posted_) return added.id;
      run_posted_ = true;
    }
    PostRun();
    return added.id;
  }

  bool Cancel(TimerId id) {
    std::optional<Task> dropped;  // Destroyed after the lock.
    std::lock_guard lock(mutex_);
    dropped = tasks_.Remove(id);
    return dropped.has_value();
  }

  void Stop() {
    std::unique_lock lock(mutex_);
    CHECK(running_in_ != std::this_thread::get_id()) << "an executor cannot stop itself";
    stopped_ = true;
    at_rest_.wait(lock, [this] { return running_in_ == std::thread::id(); });
    timer_.cancel();
  }

  // What a task captured may post another when it goes.
  void Drop() {
    for (bool more = true; more;) {
      TaskQueue dropped;  // Destroyed after the lock.
      std::lock_guard lock(mutex_);
      std::swap(dropped, tasks_);
      more = !dropped.empty();
    }
  }

 private:
  void PostRun() {
    boost::asio::post(io_, [self = shared_from_this()] { self->Run(); });
  }

  void Run() {
    std::unique_lock lock(mutex_);
    if (stopped_) return;
    running_in_ = std::this_thread::get_id();
    for (int i = 0; i < kTasksInARow && !stopped_; ++i) {
      std::optional<Task> task = tasks_.TakeDue(clock_.Now());
      if (!task.has_value()) break;
      lock.unlock();
      (*task)();
      task.reset();
      lock.lock();
    }
    running_in_ = {};
    if (stopped_) return at_rest_.notify_all();
    run_posted_ = !tasks_.empty() && tasks_.next_due() <= clock_.Now();
    run_posted_ ? PostRun() : SetTimer();
  }

  // Called with the lock held.
  void SetTimer() {
    if (tasks_.empty() || tasks_.next_due() >= timer_due_) return;
    timer_due_ = tasks_.next_due();
    timer_.expires_after(timer_due_ - clock_.Now());
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->OnTimer();
    });
  }
  void OnTimer() {
    {
      std::lock_guard lock(mutex_);
      timer_due_ = Clock::Time::max();
      if (run_posted_) return;
      run_posted_ = true;
    }
    Run();
  }

  const Clock& clock_;  // Not to be asked by what the executor has left behind.
  boost::asio::io_context& io_;
  std::mutex mutex_;
  std::condition_variable at_rest_;
  TaskQueue tasks_;
  boost::asio::steady_timer timer_;
  Clock::Time timer_due_ = Clock::Time::max();  // Of the wait that is under way.
  bool run_posted_ = false;
  std::thread::id running_in_;  // None while no task runs.
  bool stopped_ = false;
};

CpprestExecutor::CpprestExecutor(const Clock& clock)
    : clock_(clock), state_(std::make_shared<State>(clock)) {}

CpprestExecutor::~CpprestExecutor() {
  Stop();
  state_->Drop();
}

void CpprestExecutor::Stop() { state_->Stop(); }

void CpprestExecutor::Post(Task task) { PostAfter(Clock::Duration::zero(), std::move(task)); }

Executor::TimerId CpprestExecutor::PostAfter(Clock::Duration delay, Task task) {
  return state_->PostAfter(delay, std::move(task));
}

bool CpprestExecutor::Cancel(TimerId id) { return state_->Cancel(id); }

}  // namespace taas
