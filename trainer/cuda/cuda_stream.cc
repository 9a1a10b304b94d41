#include "trainer/cuda/cuda_stream.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "operator/base/status.h"

namespace taas::cuda {
namespace {

CuPointer AddressOf(const void* memory) { return reinterpret_cast<CuPointer>(memory); }

// A graph that has been made ready for launches.
class CudaProgram : public Program {
 public:
  CudaProgram(const CudaDevice& device, CuGraphExec exec) : device_(device), exec_(exec) {}
  ~CudaProgram() override {
    if (device_.Enter().ok()) device_.driver().api().GraphExecDestroy(exec_);
  }
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  absl::Status Launch(Stream& stream) override {
    auto& its = static_cast<CudaStream&>(stream);
    RETURN_IF_ERROR(its.Enter());
    const Driver& driver = device_.driver();
    return driver.Check("launch a program", driver.api().GraphLaunch(exec_, its.handle()));
  }

 private:
  const CudaDevice& device_;
  const CuGraphExec exec_;
};

}  // namespace

CudaEvent::CudaEvent(const CudaDevice& device, bool timed)
    : device_(device), made_(device.Enter()) {
  if (!made_.ok()) return;
  const Driver& driver = device_.driver();
  made_ = driver.Check("make an event",
                       driver.api().EventCreate(&event_, timed ? 0 : kCuEventDisableTiming));
}

CudaEvent::~CudaEvent() {
  if (made_.ok() && device_.Enter().ok()) device_.driver().api().EventDestroy(event_);
}

absl::StatusOr<CuEvent> CudaEvent::handle() const {
  RETURN_IF_ERROR(made_);
  return event_;
}

absl::Status CudaEvent::Synchronize() {
  RETURN_IF_ERROR(made_);
  RETURN_IF_ERROR(device_.Enter());
  const Driver& driver = device_.driver();
  return driver.Check("wait for an event", driver.api().EventSynchronize(event_));
}

absl::StatusOr<bool> CudaEvent::HasPassed() const {
  RETURN_IF_ERROR(made_);
  RETURN_IF_ERROR(device_.Enter());
  const Driver& driver = device_.driver();
  const int result = driver.api().EventQuery(event_);
  if (result == kCuNotReady) return false;
  RETURN_IF_ERROR(driver.Check("look at an event", result));
  return true;
}

absl::StatusOr<std::chrono::nanoseconds> CudaEvent::Since(const TimedEvent& earlier) const {
  ASSIGN_OR_RETURN(const CuEvent from, static_cast<const CudaEvent&>(earlier).handle());
  RETURN_IF_ERROR(made_);
  RETURN_IF_ERROR(device_.Enter());
  const Driver& driver = device_.driver();
  float milliseconds = 0;
  RETURN_IF_ERROR(driver.Check("ask for the time between two events",
                               driver.api().EventElapsedTime(&milliseconds, from, event_)));
  return std::chrono::nanoseconds(std::llround(double{milliseconds} * 1e6));
}

CudaStream::CudaStream(const CudaDevice& device)
    : device_(device), driver_(device.driver()), made_(device.Enter()) {
  if (!made_.ok()) return;
  made_ = driver_.Check("make a stream",
                        driver_.api().StreamCreate(&stream_, kCuStreamNonBlocking));
}

CudaStream::~CudaStream() {
  if (made_.ok() && device_.Enter().ok()) driver_.api().StreamDestroy(stream_);
}

absl::Status CudaStream::Enter() const {
  RETURN_IF_ERROR(made_);
  return device_.Enter();
}

absl::Status CudaStream::Launch(const Kernel& kernel, const KernelCall& call) {
  RETURN_IF_ERROR(Enter());
  return kernel.run(call);
}

absl::Status CudaStream::LaunchFunction(int kernel, const Grid& grid, const void* params) {
  void* arguments[] = {const_cast<void*>(params)};
  const int result =
      driver_.api().LaunchKernel(device_.kernels().kernel(kernel), grid.x, grid.y, grid.z,
                                 grid.threads, 1, 1, /*shared_bytes=*/0, stream_, arguments,
                                 /*extra=*/nullptr);
  if (result == kCuSuccess) return absl::OkStatus();
  return driver_.Check("launch " + std::string(kKernels[kernel].name), result);
}

absl::Status CudaStream::Zero(void* memory, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  return driver_.Check("clear memory",
                       driver_.api().MemsetD8Async(AddressOf(memory), 0, bytes, stream_));
}

absl::Status CudaStream::Multiply(const Product& product) {
  return device_.products().Multiply(product, stream_);
}

absl::Status CudaStream::Convolve(const ConvPlan& plan, const ConvTensors& tensors) {
  return device_.cudnn().Launch(plan, tensors, stream_);
}

absl::Status CudaStream::Attend(const AttentionPlan& plan, const AttentionTensors& tensors) {
  return device_.cudnn().Launch(plan, tensors, stream_);
}

absl::Status CudaStream::Copy(void* to, const void* from, size_t bytes) {
  RETURN_IF_ERROR(Enter());
  if (bytes == 0) return absl::OkStatus();
  return driver_.Check(
      "copy", driver_.api().MemcpyAsync(AddressOf(to), AddressOf(from), bytes, stream_));
}

absl::Status CudaStream::Record(Event& event) {
  RETURN_IF_ERROR(Enter());
  ASSIGN_OR_RETURN(const CuEvent handle, static_cast<CudaEvent&>(event).handle());
  const unsigned flags = capturing_ ? kCuEventExternal : 0;
  return driver_.Check("record an event",
                       driver_.api().EventRecordWithFlags(handle, stream_, flags));
}

absl::Status CudaStream::Wait(Event& event) {
  RETURN_IF_ERROR(Enter());
  ASSIGN_OR_RETURN(const CuEvent handle, static_cast<CudaEvent&>(event).handle());
  const unsigned flags = capturing_ ? kCuEventExternal : 0;
  return driver_.Check("let a stream wait for an event",
                       driver_.api().StreamWaitEvent(stream_, handle, flags));
}

absl::StatusOr<CuGraph> CudaStream::CaptureGraph(absl::FunctionRef<absl::Status()> work) {
  const DriverApi& api = driver_.api();
  RETURN_IF_ERROR(driver_.Check("begin a capture",
                                api.StreamBeginCapture(stream_, kCuCaptureThreadLocal)));
  capturing_ = true;
  absl::Status status = work();
  capturing_ = false;
  CuGraph graph = nullptr;
  absl::Status ended = driver_.Check("end a capture", api.StreamEndCapture(stream_, &graph));
  if (status.ok()) status = std::move(ended);
  if (status.ok()) return graph;
  if (graph != nullptr) api.GraphDestroy(graph);
  return status;
}

absl::StatusOr<std::unique_ptr<Program>> CudaStream::Capture(
    absl::FunctionRef<absl::Status()> work) {
  RETURN_IF_ERROR(Enter());
  const DriverApi& api = driver_.api();
  ASSIGN_OR_RETURN(const CuGraph graph, CaptureGraph(work));
  CuGraphExec exec = nullptr;
  const absl::Status made =
      driver_.Check("make a program ready", api.GraphInstantiateWithFlags(&exec, graph, 0));
  api.GraphDestroy(graph);
  RETURN_IF_ERROR(made);
  return std::make_unique<CudaProgram>(device_, exec);
}

absl::Status CudaStream::Synchronize() {
  RETURN_IF_ERROR(Enter());
  return driver_.Check("wait for a stream", driver_.api().StreamSynchronize(stream_));
}

}  // namespace taas::cuda
