#include "trainer/kernels/cpu/cpu_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "trainer/graph/memory_plan.h"
#include "trainer/kernels/cpu/bfloat16.h"

namespace taas {
namespace {

class CpuStream : public Stream {
 public:
  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
    return kernel.run(call);
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class Cpu : public Device {
 public:
  std::string_view type() const override { return "CPU"; }
  std::string name() const override {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
      // Not of every architecture.
      const size_t colon = line.find(": ");
      if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
    }
    return "CPU";
  }
  std::string_view MissingFor(Precision products) const override {
    if (products != Precision::kBFloat16 || HasBFloat16()) return "";
    return "this processor has no AVX512_BF16";
  }

  absl::StatusOr<Buffer> Allocate(size_t bytes) override {
    const size_t alignment = bytes >= kHugePagesFrom ? kHugePage : MemoryPlan::kAlignment;
    const size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    Buffer buffer(std::aligned_alloc(alignment, rounded), rounded, &std::free);
    if (rounded < bytes || buffer.data() == nullptr) {
      return absl::ResourceExhaustedError("no memory for " + std::to_string(bytes) +
                                          " bytes of tensors");
    }
    // A wish: a kernel without such pages says no, and all is as before.
    if (alignment == kHugePage) madvise(buffer.data(), rounded, MADV_HUGEPAGE);
    std::memset(buffer.data(), 0, rounded);
    return buffer;
  }

  std::unique_ptr<Stream> MakeStream() override { return std::make_unique<CpuStream>(); }
};

}  // namespace

Device& CpuDevice() {
  static Cpu device;
  return device;
}

}  // namespace taas
