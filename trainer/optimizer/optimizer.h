// How a gradient changes a variable.
//
// Works out of place: the parameter server's versioned store writes an update to a second buffer
// while a checkpoint reads the first. An optimizer holds no state of a variable; its slots
// (momentum and the like) are buffers of the caller, of the variable's size, zero at the start,
// saved with it in checkpoints.
//
// Ownership: none of the buffers. Threads: const methods are safe from any thread on different
// buffers. Errors: Make returns InvalidArgument naming the field; spans of unequal size are a
// programmer error.
//
//   ASSIGN_OR_RETURN(auto sgd, Optimizer::Parse(R"({"name":"sgd","learningRate":0.1})"));
//   sgd->Apply({.gradient = g, .in = w, .out = w, .step = 1});

#ifndef TRAINER_OPTIMIZER_OPTIMIZER_H_
#define TRAINER_OPTIMIZER_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct ApplyArgs {
  std::span<const float> gradient;
  std::span<const float> in;
  std::span<float> out;  // May be `in`; must not overlap it otherwise.
  std::span<const std::span<const float>> slots_in;  // slots().size() of them
  std::span<const std::span<float>> slots_out;       // each may be its slots_in.
  int64_t step = 0;  // The step that this update makes, from 1.
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string_view name() const = 0;
  // The names of the buffers that each variable needs, as TensorFlow users know them ("Momentum").
  virtual const std::vector<std::string>& slots() const = 0;
  virtual void Apply(const ApplyArgs& args) const = 0;

  static absl::StatusOr<std::unique_ptr<Optimizer>> Make(std::string_view name,
                                                         double learning_rate);
  // `json` is the object `spec.trainer.optimizer`: {"name":"sgd","learningRate":0.1}.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Parse(std::string_view json);
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_OPTIMIZER_H_
