// What is done to the gradients of a step before they are used: the loss scale is divided out, and
// then they are clipped.
//
// Ownership: borrows the session. Threads: one at a time. Errors: those of the device.
//
//   ASSIGN_OR_RETURN(const auto work, GradientWork::Make(session, clip, /*loss_scale=*/1024));
//   session.Append(RunKind::kTrain, *work);
//   RETURN_IF_ERROR(session.Run(RunKind::kTrain));

#ifndef TRAINER_TASK_GRADIENT_WORK_H_
#define TRAINER_TASK_GRADIENT_WORK_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"
#include "trainer/optimizer/gradient_clip.h"

namespace taas {

class GradientWork : public StepRest {
 public:
  static absl::StatusOr<std::unique_ptr<GradientWork>> Make(Session& session,
                                                            const GradientClip& clip,
                                                            double loss_scale);
  ~GradientWork() override;
  GradientWork(const GradientWork&) = delete;
  GradientWork& operator=(const GradientWork&) = delete;
  // Whether there is anything to do.
  bool works() const { return static_cast<bool>(kernel_.kernel.run); }
  size_t workspace_bytes() const { return kernel_.kernel.scratch_bytes; }
  absl::Status Launch(Stream& stream) override;
  // By itself.
  absl::Status Run();

 private:
  explicit GradientWork(Session& session) : session_(session) {}

  Session& session_;
  LoneKernel kernel_;
  std::vector<size_t> variables_;  // That have gradients.
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace taas

#endif  // TRAINER_TASK_GRADIENT_WORK_H_
