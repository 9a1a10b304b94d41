// An optimizer at work on a model that one process holds whole.
//
// Ownership: borrows the optimizer and the session, whose ModelState gets the optimizer's slots and
// whose runs of kind kStep it is part of. Threads: one at a time. Errors: those of the device.
//
//   ASSIGN_OR_RETURN(const auto update, ModelUpdate::Make(*optimizer, session));
//   update->Prepare(step);
//   RETURN_IF_ERROR(session.Run(RunKind::kStep));

#ifndef TRAINER_TASK_MODEL_UPDATE_H_
#define TRAINER_TASK_MODEL_UPDATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {

class ModelUpdate : public StepRest {
 public:
  // Of a model that is untrained: the slots are as the optimizer starts them, but for the averages,
  // which are the variables as they are.
  static absl::StatusOr<std::unique_ptr<ModelUpdate>> Make(const Optimizer& optimizer,
                                                           Session& session);
  ~ModelUpdate() override;
  ModelUpdate(const ModelUpdate&) = delete;
  ModelUpdate& operator=(const ModelUpdate&) = delete;

  // The next run of the session makes the gradients of `step`. If it is a kStep it updates the
  // variables with them, unless its loss is no number;
  void Prepare(int64_t step);
  // From now on with the rates of `optimizer`, which outlives this and is the same but for them: of
  // another number of gradients in a step.
  void TakeRatesOf(const Optimizer& optimizer) { rates_ = &optimizer; }
  absl::Status Launch(Stream& stream) override;
  // after a kTrain this does.
  absl::Status Apply();

  // What an evaluation is of: the averages where there are any, else the variables themselves.
  std::vector<TensorRef> Evaluated() const;

 private:
  ModelUpdate(const Optimizer& optimizer, Session& session);

  absl::Status MakeKernels();
  // Of variables that lie in the model's arenas, each of which begins at `arrays`.
  struct Arrays {
    TensorRef gradients, values;
    std::vector<TensorRef> slots;
  };
  absl::Status AddStep(std::vector<size_t> variables, const Arrays& arrays);

  // What is done to some variables, with the memory that stays where it is.
  struct Step {
    std::vector<size_t> variables;
    LoneKernel kernel;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };

  const Optimizer& optimizer_;
  const Optimizer* rates_;
  Session& session_;
  LoneKernel check_loss_;
  const void* loss_ = nullptr;  // Where it is.
  std::vector<Step> steps_;
  const std::unique_ptr<Stream> stream_;
};

}  // namespace taas

#endif  // TRAINER_TASK_MODEL_UPDATE_H_
