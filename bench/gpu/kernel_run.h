// A kernel with its memory on a device, launched many times in one captured program, so that its
// launch is none of the time.
//
// Ownership: borrows device and case. Threads: one. Errors: of the kernel and of the device.
//
//   KernelRun run(device, of, /*launches=*/20);
//   RETURN_IF_ERROR(run.Make(gpus.runtime().kernels));
//   RETURN_IF_ERROR(run.Once());

#ifndef BENCH_GPU_KERNEL_RUN_H_
#define BENCH_GPU_KERNEL_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/gpu/kernel_cases.h"
#include "trainer/graph/device.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"

namespace taas::bench {

class KernelRun {
 public:
  KernelRun(Device& device, const KernelCase& of, int launches)
      : device_(device), of_(of), launches_(launches), stream_(device.MakeStream()) {}

  absl::Status Make(const KernelRegistry& kernels);
  // All launches; returns when they have ended.
  absl::Status Once();
  int64_t moved_bytes() const { return moved_bytes_; }
  // Found no fault in its data: else it may have done less.
  absl::Status Check();

 private:
  absl::Status MakeKernel(const KernelRegistry& kernels);
  absl::StatusOr<std::byte*> Allocate(size_t bytes);
  absl::Status LaunchAll();

  Device& device_;
  const KernelCase& of_;
  const int launches_;
  std::vector<TensorType> types_, outputs_;
  Kernel kernel_;
  std::vector<Buffer> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
  std::byte* scratch_ = nullptr;
  std::byte* block_ = nullptr;
  int64_t moved_bytes_ = 0;
  const std::unique_ptr<Stream> stream_;
  std::unique_ptr<Program> program_;
};

}  // namespace taas::bench

#endif  // BENCH_GPU_KERNEL_RUN_H_
