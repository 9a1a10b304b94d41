#include "trainer/kernels/cpu/cpu_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "trainer/graph/recorded_program.h"
#include "trainer/graph/short_text.h"
#include "trainer/kernels/cpu/bfloat16.h"

namespace taas {
namespace {

// A cache line, and the widest vector register.
constexpr size_t kAlignment = 64;

// "; this machine has 67.4 GB"
std::string MachineHas() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return "";
  return "; this machine has " + BytesText(static_cast<size_t>(pages) * static_cast<size_t>(bytes));
}

// Whatever a stream was given before has run.
class CpuEvent : public Event {
 public:
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class CpuStream : public Stream {
 public:
  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
    if (recording_ != nullptr) return recording_->AddLaunch(kernel, call);
    return kernel.run(call);
  }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    if (recording_ != nullptr) return recording_->AddCopy(to, from, bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Record(Event& event) override {
    return recording_ != nullptr ? recording_->AddRecord(event) : absl::OkStatus();
  }
  absl::Status Wait(Event& event) override {
    return recording_ != nullptr ? recording_->AddWait(event) : absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) override {
    return RecordedProgram::Of(work, &recording_);
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

 private:
  RecordedProgram* recording_ = nullptr;  // Of the capture that is under way.
};

class Cpu : public Device {
 public:
  std::string_view type() const override { return "CPU"; }
  std::string name() const override {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
      // Not of every architecture.
      const size_t colon = line.find(": ");
      if (!line.starts_with("model name") || colon == line.npos) continue;
      if (colon + 2 < line.size()) return line.substr(colon + 2);
    }
    return "CPU";
  }
  std::string_view MissingFor(Precision products) const override {
    if (products == Precision::kTf32) return "processors have no TF32, which is of NVIDIA's GPUs";
    if (products != Precision::kBFloat16 || HasBFloat16()) return "";
    return "this processor has no AVX512_BF16";
  }

  size_t alignment() const override { return kAlignment; }
  bool host_sees_memory() const override { return true; }

  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    const size_t alignment = bytes >= kHugePagesFrom ? kHugePage : kAlignment;
    const size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    Buffer buffer(std::aligned_alloc(alignment, rounded), rounded, &std::free, kind);
    if (rounded < bytes || buffer.data() == nullptr) {
      return absl::ResourceExhaustedError("no memory for " + BytesText(bytes) + " of tensors" +
                                          MachineHas());
    }
    // A wish: a kernel without such pages says no, and all is as before.
    if (alignment == kHugePage) madvise(buffer.data(), rounded, MADV_HUGEPAGE);
    std::memset(buffer.data(), 0, rounded);
    return buffer;
  }

  std::unique_ptr<Stream> MakeStream() override { return std::make_unique<CpuStream>(); }
  std::unique_ptr<Event> MakeEvent() override { return std::make_unique<CpuEvent>(); }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
};

}  // namespace

Device& CpuDevice() {
  static Cpu device;
  return device;
}

}  // namespace taas
