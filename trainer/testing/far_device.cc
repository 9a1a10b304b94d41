#include "trainer/testing/far_device.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "trainer/graph/recorded_program.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/closed_memory.h"

namespace taas {
namespace {

constexpr uint64_t kSeed = 7;

class FarStream;

// All streams, of which one runs at a time: it may have to run others, up to an event.
class FarStreams {
 public:
  explicit FarStreams(ClosedMemory& memory) : memory(memory) {}
  void Add(FarStream* stream) {
    const std::lock_guard lock(running);
    streams_.push_back(stream);
  }
  void Remove(FarStream* stream) {
    const std::lock_guard lock(running);
    std::erase(streams_, stream);
  }
  // Some of what all streams have to do, which a device might do at any time.
  void RunSome();
  // All of a stream up to that command; one that is gone has dropped what it had. What of it has
  // failed, until its owner has been told.
  absl::Status RunTo(FarStream* stream, int64_t command);

  ClosedMemory& memory;
  std::recursive_mutex running;

 private:
  std::vector<FarStream*> streams_;
  SeededRandom random_{kSeed};
};

// A moment: so many commands of a stream.
class FarEvent : public Event {
 public:
  explicit FarEvent(FarStreams& streams) : streams_(streams) {}
  absl::Status Synchronize() override {
    streams_.RunSome();
    const auto [stream, command] = moment();
    return streams_.RunTo(stream, command);
  }
  void Set(FarStream* stream, int64_t command) {
    const std::lock_guard lock(mutex_);
    moment_ = {stream, command};
  }
  std::pair<FarStream*, int64_t> moment() {
    const std::lock_guard lock(mutex_);
    return moment_;
  }

 private:
  FarStreams& streams_;
  std::mutex mutex_;
  std::pair<FarStream*, int64_t> moment_{nullptr, 0};
};

class FarStream : public Stream {
 public:
  explicit FarStream(FarStreams& streams) : streams_(streams) { streams_.Add(this); }
  ~FarStream() override { streams_.Remove(this); }

  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
    if (recording_ != nullptr) return recording_->AddLaunch(kernel, call);
    return Add([this, &kernel, call] {
      CheckMemory(call);
      return kernel.run(call);
    });
  }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    if (recording_ != nullptr) return recording_->AddCopy(to, from, bytes);
    return Add([=] {
      if (bytes > 0) std::memcpy(to, from, bytes);
      return absl::OkStatus();
    });
  }
  absl::Status Record(Event& event) override {
    if (recording_ != nullptr) return recording_->AddRecord(event);
    const std::lock_guard lock(mutex_);
    static_cast<FarEvent&>(event).Set(this, launched_);
    return absl::OkStatus();
  }
  absl::Status Wait(Event& event) override {
    if (recording_ != nullptr) return recording_->AddWait(event);
    const auto [stream, command] = static_cast<FarEvent&>(event).moment();
    return Add([this, stream = stream, command = command] {
      static_cast<void>(streams_.RunTo(stream, command));  // Of another, which tells it.
      return absl::OkStatus();
    });
  }
  absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) override {
    return RecordedProgram::Of(work, &recording_);
  }
  absl::Status Synchronize() override {
    CHECK(recording_ == nullptr) << "nobody waits for what is only recorded";
    const std::lock_guard running(streams_.running);
    streams_.RunSome();
    RunTo(std::numeric_limits<int64_t>::max());
    const std::lock_guard lock(mutex_);
    return std::exchange(failed_, absl::OkStatus());
  }

  // What was launched, up to that command. After one that fails the rest is dropped, until its
  // owner has been told.
  void RunTo(int64_t command) {
    const std::lock_guard running(streams_.running);
    if (!HasWorkUpTo(command)) return;  // To open memory takes longer.
    streams_.memory.Open();
    for (;;) {
      std::unique_lock lock(mutex_);
      if (queue_.empty() || done_ >= command) break;
      const Command next = std::move(queue_.front());
      queue_.pop_front();
      ++done_;
      if (!failed_.ok()) continue;
      lock.unlock();
      absl::Status status = next();
      lock.lock();
      failed_ = std::move(status);
    }
    streams_.memory.Close();
  }
  absl::Status failed() {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  void RunSome(SeededRandom& random) {
    std::unique_lock lock(mutex_);
    const int64_t some = done_ + static_cast<int64_t>(random.Below(queue_.size() + 1));
    lock.unlock();
    RunTo(some);
  }

 private:
  using Command = std::function<absl::Status()>;

  bool HasWorkUpTo(int64_t command) {
    const std::lock_guard lock(mutex_);
    return !queue_.empty() && done_ < command;
  }

  absl::Status Add(Command command) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(command));
    ++launched_;
    return absl::OkStatus();
  }

  // A kernel of a GPU would not see anything else.
  void CheckMemory(const KernelCall& call) {
    const auto check = [this](const void* address, const char* what) {
      CHECK(address == nullptr || streams_.memory.Contains(reinterpret_cast<uint64_t>(address), 1))
          << what << " of a kernel lies in memory of the host";
    };
    for (const void* const input : call.inputs) check(input, "an input");
    for (const void* const output : call.outputs) check(output, "an output");
    check(call.scratch, "the scratch memory");
    check(call.block, "the block");
  }

  FarStreams& streams_;
  RecordedProgram* recording_ = nullptr;
  std::mutex mutex_;
  std::deque<Command> queue_;
  int64_t launched_ = 0, done_ = 0;
  absl::Status failed_;
};

void FarStreams::RunSome() {
  const std::lock_guard lock(running);
  for (FarStream* const stream : streams_) stream->RunSome(random_);
}

absl::Status FarStreams::RunTo(FarStream* stream, int64_t command) {
  const std::lock_guard lock(running);
  if (std::ranges::count(streams_, stream) == 0) return absl::OkStatus();
  stream->RunTo(command);
  return stream->failed();
}

class Far : public Device {
 public:
  std::string_view type() const override { return "CPU"; }
  std::string name() const override { return "far memory of this machine"; }
  std::string_view MissingFor(Precision products) const override {
    return CpuRuntime().devices[0]->MissingFor(products);
  }
  size_t alignment() const override { return 256; }
  bool host_sees_memory() const override { return false; }
  bool prefers_programs() const override { return true; }
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    if (kind == MemoryKind::kPinned) return CpuRuntime().devices[0]->Allocate(bytes, kind);
    const size_t some = std::max<size_t>(bytes, 1);
    const uint64_t address = memory_.Allocate(some);
    if (address == 0) return absl::ResourceExhaustedError("no far memory");
    return Buffer(
        reinterpret_cast<void*>(address), some,
        [this](void* gone) {
          CHECK(memory_.Free(reinterpret_cast<uint64_t>(gone))) << "memory of another device";
        },
        kind);
  }
  std::unique_ptr<Stream> MakeStream() override { return std::make_unique<FarStream>(streams_); }
  std::unique_ptr<Event> MakeEvent() override { return std::make_unique<FarEvent>(streams_); }

 private:
  ClosedMemory memory_;
  FarStreams streams_{memory_};
};

}  // namespace

Device& FarDevice() {
  static Far* const kDevice = std::make_unique<Far>().release();  // Outlives all that is static.
  return *kDevice;
}

Runtime FarRuntime() { return {{&FarDevice()}, CpuRuntime().kernels}; }

}  // namespace taas
