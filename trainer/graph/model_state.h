// The memory of a model that is trained: the values of its variables, their gradients, and what an
// optimizer keeps about each (its slots).
//
// Each kind is one arena, and all have one layout: a variable's value, gradient and slots begin at
// the same element. What is trained comes first, in the order in which a backward pass finishes the
// gradients, so that the beginning of the gradients can be sent while the rest is computed (the
// buckets of Li et al. 2020, "PyTorch Distributed"). What is not trained, such as moving moments,
// has a value only and follows. A tensor begins at a multiple of the device's alignment; what lies
// between two is zero and stays so.
//
//   values     | w2 | b1 | w1 | moments |
//   gradients  | w2 | b1 | w1 |
//   each slot  | w2 | b1 | w1 |
//
// Ownership: owns the arenas, borrows the device. Threads: as the memory of its device. Errors:
// ResourceExhausted for memory that is not there; an index that is none is a programmer error
// (CHECK).
//
//   ASSIGN_OR_RETURN(auto state, ModelState::Make(device, variables, {.gradients = true}));
//   RETURN_IF_ERROR(state->AddSlots(std::vector{0.0f}));
//   state->slot(0, i);

#ifndef TRAINER_GRAPH_MODEL_STATE_H_
#define TRAINER_GRAPH_MODEL_STATE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/device.h"
#include "trainer/graph/tensor_ref.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

struct VariableInfo {
  std::string name;
  Shape shape;
  size_t count = 0;
  size_t bytes = 0;
  bool trainable = true;
  // Of one that the graph's updates move: the decay of its MovingAverage.
  std::optional<double> decay = std::nullopt;
};

// Where gradients are to lie instead of in memory that the device gives: so many bytes, zero, which
// others may have mapped too; nothing where there are none to be had. Null: there is no such wish.
using GradientMemory = std::function<std::optional<Buffer>(size_t bytes)>;

class ModelState {
 public:
  struct Options {
    bool gradients = true;
    // Of what is trained, in the order in which its gradients are finished; what is left out comes
    // after them.
    std::vector<size_t> order{};
    GradientMemory gradient_memory{};
  };

  static absl::StatusOr<std::unique_ptr<ModelState>> Make(
      Device& device, const std::vector<VariableInfo>& variables, Options options);

  Device& device() const { return device_; }
  // `i` below is an index into them.
  const std::vector<VariableInfo>& variables() const { return variables_; }

  TensorRef value(size_t i) const { return In(values_, i); }
  // Empty of one that is not trained, and where there are none.
  TensorRef gradient(size_t i) const;
  // One more for each of `starts`, which its elements are at first.
  absl::Status AddSlots(std::span<const float> starts);
  size_t slots() const { return slots_.size(); }
  // Empty of one that is not trained.
  TensorRef slot(size_t slot, size_t i) const;

  // The first element of a variable in each arena.
  size_t at(size_t i) const;
  // Elements, with those between tensors.
  size_t trained_elements() const { return trained_elements_; }
  size_t elements() const { return elements_; }
  size_t gradient_bytes() const { return trained_elements_ * sizeof(float); }
  // Whole arenas, as they are copied and sent.
  TensorRef trained_values() const { return {device_, values_.data(), kType, trained_elements_}; }
  TensorRef other_values() const;
  // Empty where there are none.
  TensorRef trained_gradients() const;
  TensorRef slot(size_t slot) const;

 private:
  static constexpr DType kType = DType::kFloat32;

  ModelState(Device& device, const std::vector<VariableInfo>& variables)
      : device_(device), variables_(variables), at_(variables.size()) {}
  void LayOut(std::span<const size_t> order);
  TensorRef In(const Buffer& arena, size_t i) const;

  Device& device_;
  const std::vector<VariableInfo> variables_;
  std::vector<size_t> at_;
  size_t trained_elements_ = 0;
  size_t elements_ = 0;
  Buffer values_;
  std::optional<Buffer> gradients_;
  std::vector<Buffer> slots_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_MODEL_STATE_H_
