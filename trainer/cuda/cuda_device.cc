#include "trainer/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/status.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/graph/short_text.h"

namespace taas::cuda {
absl::Status CudaDevice::CheckUsable(const DeviceInfo& info) {
  const std::string why = info.Unusable();
  if (why.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("GPU " + std::to_string(info.index) + " (" + info.name +
                                       ") cannot be used: " + why);
}

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Open(const Driver& driver,
                                                             const LoadedKernels& kernels,
                                                             int index,
                                                             const std::string& cublaslt,
                                                             CudnnPlans::Options cudnn) {
  ASSIGN_OR_RETURN(DeviceInfo info, driver.Describe(index));
  RETURN_IF_ERROR(CheckUsable(info));
  std::unique_ptr<CudaDevice> device(new CudaDevice(driver, kernels, std::move(info)));
  RETURN_IF_ERROR(device->Start(cublaslt, std::move(cudnn)));
  return device;
}

CudaDevice::CudaDevice(const Driver& driver, const LoadedKernels& kernels, DeviceInfo info)
    : driver_(driver), kernels_(kernels), info_(std::move(info)) {}

absl::Status CudaDevice::Start(const std::string& cublaslt, CudnnPlans::Options cudnn) {
  int device = 0;
  RETURN_IF_ERROR(driver_.Check("find device " + std::to_string(info_.index),
                                driver_.api().DeviceGet(&device, info_.index)));
  RETURN_IF_ERROR(driver_.Check("start to compute on device " + std::to_string(info_.index),
                                driver_.api().DevicePrimaryCtxRetain(&context_, device)));
  ASSIGN_OR_RETURN(const int64_t free, FreeBytes());
  free_at_start_ = static_cast<size_t>(free);
  ASSIGN_OR_RETURN(products_, CublasLt::Load(cublaslt));
  cudnn_ = std::make_unique<CudnnPlans>(std::move(cudnn), info_, driver_.version());
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  // What is on the device goes first.
  idle_streams_.clear();
  if (!Enter().ok()) {
    // Of a device that is lost the libraries cannot let go.
    static_cast<void>(products_.release());
    if (cudnn_ != nullptr) cudnn_->Abandon();
  }
  cudnn_.reset();
  products_.reset();
  int device = 0;
  if (driver_.api().DeviceGet(&device, info_.index) == kCuSuccess) {
    driver_.api().DevicePrimaryCtxRelease(device);
  }
}

std::string_view CudaDevice::type() const { return kGpu; }

absl::Status CudaDevice::Enter() const {
  const int result = driver_.api().CtxSetCurrent(context_);
  if (result == kCuSuccess) return absl::OkStatus();
  return driver_.Check("enter the context of device " + std::to_string(info_.index), result);
}

absl::StatusOr<Buffer> CudaDevice::Allocate(size_t bytes, MemoryKind kind) {
  RETURN_IF_ERROR(Enter());
  const DriverApi& api = driver_.api();
  const size_t rounded = std::max<size_t>(bytes, 1);  // There is no memory of no byte.
  if (kind == MemoryKind::kPinned) {
    void* memory = nullptr;
    RETURN_IF_ERROR(NoMemory(bytes, driver_.Check("pin memory of the host",
                                                  api.MemHostAlloc(&memory, rounded,
                                                                   kCuHostPortable))));
    std::memset(memory, 0, rounded);
    return Buffer(
        memory, rounded,
        [this](void* gone) {
          if (Enter().ok()) driver_.api().MemFreeHost(gone);
        },
        kind);
  }
  CuPointer address = 0;
  RETURN_IF_ERROR(
      NoMemory(bytes, driver_.Check("allocate memory", api.MemAlloc(&address, rounded))));
  Buffer buffer(
      reinterpret_cast<void*>(address), rounded,
      [this](void* gone) {
        if (Enter().ok()) driver_.api().MemFree(reinterpret_cast<CuPointer>(gone));
      },
      kind);
  RETURN_IF_ERROR(
      InStream([&](CudaStream& stream) { return stream.Zero(buffer.data(), rounded); }));
  return buffer;
}

absl::Status CudaDevice::Copy(void* to, const void* from, size_t bytes) {
  return InStream([&](CudaStream& stream) { return stream.Copy(to, from, bytes); });
}

absl::Status CudaDevice::InStream(absl::FunctionRef<absl::Status(CudaStream& stream)> work) {
  std::unique_ptr<CudaStream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_streams_.empty()) {
      stream = std::move(idle_streams_.back());
      idle_streams_.pop_back();
    }
  }
  if (stream == nullptr) stream = std::make_unique<CudaStream>(*this);
  RETURN_IF_ERROR(stream->Enter());
  RETURN_IF_ERROR(Await(*stream, work(*stream)));
  const std::lock_guard lock(mutex_);
  idle_streams_.push_back(std::move(stream));
  return absl::OkStatus();
}

absl::Status CudaDevice::NoMemory(size_t bytes, absl::Status status) const {
  if (!absl::IsResourceExhausted(status)) return status;
  std::string text = "no memory for " + BytesText(bytes) + " on GPU " +
                     std::to_string(info_.index) + " (" + info_.name + ")";
  if (const std::optional<MemoryLevel> level = memory_level()) {
    text += ": " + BytesText(level->free) + " of " + BytesText(level->total) + " are free";
  }
  return absl::ResourceExhaustedError(text);
}

absl::StatusOr<int64_t> CudaDevice::FreeBytes() const {
  RETURN_IF_ERROR(Enter());
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(
      driver_.Check("ask for the memory that is free", driver_.api().MemGetInfo(&free, &total)));
  return static_cast<int64_t>(free);
}

std::optional<MemoryLevel> CudaDevice::memory_level() const {
  MemoryLevel level{.free_at_start = free_at_start_};
  if (!Enter().ok()) return std::nullopt;
  if (driver_.api().MemGetInfo(&level.free, &level.total) != kCuSuccess) return std::nullopt;
  return level;
}

const ConvPlan* CudaDevice::PlanConvolution(const ConvShape& shape) {
  // Of one that is lost the next call says so.
  return Enter().ok() ? cudnn_->PlanFor(shape) : nullptr;
}

const AttentionPlan* CudaDevice::PlanAttention(const AttentionShape& shape) {
  return Enter().ok() ? cudnn_->PlanFor(shape) : nullptr;
}

bool CudaDevice::CanMultiply(const Product& product) {
  return Enter().ok() && products_->CanMultiply(product);
}

std::unique_ptr<Stream> CudaDevice::MakeStream() { return std::make_unique<CudaStream>(*this); }
std::unique_ptr<Event> CudaDevice::MakeEvent() {
  return std::make_unique<CudaEvent>(*this, /*timed=*/false);
}
std::unique_ptr<TimedEvent> CudaDevice::MakeTimedEvent() {
  return std::make_unique<CudaEvent>(*this, /*timed=*/true);
}

}  // namespace taas::cuda
