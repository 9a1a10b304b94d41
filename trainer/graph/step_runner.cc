#include "trainer/graph/step_runner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

StepRunner::StepRunner(Device& device, std::span<const RunnableStep> steps,
                       std::span<const std::vector<MemoryAccess>> accesses, int threads)
    : device_(device),
      steps_(steps),
      programs_pay_(device.prefers_programs() && threads == 1) {
  CHECK(threads >= 1) << threads << " threads";
  for (int thread = 0; thread < threads; ++thread) streams_.push_back(device.MakeStream());
  if (threads == 1) return;
  CHECK(accesses.size() == steps.size()) << accesses.size() << " of " << steps.size();
  train_ = PlanOf(accesses, /*forward=*/false);
  forward_ = PlanOf(accesses, /*forward=*/true);
  waits_.resize(steps.size());
  ready_.reserve(steps.size());
  for (int thread = 1; thread < threads; ++thread) {
    threads_.emplace_back([this, thread] { Serve(thread); });
  }
}

StepRunner::~StepRunner() {
  Forget();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void StepRunner::Forget() {
  // An error of it is told to who waits for the run.
  if (programs_pay_) static_cast<void>(Synchronize());
  programs_ = {};
  has_run_ = {};
}

StepRunner::Plan StepRunner::PlanOf(std::span<const std::vector<MemoryAccess>> accesses,
                                    bool forward) const {
  Plan plan;
  std::vector<std::vector<MemoryAccess>> touched;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (forward && !steps_[i].forward) continue;
    plan.steps.push_back(static_cast<int>(i));
    touched.push_back(accesses[i]);
  }
  plan.order = OrderOf(touched);
  return plan;
}

absl::Status StepRunner::RunStep(int step, int thread, const StepArguments& arguments) const {
  const RunnableStep& runnable = steps_[static_cast<size_t>(step)];
  Stream& stream = *streams_[static_cast<size_t>(thread)];
  const KernelCall call{.inputs = runnable.inputs,
                        .outputs = runnable.outputs,
                        .scratch = runnable.scratch,
                        .threads = arguments.threads,
                        .block = arguments.block,
                        .index = step,
                        .stream = &stream};
  const auto launch = [&] { return stream.Launch(runnable.kernel, call); };
  absl::Status status;
  if (arguments.trace != nullptr) {
    status = Traced(step, thread, arguments, launch);
  } else {
    status = launch();
    if (status.ok() && !threads_.empty()) status = stream.Synchronize();
  }
  if (status.ok() && arguments.watch != nullptr) arguments.watch->OnStep(step);
  return status;
}

absl::Status StepRunner::Traced(int op, int thread, const StepArguments& arguments,
                                absl::FunctionRef<absl::Status()> launch) const {
  Stream& stream = *streams_[static_cast<size_t>(thread)];
  if (times_ != nullptr) {
    absl::Status status = times_->Launch(stream, op, thread, launch);
    if (status.ok() && !threads_.empty()) status = stream.Synchronize();
    return status;
  }
  const Clock::Time begin = arguments.trace->Now();
  absl::Status status = launch();
  if (status.ok()) status = stream.Synchronize();
  arguments.trace->Record(thread, op, begin, arguments.trace->Now());
  return status;
}

absl::Status StepRunner::RunOne(int step, const StepArguments& arguments) const {
  return Await(*streams_[0],
               RunStep(step, /*thread=*/0, {arguments.threads, arguments.block}));
}

absl::Status StepRunner::Copy(void* to, const void* from, size_t bytes) const {
  absl::Status copied = streams_[0]->Copy(to, from, bytes);
  if (copied.ok() && threads_.empty()) return copied;
  return Await(*streams_[0], std::move(copied));
}

absl::Status StepRunner::LaunchRest(const StepArguments& arguments) const {
  const auto launch = [&]() -> absl::Status {
    for (StepRest* const rest : arguments.rest) RETURN_IF_ERROR(rest->Launch(*streams_[0]));
    return absl::OkStatus();
  };
  if (arguments.trace == nullptr || arguments.rest.empty()) return launch();
  return Traced(static_cast<int>(steps_.size()), /*thread=*/0, arguments, launch);
}

StepFailure StepRunner::LaunchProgram(bool forward, const StepArguments& arguments) {
  std::unique_ptr<Program>& program = programs_[static_cast<size_t>(arguments.program)];
  bool& has_run = has_run_[static_cast<size_t>(arguments.program)];
  if (!has_run) {
    StepFailure failure = RunInOrder(forward, arguments);
    has_run = failure.status.ok();
    return failure;
  }
  if (program == nullptr) {
    StepFailure failure;
    auto recorded = streams_[0]->Capture([&]() -> absl::Status {
      failure = LaunchInOrder(forward, arguments);
      return failure.status;
    });
    if (!failure.status.ok()) return failure;
    if (!recorded.ok()) return {recorded.status()};
    program = *std::move(recorded);
  }
  absl::Status launched = program->Launch(*streams_[0]);
  if (launched.ok()) return {};
  return {Await(*streams_[0], std::move(launched))};
}

StepFailure StepRunner::RunInOrder(bool forward, const StepArguments& arguments) const {
  // What the host times is of this run alone; times of the device begin with a wait of their own.
  if (programs_pay_ && arguments.trace != nullptr && times_ == nullptr) {
    if (absl::Status before = Synchronize(); !before.ok()) return {std::move(before)};
  }
  StepFailure failure = LaunchInOrder(forward, arguments);
  failure.status = Await(*streams_[0], std::move(failure.status));
  return failure;
}

StepFailure StepRunner::LaunchInOrder(bool forward, const StepArguments& arguments) const {
  for (int step = 0; step < static_cast<int>(steps_.size()); ++step) {
    if (forward && !steps_[static_cast<size_t>(step)].forward) continue;
    absl::Status status = RunStep(step, /*thread=*/0, arguments);
    if (!status.ok()) return {std::move(status), step};
  }
  return {LaunchRest(arguments)};
}

StepFailure StepRunner::Run(bool forward, const StepArguments& arguments) {
  if (arguments.trace == nullptr || times_ == nullptr) return RunSteps(forward, arguments);
  if (absl::Status begun = times_->Begin(*streams_[0], *arguments.trace); !begun.ok()) {
    return {std::move(begun)};
  }
  StepFailure failure = RunSteps(forward, arguments);
  if (failure.status.ok()) failure.status = times_->Tell(*arguments.trace);
  return failure;
}

StepFailure StepRunner::RunSteps(bool forward, const StepArguments& arguments) {
  StepFailure failure = LaunchSteps(forward, arguments);
  // The rest has been waited for.
  const bool is_program = programs_pay_ && arguments.trace == nullptr;
  if (failure.status.ok() && is_program) failure.status = Synchronize();
  return failure;
}

StepFailure StepRunner::Launch(bool forward, const StepArguments& arguments) {
  const bool timed = arguments.trace != nullptr && times_ != nullptr;
  return timed ? Run(forward, arguments) : LaunchSteps(forward, arguments);
}

StepFailure StepRunner::LaunchSteps(bool forward, const StepArguments& arguments) {
  if (programs_pay_ && arguments.trace == nullptr) return LaunchProgram(forward, arguments);
  if (threads_.empty()) {
    StepFailure failure = RunInOrder(forward, arguments);
    // What kernels make ready at their first launch is ready for a program now.
    if (failure.status.ok()) has_run_[static_cast<size_t>(arguments.program)] = true;
    return failure;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  plan_ = forward ? &forward_ : &train_;
  arguments_ = arguments;
  failure_ = {};
  left_ = static_cast<int>(plan_->steps.size());
  std::ranges::copy(plan_->order.waits, waits_.begin());
  for (int position = 0; position < left_; ++position) {
    if (waits_[static_cast<size_t>(position)] == 0) PushReady(position);
  }
  if (idle_ > 0 && ready_.size() > 1) changed_.notify_all();
  for (;;) {
    WorkOn(/*thread=*/0, lock);
    if (left_ == 0) break;
    ++idle_;
    changed_.wait(lock, [this] { return left_ == 0 || !ready_.empty(); });
    --idle_;
  }
  plan_ = nullptr;
  if (!failure_.status.ok()) return std::move(failure_);
  lock.unlock();
  return {Await(*streams_[0], LaunchRest(arguments))};
}

void StepRunner::Serve(int thread) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return closing_ || !ready_.empty(); });
    --idle_;
    if (closing_) return;
    WorkOn(thread, lock);
  }
}

// Takes ready steps until there is none. The lock is held but while a step runs.
void StepRunner::WorkOn(int thread, std::unique_lock<std::mutex>& lock) {
  while (!ready_.empty()) {
    const int position = PopReady();
    const int step = plan_->steps[static_cast<size_t>(position)];
    const StepArguments arguments = arguments_;
    ++running_;
    lock.unlock();
    const absl::Status status = RunStep(step, thread, arguments);
    lock.lock();
    --running_;
    Finish(position, status);
  }
}

void StepRunner::Finish(int position, const absl::Status& status) {
  --left_;
  const int step = plan_->steps[static_cast<size_t>(position)];
  if (!status.ok() && (failure_.status.ok() || step < failure_.step)) failure_ = {status, step};
  if (!failure_.status.ok()) {
    ready_.clear();
    left_ = running_;
  } else {
    for (const int follower : plan_->order.followers[static_cast<size_t>(position)]) {
      if (--waits_[static_cast<size_t>(follower)] == 0) PushReady(follower);
    }
  }
  // This thread takes one of them itself.
  if (idle_ > 0 && (left_ == 0 || ready_.size() > 1)) changed_.notify_all();
}

void StepRunner::PushReady(int position) {
  ready_.push_back(position);
  std::ranges::push_heap(ready_, std::greater<>());
}

int StepRunner::PopReady() {
  std::ranges::pop_heap(ready_, std::greater<>());
  const int position = ready_.back();
  ready_.pop_back();
  return position;
}

}  // namespace taas
