// When each op of some steps ran and on which thread, as Chrome's trace events: for Perfetto
// (ui.perfetto.dev) and chrome://tracing.
//
// A session that is compiled with a trace records the training runs from `first` to `last`, counted
// from 1. Memory is taken once when the session is compiled; recording an op is two looks at the
// clock. A session without one has nothing to record and looks at no clock.
//
// In the file, a process has one line of the steps, and one of each thread's ops: name, op, shape
// and device, flops and bytes (what the op computes, and reads and writes when nothing is cached),
// and the number of the step. Times are microseconds since the trace was made.
//
// Ownership: borrows the clock; owns its tracks, which sessions borrow. Threads: AddTrack, recorded
// and Json one at a time and while no session runs; each track's runs are its session's, Record
// from the threads of the run, each with its own number. Errors: none; what does not fit any more
// is counted and said in the file.
//
//   StepTrace trace(clock, {.process = "worker/0", .first = 10, .last = 12});
//   auto session = Session::Compile(runtime, graph, {.loss = "loss", .trace = &trace});
//   …; if (trace.complete()) files.Write(path, trace.Json());

#ifndef TRAINER_GRAPH_STEP_TRACE_H_
#define TRAINER_GRAPH_STEP_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/clock.h"

namespace taas {

struct TracedOp {
  std::string name;    // Of the node.
  std::string op;
  std::string shape;   // Of output 0.
  std::string device;
  double flops = 0;
  double bytes = 0;
};

class StepTrace {
 public:
  // Of one track: some hundred MB of JSON, which viewers still open.
  static constexpr int64_t kEventsMax = 1'000'000;

  struct Options {
    std::string process = "taas-trainer";  // What the viewer calls it.
    int64_t first = 1;
    int64_t last = 1;
  };

  // What one session records.
  class Track {
   public:
    // Use AddTrack.
    Track(const Clock& clock, const Options& options, std::string name, std::vector<TracedOp> ops,
          int threads);

    // A training run begins: whether it is to be recorded.
    bool Begin();
    void End();
    Clock::Time Now() const { return clock_.Now(); }
    // `thread` is less than the number of threads given to AddTrack.
    void Record(int thread, int op, Clock::Time begin, Clock::Time end);

   private:
    friend class StepTrace;
    struct Event {
      int64_t step = 0;
      int op = 0;  // kWholeStep: the step itself.
      Clock::Time begin{};
      Clock::Time end{};
    };
    // Of one thread. Never grows.
    struct Events {
      std::vector<Event> list;
      int64_t left_out = 0;
    };
    static constexpr int kWholeStep = -1;

    static void Add(Events& to, const Event& event);

    const Clock& clock_;
    const Options& options_;
    const std::string name_;
    const std::vector<TracedOp> ops_;
    std::vector<Events> threads_;
    Events steps_;
    std::atomic<int64_t> runs_ = 0;
    std::atomic<int64_t> ended_ = 0;
    Clock::Time begun_{};
  };

  StepTrace(const Clock& clock, Options options);

  // Of a session: its tower or "", its ops, its threads.
  Track* AddTrack(std::string name, std::vector<TracedOp> ops, int threads);
  // Whether all sessions have run the last step that is recorded.
  bool complete() const;
  // Whether there is anything in it.
  bool recorded() const;
  std::string Json() const;

 private:
  const Clock& clock_;
  const Options options_;
  const Clock::Time start_;
  std::vector<std::unique_ptr<Track>> tracks_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_STEP_TRACE_H_
