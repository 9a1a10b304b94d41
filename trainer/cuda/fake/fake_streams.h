// Streams of the GPUs that stand for some: what is launched runs late, in any order that streams
// and events leave open (some of it at any call that waits, the rest when it must), and a capture
// keeps the arguments that it was given. What cannot run before another stream has come as far lets
// its own stream wait; who waits for that runs all others, and then waits for other threads.
//
// Ownership: owns its streams, events and graphs, which are handles to those who use the driver.
// Threads: any; one computes at a time. Errors: CUresult; a command's stays, for every call that
// concerns its device and comes after, as a context's does.

#ifndef TRAINER_CUDA_FAKE_FAKE_STREAMS_H_
#define TRAINER_CUDA_FAKE_FAKE_STREAMS_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "trainer/cuda/fake/fake_memory.h"

namespace taas::cuda::fake {

// What a stream does next; CUresult. kNotYet (fake_control.h): it cannot be done yet, and is tried
// again; kNeverEnds: nor ever.
using Command = std::function<int()>;

struct FakeGraph {
  // Told the stream into which the graph is launched.
  std::vector<std::function<int(struct FakeStream& in)>> commands;
};

struct FakeStream {
  int device = 0;
  std::deque<Command> queue;
  int64_t launched = 0, done = 0;
  bool runs = false, hangs = false;
  // While it captures.
  std::unique_ptr<FakeGraph> capture;
  std::thread::id captured_by;
  bool invalid = false;  // Somebody has done what a capture forbids.
};

// A moment: so many commands of a stream.
struct FakeEvent {
  int device = 0;
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
  explicit FakeStreams(FakeMemory& memory) : memory_(memory) {}

  FakeStream* MakeStream(int device);
  int DestroyStream(FakeStream* stream);
  FakeEvent* MakeEvent(int device, bool timed);
  int DestroyEvent(FakeEvent* event);

  // -1 of what is none.
  int DeviceOf(FakeStream* stream);
  // Into the stream, or into what it captures.
  int Launch(FakeStream* stream, Command command);
  int Record(FakeEvent* event, FakeStream* stream, bool external);
  int Wait(FakeStream* stream, FakeEvent* event, bool external);
  int SynchronizeStream(FakeStream* stream);
  int SynchronizeEvent(FakeEvent* event);
  // Whether it has passed; some of what was launched has run meanwhile.
  int QueryEvent(FakeEvent* event);
  int Elapsed(const FakeEvent* from, const FakeEvent* to, float* milliseconds);

  int BeginCapture(FakeStream* stream);
  int EndCapture(FakeStream* stream, FakeGraph** graph);
  FakeGraph* Instantiate(const FakeGraph* graph);
  int LaunchGraph(FakeGraph* graph, FakeStream* stream);
  int DestroyGraph(FakeGraph* graph);

  // Of a call that a thread may not make while it captures: makes the capture invalid.
  int Forbidden();
  // The error that stays with a device; 0 for none.
  int failed(int device);
  // Of all devices, and what hangs goes on.
  void Forget();
  // What commands wait for may have changed.
  void Wake();

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
  // Whether it has come so far.
  bool RunTo(FakeStream* stream, int64_t command);
  bool RunNext(FakeStream* stream);
  // Returns when it has come so far; `lock` is held once.
  void Await(std::unique_lock<std::recursive_mutex>& lock, FakeStream* stream, int64_t command);

  FakeMemory& memory_;
  std::recursive_mutex mutex_;
  std::condition_variable_any changed_;
  int64_t ran_ = 0;  // Commands, of all streams.
  std::set<FakeStream*> streams_;
  std::set<FakeEvent*> events_;
  std::set<FakeGraph*> graphs_;
  SeededRandom random_{7};
  std::map<int, int> failed_;  // By device.
  int64_t now_ns_ = 0;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_STREAMS_H_
