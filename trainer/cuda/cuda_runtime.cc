#include "trainer/cuda/cuda_runtime.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "operator/base/status.h"
#include "trainer/cuda/device_check.h"
#include "trainer/cuda/device_health.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/kernels/cuda/cuda_kernels.h"

namespace taas::cuda {
namespace {

template <typename As>
std::vector<As*> PointersTo(const std::vector<std::unique_ptr<CudaDevice>>& devices) {
  std::vector<As*> pointers;
  std::ranges::transform(devices, std::back_inserter(pointers),
                         [](const auto& device) { return device.get(); });
  return pointers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaRuntime>> CudaRuntime::Open(int count,
                                                               const Libraries& libraries) {
  auto runtime = std::make_unique<CudaRuntime>();
  const std::string wanted =
      count == 1 ? "a GPU is wanted" : std::to_string(count) + " GPUs are wanted";
  RETURN_IF_ERROR(MachineFault(Annotate(runtime->Start(count, libraries), wanted)));
  return runtime;
}

absl::Status CudaRuntime::Start(int count, const Libraries& libraries) {
  nvml_ = libraries.nvml;
  ASSIGN_OR_RETURN(driver_, Driver::Load(libraries.driver));
  ASSIGN_OR_RETURN(const std::vector<DeviceInfo> seen, driver_->Devices());
  if (static_cast<int>(seen.size()) < count) {
    return absl::FailedPreconditionError("this process sees " + std::to_string(seen.size()) +
                                         " (taas-trainer devices lists them)");
  }
  // A driver may refuse the kernels of which it has no device: the device says more.
  for (int index = 0; index < count; ++index) {
    RETURN_IF_ERROR(CudaDevice::CheckUsable(seen[static_cast<size_t>(index)]));
  }
  for (int index = 0; index < count; ++index) {
    RETURN_IF_ERROR(CheckHealth(seen[static_cast<size_t>(index)], nvml_));
  }
  ASSIGN_OR_RETURN(kernels_, LoadedKernels::Load(*driver_, libraries.images));
  for (int index = 0; index < count; ++index) {
    ASSIGN_OR_RETURN(auto device,
                     CudaDevice::Open(*driver_, *kernels_, index, libraries.cublaslt,
                                      libraries.cudnn));
    RETURN_IF_ERROR(CheckShortly(*device));
    devices_.push_back(std::move(device));
  }
  if (count == 1) return absl::OkStatus();
  ASSIGN_OR_RETURN(collective_,
                   NcclCollective::Start(PointersTo<CudaDevice>(devices_), libraries.nccl));
  return absl::OkStatus();
}

std::vector<std::string> CudaRuntime::ids() const {
  std::vector<std::string> ids;
  for (const auto& device : devices_) ids.push_back(device->info().id);
  return ids;
}

absl::Status CudaRuntime::Explain(absl::Status status) const {
  if (!IsMachineFault(status)) return status;
  std::string text(status.message());
  for (const std::string& id : ids()) {
    const auto health = AskHealth(id, nvml_);
    const std::string counted = health.ok() ? TextOf(*health) : "";
    if (!counted.empty()) text += "; NVML of " + id + ": " + counted;
  }
  absl::Status explained(status.code(), text);
  status.ForEachPayload([&explained](absl::string_view type, const absl::Cord& payload) {
    explained.SetPayload(type, payload);
  });
  return explained;
}

Runtime CudaRuntime::runtime() const {
  return {PointersTo<Device>(devices_), StandardCudaKernels(), collective_.get()};
}

}  // namespace taas::cuda
