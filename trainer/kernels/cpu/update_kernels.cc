#include "trainer/kernels/cpu/update_kernels.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/graph/step_block.h"
#include "trainer/kernels/cpu/report.h"
#include "trainer/loops/loops.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {
namespace {

size_t CountOf(const TensorType& type) { return static_cast<size_t>(type.shape.count()); }

// Of the two inputs from `at` on.
std::optional<GradientRows> RowsAt(const KernelCall& call, size_t at, const TensorType& type) {
  if (call.inputs[at] == nullptr) return std::nullopt;
  const auto count = static_cast<size_t>(*call.in_int32(at + 1));
  return GradientRows{.width = static_cast<size_t>(type.shape.dim(1)),
                      .ids = {call.in_int32(at), count}};
}

// An optimizer that does what the rule's kernel is to do; its numbers come with each call.
absl::StatusOr<std::unique_ptr<Optimizer>> RuleOf(const std::string& name,
                                                  const Attributes& attributes) {
  OptimizerOptions options{.name = name,
                           .nesterov = attributes.Bool("nesterov"),
                           .centered = attributes.Bool("centered"),
                           .learning_rate_power = attributes.Number("learning_rate_power")};
  options.learning_rate.start = 1;
  if (attributes.Bool("averages")) options.average_decay = 0;
  return Optimizer::Make(options);
}

// A variable among those of an update.
struct Part {
  size_t at = 0;  // Where it begins in each of the arrays.
  TensorType type{};
};

KernelFactory Apply(const std::string& name) {
  return [name](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    ASSIGN_OR_RETURN(std::shared_ptr<const Optimizer> rule, RuleOf(name, spec.attributes));
    std::vector<Part> variables;
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      variables.push_back({static_cast<size_t>(PlaceOf(spec, i)), spec.inputs[i]});
    }
    const size_t slots = rule->slots().size();
    // Made once, so that a step allocates nothing.
    const auto in = std::make_shared<std::vector<std::span<const float>>>(slots);
    const auto out = std::make_shared<std::vector<std::span<float>>>(slots);
    return Kernel{.run = [=](const KernelCall& call) {
      if (call.block->fault.found()) return absl::OkStatus();
      for (const auto& [at, type] : variables) {
        const size_t count = CountOf(type);
        for (size_t slot = 0; slot < slots; ++slot) {
          (*in)[slot] = {call.in(2 + slot) + at, count};
          (*out)[slot] = {call.out(1 + slot) + at, count};
        }
        rule->Update(call.block->update,
                     {.gradient = {call.in(0) + at, count},
                      .in = {call.in(1) + at, count},
                      .out = {call.out(0) + at, count},
                      .slots_in = *in,
                      .slots_out = *out,
                      .rows = RowsAt(call, 2 + slots, type),
                      .threads = call.threads});
      }
      return absl::OkStatus();
    }};
  };
}

absl::StatusOr<Kernel> FinishGradients(const KernelSpec& spec) {
  const float unscale = 1 / static_cast<float>(spec.attributes.Number("loss_scale"));
  const std::string& by = spec.attributes.Text("clip");
  const auto limit = static_cast<float>(spec.attributes.Number("clip_limit"));
  const GradientClip clip = by.empty() ? GradientClip() : GradientClip(by == "norm", limit);
  const std::vector<TensorType> types(spec.inputs.begin(), spec.inputs.end());
  // Those parts that may not be zero.
  const auto parts = std::make_shared<std::vector<std::span<float>>>();
  return Kernel{.run = [=](const KernelCall& call) {
    parts->clear();
    for (size_t i = 0; i < types.size(); ++i) {
      AddParts({call.out(i), CountOf(types[i])}, RowsAt(call, 3 * i + 1, types[i]), parts.get());
    }
    for (const std::span<float> part : *parts) {
      if (unscale != 1) BestLoops().scale(part.data(), unscale, part.data(), std::ssize(part));
    }
    clip.Apply(*parts);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> MeanGradients(const KernelSpec& spec) {
  const TensorType type = spec.inputs[0];
  const size_t towers = spec.inputs.size();
  const auto parts = std::make_shared<std::vector<const float*>>(towers);
  return Kernel{.run = [=](const KernelCall& call) {
    const auto average = [&](size_t at, size_t count) {
      for (size_t tower = 0; tower < towers; ++tower) (*parts)[tower] = call.in(tower) + at;
      BestLoops().scaled_sum(parts->data(), std::ssize(*parts), 1.0f / static_cast<float>(towers),
                             call.out() + at, static_cast<int64_t>(count));
    };
    const std::optional<GradientRows> rows = RowsAt(call, towers, type);
    if (!rows) {
      average(0, CountOf(type));
      return absl::OkStatus();
    }
    ForRowRuns(*rows, [&](const RowRun& run) { average(run.at, run.count); });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> CheckLoss(const KernelSpec&) {
  return Kernel{.run = [](const KernelCall& call) {
    const float loss = *call.in(0);
    if (!std::isfinite(loss)) Report(call, {.kind = Fault::Kind::kLoss, .loss = loss});
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> LossUnlessFault(const KernelSpec&) {
  return Kernel{.run = [](const KernelCall& call) {
    *call.out() = call.block->fault.found() ? std::numeric_limits<float>::quiet_NaN()
                                            : *call.in(0);
    return absl::OkStatus();
  }};
}

}  // namespace

void AddUpdateKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
  };
  add("ApplySgd", Apply("sgd"));
  add("ApplyMomentum", Apply("momentum"));
  add("ApplyAdam", Apply("adam"));
  add("ApplyAdagrad", Apply("adagrad"));
  add("ApplyRmsProp", Apply("rmsprop"));
  add("ApplyFtrl", Apply("ftrl"));
  add(kFinishGradients, FinishGradients);
  add(kMeanGradients, MeanGradients);
  add(kCheckLoss, CheckLoss);
  add(kLossUnlessFault, LossUnlessFault);
}

}  // namespace taas
