#include "trainer/cuda/loaded_kernels.h"

#include <string>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/kernels.h"

namespace taas::cuda {

absl::StatusOr<std::unique_ptr<LoadedKernels>> LoadedKernels::Load(
    const Driver& driver, std::span<const KernelImage> images) {
  std::unique_ptr<LoadedKernels> loaded(new LoadedKernels(driver));
  for (const KernelImage& image : images) RETURN_IF_ERROR(loaded->Add(image));
  for (const KernelInfo& info : kKernels) {
    ASSIGN_OR_RETURN(const CuKernel kernel, loaded->Find(info.name));
    loaded->kernels_.push_back(kernel);
  }
  return loaded;
}

LoadedKernels::~LoadedKernels() {
  for (const CuLibrary library : libraries_) driver_.api().LibraryUnload(library);
}

absl::Status LoadedKernels::Add(const KernelImage& image) {
  CuLibrary library = nullptr;
  RETURN_IF_ERROR(driver_.Check(
      "load the kernels of " + std::string(image.file),
      driver_.api().LibraryLoadData(&library, image.fatbin.data(), nullptr, nullptr, 0, nullptr,
                                    nullptr, 0)));
  libraries_.push_back(library);
  return absl::OkStatus();
}

absl::StatusOr<CuKernel> LoadedKernels::Find(const char* name) const {
  for (const CuLibrary library : libraries_) {
    CuKernel kernel = nullptr;
    const int result = driver_.api().LibraryGetKernel(&kernel, library, name);
    if (result == kCuSuccess) return kernel;
    if (result != kCuNotFound) {
      RETURN_IF_ERROR(driver_.Check("find the kernel " + std::string(name), result));
    }
  }
  return absl::InternalError("no image of this program has the kernel " + std::string(name));
}

}  // namespace taas::cuda
