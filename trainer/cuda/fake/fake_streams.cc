#include "trainer/cuda/fake/fake_streams.h"

#include <chrono>
#include <limits>

#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_control.h"

namespace taas::cuda::fake {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

// At what other processes have done.
constexpr std::chrono::milliseconds kLook{1};

constexpr int64_t kAllOfIt = std::numeric_limits<int64_t>::max();

// Not one that this file tells from another: cudaErrorStreamCaptureIsolation.
constexpr int kCaptureIsolation = 904;

template <typename T>
T* Keep(std::set<T*>& all, std::unique_ptr<T> made) {
  return *all.insert(made.release()).first;
}

template <typename T>
int Drop(std::set<T*>& all, T* gone) {
  if (all.erase(gone) == 0) return kCuInvalidHandle;
  const std::unique_ptr<T> owned(gone);
  return kCuSuccess;
}

}  // namespace

FakeStream* FakeStreams::MakeStream(int device) {
  const Lock lock(mutex_);
  auto stream = std::make_unique<FakeStream>();
  stream->device = device;
  return Keep(streams_, std::move(stream));
}

int FakeStreams::DestroyStream(FakeStream* stream) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  // The driver lets it do what it has; nobody waits for it.
  RunTo(stream, kAllOfIt);
  return Drop(streams_, stream);
}

FakeEvent* FakeStreams::MakeEvent(int device, bool timed) {
  const Lock lock(mutex_);
  auto event = std::make_unique<FakeEvent>();
  event->device = device;
  event->timed = timed;
  return Keep(events_, std::move(event));
}

int FakeStreams::DestroyEvent(FakeEvent* event) {
  const Lock lock(mutex_);
  return Drop(events_, event);
}

int FakeStreams::DeviceOf(FakeStream* stream) {
  const Lock lock(mutex_);
  return Knows(stream) ? stream->device : -1;
}

int FakeStreams::Launch(FakeStream* stream, Command command) {
  return Push(stream, [this, command = std::move(command)] {
    now_ns_ += kCommandNs;
    return command();
  });
}

Command FakeStreams::Stamp(FakeEvent* event) {
  return [this, event] {
    if (events_.contains(event)) event->at_ns = now_ns_;
    return kCuSuccess;
  };
}

int FakeStreams::Push(FakeStream* stream, Command command) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture != nullptr) {
    stream->capture->commands.emplace_back(
        [command = std::move(command)](FakeStream&) { return command(); });
    return kCuSuccess;
  }
  stream->queue.push_back(std::move(command));
  ++stream->launched;
  changed_.notify_all();
  return kCuSuccess;
}

int FakeStreams::Record(FakeEvent* event, FakeStream* stream, bool external) {
  const Lock lock(mutex_);
  if (!Knows(stream) || !events_.contains(event)) return kCuInvalidHandle;
  if (event->device != stream->device) return kCuInvalidHandle;
  if (stream->capture == nullptr) {
    if (external) return kCuInvalidValue;
    if (event->timed) Push(stream, Stamp(event));
    event->stream = stream;
    event->command = stream->launched;
    return kCuSuccess;
  }
  // A capture of several streams is not needed, and not here.
  if (!external) return kCaptureIsolation;
  stream->capture->commands.emplace_back([this, event](FakeStream& in) {
    if (!events_.contains(event)) return kCuInvalidHandle;
    event->stream = &in;
    event->command = in.done;
    event->at_ns = now_ns_;
    return kCuSuccess;
  });
  return kCuSuccess;
}

int FakeStreams::Wait(FakeStream* stream, FakeEvent* event, bool external) {
  const Lock lock(mutex_);
  if (!Knows(stream) || !events_.contains(event)) return kCuInvalidHandle;
  if ((stream->capture != nullptr) != external) {
    return external ? kCuInvalidValue : kCaptureIsolation;
  }
  if (external) {
    stream->capture->commands.emplace_back([this, event](FakeStream& in) {
      if (!events_.contains(event)) return kCuInvalidHandle;
      return event->stream == &in || RunTo(event->stream, event->command) ? kCuSuccess : kNotYet;
    });
    return kCuSuccess;
  }
  return Push(stream, [this, moment = *event] {
    return RunTo(moment.stream, moment.command) ? kCuSuccess : kNotYet;
  });
}

int FakeStreams::SynchronizeStream(FakeStream* stream) {
  std::unique_lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture != nullptr) {
    stream->invalid = true;
    return kCuCaptureUnsupported;
  }
  RunSome();
  Await(lock, stream, kAllOfIt);
  return failed(stream->device);
}

int FakeStreams::SynchronizeEvent(FakeEvent* event) {
  std::unique_lock lock(mutex_);
  if (!events_.contains(event)) return kCuInvalidHandle;
  RunSome();
  Await(lock, event->stream, event->command);
  return failed(event->device);
}

int FakeStreams::QueryEvent(FakeEvent* event) {
  const Lock lock(mutex_);
  if (!events_.contains(event)) return kCuInvalidHandle;
  RunSome();
  changed_.notify_all();
  const bool passed = event->stream == nullptr || !Knows(event->stream) ||
                      event->stream->done >= event->command;
  if (const int result = failed(event->device); result != kCuSuccess) return result;
  return passed ? kCuSuccess : kCuNotReady;
}

void FakeStreams::Await(std::unique_lock<std::recursive_mutex>& lock, FakeStream* stream,
                        int64_t command) {
  while (!RunTo(stream, command)) {
    // A device does by itself what its streams have, whoever waits for it.
    const int64_t before = ran_;
    for (FakeStream* const other : streams_) RunTo(other, kAllOfIt);
    // Other processes, whose work some waits for, wake nobody here.
    if (ran_ == before) changed_.wait_for(lock, kLook);
  }
  changed_.notify_all();
}

int FakeStreams::Elapsed(const FakeEvent* from, const FakeEvent* to, float* milliseconds) {
  const Lock lock(mutex_);
  for (const FakeEvent* const event : {from, to}) {
    if (!events_.contains(const_cast<FakeEvent*>(event))) return kCuInvalidHandle;
    if (!event->timed || event->stream == nullptr) return kCuInvalidHandle;
    if (Knows(event->stream) && event->stream->done < event->command) return kCuNotReady;
  }
  *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) / 1e6);
  return failed(from->device);
}

int FakeStreams::BeginCapture(FakeStream* stream) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture != nullptr) return kCuInvalidValue;
  stream->capture = std::make_unique<FakeGraph>();
  stream->captured_by = std::this_thread::get_id();
  stream->invalid = false;
  return kCuSuccess;
}

int FakeStreams::EndCapture(FakeStream* stream, FakeGraph** graph) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture == nullptr) return kCuInvalidValue;
  std::unique_ptr<FakeGraph> captured = std::move(stream->capture);
  if (stream->invalid) return kCuCaptureInvalidated;
  *graph = Keep(graphs_, std::move(captured));
  return kCuSuccess;
}

FakeGraph* FakeStreams::Instantiate(const FakeGraph* graph) {
  const Lock lock(mutex_);
  if (!graphs_.contains(const_cast<FakeGraph*>(graph))) return nullptr;
  return Keep(graphs_, std::make_unique<FakeGraph>(*graph));
}

int FakeStreams::LaunchGraph(FakeGraph* graph, FakeStream* stream) {
  const Lock lock(mutex_);
  if (!graphs_.contains(graph)) return kCuInvalidHandle;
  for (const auto& command : graph->commands) {
    // One that goes before it has run is a mistake of whoever destroyed it.
    const int result = Push(stream, [this, graph, stream, command] {
      return graphs_.contains(graph) ? command(*stream) : kCuInvalidHandle;
    });
    if (result != kCuSuccess) return result;
  }
  return Knows(stream) ? kCuSuccess : kCuInvalidHandle;
}

int FakeStreams::DestroyGraph(FakeGraph* graph) {
  const Lock lock(mutex_);
  return Drop(graphs_, graph);
}

int FakeStreams::Forbidden() {
  const Lock lock(mutex_);
  for (FakeStream* const stream : streams_) {
    if (stream->capture == nullptr || stream->captured_by != std::this_thread::get_id()) continue;
    stream->invalid = true;
    return kCuCaptureUnsupported;
  }
  return kCuSuccess;
}

int FakeStreams::failed(int device) {
  const Lock lock(mutex_);
  const auto found = failed_.find(device);
  return found == failed_.end() ? kCuSuccess : found->second;
}

void FakeStreams::Forget() {
  const Lock lock(mutex_);
  failed_.clear();
  for (FakeStream* const stream : streams_) stream->hangs = false;
  Wake();
}

void FakeStreams::Wake() {
  // Not while somebody has seen nothing and does not yet wait.
  const Lock lock(mutex_);
  changed_.notify_all();
}

size_t FakeStreams::streams() {
  const Lock lock(mutex_);
  return streams_.size();
}

size_t FakeStreams::events() {
  const Lock lock(mutex_);
  return events_.size();
}

size_t FakeStreams::graphs() {
  const Lock lock(mutex_);
  return graphs_.size();
}

// A device might have done so much by now.
void FakeStreams::RunSome() {
  for (FakeStream* const stream : streams_) {
    RunTo(stream, stream->done + static_cast<int64_t>(random_.Below(stream->queue.size() + 1)));
  }
}

bool FakeStreams::RunTo(FakeStream* stream, int64_t command) {
  if (!Knows(stream)) return true;  // An event outlives the stream whose moment it is.
  const auto has_come = [&] { return stream->queue.empty() || stream->done >= command; };
  if (stream->runs) return stream->done >= command;  // Asked by a command of its own.
  if (stream->hangs || has_come()) return has_come();
  stream->runs = true;
  memory_.With(stream->device, [&] {
    while (!has_come() && RunNext(stream)) ++ran_;
    return kCuSuccess;
  });
  stream->runs = false;
  return has_come();
}

bool FakeStreams::RunNext(FakeStream* stream) {
  Command next = std::move(stream->queue.front());
  stream->queue.pop_front();
  // What follows an error is dropped.
  const int result = failed(stream->device) == kCuSuccess ? next() : kCuSuccess;
  if (result == kNotYet || result == kNeverEnds) {
    stream->queue.push_front(std::move(next));
    stream->hangs = result == kNeverEnds;
    return false;
  }
  if (result != kCuSuccess) failed_[stream->device] = result;
  ++stream->done;
  return true;
}

}  // namespace taas::cuda::fake
