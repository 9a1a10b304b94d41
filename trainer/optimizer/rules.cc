// The update rules, each a loop of trainer/loops/loops.h with its numbers.

#include <cmath>
#include <string>

#include "trainer/loops/loops.h"
#include "trainer/optimizer/rule.h"

namespace taas {
namespace {

class GradientDescent : public Rule {
 public:
  explicit GradientDescent(const OptimizerOptions& options) : Rule(options, "ApplySgd", {}) {}

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    ForEachBlock(scalars, args, [rate = scalars.rule[0],
                                 &loops = BestLoops()](const Arrays& arrays) {
      loops.add_scaled(arrays.in, -rate, arrays.gradient, arrays.out, arrays.count);
    });
  }

 protected:
  void SetNumbers(int64_t step, UpdateScalars* scalars) const override {
    scalars->Set(static_cast<float>(learning_rate(step)));
  }
  bool RuleKeepsZeros(int64_t) const override { return true; }
};

class Momentum : public Rule {
 public:
  explicit Momentum(const OptimizerOptions& options)
      : Rule(options, "ApplyMomentum", {{"Momentum"}}) {}

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    const auto update = scalars.As<MomentumUpdate>();
    const auto loop = options().nesterov ? BestLoops().nesterov : BestLoops().momentum;
    ForEachBlock(scalars, args, [&update, loop](const Arrays& arrays) {
      loop(update, arrays.gradient, arrays.in, arrays.out, arrays.slot_in(0), arrays.slot_out(0),
           arrays.count);
    });
  }

 protected:
  void SetNumbers(int64_t step, UpdateScalars* scalars) const override {
    scalars->Set(MomentumUpdate{
        .rate = static_cast<float>(learning_rate(step)),
        .momentum = static_cast<float>(options().momentum.value_or(0.9))});
  }
};

// Adam, and with `weight_decay` AdamW.
class Adam : public Rule {
 public:
  Adam(const OptimizerOptions& options, double weight_decay)
      : Rule(options, "ApplyAdam", {{"Adam"}, {"Adam_1"}}), weight_decay_(weight_decay) {}

  std::vector<Number> numbers(int64_t step) const override {
    const double power = static_cast<double>(step + 1);
    return {{"beta1_power", std::pow(options().beta1, power)},
            {"beta2_power", std::pow(options().beta2, power)}};
  }

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    const auto update = scalars.As<AdamUpdate>();
    ForEachBlock(scalars, args, [&update, &loops = BestLoops()](const Arrays& arrays) {
      const float* const moments[2] = {arrays.slot_in(0), arrays.slot_in(1)};
      float* const moments_out[2] = {arrays.slot_out(0), arrays.slot_out(1)};
      loops.adam(update, arrays.gradient, arrays.in, arrays.out, moments, moments_out,
                 arrays.count);
    });
  }

 protected:
  void SetNumbers(int64_t at, UpdateScalars* scalars) const override {
    const double step = static_cast<double>(at);
    const double rate = learning_rate(at);
    const double corrected = rate * std::sqrt(1 - std::pow(options().beta2, step)) /
                             (1 - std::pow(options().beta1, step));
    scalars->Set(AdamUpdate{.rate = static_cast<float>(corrected),
                            .beta1 = static_cast<float>(options().beta1),
                            .rest1 = static_cast<float>(1 - options().beta1),
                            .beta2 = static_cast<float>(options().beta2),
                            .rest2 = static_cast<float>(1 - options().beta2),
                            .epsilon = static_cast<float>(options().epsilon.value_or(1e-8)),
                            .shrink = static_cast<float>(rate * weight_decay_)});
  }

 private:
  const double weight_decay_;
};

class Adagrad : public Rule {
 public:
  explicit Adagrad(const OptimizerOptions& options)
      : Rule(options, "ApplyAdagrad", {{"Adagrad", options.initial_accumulator}}) {}

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    ForEachBlock(scalars, args, [rate = scalars.rule[0],
                                 &loops = BestLoops()](const Arrays& arrays) {
      loops.adagrad(rate, arrays.gradient, arrays.in, arrays.out, arrays.slot_in(0),
                    arrays.slot_out(0), arrays.count);
    });
  }

 protected:
  void SetNumbers(int64_t step, UpdateScalars* scalars) const override {
    scalars->Set(static_cast<float>(learning_rate(step)));
  }
  bool RuleKeepsZeros(int64_t) const override { return true; }
};

class RmsProp : public Rule {
 public:
  // TensorFlow creates the slots in this order, and numbers their names.
  explicit RmsProp(const OptimizerOptions& options)
      : Rule(options, "ApplyRmsProp",
             options.centered ? std::vector<Slot>{{"RMSProp", 1}, {"RMSProp_1"}, {"RMSProp_2"}}
                              : std::vector<Slot>{{"RMSProp", 1}, {"RMSProp_1"}}) {}

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    const auto update = scalars.As<RmsPropUpdate>();
    const bool centered = options().centered;
    ForEachBlock(scalars, args, [&update, centered, &loops = BestLoops()](const Arrays& arrays) {
      const float* in[3] = {arrays.slot_in(0), arrays.slot_in(1)};
      float* out[3] = {arrays.slot_out(0), arrays.slot_out(1)};
      if (centered) {
        in[2] = arrays.slot_in(2);
        out[2] = arrays.slot_out(2);
      }
      (centered ? loops.rmsprop_centered : loops.rmsprop)(
          update, arrays.gradient, arrays.in, arrays.out, in, out, arrays.count);
    });
  }

 protected:
  void SetNumbers(int64_t step, UpdateScalars* scalars) const override {
    scalars->Set(
        RmsPropUpdate{.rate = static_cast<float>(learning_rate(step)),
                      .momentum = static_cast<float>(options().momentum.value_or(0)),
                      .rest = static_cast<float>(1 - options().rho),
                      .epsilon = static_cast<float>(options().epsilon.value_or(1e-10))});
  }
};

class Ftrl : public Rule {
 public:
  explicit Ftrl(const OptimizerOptions& options)
      : Rule(options, "ApplyFtrl", {{"Ftrl", options.initial_accumulator}, {"Ftrl_1"}}) {}

  void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
    const auto update = scalars.As<FtrlUpdate>();
    ForEachBlock(scalars, args, [&, &loops = BestLoops()](const Arrays& arrays) {
      const float* const in[2] = {arrays.slot_in(0), arrays.slot_in(1)};
      float* const out[2] = {arrays.slot_out(0), arrays.slot_out(1)};
      if (scalars.stays) {
        Stay(arrays);
      } else if (options().learning_rate_power == -0.5) {
        loops.ftrl(update, arrays.gradient, arrays.in, arrays.out, in, out, arrays.count);
      } else {
        ApplyOtherPower(update, arrays);
      }
    });
  }

 protected:
  void SetNumbers(int64_t step, UpdateScalars* scalars) const override {
    const double rate = learning_rate(step);
    scalars->Set(FtrlUpdate{.per_rate = static_cast<float>(1 / rate),
                            .l1 = static_cast<float>(options().l1),
                            .l2 = static_cast<float>(2 * options().l2)});
    scalars->stays = rate == 0;
  }
  // The rule makes the variable anew of its slots and the rate. An update with a gradient of 0
  // changes no slot, so the variable is what the update before has made of them. Other powers are
  // computed in double, of which a slot keeps a part.
  bool RuleKeepsZeros(int64_t step) const override {
    return step > started_after() + 1 && learning_rate(step) == learning_rate(step - 1) &&
           options().learning_rate_power == -0.5;
  }

 private:
  // The rule divides by the rate; a warm-up and the end of a cosine have a rate of 0, whose limit
  // is a variable that stays.
  static void Stay(const Arrays& arrays) {
    std::copy_n(arrays.in, arrays.count, arrays.out);
    for (const size_t slot : {0, 1}) {
      std::copy_n(arrays.slot_in(slot), arrays.count, arrays.slot_out(slot));
    }
  }

  // Powers other than a root are rare enough to be taken one by one.
  void ApplyOtherPower(const FtrlUpdate& update, const Arrays& arrays) const {
    const double power = -options().learning_rate_power;
    for (int64_t i = 0; i < arrays.count; ++i) {
      const double g = double{arrays.gradient[i]};
      const double sum = double{arrays.slot_in(0)[i]};
      const double new_sum = sum + g * g;
      const double weight = std::pow(new_sum, power);
      const double sigma = (weight - std::pow(sum, power)) * update.per_rate;
      const double linear = double{arrays.slot_in(1)[i]} + g - sigma * double{arrays.in[i]};
      const double shrunk = std::copysign(double{update.l1}, linear) - linear;
      arrays.slot_out(0)[i] = static_cast<float>(new_sum);
      arrays.slot_out(1)[i] = static_cast<float>(linear);
      arrays.out[i] = std::abs(linear) <= update.l1
                          ? 0.0f
                          : static_cast<float>(shrunk / (weight * update.per_rate + update.l2));
    }
  }
};

}  // namespace

std::unique_ptr<Optimizer> MakeRule(const OptimizerOptions& options) {
  if (options.name == "sgd") return std::make_unique<GradientDescent>(options);
  if (options.name == "momentum") return std::make_unique<Momentum>(options);
  if (options.name == "adam") return std::make_unique<Adam>(options, 0);
  if (options.name == "adamw") return std::make_unique<Adam>(options, options.weight_decay);
  if (options.name == "adagrad") return std::make_unique<Adagrad>(options);
  if (options.name == "rmsprop") return std::make_unique<RmsProp>(options);
  if (options.name == "ftrl") return std::make_unique<Ftrl>(options);
  return nullptr;
}

}  // namespace taas
