#include "trainer/testing/far_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "trainer/graph/recorded_program.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kSeed = 7;

// The memory of the device: open while somebody computes.
class FarMemory {
 public:
  void* Add(size_t bytes) {
    const std::lock_guard lock(mutex_);
    void* const memory =
        mmap(nullptr, bytes, Protection(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    sizes_[memory] = bytes;
    return memory;
  }
  void Remove(void* memory) {
    const std::lock_guard lock(mutex_);
    munmap(memory, sizes_.extract(memory).mapped());
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    if (++open_ == 1) Protect();
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) Protect();
  }

 private:
  int Protection() const { return open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }
  void Protect() {
    for (const auto& [memory, bytes] : sizes_) {
      CHECK(mprotect(memory, bytes, Protection()) == 0) << "mprotect";
    }
  }

  std::mutex mutex_;
  std::map<void*, size_t> sizes_;
  int open_ = 0;  // How many compute.
};

class OpenedMemory {
 public:
  explicit OpenedMemory(FarMemory& memory) : memory_(memory) { memory_.Open(); }
  ~OpenedMemory() { memory_.Close(); }
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

 private:
  FarMemory& memory_;
};

class FarStream;

class FarEvent : public Event {
 public:
  absl::Status Synchronize() override;

  std::mutex mutex;
  FarStream* stream = nullptr;  // That recorded it last.
  int64_t recorded = 0;         // How often it was,
  int64_t passed = 0;           // and how often that was reached.
};

// All streams of the device, which run when somebody waits for one of them.
class FarStreams {
 public:
  void Add(FarStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
  }
  void Remove(FarStream* stream) {
    const std::lock_guard lock(mutex_);
    std::erase(streams_, stream);
  }
  // Some of what other streams have to do, as a device might do it before.
  void RunSomeOthers(FarStream* but);

 private:
  std::mutex mutex_;
  std::vector<FarStream*> streams_;
  SeededRandom random_{kSeed};
};

class FarStream : public Stream {
 public:
  FarStream(FarMemory& memory, FarStreams& streams) : memory_(memory), streams_(streams) {
    streams_.Add(this);
  }
  ~FarStream() override {
    streams_.Remove(this);
    Run().IgnoreError();
  }

  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
    if (recording_ != nullptr) return recording_->AddLaunch(kernel, call);
    return Add([&kernel, call] { return kernel.run(call); });
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
    auto& far = static_cast<FarEvent&>(event);
    const std::lock_guard lock(far.mutex);
    far.stream = this;
    const int64_t time = ++far.recorded;
    return Add([&far, time] {
      const std::lock_guard passing(far.mutex);
      far.passed = time;
      return absl::OkStatus();
    });
  }
  absl::Status Wait(Event& event) override {
    if (recording_ != nullptr) return recording_->AddWait(event);
    auto& far = static_cast<FarEvent&>(event);
    return Add([&far] { return far.Synchronize(); });
  }
  absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) override {
    auto program = std::make_unique<RecordedProgram>();
    recording_ = program.get();
    absl::Status status = work();
    recording_ = nullptr;
    if (!status.ok()) return status;
    return program;
  }
  absl::Status Synchronize() override {
    streams_.RunSomeOthers(this);
    absl::Status status = Run();
    const std::lock_guard lock(mutex_);
    if (status.ok()) std::swap(status, failed_);
    failed_ = absl::OkStatus();
    return status;
  }

  // All that was launched so far; the rest is dropped where something fails.
  absl::Status Run() {
    const std::lock_guard running(run_);
    const OpenedMemory opened(memory_);
    for (;;) {
      Command command;
      {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) return absl::OkStatus();
        command = std::move(queue_.front());
        queue_.pop_front();
      }
      absl::Status status = command();
      if (status.ok()) continue;
      const std::lock_guard lock(mutex_);
      queue_.clear();
      return status;
    }
  }
  // As Run, for somebody who does not wait for it: its error is told to who does.
  void RunBesides() {
    absl::Status status = Run();
    const std::lock_guard lock(mutex_);
    if (failed_.ok()) failed_ = std::move(status);
  }

 private:
  using Command = std::function<absl::Status()>;

  absl::Status Add(Command command) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(command));
    return absl::OkStatus();
  }

  FarMemory& memory_;
  FarStreams& streams_;
  RecordedProgram* recording_ = nullptr;
  std::mutex run_;  // Held by who runs it.
  std::mutex mutex_;
  std::deque<Command> queue_;
  absl::Status failed_;
};

absl::Status FarEvent::Synchronize() {
  FarStream* from = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (passed == recorded) return absl::OkStatus();
    from = stream;
  }
  return from->Run();
}

void FarStreams::RunSomeOthers(FarStream* but) {
  const std::lock_guard lock(mutex_);
  for (FarStream* const stream : streams_) {
    if (stream != but && random_.Below(2) == 0) stream->RunBesides();
  }
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
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    if (kind == MemoryKind::kPinned) return CpuRuntime().devices[0]->Allocate(bytes, kind);
    const size_t rounded = std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
    void* const memory = memory_.Add(rounded);
    if (memory == nullptr) return absl::ResourceExhaustedError("no far memory");
    return Buffer(memory, rounded, [this](void* gone) { memory_.Remove(gone); }, kind);
  }
  std::unique_ptr<Stream> MakeStream() override {
    return std::make_unique<FarStream>(memory_, streams_);
  }
  std::unique_ptr<Event> MakeEvent() override { return std::make_unique<FarEvent>(); }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    const OpenedMemory opened(memory_);
    if (bytes > 0) std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }

 private:
  FarMemory memory_;
  FarStreams streams_;
};

}  // namespace

Device& FarDevice() {
  static Far* const kDevice = new Far;  // Outlives whatever is static.
  return *kDevice;
}

Runtime FarRuntime() { return {{&FarDevice()}, CpuRuntime().kernels}; }

}  // namespace taas
