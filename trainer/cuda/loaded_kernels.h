// The kernels of this program in a driver: its compiled images, by the numbers of kernels.h.
//
// Ownership: borrows the driver, and unloads what it loaded. Threads: const methods are safe from
// any thread. Errors: Internal for a kernel that no image has, the driver's for an image that it
// cannot take.
//
//   ASSIGN_OR_RETURN(const auto kernels, LoadedKernels::Load(*driver, KernelImages()));

#ifndef TRAINER_CUDA_LOADED_KERNELS_H_
#define TRAINER_CUDA_LOADED_KERNELS_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/cuda/driver.h"
#include "trainer/kernels/cuda/kernel_image.h"

namespace taas::cuda {

class LoadedKernels {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedKernels>> Load(const Driver& driver,
                                                             std::span<const KernelImage> images);
  ~LoadedKernels();
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;

  CuKernel kernel(int index) const { return kernels_[static_cast<size_t>(index)]; }

 private:
  explicit LoadedKernels(const Driver& driver) : driver_(driver) {}
  absl::Status Add(const KernelImage& image);
  absl::StatusOr<CuKernel> Find(const char* name) const;

  const Driver& driver_;
  std::vector<CuLibrary> libraries_;
  std::vector<CuKernel> kernels_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_LOADED_KERNELS_H_
