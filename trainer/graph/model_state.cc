#include "trainer/graph/model_state.h"

#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/memory_uses.h"

namespace taas {

absl::StatusOr<std::unique_ptr<ModelState>> ModelState::Make(
    Device& device, const std::vector<VariableInfo>& variables, Options options) {
  std::unique_ptr<ModelState> state(new ModelState(device, variables));
  state->LayOut(options.order);
  ASSIGN_OR_RETURN(state->values_, AllocateFor(device, MemoryUse::kVariables,
                                               state->elements_ * sizeof(float)));
  if (!options.gradients) return state;
  const size_t bytes = state->gradient_bytes();
  if (options.gradient_memory) state->gradients_ = options.gradient_memory(bytes);
  if (!state->gradients_) {
    ASSIGN_OR_RETURN(state->gradients_, AllocateFor(device, MemoryUse::kGradients, bytes));
  }
  CHECK(state->gradients_->bytes() >= bytes)
      << state->gradients_->bytes() << " bytes for gradients of " << bytes;
  return state;
}

void ModelState::LayOut(std::span<const size_t> order) {
  const size_t alignment = device_.alignment() / sizeof(float);
  std::vector<bool> placed(variables_.size(), false);
  const auto place = [&](size_t i) {
    CHECK(i < variables_.size() && !placed[i]) << "variable " << i << " in the order";
    placed[i] = true;
    at_[i] = elements_;
    elements_ += (variables_[i].count + alignment - 1) / alignment * alignment;
  };
  for (const size_t i : order) {
    CHECK(variables_[i].trainable) << variables_[i].name << " has no gradient";
    place(i);
  }
  for (const bool trained : {true, false}) {
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (!placed[i] && variables_[i].trainable == trained) place(i);
    }
    if (trained) trained_elements_ = elements_;
  }
}

TensorRef ModelState::In(const Buffer& arena, size_t i) const {
  return {device_, arena.data() + at(i) * sizeof(float), kType, variables_[i].count};
}

size_t ModelState::at(size_t i) const {
  CHECK(i < variables_.size()) << "there is no variable " << i;
  return at_[i];
}

TensorRef ModelState::gradient(size_t i) const {
  CHECK(i < variables_.size()) << "there is no variable " << i;
  return gradients_ && variables_[i].trainable ? In(*gradients_, i) : TensorRef();
}

absl::Status ModelState::AddSlots(std::span<const float> starts) {
  for (const float start : starts) {
    ASSIGN_OR_RETURN(Buffer memory, AllocateFor(device_, MemoryUse::kSlots,
                                                trained_elements_ * sizeof(float)));
    slots_.push_back(std::move(memory));
    for (size_t i = 0; i < variables_.size() && start != 0; ++i) {
      if (!variables_[i].trainable) continue;
      RETURN_IF_ERROR(slot(slots_.size() - 1, i).Fill(start));
    }
  }
  return absl::OkStatus();
}

TensorRef ModelState::slot(size_t slot) const {
  CHECK(slot < slots_.size()) << "there is no slot " << slot;
  return {device_, slots_[slot].data(), kType, trained_elements_};
}

TensorRef ModelState::slot(size_t slot, size_t i) const {
  CHECK(slot < slots_.size()) << "there is no slot " << slot;
  CHECK(i < variables_.size()) << "there is no variable " << i;
  return variables_[i].trainable ? In(slots_[slot], i) : TensorRef();
}

TensorRef ModelState::other_values() const {
  return {device_, values_.data() + trained_elements_ * sizeof(float), kType,
          elements_ - trained_elements_};
}

TensorRef ModelState::trained_gradients() const {
  if (!gradients_) return {};
  return {device_, gradients_->data(), kType, trained_elements_};
}

}  // namespace taas
