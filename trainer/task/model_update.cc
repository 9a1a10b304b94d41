#include "trainer/task/model_update.h"

#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {

absl::StatusOr<std::unique_ptr<ModelUpdate>> ModelUpdate::Make(const Optimizer& optimizer,
                                                               Session& session) {
  std::vector<float> starts;
  for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
    starts.push_back(optimizer.slot_start(slot));
  }
  ModelState& model = session.model();
  CHECK(model.slots() == 0) << "a model that another optimizer has slots of";
  RETURN_IF_ERROR(model.AddSlots(starts));
  const auto average = optimizer.average_slot();
  for (size_t i = 0; i < model.variables().size() && average; ++i) {
    if (!model.variables()[i].trainable) continue;
    RETURN_IF_ERROR(model.slot(*average, i).CopyFrom(session.variable(i)));
  }
  std::unique_ptr<ModelUpdate> update(new ModelUpdate(optimizer, session));
  RETURN_IF_ERROR(update->MakeKernels());
  session.Append(RunKind::kStep, *update);
  return update;
}

ModelUpdate::ModelUpdate(const Optimizer& optimizer, Session& session)
    : optimizer_(optimizer),
      rates_(&optimizer),
      session_(session),
      stream_(session.model().device().MakeStream()) {}

ModelUpdate::~ModelUpdate() { session_.Remove(*this); }

absl::Status ModelUpdate::MakeKernels() {
  ModelState& model = session_.model();
  ASSIGN_OR_RETURN(check_loss_, MakeKernel(session_.runtime(), kCheckLoss,
                                           {.attributes = {}, .inputs = {}, .outputs = {}}));
  const Attributes attributes = optimizer_.update_attributes();
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (!model.variables()[i].trainable) continue;
    CHECK(!model.gradient(i).empty()) << model.variables()[i].name << " has no gradient";
    const std::vector<TensorType> types = {{DType::kFloat32, model.variables()[i].shape}};
    ASSIGN_OR_RETURN(LoneKernel kernel,
                     MakeKernel(session_.runtime(), optimizer_.update_op(),
                                {.attributes = attributes,
                                 .inputs = types,
                                 .outputs = types,
                                 .threads = session_.threads()}));
    Step step{.variable = i,
              .kernel = std::move(kernel),
              .inputs = {model.gradient(i).data(), model.value(i).data()},
              .outputs = {model.value(i).data()}};
    for (size_t slot = 0; slot < model.slots(); ++slot) {
      step.inputs.push_back(model.slot(slot, i).data());
      step.outputs.push_back(model.slot(slot, i).data());
    }
    step.inputs.resize(step.inputs.size() + 2);
    steps_.push_back(std::move(step));
  }
  return absl::OkStatus();
}

void ModelUpdate::Prepare(int64_t step) { session_.SetUpdate(rates_->scalars(step)); }

absl::Status ModelUpdate::Launch(Stream& stream) {
  StepBlock* const block = session_.device_block();
  loss_ = session_.loss_tensor().data();
  RETURN_IF_ERROR(check_loss_.Launch(
      stream, {.inputs = {&loss_, 1}, .block = block, .index = Fault::kAfterGraph}));
  for (Step& update : steps_) {
    // Checkpoints are of the model, whatever a session uses besides.
    CHECK(session_.variable(update.variable).data() == update.outputs[0]) << "from elsewhere";
    const Session::DeviceRows rows = session_.device_rows(update.variable);
    update.inputs[update.inputs.size() - 2] = rows.ids;
    update.inputs[update.inputs.size() - 1] = rows.count;
    RETURN_IF_ERROR(update.kernel.Launch(stream, {.inputs = update.inputs,
                                                  .outputs = update.outputs,
                                                  .threads = session_.threads(),
                                                  .block = block,
                                                  .index = Fault::kAfterGraph}));
  }
  return absl::OkStatus();
}

absl::Status ModelUpdate::Apply() { return Await(*stream_, Launch(*stream_)); }

std::vector<TensorRef> ModelUpdate::Evaluated() const {
  const ModelState& model = session_.model();
  const auto average = optimizer_.average_slot();
  std::vector<TensorRef> evaluated;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    const bool averaged = average.has_value() && model.variables()[i].trainable;
    evaluated.push_back(averaged ? model.slot(*average, i) : session_.variable(i));
  }
  return evaluated;
}

}  // namespace taas
