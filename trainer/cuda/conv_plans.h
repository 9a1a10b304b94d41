// All convolutions of a device that cuDNN has plans for, made when a kernel first asks.
//
// cuDNN is loaded with the first question, so that a model without convolutions does not wait for
// it. The log says once by what this device convolves and why, and of each shape without a plan
// why.
//
// Ownership: owns library handle and plans, which stay until it goes. Threads: any that has entered
// the device's context; one at a time plans or launches, as cuDNN wants it of a handle. Errors:
// Launch's are Cudnn's.
//
//   ConvPlans plans({.folder = "/var/cache/taas-plans"}, info, driver.version());
//   if (const ConvPlan* const plan = plans.PlanFor(shape)) …

#ifndef TRAINER_CUDA_CONV_PLANS_H_
#define TRAINER_CUDA_CONV_PLANS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "operator/base/file_system.h"
#include "trainer/cuda/conv_plan.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/plan_store.h"
#include "trainer/kernels/cuda/convolution.h"

namespace taas::cuda {

class ConvPlans {
 public:
  struct Options {
    std::string library = Cudnn::kLibrary;
    std::string folder{};  // Where plans are kept; "": nowhere.
  };
  ConvPlans(Options options, DeviceInfo device, int driver)
      : options_(std::move(options)), device_(std::move(device)), driver_(driver),
        store_(files_, options_.folder) {}

  // Null where there is none.
  const ConvPlan* PlanFor(const ConvShape& shape);
  // Into a stream of the device. `plan` is one of these.
  absl::Status Launch(const ConvPlan& plan, const ConvTensors& tensors, CuStream stream);
  // Of a device that is lost: cuDNN cannot let go of it. Nothing is planned or launched any more.
  void Abandon();

 private:
  void Load();
  absl::StatusOr<std::unique_ptr<CudnnConvPlan>> Plan(const ConvShape& shape) const;
  std::string KeyOf(const ConvShape& shape) const;

  const Options options_;
  const DeviceInfo device_;
  const int driver_;  // Driver::version.
  mutable PosixFileSystem files_;
  const PlanStore store_;
  std::mutex mutex_;
  bool loaded_ = false;  // Tried to.
  std::unique_ptr<Cudnn> cudnn_;
  std::map<ConvShape, std::unique_ptr<CudnnConvPlan>> plans_;  // Null: there is none.
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CONV_PLANS_H_
