#include "trainer/task/model_update.h"

#include <algorithm>
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
  // All at once, but for those whose gradients list rows.
  std::vector<size_t> together;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (!model.variables()[i].trainable) continue;
    CHECK(!model.gradient(i).empty()) << model.variables()[i].name << " has no gradient";
    if (!session_.gradient_rows(i)) {
      together.push_back(i);
      continue;
    }
    Arrays own{.gradients = model.gradient(i), .values = model.value(i), .slots = {}};
    for (size_t slot = 0; slot < model.slots(); ++slot) own.slots.push_back(model.slot(slot, i));
    RETURN_IF_ERROR(AddStep({i}, own));
  }
  if (together.empty()) return absl::OkStatus();
  // In the order in which they lie, as a GPU goes over them.
  std::ranges::sort(together, {}, [&](size_t i) { return model.at(i); });
  Arrays arenas{
      .gradients = model.trained_gradients(), .values = model.trained_values(), .slots = {}};
  for (size_t slot = 0; slot < model.slots(); ++slot) arenas.slots.push_back(model.slot(slot));
  return AddStep(std::move(together), arenas);
}

absl::Status ModelUpdate::AddStep(std::vector<size_t> variables, const Arrays& arrays) {
  const ModelState& model = session_.model();
  std::vector<TensorType> types;
  std::vector<int64_t> places;
  for (const size_t i : variables) {
    types.push_back({DType::kFloat32, model.variables()[i].shape});
    const auto* const value = static_cast<const float*>(model.value(i).data());
    places.push_back(value - static_cast<const float*>(arrays.values.data()));
  }
  Attributes attributes = optimizer_.update_attributes();
  attributes.Set(kPlaces, std::move(places));
  ASSIGN_OR_RETURN(LoneKernel kernel, MakeKernel(session_.runtime(), optimizer_.update_op(),
                                                 {.attributes = attributes,
                                                  .inputs = types,
                                                  .outputs = types,
                                                  .threads = session_.threads()}));
  Step step{.variables = std::move(variables),
            .kernel = std::move(kernel),
            .inputs = {arrays.gradients.data(), arrays.values.data()},
            .outputs = {arrays.values.data()}};
  for (const TensorRef& slot : arrays.slots) {
    step.inputs.push_back(slot.data());
    step.outputs.push_back(slot.data());
  }
  step.inputs.resize(step.inputs.size() + 2);  // Rows.
  steps_.push_back(std::move(step));
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
    for (const size_t i : update.variables) {
      CHECK(session_.variable(i).data() == session_.model().value(i).data()) << "from elsewhere";
    }
    // Of one that lists none, and so of several, there are none.
    const Session::DeviceRows rows = session_.device_rows(update.variables[0]);
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
