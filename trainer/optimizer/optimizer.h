// How a gradient changes a variable.
//
// The rules are TensorFlow's: GradientDescentOptimizer, MomentumOptimizer, AdamOptimizer, each with
// a learning rate that may decay, and with an ExponentialMovingAverage of the updated values if
// there is one.
//
//   sgd       w -= rate · g
//   momentum  accumulator = momentum · accumulator + g;  w -= rate · accumulator
//   adam      m = beta1 · m + (1 - beta1) · g;  v = beta2 · v + (1 - beta2) · g²
//             w -= rate · √(1 - beta2^step) / (1 - beta1^step) · m / (√v + epsilon)
//   average   average -= (1 - min(decay, (1 + step) / (10 + step))) · (average - w), the new w; at
//             step 1 the average starts from the w before it
//
// Works out of place: the parameter server's versioned store writes an update to a second buffer
// while a checkpoint reads the first. An optimizer holds no state of a variable; its slots
// (momentum and the like) are buffers of the caller, of the variable's size, zero at the start,
// saved with it in checkpoints.
//
// Ownership: none of the buffers. Threads: const methods are safe from any thread on different
// buffers. Errors: Make and Parse return InvalidArgument naming the field; spans of unequal size
// are a programmer error.
//
//   ASSIGN_OR_RETURN(auto sgd, Optimizer::Parse(R"({"name":"sgd","learningRate":0.1})"));
//   sgd->Apply({.gradient = g, .in = w, .out = w, .step = 1});

#ifndef TRAINER_OPTIMIZER_OPTIMIZER_H_
#define TRAINER_OPTIMIZER_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/optimizer/learning_rate.h"

namespace taas {

struct ApplyArgs {
  std::span<const float> gradient;
  std::span<const float> in;
  std::span<float> out;  // May be `in`; must not overlap it otherwise.
  std::span<const std::span<const float>> slots_in{};  // slots().size() of them
  std::span<const std::span<float>> slots_out{};       // each may be its slots_in.
  int64_t step = 0;  // The step that this update makes, from 1.
};

struct OptimizerOptions {
  std::string name = "sgd";  // sgd, momentum, adam.
  LearningRate learning_rate{};
  double momentum = 0.9;  // Of momentum.
  double beta1 = 0.9;     // Of adam, as the next two.
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::optional<double> average_decay{};  // Of the moving average; none without.
};

class Optimizer {
 public:
  // A number that belongs to a step and stands in checkpoints under TensorFlow's name.
  struct Number {
    std::string name;
    double value = 0;
  };

  virtual ~Optimizer() = default;
  virtual std::string_view name() const = 0;
  // The names of the buffers that each variable needs, as in TensorFlow's checkpoints: "Momentum";
  // "Adam" and "Adam_1"; "ExponentialMovingAverage" is the last.
  virtual const std::vector<std::string>& slots() const = 0;
  virtual void Apply(const ApplyArgs& args) const = 0;

  // Of the update that makes `step`, from 1.
  virtual double learning_rate(int64_t step) const = 0;
  // After `step` updates: "beta1_power" and "beta2_power" of adam. They follow from the step; a
  // checkpoint has them for TensorFlow's readers.
  virtual std::vector<Number> numbers(int64_t step) const = 0;
  // The slot whose values an evaluation takes instead of the variable's.
  virtual std::optional<size_t> average_slot() const = 0;

  static absl::StatusOr<std::unique_ptr<Optimizer>> Make(const OptimizerOptions& options);
  // `json` is the object `spec.trainer.optimizer`, in which `spec.trainer.movingAverage` may stand
  // too:
  //   {"name":"momentum","learningRate":0.1,"momentum":0.9,
  //    "decay":{"steps":1000,"rate":0.96,"staircase":true},"movingAverage":{"decay":0.999}}
  static absl::StatusOr<std::unique_ptr<Optimizer>> Parse(std::string_view json);
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_OPTIMIZER_H_
