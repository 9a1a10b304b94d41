// Streams of the GPU that stands for one: what is launched runs late, in any order that streams and
// events leave open (some of it at any call that waits, the rest when it must), and a capture keeps
// the arguments that it was given.
//
// Ownership: owns its streams, events and graphs, which are handles to those who use the driver.
// Threads: any; one computes at a time. Errors: CUresult; a command's stays, for every call that
// comes after, as a context's does.

#ifndef TRAINER_CUDA_FAKE_FAKE_STREAMS_H_
#define TRAINER_CUDA_FAKE_FAKE_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "trainer/testing/closed_memory.h"

namespace taas::cuda::fake {

// What a stream does next; CUresult.
using Command = std::function<int()>;

struct FakeGraph {
  // Told the stream into which the graph is launched.
  std::vector<std::function<int(struct FakeStream& in)>> commands;
};

struct FakeStream {
  std::deque<Command> queue;
  int64_t launched = 0, done = 0;
  // While it captures.
  std::unique_ptr<FakeGraph> capture;
  std::thread::id captured_by;
  bool invalid = false;  // Somebody has done what a capture forbids.
};

// A moment: so many commands of a stream.
struct FakeEvent {
  FakeStream* stream = nullptr;
  int64_t command = 0;
  bool timed = false;
  int64_t at_ns = 0;  // When it passed, by the device's clock.
};

// What each command that computes, copies or clears takes by the device's clock, which stands still
// between them.
inline constexpr int64_t kCommandNs = 10'000;

class FakeStreams {
 public:
  explicit FakeStreams(ClosedMemory& memory) : memory_(memory) {}

  FakeStream* MakeStream();
  int DestroyStream(FakeStream* stream);
  FakeEvent* MakeEvent(bool timed);
  int DestroyEvent(FakeEvent* event);

  // Into the stream, or into what it captures.
  int Launch(FakeStream* stream, Command command);
  int Record(FakeEvent* event, FakeStream* stream, bool external);
  int Wait(FakeStream* stream, FakeEvent* event, bool external);
  int SynchronizeStream(FakeStream* stream);
  int SynchronizeEvent(FakeEvent* event);
  int Elapsed(const FakeEvent* from, const FakeEvent* to, float* milliseconds);

  int BeginCapture(FakeStream* stream);
  int EndCapture(FakeStream* stream, FakeGraph** graph);
  FakeGraph* Instantiate(const FakeGraph* graph);
  int LaunchGraph(FakeGraph* graph, FakeStream* stream);
  int DestroyGraph(FakeGraph* graph);

  // Of a call that a thread may not make while it captures: makes the capture invalid.
  int Forbidden();
  // The error that stays; 0 for none.
  int failed();
  // It comes from the next command on.
  void Fail(int result);
  void Forget();

  size_t streams();
  size_t events();
  size_t graphs();

 private:
  bool Knows(FakeStream* stream) const { return streams_.contains(stream); }
  // As Launch, of what takes the device no time.
  int Push(FakeStream* stream, Command command);
  // Of an event that is being recorded: what is done when it passes.
  Command Stamp(FakeEvent* event);
  void RunSome();
  void RunTo(FakeStream* stream, int64_t command);

  ClosedMemory& memory_;
  std::recursive_mutex mutex_;
  std::set<FakeStream*> streams_;
  std::set<FakeEvent*> events_;
  std::set<FakeGraph*> graphs_;
  SeededRandom random_{7};
  int failed_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_STREAMS_H_
