#include "trainer/kernels/cuda/elementwise_ops.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// A kernel's thread has four elements.
Grid GridOf(int64_t count) { return ForElements(count, 4); }

KernelFactory OneInput(KernelRef<OneInputParams> kernel) {
  return [kernel](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count();
    return Kernel{.run = [kernel, n](const KernelCall& call) {
      return Launch(call, kernel, GridOf(n),
                    {.x = call.in(0),
                     .y = call.out(),
                     .count = n,
                     .by_fours = ByFours({call.in(0), call.out()})});
    }};
  };
}

KernelFactory TwoInputs(KernelRef<TwoInputsParams> kernel) {
  return [kernel](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count();
    return Kernel{.run = [kernel, n](const KernelCall& call) {
      return Launch(call, kernel, GridOf(n),
                    {.a = call.in(0),
                     .b = call.in(1),
                     .y = call.out(),
                     .count = n,
                     .by_fours = ByFours({call.in(0), call.in(1), call.out()})});
    }};
  };
}

KernelFactory ByFactor(KernelRef<ByFactorParams> kernel) {
  return [kernel](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count();
    return Kernel{.run = [kernel, n](const KernelCall& call) {
      return Launch(call, kernel, GridOf(n),
                    {.x = call.in(0),
                     .factor = call.in(1),
                     .y = call.out(),
                     .count = n,
                     .by_fours = ByFours({call.in(0), call.out()})});
    }};
  };
}

KernelFactory Bias(KernelRef<BiasParams> kernel) {
  return [kernel](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count(), columns = spec.inputs[1].shape.count();
    return Kernel{.run = [kernel, n, columns](const KernelCall& call) {
      const bool by_fours =
          columns % 4 == 0 && ByFours({call.in(0), call.in(1), call.out()});
      return Launch(call, kernel, GridOf(n),
                    {.x = call.in(0),
                     .b = call.in(1),
                     .y = call.out(),
                     .count = n,
                     .columns = columns,
                     .by_fours = by_fours});
    }};
  };
}

absl::StatusOr<Kernel> L2LossGradAdd(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [n](const KernelCall& call) {
    return Launch(call, kAddByFactorKernel, GridOf(n),
                  {.a = call.in(0),
                   .x = call.in(1),
                   .factor = call.in(2),
                   .y = call.out(),
                   .count = n,
                   .by_fours = ByFours({call.in(0), call.in(1), call.out()})});
  }};
}

absl::StatusOr<Kernel> Scale(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float factor = static_cast<float>(spec.attributes.Number("factor"));
  return Kernel{.run = [n, factor](const KernelCall& call) {
    return Launch(call, kScaleKernel, GridOf(n),
                  {.x = call.in(0),
                   .y = call.out(),
                   .count = n,
                   .factor = factor,
                   .by_fours = ByFours({call.in(0), call.out()})});
  }};
}

absl::StatusOr<Kernel> MovingAverage(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float share = static_cast<float>(1 - spec.attributes.Number("decay"));
  return Kernel{.run = [n, share](const KernelCall& call) {
    return Launch(call, kMovingAverageKernel, GridOf(n),
                  {.average = call.in(0),
                   .x = call.in(1),
                   .y = call.out(),
                   .count = n,
                   .share = share,
                   .by_fours = ByFours({call.in(0), call.in(1), call.out()})});
  }};
}

absl::StatusOr<Kernel> Identity(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(Kernel copy, OneInput(kIdentityKernel)(spec));
  return Kernel{.run = [copy = std::move(copy.run)](const KernelCall& call) {
    return call.out() == call.in(0) ? absl::OkStatus() : copy(call);
  }};
}

// Inputs [begin, end) into the output, after what it has from those before.
absl::Status AddSome(const KernelCall& call, size_t begin, size_t end, int64_t n) {
  AddNParams p{.x = {}, .inputs = 0, .y = call.out(), .count = n,
               .by_fours = ByFours({call.out()})};
  const auto add = [&p](const float* x) {
    p.x[p.inputs++] = x;
    p.by_fours = p.by_fours && ByFours({x});
  };
  if (begin > 0) add(call.out());
  for (size_t i = begin; i < end; ++i) add(call.in(i));
  return Launch(call, kAddNKernel, GridOf(n), p);
}

absl::StatusOr<Kernel> AddN(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [n](const KernelCall& call) -> absl::Status {
    constexpr size_t kMost = AddNParams::kInputsMax;
    for (size_t begin = 0, end = 0; begin < call.inputs.size(); begin = end) {
      end = std::min(call.inputs.size(), begin + (begin == 0 ? kMost : kMost - 1));
      RETURN_IF_ERROR(AddSome(call, begin, end, n));
    }
    return absl::OkStatus();
  }};
}

}  // namespace

void AddElementwiseKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, kGpu, DType::kFloat32, std::move(factory));
  };
  add("Add", TwoInputs(kAddKernel));
  add("AddN", AddN);
  add("BiasAdd", Bias(kBiasAddKernel));
  add("BiasAddRelu", Bias(kBiasAddReluKernel));
  add("Gelu", OneInput(kGeluKernel));
  add("GeluGrad", TwoInputs(kGeluGradKernel));
  add("Identity", Identity);
  add("L1LossGrad", ByFactor(kSignByFactorKernel));
  add("L2LossGrad", ByFactor(kScaleByFactorKernel));
  add("L2LossGradAdd", L2LossGradAdd);
  add("MovingAverage", MovingAverage);
  add("Mul", TwoInputs(kMulKernel));
  add("Relu", OneInput(kReluKernel));
  add("ReluGrad", TwoInputs(kReluGradKernel));
  add("Scale", Scale);
  add("Sigmoid", OneInput(kSigmoidKernel));
  add("SigmoidGrad", TwoInputs(kSigmoidGradKernel));
  add("Square", OneInput(kSquareKernel));
  add("Sub", TwoInputs(kSubKernel));
  add("Tanh", OneInput(kTanhKernel));
  add("TanhGrad", TwoInputs(kTanhGradKernel));
}

}  // namespace taas::cuda
