// Runs the steps of a compiled graph: one after the other, or several at a time.
//
// With one thread the steps run in their order. With more, a step is ready when all for which it
// must wait have ended (memory_conflicts.h); whoever is free, the caller's thread among them, takes
// the ready step that comes first in the order, which is the one whose inputs are likeliest in a
// cache. Results are the same bits in any case, since two steps that touch the same bytes keep
// their order. A run allocates nothing.
//
// Each thread launches into a stream of the device. One alone waits for the stream at the end of a
// run, and launches all as a program where the device prefers that: the next one may be launched
// before a program has ended. Several threads wait after each step, since the next that needs it
// may be in another's stream. A run that is traced is no program, and leaves the one that there is
// as it is; its times are the device's (op_times.h) where that has a clock, else one alone waits
// after each step, too, and they are the host's.
//
// Ownership: borrows the device and the steps, which stay where they are; owns its threads and
// streams. Threads: one run at a time; kernels of different steps run on different threads at once.
// Errors: the first in the order of those that steps returned; once one has, no other step begins.
//
//   StepRunner runner(device, steps, accesses, /*threads=*/2);
//   StepFailure failure = runner.Run(/*forward=*/false, {.threads = 1, .block = block});

#ifndef TRAINER_GRAPH_STEP_RUNNER_H_
#define TRAINER_GRAPH_STEP_RUNNER_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "trainer/graph/device.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/memory_conflicts.h"
#include "trainer/graph/op_times.h"
#include "trainer/graph/step_rest.h"
#include "trainer/graph/step_trace.h"

namespace taas {

// A kernel with the memory on which it works.
struct RunnableStep {
  bool forward = false;  // Whether a run without gradients needs it.
  Kernel kernel;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
};

// Who wants to know of steps while a run goes on.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  // It has ended well. Called by the thread that ran it, of several at once.
  virtual void OnStep(int step) = 0;
};

// Forward, gradients, whole steps.
inline constexpr int kProgramsMax = 3;

// What all steps of a run are given.
struct StepArguments {
  int threads = 1;  // Inside one op.
  StepBlock* block = nullptr;  // Of the device.
  // Null: nothing is recorded. Its ops are the steps, and last the rest as one.
  StepTrace::Track* trace = nullptr;
  // What follows the steps, the same for each `program` number.
  std::span<StepRest* const> rest{};
  int program = 0;  // Below kProgramsMax: of runs that launch the same.
  // Told of each step that has ended. Null where a launched step has not ended: of a device that
  // goes on by itself.
  StepWatch* watch = nullptr;
};

struct StepFailure {
  absl::Status status;  // OK if none failed.
  int step = -1;        // Also where the device does not say which.
};

class StepRunner {
 public:
  // `accesses` are those of the steps; with one thread they may be empty.
  StepRunner(Device& device, std::span<const RunnableStep> steps,
             std::span<const std::vector<MemoryAccess>> accesses, int threads);
  ~StepRunner();
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }
  // `forward`: only the steps that such a run needs.
  StepFailure Run(bool forward, const StepArguments& arguments);
  // As Run, but for a program, which may have begun or not when it returns, and whose errors
  // Synchronize tells.
  StepFailure Launch(bool forward, const StepArguments& arguments);
  absl::Status Synchronize() const { return streams_[0]->Synchronize(); }
  // Before the first run that is traced: takes what it needs.
  void PrepareTrace() { times_ = OpTimes::Make(device_, steps_.size() + 1); }
  // The memory of steps has changed, or what follows them. Waits for what is under way.
  void Forget();
  // Between the runs launched before and after it. Where programs are launched, both ends stay as
  // they are until Synchronize, or an event that is recorded later, has returned.
  absl::Status Copy(void* to, const void* from, size_t bytes) const;
  // The moment between them, and what is launched later runs when a moment has passed.
  absl::Status Record(Event& event) const { return streams_[0]->Record(event); }
  absl::Status Wait(Event& event) const { return streams_[0]->Wait(event); }
  // One step by itself, of which nothing is recorded.
  absl::Status RunOne(int step, const StepArguments& arguments) const;

 private:
  // The steps of one kind of run; indexes are into `steps`.
  struct Plan {
    std::vector<int> steps;
    StepOrder order;
  };

  StepFailure RunSteps(bool forward, const StepArguments& arguments);
  StepFailure LaunchSteps(bool forward, const StepArguments& arguments);
  Plan PlanOf(std::span<const std::vector<MemoryAccess>> accesses, bool forward) const;
  StepFailure RunInOrder(bool forward, const StepArguments& arguments) const;
  StepFailure LaunchInOrder(bool forward, const StepArguments& arguments) const;
  // The first that does the same is run in order, and the second is recorded: what a
  // kernel makes ready when it is launched for the first time (code that is loaded, ways that are
  // chosen) a device may not do while it records.
  StepFailure LaunchProgram(bool forward, const StepArguments& arguments);
  absl::Status LaunchRest(const StepArguments& arguments) const;
  // Records it as an op of the trace.
  absl::Status Traced(int op, int thread, const StepArguments& arguments,
                      absl::FunctionRef<absl::Status()> launch) const;
  absl::Status RunStep(int step, int thread, const StepArguments& arguments) const;
  void Serve(int thread);
  void WorkOn(int thread, std::unique_lock<std::mutex>& lock);
  void Finish(int position, const absl::Status& status);
  void PushReady(int position);
  int PopReady();

  Device& device_;
  const std::span<const RunnableStep> steps_;
  const bool programs_pay_;
  std::vector<std::unique_ptr<Stream>> streams_;  // Per thread, the caller's first.
  std::unique_ptr<OpTimes> times_;  // Of the steps, and of the rest.
  std::array<std::unique_ptr<Program>, kProgramsMax> programs_;
  std::array<bool, kProgramsMax> has_run_{};
  Plan train_, forward_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  // Of the run that is under way; positions are into its plan.
  const Plan* plan_ = nullptr;
  StepArguments arguments_;
  std::vector<int> waits_;
  std::vector<int> ready_;  // A heap, the first in the order on top.
  int left_ = 0;            // Steps that have not ended and will.
  int running_ = 0;
  int idle_ = 0;            // Threads that wait.
  StepFailure failure_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_STEP_RUNNER_H_
