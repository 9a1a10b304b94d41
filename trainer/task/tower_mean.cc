#include "trainer/task/tower_mean.h"

#include <algorithm>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {

absl::StatusOr<std::unique_ptr<TowerMean>> TowerMean::Make(Session& session,
                                                           Collective& collective, int rank) {
  std::unique_ptr<TowerMean> mean(new TowerMean(session, collective, rank));
  RETURN_IF_ERROR(mean->MakeParts());
  session.Append(RunKind::kTrain, *mean);
  return mean;
}

TowerMean::~TowerMean() { session_.Remove(*this); }

absl::Status TowerMean::MakeParts() {
  const Attributes none;
  const std::vector<TensorType> loss = {TensorType{}};
  const KernelSpec spec{.attributes = none, .inputs = loss, .outputs = loss};
  ASSIGN_OR_RETURN(loss_unless_fault_, MakeKernel(session_.runtime(), kLossUnlessFault, spec));
  ASSIGN_OR_RETURN(check_loss_, MakeKernel(session_.runtime(), kCheckLoss, spec));
  ModelState& model = session_.model();
  ASSIGN_OR_RETURN(mean_loss_, model.device().Allocate(sizeof(float)));
  mean_read_ = mean_ = mean_loss_.data();
  exchange_.means = {model.trained_gradients(), {model.device(), mean_, DType::kFloat32, 1}};
  const std::vector<VariableInfo>& variables = model.variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    CHECK(!session_.gradient_rows(i)) << variables[i].name << " has a gradient of rows";
  }
  if (std::ranges::any_of(variables, [](const auto& one) { return one.decay.has_value(); })) {
    exchange_.firsts = {model.other_values()};
  }
  return absl::OkStatus();
}

absl::Status TowerMean::Launch(Stream& stream) {
  StepBlock* const block = session_.device_block();
  loss_ = session_.loss_tensor().data();
  RETURN_IF_ERROR(loss_unless_fault_.Launch(stream, {.inputs = {&loss_, 1},
                                                     .outputs = {&mean_, 1},
                                                     .block = block,
                                                     .index = Fault::kAfterGraph}));
  RETURN_IF_ERROR(collective_.Launch(rank_, exchange_, stream));
  return check_loss_.Launch(
      stream, {.inputs = {&mean_read_, 1}, .block = block, .index = Fault::kAfterGraph});
}

}  // namespace taas
