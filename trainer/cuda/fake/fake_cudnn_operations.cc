#include "trainer/cuda/fake/fake_cudnn_operations.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "trainer/cuda/fake/fake_cudnn_conv.h"
#include "trainer/cuda/fake/fake_cudnn_steps.h"

namespace taas::cuda::fake {

using enum CudnnAttribute;

namespace {

FakeTensor TensorOf(const Descriptor& of) {
  return {.id = One<int64_t>(of, kTensorId),
          .alignment = One<int64_t>(of, kTensorAlignment),
          .dimensions = Ints<4>(of, kTensorDimensions),
          .strides = Ints<4>(of, kTensorStrides),
          .type = One<int>(of, kTensorDataType),
          .is_virtual = One<bool>(of, kTensorIsVirtual),
          .by_value = One<bool>(of, kTensorIsByValue)};
}

// Tensors that are there and finalized, to a step's.
bool Add(const Descriptor& of, std::initializer_list<CudnnAttribute> attributes,
         std::vector<FakeTensor>* tensors) {
  for (const CudnnAttribute attribute : attributes) {
    const Descriptor* const tensor = Part(of, attribute, CudnnType::kTensor);
    if (tensor == nullptr) return false;
    tensors->push_back(TensorOf(*tensor));
  }
  return true;
}

// The part that says how an operation computes: in floats.
bool ComputesFloats(const Descriptor& of, CudnnAttribute part, CudnnType type,
                    CudnnAttribute precision) {
  const Descriptor* const how = Part(of, part, type);
  return how != nullptr && One<int>(*how, precision) == kCudnnFloat;
}

}  // namespace

const Descriptor* Part(const Descriptor& of, CudnnAttribute attribute, CudnnType type) {
  const Descriptor* const part = Find(One<void*>(of, attribute));
  return part == nullptr || !part->finalized || part->type != type ? nullptr : part;
}

int FinalizeConvolution(const Descriptor& of) {
  const bool known = One<int>(of, kConvolutionComputeType) == kCudnnFloat &&
                     One<int>(of, kConvolutionMode) == kCudnnCrossCorrelation &&
                     One<int64_t>(of, kConvolutionSpatialDims) == 2 &&
                     Ints<2>(of, kConvolutionDilations) == std::array<int64_t, 2>{1, 1};
  if (!known) return Say(kCudnnNotSupported, "convolution");
  const auto is_below = [&](CudnnAttribute attribute, int64_t least) {
    return std::ranges::any_of(Ints<2>(of, attribute), [&](int64_t it) { return it < least; });
  };
  const bool wrong = is_below(kConvolutionStrides, 1) || is_below(kConvolutionPrePaddings, 0) ||
                     is_below(kConvolutionPostPaddings, 0);
  return wrong ? Say(kCudnnOutOfBound, "strides or paddings") : kCudnnSuccess;
}

int FinalizeOperation(Descriptor& of, int first) {
  const auto attribute = [&](int at) { return static_cast<CudnnAttribute>(first + at); };
  const Descriptor* const conv = Part(of, attribute(2), CudnnType::kConvolution);
  if (conv == nullptr) return Say(kCudnnNotFinalized, "convolution");
  if (One<float>(of, attribute(0)) != 1 || One<float>(of, attribute(1)) != 0) {
    return Say(kCudnnNotSupported, "alpha or beta");
  }
  FakeConv its{.operation = of.type,
               .stride = Ints<2>(*conv, kConvolutionStrides),
               .before = Ints<2>(*conv, kConvolutionPrePaddings),
               .after = Ints<2>(*conv, kConvolutionPostPaddings)};
  // x, w, y: each kind has w before x.
  constexpr int kPlaces[] = {4, 3, 5};
  for (size_t i = 0; i < 3; ++i) {
    const Descriptor* const tensor = Part(of, attribute(kPlaces[i]), CudnnType::kTensor);
    if (tensor == nullptr) return Say(kCudnnNotFinalized, "tensor");
    its.tensors[i] = TensorOf(*tensor);
    if (its.tensors[i].type != kCudnnFloat || its.tensors[i].is_virtual ||
        its.tensors[i].by_value) {
      return Say(kCudnnNotSupported, "a convolution's tensor");
    }
  }
  const std::string wrong = WhatIsWrong(its);
  if (!wrong.empty()) return Say(kCudnnShapeMismatch, wrong);
  of.work = std::make_shared<FakeConvWork>(its);
  return kCudnnSuccess;
}

int FinalizeFunction(const Descriptor& of) {
  const int mode = One<int>(of, kPointwiseMode);
  const bool known = mode == kCudnnMul || mode == kCudnnSub || mode == kCudnnExp;
  return known ? kCudnnSuccess : Say(kCudnnNotSupported, "mode " + std::to_string(mode));
}

int FinalizeStep(Descriptor& of) {
  FakeStep step{.type = of.type};
  bool whole = false;
  switch (of.type) {
    case CudnnType::kMatmulOperation:
      whole = ComputesFloats(of, kMatmulDescriptor, CudnnType::kMatmul, kMatmulComputeType) &&
              Add(of, {kMatmulA, kMatmulB}, &step.in) && Add(of, {kMatmulC}, &step.out);
      break;
    case CudnnType::kReductionOperation:
      whole = ComputesFloats(of, kReductionDescriptor, CudnnType::kReduction,
                             kReductionComputeType) &&
              Add(of, {kReductionX}, &step.in) && Add(of, {kReductionY}, &step.out);
      break;
    case CudnnType::kReshape:
      whole = Add(of, {kReshapeX}, &step.in) && Add(of, {kReshapeY}, &step.out);
      break;
    case CudnnType::kBandMask:
      if (One<int>(of, kMaskComparison) != kCudnnGreaterOrEqual) {
        return Say(kCudnnNotSupported, "comparison of a mask");
      }
      whole = Add(of, {kMaskX, kMaskFill}, &step.in) && Add(of, {kMaskY}, &step.out);
      break;
    case CudnnType::kSoftmax:
      whole = Add(of, {kSoftmaxX}, &step.in) && Add(of, {kSoftmaxY, kSoftmaxStatistics}, &step.out);
      break;
    default: {
      const Descriptor* const function = Part(of, kPointwiseDescriptor, CudnnType::kPointwise);
      whole = ComputesFloats(of, kPointwiseDescriptor, CudnnType::kPointwise,
                             kPointwiseMathPrecision) &&
              Add(of, {kPointwiseX}, &step.in) && Add(of, {kPointwiseY}, &step.out);
      const bool of_two = of.values.contains(kPointwiseB);
      if (whole && of_two) whole = Add(of, {kPointwiseB}, &step.in);
      if (!whole) break;
      step.mode = One<int>(*function, kPointwiseMode);
      if (of_two != (step.mode != kCudnnExp)) return Say(kCudnnBadParam, "inputs of a function");
    }
  }
  if (!whole) return Say(kCudnnNotFinalized, "part of an operation");
  const std::string wrong = WhatIsWrong(step);
  if (!wrong.empty()) return Say(kCudnnShapeMismatch, wrong);
  of.steps = {std::move(step)};
  return kCudnnSuccess;
}

int FinalizeAttention(Descriptor& of) {
  std::vector<FakeTensor> in, out;
  const Descriptor* const softmax = Part(of, kAttentionSoftmax, CudnnType::kSoftmax);
  if (softmax == nullptr ||
      !Add(of, {kAttentionQ, kAttentionK, kAttentionV, kAttentionScale}, &in) ||
      !Add(of, {kAttentionO}, &out)) {
    return Say(kCudnnNotFinalized, "part of an attention");
  }
  FakeStep last = softmax->steps[0];
  FakeTensor keys = in[1];
  std::swap(keys.dimensions[2], keys.dimensions[3]);
  std::swap(keys.strides[2], keys.strides[3]);
  FakeTensor products = last.in[0], scaled = last.in[0];
  products.id = -1;
  scaled.id = -2;
  std::vector<FakeStep> steps = {
      {.type = CudnnType::kMatmulOperation, .in = {in[0], keys}, .out = {products}},
      {.type = CudnnType::kPointwiseOperation,
       .mode = kCudnnMul,
       .in = {products, in[3]},
       .out = {scaled}}};
  FakeTensor scores = scaled;
  const bool has_subgraph = of.values.contains(kAttentionSubgraph);
  if (has_subgraph != of.values.contains(kAttentionSubgraphInput) ||
      has_subgraph != of.values.contains(kAttentionSubgraphOutput)) {
    return Say(kCudnnBadParam, "a subgraph without its ends");
  }
  if (has_subgraph) {
    const Descriptor* const graph = Part(of, kAttentionSubgraph, CudnnType::kGraph);
    if (graph == nullptr || graph->steps.empty()) return Say(kCudnnNotFinalized, "subgraph");
    const auto begin = static_cast<std::ptrdiff_t>(steps.size());
    steps.insert(steps.end(), graph->steps.begin(), graph->steps.end());
    FakeTensor& from = steps[static_cast<size_t>(begin)].in[0];
    const FakeTensor& to = steps.back().out[0];
    if (from.id != One<int64_t>(of, kAttentionSubgraphInput) || !from.is_virtual ||
        to.id != One<int64_t>(of, kAttentionSubgraphOutput) || !to.is_virtual) {
      return Say(kCudnnBadParam, "ends of a subgraph");
    }
    from = scaled;
    scores = to;
  }
  last.in[0] = scores;
  steps.push_back(last);
  steps.push_back(
      {.type = CudnnType::kMatmulOperation, .in = {last.out[0], in[2]}, .out = {out[0]}});
  for (const FakeStep& step : steps) {
    const std::string wrong = WhatIsWrong(step);
    if (!wrong.empty()) return Say(kCudnnShapeMismatch, wrong);
  }
  of.steps = std::move(steps);
  return kCudnnSuccess;
}

}  // namespace taas::cuda::fake
