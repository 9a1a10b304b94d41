#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

// Elements that are updated and averaged before the next ones: six arrays of them stay in the
// first-level cache, so that the average costs no further pass over memory.
constexpr size_t kBlock = 1024;

// The part of each array that begins at `at`.
struct Arrays {
  const float* gradient;
  const float* in;
  float* out;
  const ApplyArgs& args;
  size_t at;
  int64_t count;

  const float* slot_in(size_t slot) const { return args.slots_in[slot].data() + at; }
  float* slot_out(size_t slot) const { return args.slots_out[slot].data() + at; }
};

// What the rules share: the rate, the slots, the moving average, which is the last slot.
class Rule : public Optimizer {
 public:
  Rule(const OptimizerOptions& options, std::vector<std::string> slots)
      : options_(options), slots_(std::move(slots)) {
    if (options_.average_decay) slots_.push_back("ExponentialMovingAverage");
  }

  std::string_view name() const override { return options_.name; }
  const std::vector<std::string>& slots() const override { return slots_; }
  double learning_rate(int64_t step) const override { return options_.learning_rate.At(step); }
  std::vector<Number> numbers(int64_t) const override { return {}; }
  std::optional<size_t> average_slot() const override {
    if (!options_.average_decay) return std::nullopt;
    return slots_.size() - 1;
  }

 protected:
  const OptimizerOptions& options() const { return options_; }

  // Calls `update` for the blocks of `args`, each followed by its part of the average.
  template <typename Update>
  void ForEachBlock(const ApplyArgs& args, const Update& update) const {
    const size_t size = args.in.size();
    CHECK(args.gradient.size() == size && args.out.size() == size)
        << "apply " << name() << ": " << args.gradient.size() << " gradients, " << size << " in, "
        << args.out.size() << " out";
    CHECK(args.slots_in.size() == slots_.size() && args.slots_out.size() == slots_.size())
        << "apply " << name() << ": " << args.slots_in.size() << " slots in, "
        << args.slots_out.size() << " out, not " << slots_.size();
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      CHECK(args.slots_in[slot].size() == size && args.slots_out[slot].size() == size)
          << "apply " << name() << ": slot " << slots_[slot] << " has "
          << args.slots_in[slot].size() << " elements in, " << args.slots_out[slot].size()
          << " out, not " << size;
    }
    const std::optional<size_t> average = average_slot();
    const size_t step = average ? kBlock : std::max<size_t>(1, size);
    for (size_t at = 0; at < size; at += step) {
      const Arrays arrays{.gradient = args.gradient.data() + at,
                          .in = args.in.data() + at,
                          .out = args.out.data() + at,
                          .args = args,
                          .at = at,
                          .count = static_cast<int64_t>(std::min(step, size - at))};
      if (average && args.step == 1) StartAverage(arrays, *average);
      update(arrays);
      if (average) Average(arrays, *average);
    }
  }

 private:
  void StartAverage(const Arrays& arrays, size_t slot) const {
    std::copy_n(arrays.in, arrays.count, arrays.slot_out(slot));
  }

  void Average(const Arrays& arrays, size_t slot) const {
    const double step = static_cast<double>(arrays.args.step);
    const double decay = std::min(*options_.average_decay, (1 + step) / (10 + step));
    const float* from = arrays.args.step == 1 ? arrays.slot_out(slot) : arrays.slot_in(slot);
    BestLoops().approach(from, arrays.out, static_cast<float>(1 - decay), arrays.slot_out(slot),
                         arrays.count);
  }

  const OptimizerOptions options_;
  std::vector<std::string> slots_;
};

class GradientDescent : public Rule {
 public:
  explicit GradientDescent(const OptimizerOptions& options) : Rule(options, {}) {}

  void Apply(const ApplyArgs& args) const override {
    const float rate = static_cast<float>(learning_rate(args.step));
    ForEachBlock(args, [rate, &loops = BestLoops()](const Arrays& arrays) {
      loops.add_scaled(arrays.in, -rate, arrays.gradient, arrays.out, arrays.count);
    });
  }
};

class Momentum : public Rule {
 public:
  explicit Momentum(const OptimizerOptions& options) : Rule(options, {"Momentum"}) {}

  void Apply(const ApplyArgs& args) const override {
    const MomentumUpdate update{.rate = static_cast<float>(learning_rate(args.step)),
                                .momentum = static_cast<float>(options().momentum)};
    ForEachBlock(args, [&update, &loops = BestLoops()](const Arrays& arrays) {
      loops.momentum(update, arrays.gradient, arrays.in, arrays.out, arrays.slot_in(0),
                     arrays.slot_out(0), arrays.count);
    });
  }
};

class Adam : public Rule {
 public:
  explicit Adam(const OptimizerOptions& options) : Rule(options, {"Adam", "Adam_1"}) {}

  std::vector<Number> numbers(int64_t step) const override {
    const double power = static_cast<double>(step + 1);
    return {{"beta1_power", std::pow(options().beta1, power)},
            {"beta2_power", std::pow(options().beta2, power)}};
  }

  void Apply(const ApplyArgs& args) const override {
    const double step = static_cast<double>(args.step);
    const double rate = learning_rate(args.step) * std::sqrt(1 - std::pow(options().beta2, step)) /
                        (1 - std::pow(options().beta1, step));
    const AdamUpdate update{.rate = static_cast<float>(rate),
                            .beta1 = static_cast<float>(options().beta1),
                            .rest1 = static_cast<float>(1 - options().beta1),
                            .beta2 = static_cast<float>(options().beta2),
                            .rest2 = static_cast<float>(1 - options().beta2),
                            .epsilon = static_cast<float>(options().epsilon)};
    ForEachBlock(args, [&update, &loops = BestLoops()](const Arrays& arrays) {
      const float* const moments[2] = {arrays.slot_in(0), arrays.slot_in(1)};
      float* const moments_out[2] = {arrays.slot_out(0), arrays.slot_out(1)};
      loops.adam(update, arrays.gradient, arrays.in, arrays.out, moments, moments_out,
                 arrays.count);
    });
  }
};

struct Bound {
  const char* field;
  double value;
  double low;
  bool low_is_in;
  double high;
  bool high_is_in;
};

std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

absl::Status CheckBound(const Bound& bound) {
  const bool above = bound.low_is_in ? bound.value >= bound.low : bound.value > bound.low;
  const bool below = bound.high_is_in ? bound.value <= bound.high : bound.value < bound.high;
  if (above && below) return absl::OkStatus();  // Never for NaN.
  return absl::InvalidArgumentError(
      std::string(bound.field) + ": must be " + (bound.low_is_in ? "at least " : "above ") +
      Text(bound.low) + (bound.high_is_in ? " and at most " : " and below ") + Text(bound.high) +
      ", is " + Text(bound.value));
}

absl::Status CheckOptions(const OptimizerOptions& options) {
  constexpr double kLarge = 1e6;
  const LearningRate& rate = options.learning_rate;
  for (const Bound& bound : {
           Bound{"optimizer.learningRate", rate.start, 0, false, kLarge, true},
           Bound{"optimizer.decay.rate", rate.decay_rate, 0, false, kLarge, true},
           Bound{"optimizer.momentum", options.momentum, 0, true, 1, false},
           Bound{"optimizer.beta1", options.beta1, 0, true, 1, false},
           Bound{"optimizer.beta2", options.beta2, 0, true, 1, false},
           Bound{"optimizer.epsilon", options.epsilon, 0, false, kLarge, true},
           Bound{"movingAverage.decay", options.average_decay.value_or(0), 0, true, 1, false},
       }) {
    RETURN_IF_ERROR(CheckBound(bound));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Make(const OptimizerOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (options.name == "sgd") return std::make_unique<GradientDescent>(options);
  if (options.name == "momentum") return std::make_unique<Momentum>(options);
  if (options.name == "adam") return std::make_unique<Adam>(options);
  return absl::InvalidArgumentError("optimizer.name: there is no optimizer \"" + options.name +
                                    "\"; known: sgd, momentum, adam");
}

}  // namespace taas
