// All convolutions and attentions of a device that cuDNN has plans for, made when a kernel first
// asks.
//
// cuDNN is loaded with the first question, so that a model without either does not wait for it. The
// log says once of each kind by what this device computes it and why, and of each shape without a
// plan why.
//
// Ownership: owns library handle and plans, which stay until it goes. Threads: any that has entered
// the device's context; one at a time plans or launches, as cuDNN wants it of a handle. Errors:
// Launch's are Cudnn's.
//
//   CudnnPlans plans({.folder = "/var/cache/taas-plans"}, info, driver.version());
//   if (const ConvPlan* const plan = plans.PlanFor(shape)) …

#ifndef TRAINER_CUDA_CUDNN_PLANS_H_
#define TRAINER_CUDA_CUDNN_PLANS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "operator/base/file_system.h"
#include "trainer/cuda/attention_plan.h"
#include "trainer/cuda/conv_plan.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/plan_store.h"
#include "trainer/kernels/cuda/convolution.h"
#include "trainer/kernels/cuda/fused_attention.h"

namespace taas::cuda {

class CudnnPlans {
 public:
  struct Options {
    std::string library = Cudnn::kLibrary;
    std::string folder{};  // Where plans are kept; "": nowhere.
  };
  CudnnPlans(Options options, DeviceInfo device, int driver)
      : options_(std::move(options)), device_(std::move(device)), driver_(driver),
        store_(files_, options_.folder) {}

  // Null where there is none.
  const ConvPlan* PlanFor(const ConvShape& shape);
  const AttentionPlan* PlanFor(const AttentionShape& shape);
  // Into a stream of the device. `plan` is one of these.
  absl::Status Launch(const ConvPlan& plan, const ConvTensors& tensors, CuStream stream);
  absl::Status Launch(const AttentionPlan& plan, const AttentionTensors& tensors,
                      CuStream stream);
  // Of a device that is lost: cuDNN cannot let go of it. Nothing is planned or launched any more.
  void Abandon();

 private:
  // What the log calls it.
  struct Words {
    const char* all;         // "convolutions are"
    const char* one;         // "a convolution is"
    const char* name;        // Of its field.
    const char* other_ways;  // Without a plan.
  };
  template <typename Shape, typename Plan>
  struct Kind {
    Words words;
    bool told = false;
    std::map<Shape, std::unique_ptr<Plan>> plans{};  // Null: there is none.
  };

  void Load();
  void Tell(const Words& words) const;
  template <typename Shape, typename Plan>
  const Plan* PlanFor(const Shape& shape, Kind<Shape, Plan>* kind);
  template <typename Plan, typename Shape>
  absl::StatusOr<std::unique_ptr<Plan>> MakePlan(const Shape& shape, const Words& words) const;
  std::string KeyOf(const std::string& shape) const;

  const Options options_;
  const DeviceInfo device_;
  const int driver_;  // Driver::version.
  mutable PosixFileSystem files_;
  const PlanStore store_;
  std::mutex mutex_;
  bool loaded_ = false;  // Tried to.
  absl::Status why_not_;
  std::unique_ptr<Cudnn> cudnn_;
  Kind<ConvShape, CudnnConvPlan> convolutions_{
      .words = {"convolutions are", "a convolution is", "convolution", "patches and cuBLASLt"}};
  Kind<AttentionShape, CudnnAttentionPlan> attentions_{
      .words = {"attentions are", "an attention is", "attention", "cuBLASLt and softmax"}};
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDNN_PLANS_H_
