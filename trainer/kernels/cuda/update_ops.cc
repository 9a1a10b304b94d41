#include "trainer/kernels/cuda/update_ops.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"
#include "trainer/loops/loops.h"
#include "trainer/optimizer/update_ops.h"

namespace taas::cuda {
namespace {

// The kernels have the rules' numbers by their places.
static_assert(offsetof(MomentumUpdate, momentum) == 1 * sizeof(float));
static_assert(offsetof(AdamUpdate, beta1) == 1 * sizeof(float));
static_assert(offsetof(AdamUpdate, rest1) == 2 * sizeof(float));
static_assert(offsetof(AdamUpdate, beta2) == 3 * sizeof(float));
static_assert(offsetof(AdamUpdate, rest2) == 4 * sizeof(float));
static_assert(offsetof(AdamUpdate, epsilon) == 5 * sizeof(float));
static_assert(offsetof(AdamUpdate, shrink) == 6 * sizeof(float));
static_assert(offsetof(RmsPropUpdate, momentum) == 1 * sizeof(float));
static_assert(offsetof(RmsPropUpdate, rest) == 2 * sizeof(float));
static_assert(offsetof(RmsPropUpdate, epsilon) == 3 * sizeof(float));
static_assert(offsetof(FtrlUpdate, l1) == 1 * sizeof(float));
static_assert(offsetof(FtrlUpdate, l2) == 2 * sizeof(float));

constexpr int64_t kUpdateElementsMin = 1'024, kUpdateElementsMax = 8'192;

// The variables of an update, of which each launch has as many as its arguments have room for.
struct Update {
  KernelRef<UpdateParams> kernel;
  size_t slots = 0;  // The rule's own.
  bool averages = false;
  std::vector<UpdatePart> parts{};
  UpdateParams params{};

  absl::Status Over(const KernelCall& call) const;
};

absl::Status Update::Over(const KernelCall& call) const {
  UpdateParams now = params;
  now.block = call.block;
  now.gradient = call.in(0);
  now.value = call.out(0);
  for (size_t slot = 0; slot < slots; ++slot) now.slots[slot] = call.out(1 + slot);
  if (averages) now.average = call.out(1 + slots);
  const size_t rows = call.inputs.size() - 2;
  now.rows = call.in_int32(rows);
  now.rows_count = call.in_int32(rows + 1);
  Grid grid{.x = 0, .threads = kBlockThreads};
  const auto launch = [&]() -> absl::Status {
    RETURN_IF_ERROR(Launch(call, kernel, grid, now));
    grid.x = 0;
    now.parts_count = 0;
    return absl::OkStatus();
  };
  for (const UpdatePart& part : parts) {
    UpdatePart& of_launch = now.parts[now.parts_count++];
    of_launch = part;
    of_launch.first_block = static_cast<int32_t>(grid.x);
    grid.x += static_cast<unsigned>((part.count + now.elements - 1) / now.elements);
    if (now.parts_count < UpdateParams::kPartsMax) continue;
    RETURN_IF_ERROR(launch());
  }
  return launch();
}

// Those that have elements.
std::vector<UpdatePart> PartsOf(const KernelSpec& spec) {
  std::vector<UpdatePart> parts;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const int64_t count = spec.inputs[i].shape.count();
    if (count > 0) parts.push_back({.at = PlaceOf(spec, i), .count = count});
  }
  return parts;
}

// A rule that has `slots` slots besides the average.
KernelFactory Apply(KernelRef<UpdateParams> kernel, size_t slots) {
  return [=](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Shape& shape = spec.inputs[0].shape;
    Update update{.kernel = kernel,
                  .slots = slots,
                  .averages = spec.attributes.Bool("averages"),
                  .parts = PartsOf(spec),
                  .params = {.width = shape.rank() == 2 ? shape.dim(1) : 1,
                             .power = -spec.attributes.Number("learning_rate_power"),
                             .nesterov = spec.attributes.Bool("nesterov"),
                             .centered = spec.attributes.Bool("centered")}};
    if (kernel.index == kApplyRmsPropKernel.index && update.params.centered) ++update.slots;
    int64_t all = 0;
    for (const UpdatePart& part : update.parts) all += part.count;
    update.params.elements = UpdateElements(all);
    return Kernel{.run = [update = std::make_shared<const Update>(std::move(update))](
                             const KernelCall& call) { return update->Over(call); }};
  };
}

GradientElements ElementsOf(const KernelCall& call, size_t rows, const TensorType& type) {
  return {.rows = call.in_int32(rows),
          .rows_count = call.in_int32(rows + 1),
          .width = type.shape.rank() == 2 ? type.shape.dim(1) : 1,
          .count = type.shape.count()};
}

// Of all gradients, and how it is done to them.
struct Finish {
  std::vector<TensorType> types;
  float unscale = 1;
  float limit = 0;

  size_t blocks() const {
    size_t blocks = 0;
    for (const TensorType& type : types) blocks += ForRounds(type.shape.count()).x;
    return blocks;
  }
  // Launches it over as many gradients at a time as its arguments have room for; `params` has the
  // rest of them.
  absl::Status Over(const KernelCall& call, KernelRef<GradientsParams> kernel,
                    GradientsParams params) const;
};

absl::Status Finish::Over(const KernelCall& call, KernelRef<GradientsParams> kernel,
                          GradientsParams params) const {
  params.unscale = unscale;
  params.limit = limit;
  Grid grid{.x = 0, .threads = kBlockThreads};
  int parts = 0;
  const auto launch = [&]() -> absl::Status {
    RETURN_IF_ERROR(Launch(call, kernel, grid, params));
    if (params.squares != nullptr) params.squares += grid.x;
    grid.x = 0;
    parts = 0;
    return absl::OkStatus();
  };
  for (size_t i = 0; i < types.size(); ++i) {
    const unsigned blocks = ForRounds(types[i].shape.count()).x;
    if (blocks == 0) continue;
    params.parts[parts++] = {.gradient = call.out(i),
                             .elements = ElementsOf(call, 3 * i + 1, types[i]),
                             .first_block = static_cast<int32_t>(grid.x),
                             .blocks = static_cast<int32_t>(blocks)};
    grid.x += blocks;
    if (parts < GradientsParams::kPartsMax) continue;
    RETURN_IF_ERROR(launch());
  }
  return launch();
}

absl::StatusOr<Kernel> FinishGradients(const KernelSpec& spec) {
  const Finish finish{.types = {spec.inputs.begin(), spec.inputs.end()},
                      .unscale = 1 / static_cast<float>(spec.attributes.Number("loss_scale")),
                      .limit = static_cast<float>(spec.attributes.Number("clip_limit"))};
  const std::string& clip = spec.attributes.Text("clip");
  if (clip.empty() && finish.unscale == 1) {
    return Kernel{.run = [](const KernelCall&) { return absl::OkStatus(); }};
  }
  if (clip != "norm") {
    const auto kernel = clip.empty() ? kScaleGradientsKernel : kClipByValueKernel;
    return Kernel{.run = [finish, kernel](const KernelCall& call) {
      return finish.Over(call, kernel, {});
    }};
  }
  const auto blocks = static_cast<int64_t>(finish.blocks());
  const auto run = [finish, blocks](const KernelCall& call) -> absl::Status {
    auto* const squares = static_cast<float*>(call.scratch);
    float* const factor = squares + blocks;
    RETURN_IF_ERROR(finish.Over(call, kSquaresKernel, {.squares = squares}));
    RETURN_IF_ERROR(
        Launch(call, kClipFactorKernel, {.threads = kBlockThreads},
               {.squares = squares, .factor = factor, .count = blocks, .limit = finish.limit}));
    return finish.Over(call, kScaleGradientsKernel, {.factor = factor});
  };
  return Kernel{.run = run, .scratch_bytes = (finish.blocks() + 1) * sizeof(float)};
}

absl::StatusOr<Kernel> MeanGradients(const KernelSpec& spec) {
  const TensorType type = spec.inputs[0];
  const int towers = static_cast<int>(spec.inputs.size());
  const Grid grid = ForRounds(type.shape.count());
  return Kernel{.run = [=](const KernelCall& call) -> absl::Status {
    MeanParams params{.count = 0,
                      .mean = call.out(),
                      .elements = ElementsOf(call, static_cast<size_t>(towers), type)};
    for (int tower = 0; tower < towers; ++tower) {
      params.gradients[params.count++] = call.in(static_cast<size_t>(tower));
      const bool last = tower + 1 == towers;
      if (!last && params.count < MeanParams::kGradientsMax) continue;
      params.factor = last ? 1.0f / static_cast<float>(towers) : 1.0f;
      RETURN_IF_ERROR(Launch(call, kMeanGradientsKernel, grid, params));
      // The next ones are added to what these have made.
      params.gradients[0] = call.out();
      params.count = 1;
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> CheckLoss(const KernelSpec&) {
  return Kernel{.run = [](const KernelCall& call) {
    return Launch(call, kCheckLossKernel, {.threads = 1},
                  {.loss = call.in(0), .report = {call.block, call.index}});
  }};
}

absl::StatusOr<Kernel> LossUnlessFault(const KernelSpec&) {
  return Kernel{.run = [](const KernelCall& call) {
    return Launch(call, kLossUnlessFaultKernel, {.threads = 1},
                  {.loss = call.in(0), .block = call.block, .out = call.out()});
  }};
}

}  // namespace

int32_t UpdateElements(int64_t all) {
  const int64_t even = (all + kRoundBlocksMax - 1) / kRoundBlocksMax;
  return static_cast<int32_t>(
      std::clamp((even + kUpdateElementsMin - 1) / kUpdateElementsMin * kUpdateElementsMin,
                 kUpdateElementsMin, kUpdateElementsMax));
}

void AddUpdateKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, kGpu, DType::kFloat32, std::move(factory));
  };
  add("ApplySgd", Apply(kApplySgdKernel, 0));
  add("ApplyMomentum", Apply(kApplyMomentumKernel, 1));
  add("ApplyAdam", Apply(kApplyAdamKernel, 2));
  add("ApplyAdagrad", Apply(kApplyAdagradKernel, 1));
  add("ApplyRmsProp", Apply(kApplyRmsPropKernel, 2));
  add("ApplyFtrl", Apply(kApplyFtrlKernel, 2));
  add(kFinishGradients, FinishGradients);
  add(kMeanGradients, MeanGradients);
  add(kCheckLoss, CheckLoss);
  add(kLossUnlessFault, LossUnlessFault);
}

}  // namespace taas::cuda
