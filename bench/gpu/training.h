// A row's model in training: batches of random bytes and ids in memory of the host, one session,
// one optimizer. A step does what the trainer's does: it copies the next batch into the session's
// inputs and launches gradients and update as one, behind the step before where that goes on by
// itself.
//
// Ownership: owns model, session and data, borrows the runtime. Threads: one. Errors: those of
// model, session and device; InvalidArgument for a model of which the device has no kernel.
//
//   ASSIGN_OR_RETURN(const auto training, Training::Make(CpuRuntime(), row));
//   RETURN_IF_ERROR(training->Step());
//   RETURN_IF_ERROR(training->Finish());

#ifndef BENCH_GPU_TRAINING_H_
#define BENCH_GPU_TRAINING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/gpu/rows.h"
#include "trainer/data/dataset.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/model_update.h"

namespace taas::bench {

class Training {
 public:
  static absl::StatusOr<std::unique_ptr<Training>> Make(const Runtime& runtime, const Row& row,
                                                        int threads = 1);

  absl::Status Step();
  // Of all steps that were launched; then there is the loss of the last.
  absl::Status Finish();
  float loss() const { return session_->loss(); }
  size_t parameters() const;  // That are trained.
  using Values = std::vector<std::vector<float>>;
  // After Finish.
  absl::StatusOr<Values> Variables() const;
  absl::StatusOr<Values> Gradients() const;  // Of the last step, in the order of variables.
  absl::Status SetVariables(const Values& values);

 private:
  struct Batch {
    std::vector<float> features, targets;
    std::vector<uint8_t> pixels;
    std::vector<int64_t> ids;
    std::vector<int32_t> labels;
  };

  Training(Model model, std::unique_ptr<Optimizer> optimizer, std::unique_ptr<Session> session)
      : model_(std::move(model)),
        optimizer_(std::move(optimizer)),
        session_(std::move(session)) {}
  void MakeBatches(const Row& row);

  const Model model_;
  const std::unique_ptr<Optimizer> optimizer_;
  const std::unique_ptr<Session> session_;
  std::unique_ptr<ModelUpdate> update_;
  std::vector<Batch> batches_;
  int64_t step_ = 0;
  size_t under_way_ = 0;
};

}  // namespace taas::bench

#endif  // BENCH_GPU_TRAINING_H_
