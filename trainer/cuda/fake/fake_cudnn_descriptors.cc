#include "trainer/cuda/fake/fake_cudnn_descriptors.h"

#include <algorithm>
#include <span>
#include <utility>

#include "trainer/cuda/fake/fake_machine.h"

namespace taas::cuda::fake {
namespace {

using enum CudnnAttribute;

thread_local std::string last_error;

size_t BytesOf(int type) {
  switch (type) {
    case kCudnnOfChar: return 1;
    case kCudnnOfDataType:
    case kCudnnOfConvolutionMode:
    case kCudnnOfHeuristicsMode:
    case kCudnnOfNote:
    case kCudnnOfFloat: return 4;
    default: return 8;
  }
}

struct Rule {
  CudnnAttribute attribute;
  int type;
  int64_t least, most;  // Elements.
};

// Of what may be set: no more, and all of it but for what a plan is made from.
std::vector<Rule> RulesOf(CudnnType type) {
  constexpr int64_t kLongest = 1 << 20;
  const auto operation = [](int first) {
    std::vector<Rule> rules;
    for (int i = 0; i < 6; ++i) {
      rules.push_back({static_cast<CudnnAttribute>(first + i),
                       i < 2 ? kCudnnOfFloat : kCudnnOfDescriptor, 1, 1});
    }
    return rules;
  };
  switch (type) {
    case CudnnType::kTensor:
      return {{kTensorAlignment, kCudnnOfInt64, 1, 1},
              {kTensorDataType, kCudnnOfDataType, 1, 1},
              {kTensorDimensions, kCudnnOfInt64, 4, 4},
              {kTensorStrides, kCudnnOfInt64, 4, 4},
              {kTensorId, kCudnnOfInt64, 1, 1}};
    case CudnnType::kConvolution:
      return {{kConvolutionComputeType, kCudnnOfDataType, 1, 1},
              {kConvolutionMode, kCudnnOfConvolutionMode, 1, 1},
              {kConvolutionDilations, kCudnnOfInt64, 2, 2},
              {kConvolutionStrides, kCudnnOfInt64, 2, 2},
              {kConvolutionPostPaddings, kCudnnOfInt64, 2, 2},
              {kConvolutionPrePaddings, kCudnnOfInt64, 2, 2},
              {kConvolutionSpatialDims, kCudnnOfInt64, 1, 1}};
    case CudnnType::kForward: return operation(static_cast<int>(kForwardAlpha));
    case CudnnType::kBackwardData: return operation(static_cast<int>(kBackwardDataAlpha));
    case CudnnType::kBackwardFilter: return operation(static_cast<int>(kBackwardFilterAlpha));
    case CudnnType::kGraph:
      return {{kGraphHandle, kCudnnOfHandle, 1, 1}, {kGraphOperations, kCudnnOfDescriptor, 1, 1}};
    case CudnnType::kHeuristics:
      return {{kHeuristicsGraph, kCudnnOfDescriptor, 1, 1},
              {kHeuristicsMode, kCudnnOfHeuristicsMode, 1, 1}};
    case CudnnType::kPlan:
      return {{kPlanHandle, kCudnnOfHandle, 1, 1},
              {kPlanEngineConfig, kCudnnOfDescriptor, 1, 1},
              {kPlanJson, kCudnnOfChar, 1, kLongest}};
    case CudnnType::kVariantPack:
      return {{kPackIds, kCudnnOfInt64, 3, 3},
              {kPackPointers, kCudnnOfPointer, 3, 3},
              {kPackWorkspace, kCudnnOfPointer, 1, 1}};
    case CudnnType::kEngine:
    case CudnnType::kEngineConfig: break;
  }
  return {};
}

// Null unless it is there, finalized, and of the type.
const Descriptor* Part(const Descriptor& of, CudnnAttribute attribute, CudnnType type) {
  const Descriptor* const part = Find(One<void*>(of, attribute));
  return part == nullptr || !part->finalized || part->type != type ? nullptr : part;
}

int FinalizeTensor(const Descriptor& of) {
  const int64_t alignment = One<int64_t>(of, kTensorAlignment);
  if (One<int>(of, kTensorDataType) != kCudnnFloat) return Say(kCudnnNotSupported, "data type");
  if (alignment < 4 || (alignment & (alignment - 1)) != 0) return Say(kCudnnBadParam, "alignment");
  for (const int64_t size : Ints<4>(of, kTensorDimensions)) {
    if (size < 1) return Say(kCudnnBadParam, "dimension " + std::to_string(size));
  }
  return kCudnnSuccess;
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

FakeTensor TensorOf(const Descriptor& of) {
  return {.id = One<int64_t>(of, kTensorId),
          .alignment = One<int64_t>(of, kTensorAlignment),
          .dimensions = Ints<4>(of, kTensorDimensions),
          .strides = Ints<4>(of, kTensorStrides)};
}

int FinalizeOperation(Descriptor& of, int first) {
  const auto attribute = [&](int at) { return static_cast<CudnnAttribute>(first + at); };
  const Descriptor* const conv = Part(of, attribute(2), CudnnType::kConvolution);
  if (conv == nullptr) return Say(kCudnnNotFinalized, "convolution");
  if (One<float>(of, attribute(0)) != 1 || One<float>(of, attribute(1)) != 0) {
    return Say(kCudnnNotSupported, "alpha or beta");
  }
  of.conv = {.operation = of.type,
             .stride = Ints<2>(*conv, kConvolutionStrides),
             .before = Ints<2>(*conv, kConvolutionPrePaddings),
             .after = Ints<2>(*conv, kConvolutionPostPaddings)};
  // x, w, y: each kind has w before x.
  constexpr int kPlaces[] = {4, 3, 5};
  for (size_t i = 0; i < 3; ++i) {
    const Descriptor* const tensor = Part(of, attribute(kPlaces[i]), CudnnType::kTensor);
    if (tensor == nullptr) return Say(kCudnnNotFinalized, "tensor");
    of.conv.tensors[i] = TensorOf(*tensor);
  }
  const std::string wrong = WhatIsWrong(of.conv);
  return wrong.empty() ? kCudnnSuccess : Say(kCudnnShapeMismatch, wrong);
}

const Handle* HandleOf(const Descriptor& of, CudnnAttribute attribute) {
  const auto found = Its().handles.find(One<void*>(of, attribute));
  return found == Its().handles.end() ? nullptr : found->second.get();
}

int FinalizeGraph(Descriptor& of) {
  const Descriptor* const operation = Find(One<void*>(of, kGraphOperations));
  if (operation == nullptr || !operation->finalized) return Say(kCudnnNotFinalized, "operation");
  if (HandleOf(of, kGraphHandle) == nullptr) return Say(kCudnnBadParam, "handle");
  of.conv = operation->conv;
  return kCudnnSuccess;
}

int FinalizeHeuristics(Descriptor& of) {
  if (const int status = Asked("cudnnFinalizeHeuristics")) return status;
  const Descriptor* const graph = Part(of, kHeuristicsGraph, CudnnType::kGraph);
  if (graph == nullptr) return Say(kCudnnNotFinalized, "graph");
  of.conv = graph->conv;
  return kCudnnSuccess;
}

int FinalizePlan(Descriptor& of) {
  if (const int status = Asked("cudnnFinalizePlan")) return status;
  // It loads kernels.
  if (FAKE_DRIVER(FakeCudaForbidden)() != kCuSuccess) {
    return Say(kCudnnExecutionFailed, "in a capture");
  }
  const Handle* const handle = HandleOf(of, kPlanHandle);
  if (handle == nullptr) return Say(kCudnnBadParam, "handle");
  auto ready = std::make_shared<Ready>();
  ready->handle = handle;
  const bool from_text = of.values.contains(kPlanJson);
  if (from_text == of.values.contains(kPlanEngineConfig)) return Say(kCudnnBadParam, "plan");
  if (from_text) {
    const Value& text = of.values[kPlanJson];
    const int status = ParsePlan({reinterpret_cast<const char*>(text.bytes.data()),
                                  text.bytes.size()},
                                 ReadMachine().cudnn, &ready->conv, &ready->engine);
    if (status != kCudnnSuccess) return Say(status, "text of a plan");
  } else {
    const Descriptor* const config = Part(of, kPlanEngineConfig, CudnnType::kEngineConfig);
    if (config == nullptr) return Say(kCudnnNotFinalized, "engine's configuration");
    ready->conv = config->conv;
    ready->engine = config->engine;
  }
  const int status = EngineOf(ready->conv, ready->engine).finalized;
  if (status != kCudnnSuccess) return Say(status, "engine " + std::to_string(ready->engine));
  of.plan = std::move(ready);
  return kCudnnSuccess;
}

// What is asked of one that is finalized: elements of a type.
struct Answer {
  int type;
  std::vector<std::byte> bytes;
  int64_t count;
};

template <typename T>
Answer AnswerOf(int type, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {type, {bytes.begin(), bytes.end()}, static_cast<int64_t>(values.size())};
}

// Fills descriptors of the caller.
int Fill(const Descriptor& of, std::span<const int> engines, CudnnType type, int64_t count,
         int64_t* got, void* elements) {
  *got = static_cast<int64_t>(engines.size());
  for (int64_t i = 0; i < std::min(count, *got); ++i) {
    Descriptor* const to = Find(static_cast<void**>(elements)[i]);
    if (to == nullptr || to->finalized || to->type != type) {
      return Say(kCudnnDescriptorType, "to be filled");
    }
    to->conv = of.conv;
    to->engine = engines[static_cast<size_t>(i)];
    to->finalized = true;
  }
  return kCudnnSuccess;
}

}  // namespace

State& Its() {
  static State* const kState = std::make_unique<State>().release();
  return *kState;
}

int Say(int status, const std::string& what) {
  last_error = what;
  return status;
}

std::string LastError() { return std::exchange(last_error, ""); }

int Asked(const char* function) {
  const int status = FAKE_DRIVER(FakeCudaCount)(function);
  return status == 0 ? status : Say(status, "as a test wants it");
}

Descriptor* Find(const void* descriptor) {
  const auto found = Its().descriptors.find(descriptor);
  return found == Its().descriptors.end() ? nullptr : found->second.get();
}

int Set(Descriptor& of, int attribute, int type, int64_t count, const void* elements) {
  for (const Rule& rule : RulesOf(of.type)) {
    if (static_cast<int>(rule.attribute) != attribute) continue;
    if (rule.type != type) return Say(kCudnnAttributeType, "attribute");
    if (count < rule.least || count > rule.most) return Say(kCudnnOutOfBound, "count");
    const auto* const first = static_cast<const std::byte*>(elements);
    of.values[rule.attribute] = {
        type, count, {first, first + static_cast<size_t>(count) * BytesOf(type)}};
    return kCudnnSuccess;
  }
  return Say(kCudnnNotSupported, "attribute");
}

int Finalize(Descriptor& of) {
  for (const Rule& rule : RulesOf(of.type)) {
    const bool may_lack = of.type == CudnnType::kPlan && rule.attribute != kPlanHandle;
    if (!may_lack && !of.values.contains(rule.attribute)) {
      return Say(kCudnnBadParam,
                 "without attribute " + std::to_string(static_cast<int>(rule.attribute)));
    }
  }
  switch (of.type) {
    case CudnnType::kTensor: return FinalizeTensor(of);
    case CudnnType::kConvolution: return FinalizeConvolution(of);
    case CudnnType::kForward: return FinalizeOperation(of, static_cast<int>(kForwardAlpha));
    case CudnnType::kBackwardData:
      return FinalizeOperation(of, static_cast<int>(kBackwardDataAlpha));
    case CudnnType::kBackwardFilter:
      return FinalizeOperation(of, static_cast<int>(kBackwardFilterAlpha));
    case CudnnType::kGraph: return FinalizeGraph(of);
    case CudnnType::kHeuristics: return FinalizeHeuristics(of);
    case CudnnType::kPlan: return FinalizePlan(of);
    case CudnnType::kVariantPack: return kCudnnSuccess;
    case CudnnType::kEngine:
    case CudnnType::kEngineConfig: break;
  }
  return Say(kCudnnNotSupported, "made by hand");
}

int Get(const Descriptor& of, CudnnAttribute attribute, int type, int64_t count, int64_t* got,
        void* elements) {
  if (of.type == CudnnType::kHeuristics && attribute == kHeuristicsResults) {
    if (type != kCudnnOfDescriptor) return Say(kCudnnAttributeType, "results");
    const std::vector<int> engines = EnginesFor(of.conv, One<int>(of, kHeuristicsMode));
    return Fill(of, engines, CudnnType::kEngineConfig, count, got, elements);
  }
  if (of.type == CudnnType::kEngineConfig && attribute == kEngineConfigEngine) {
    if (type != kCudnnOfDescriptor) return Say(kCudnnAttributeType, "engine");
    return Fill(of, {&of.engine, 1}, CudnnType::kEngine, count, got, elements);
  }
  Answer answer;
  if (of.type == CudnnType::kEngine && attribute == kEngineNotes) {
    answer = AnswerOf<int>(kCudnnOfNote, EngineOf(of.conv, of.engine).notes);
  } else if (of.type == CudnnType::kPlan && attribute == kPlanWorkspaceSize) {
    const int64_t bytes = EngineOf(of.plan->conv, of.plan->engine).workspace;
    answer = AnswerOf<int64_t>(kCudnnOfInt64, {&bytes, 1});
  } else if (of.type == CudnnType::kPlan && attribute == kPlanJson) {
    if (const int status = Asked("cudnnPlanJson")) return status;
    answer = AnswerOf<char>(kCudnnOfChar, SerializedPlan(of.plan->conv, of.plan->engine,
                                                         ReadMachine().cudnn));
  } else {
    return Say(kCudnnNotSupported, "attribute");
  }
  if (type != answer.type) return Say(kCudnnAttributeType, "attribute");
  *got = answer.count;
  const auto taken = static_cast<size_t>(std::min(count, answer.count));
  if (taken > 0) std::memcpy(elements, answer.bytes.data(), taken * BytesOf(type));
  return kCudnnSuccess;
}

}  // namespace taas::cuda::fake
