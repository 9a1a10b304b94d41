#include "trainer/cuda/fake/fake_streams.h"

#include <limits>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda::fake {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

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

FakeStream* FakeStreams::MakeStream() {
  const Lock lock(mutex_);
  return Keep(streams_, std::make_unique<FakeStream>());
}

int FakeStreams::DestroyStream(FakeStream* stream) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  // The driver lets it do what it has; nobody waits for it.
  RunTo(stream, std::numeric_limits<int64_t>::max());
  return Drop(streams_, stream);
}

FakeEvent* FakeStreams::MakeEvent() {
  const Lock lock(mutex_);
  return Keep(events_, std::make_unique<FakeEvent>());
}

int FakeStreams::DestroyEvent(FakeEvent* event) {
  const Lock lock(mutex_);
  return Drop(events_, event);
}

int FakeStreams::Launch(FakeStream* stream, Command command) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture != nullptr) {
    stream->capture->commands.emplace_back(
        [command = std::move(command)](FakeStream&) { return command(); });
    return kCuSuccess;
  }
  stream->queue.push_back(std::move(command));
  ++stream->launched;
  return kCuSuccess;
}

int FakeStreams::Record(FakeEvent* event, FakeStream* stream, bool external) {
  const Lock lock(mutex_);
  if (!Knows(stream) || !events_.contains(event)) return kCuInvalidHandle;
  if (stream->capture == nullptr) {
    if (external) return kCuInvalidValue;
    *event = {stream, stream->launched};
    return kCuSuccess;
  }
  // A capture of several streams is not needed, and not here.
  if (!external) return kCaptureIsolation;
  stream->capture->commands.emplace_back([this, event](FakeStream& in) {
    if (!events_.contains(event)) return kCuInvalidHandle;
    *event = {&in, in.done};
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
      if (event->stream != &in) RunTo(event->stream, event->command);
      return kCuSuccess;
    });
    return kCuSuccess;
  }
  return Launch(stream, [this, moment = *event] {
    RunTo(moment.stream, moment.command);
    return kCuSuccess;
  });
}

int FakeStreams::SynchronizeStream(FakeStream* stream) {
  const Lock lock(mutex_);
  if (!Knows(stream)) return kCuInvalidHandle;
  if (stream->capture != nullptr) {
    stream->invalid = true;
    return kCuCaptureUnsupported;
  }
  RunSome();
  RunTo(stream, std::numeric_limits<int64_t>::max());
  return failed_;
}

int FakeStreams::SynchronizeEvent(FakeEvent* event) {
  const Lock lock(mutex_);
  if (!events_.contains(event)) return kCuInvalidHandle;
  RunSome();
  RunTo(event->stream, event->command);
  return failed_;
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
  // One that goes before it has run is a mistake of whoever destroyed it.
  return Launch(stream, [this, graph, stream] {
    if (!graphs_.contains(graph)) return kCuInvalidHandle;
    for (const auto& command : graph->commands) {
      if (const int result = command(*stream); result != kCuSuccess) return result;
    }
    return kCuSuccess;
  });
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

int FakeStreams::failed() {
  const Lock lock(mutex_);
  return failed_;
}

void FakeStreams::Fail(int result) {
  const Lock lock(mutex_);
  failed_ = result;
}

void FakeStreams::Forget() { Fail(kCuSuccess); }

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

void FakeStreams::RunTo(FakeStream* stream, int64_t command) {
  if (!Knows(stream)) return;  // An event outlives the stream whose moment it is.
  if (stream->queue.empty() || stream->done >= command) return;  // To open memory takes longer.
  memory_.Open();
  while (!stream->queue.empty() && stream->done < command) {
    const Command next = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (failed_ == kCuSuccess) failed_ = next();
    ++stream->done;
  }
  memory_.Close();
}

}  // namespace taas::cuda::fake
