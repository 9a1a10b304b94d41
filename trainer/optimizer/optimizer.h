// How a gradient changes a variable.
//
// The rules are TensorFlow's: GradientDescentOptimizer, MomentumOptimizer, AdamOptimizer, Keras'
// AdamW, AdagradOptimizer, RMSPropOptimizer (TensorFlow 1's, with epsilon under the root) and
// FtrlOptimizer, each with a learning rate that may change, and with an ExponentialMovingAverage of
// the updated values if there is one.
//
//   sgd       w -= rate · g
//   momentum  accumulator = momentum · accumulator + g;  w -= rate · accumulator
//             with nesterov: w -= rate · (g + momentum · accumulator)
//   adam      m = beta1 · m + (1 - beta1) · g;  v = beta2 · v + (1 - beta2) · g²
//             w -= rate · √(1 - beta2^step) / (1 - beta1^step) · m / (√v + epsilon)
//   adamw     as adam, and w -= rate · weight_decay · w, the w before: of all variables, biases too
//             (Loshchilov and Hutter 2019)
//   adagrad   sum += g²;  w -= rate · g / √sum  (Duchi et al. 2011)
//   rmsprop   squares += (1 - rho) · (g² - squares);
//             move = momentum · move + rate · g / √(squares + epsilon);  w -= move
//             with centered: mean += (1 - rho) · (g - mean) and √(squares - mean² + epsilon)
//   ftrl      sum' = sum + g²;  linear += g - (sum'^-p - sum^-p) / rate · w, p the power, -0.5;
//             w = |linear| <= l1 ? 0 : (sign(linear) · l1 - linear) / (sum'^-p / rate + 2 · l2)
//             (FTRL-proximal, McMahan et al. 2013); where the rate is 0 nothing changes
//   average   average -= (1 - min(decay, (1 + step) / (10 + step))) · (average - w), the new w; at
//             step 1 the average starts from the w before it
//
// Works out of place: the parameter server's versioned store writes an update to a second buffer
// while a checkpoint reads the first. An optimizer holds no state of a variable; its slots
// (momentum and the like) are buffers of the caller, of the variable's size, slot_start() at the
// start, saved with it in checkpoints.
//
// A gradient may list its rows (gradient_rows.h), and is zero elsewhere. Where a rule leaves
// elements alone whose gradient is 0 (KeepsZeros), only the rows listed are updated; where it does
// not, everything is. The bits are those of the whole gradient in both cases.
//
// An optimizer has two halves: what changes from step to step are some numbers, computed in double
// (scalars); what is done with them to arrays is Update, which a device has a kernel for, named
// update_op() (kernels/cpu/update_kernels.h calls Update).
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
#include "trainer/graph/attributes.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/graph/step_block.h"
#include "trainer/optimizer/learning_rate.h"

namespace taas {

struct ApplyArgs {
  // As large as `in`; or, if KeepsZeros, the rows listed, one after the other.
  std::span<const float> gradient;
  std::span<const float> in;
  std::span<float> out;  // May be `in`; must not overlap it otherwise.
  std::span<const std::span<const float>> slots_in{};  // slots().size() of them
  std::span<const std::span<float>> slots_out{};       // each may be its slots_in.
  int64_t step = 0;  // The step that this update makes, from 1.
  // Outside of them the gradient is zero; if KeepsZeros nothing is written there, so that `out` has
  // to have the values of `in` already.
  std::optional<GradientRows> rows{};
  int threads = 1;  // That share the update of a large variable; the bits are the same.
  // Whether the outputs, which are not the inputs, are written past the caches.
  bool past_caches = false;
};

struct OptimizerOptions {
  std::string name = "sgd";  // One of KnownOptimizers().
  LearningRate learning_rate{};
  std::optional<double> momentum{};  // Of momentum, 0.9 if not given; of rmsprop, 0.
  double beta1 = 0.9;                // Of adam and adamw, as the next.
  double beta2 = 0.999;
  std::optional<double> epsilon{};  // Of adam and adamw, 1e-8 if not given; of rmsprop, 1e-10.
  bool nesterov = false;            // Of momentum.
  double weight_decay = 0.004;      // Of adamw.
  double initial_accumulator = 0.1;  // Of adagrad and ftrl.
  double rho = 0.9;                  // Of rmsprop, as the next.
  bool centered = false;
  double learning_rate_power = -0.5;  // Of ftrl, as the next two.
  double l1 = 0;
  double l2 = 0;
  std::optional<double> average_decay{};  // Of the moving average; none without.
};

// "sgd, momentum, adam, adamw, adagrad, rmsprop, ftrl".
std::string KnownOptimizers();

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
  // What each element of a slot is before the first update.
  virtual float slot_start(size_t slot) const = 0;
  void Apply(const ApplyArgs& args) const { Update(scalars(args.step), args); }
  // Of the update that makes `step`.
  virtual UpdateScalars scalars(int64_t step) const = 0;
  // With the numbers of its step, which `args` need not say.
  virtual void Update(const UpdateScalars& scalars, const ApplyArgs& args) const = 0;
  // The kernel that does the same: "ApplyAdam", of adamw too, and what it is made with: "nesterov",
  // "centered", "learning_rate_power" and, whether the last slot is a moving average, "averages".
  virtual std::string_view update_op() const = 0;
  virtual Attributes update_attributes() const = 0;
  // Whether the update that makes `step` leaves variable and slots as they are where the gradient
  // is 0, to the bit: sgd; adagrad; ftrl, while its rate stays, after the first update, with the
  // power -0.5; none with a moving average. Updates up to that step were of this optimizer, but for
  // those of StartAfter.
  virtual bool KeepsZeros(int64_t step) const = 0;

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
  //   {"name":"momentum","learningRate":0.1,"momentum":0.9,"nesterov":true,
  //    "decay":{"steps":1000,"rate":0.96,"staircase":true},"warmup":{"steps":100},
  //    "scaleByWorkers":true,"movingAverage":{"decay":0.999}}
  // `gradients` is how many are averaged in one update: scaleByWorkers multiplies the rate by it.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Parse(std::string_view json,
                                                          int64_t gradients = 1);

  // Updates up to `step` were made before a restart: with another rate, perhaps.
  void StartAfter(int64_t step) { started_after_ = step; }

 protected:
  int64_t started_after() const { return started_after_; }

 private:
  int64_t started_after_ = 0;
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_OPTIMIZER_H_
