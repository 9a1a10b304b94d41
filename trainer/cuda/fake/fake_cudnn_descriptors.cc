#include "trainer/cuda/fake/fake_cudnn_descriptors.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include "trainer/cuda/fake/fake_cudnn_conv.h"
#include "trainer/cuda/fake/fake_cudnn_operations.h"
#include "trainer/cuda/fake/fake_machine.h"

namespace taas::cuda::fake {
namespace {

using enum CudnnAttribute;

thread_local std::string last_error;

size_t BytesOf(int type) {
  switch (type) {
    case kCudnnOfBool:
    case kCudnnOfChar: return 1;
    case kCudnnOfDataType:
    case kCudnnOfConvolutionMode:
    case kCudnnOfHeuristicsMode:
    case kCudnnOfNote:
    case kCudnnOfPointwiseMode:
    case kCudnnOfReduction:
    case kCudnnOfFloat: return 4;
    default: return 8;
  }
}

struct Rule {
  CudnnAttribute attribute;
  int type;
  int64_t least, most;  // Elements.
  bool may_lack = false;
};

std::vector<Rule> Descriptors(const std::vector<CudnnAttribute>& attributes) {
  std::vector<Rule> rules;
  for (const CudnnAttribute attribute : attributes) {
    rules.push_back({attribute, kCudnnOfDescriptor, 1, 1});
  }
  return rules;
}

std::vector<Rule> With(std::vector<Rule> rules, const Rule& rule) {
  rules.push_back(rule);
  return rules;
}

// Of a convolution or one of its gradients, whose six attributes begin with `first`.
std::vector<Rule> ConvolutionOperation(CudnnAttribute first) {
  std::vector<Rule> rules;
  for (int i = 0; i < 6; ++i) {
    rules.push_back({static_cast<CudnnAttribute>(static_cast<int>(first) + i),
                     i < 2 ? kCudnnOfFloat : kCudnnOfDescriptor, 1, 1});
  }
  return rules;
}

// Of tensors and of the operations of an attention.
std::vector<Rule> RulesOfOperations(CudnnType type) {
  switch (type) {
    case CudnnType::kTensor:
      return {{kTensorAlignment, kCudnnOfInt64, 1, 1},
              {kTensorDataType, kCudnnOfDataType, 1, 1},
              {kTensorDimensions, kCudnnOfInt64, 4, 4},
              {kTensorStrides, kCudnnOfInt64, 4, 4},
              {kTensorId, kCudnnOfInt64, 1, 1},
              {kTensorIsVirtual, kCudnnOfBool, 1, 1, true},
              {kTensorIsByValue, kCudnnOfBool, 1, 1, true}};
    case CudnnType::kPointwise:
      return {{kPointwiseMode, kCudnnOfPointwiseMode, 1, 1},
              {kPointwiseMathPrecision, kCudnnOfDataType, 1, 1}};
    case CudnnType::kPointwiseOperation:
      return With(Descriptors({kPointwiseDescriptor, kPointwiseX, kPointwiseY}),
                  {kPointwiseB, kCudnnOfDescriptor, 1, 1, true});
    case CudnnType::kMatmul: return {{kMatmulComputeType, kCudnnOfDataType, 1, 1}};
    case CudnnType::kMatmulOperation:
      return Descriptors({kMatmulDescriptor, kMatmulA, kMatmulB, kMatmulC});
    case CudnnType::kReduction:
      return {{kReductionOperator, kCudnnOfReduction, 1, 1},
              {kReductionComputeType, kCudnnOfDataType, 1, 1}};
    case CudnnType::kReductionOperation:
      return Descriptors({kReductionDescriptor, kReductionX, kReductionY});
    case CudnnType::kReshape: return Descriptors({kReshapeX, kReshapeY});
    case CudnnType::kBandMask:
      return With(Descriptors({kMaskX, kMaskFill, kMaskY}),
                  {kMaskComparison, kCudnnOfPointwiseMode, 1, 1});
    case CudnnType::kSoftmax: return Descriptors({kSoftmaxX, kSoftmaxY, kSoftmaxStatistics});
    case CudnnType::kAttention: {
      std::vector<Rule> rules = Descriptors({kAttentionQ, kAttentionK, kAttentionV, kAttentionO,
                                             kAttentionScale, kAttentionSoftmax});
      rules.push_back({kAttentionSubgraph, kCudnnOfDescriptor, 1, 1, true});
      rules.push_back({kAttentionSubgraphInput, kCudnnOfInt64, 1, 1, true});
      rules.push_back({kAttentionSubgraphOutput, kCudnnOfInt64, 1, 1, true});
      return rules;
    }
    default: return {};
  }
}

// Of what may be set: no more, and all of it but for what may lack.
std::vector<Rule> RulesOf(CudnnType type) {
  constexpr int64_t kLongest = 1 << 20, kOperationsMax = 64, kPointersMax = 64;
  switch (type) {
    case CudnnType::kConvolution:
      return {{kConvolutionComputeType, kCudnnOfDataType, 1, 1},
              {kConvolutionMode, kCudnnOfConvolutionMode, 1, 1},
              {kConvolutionDilations, kCudnnOfInt64, 2, 2},
              {kConvolutionStrides, kCudnnOfInt64, 2, 2},
              {kConvolutionPostPaddings, kCudnnOfInt64, 2, 2},
              {kConvolutionPrePaddings, kCudnnOfInt64, 2, 2},
              {kConvolutionSpatialDims, kCudnnOfInt64, 1, 1}};
    case CudnnType::kForward: return ConvolutionOperation(kForwardAlpha);
    case CudnnType::kBackwardData: return ConvolutionOperation(kBackwardDataAlpha);
    case CudnnType::kBackwardFilter: return ConvolutionOperation(kBackwardFilterAlpha);
    case CudnnType::kGraph:
      return {{kGraphHandle, kCudnnOfHandle, 1, 1},
              {kGraphOperations, kCudnnOfDescriptor, 1, kOperationsMax}};
    case CudnnType::kHeuristics:
      return {{kHeuristicsGraph, kCudnnOfDescriptor, 1, 1},
              {kHeuristicsMode, kCudnnOfHeuristicsMode, 1, 1}};
    case CudnnType::kPlan:
      return {{kPlanHandle, kCudnnOfHandle, 1, 1},
              {kPlanEngineConfig, kCudnnOfDescriptor, 1, 1, true},
              {kPlanJson, kCudnnOfChar, 1, kLongest, true}};
    case CudnnType::kVariantPack:
      return {{kPackIds, kCudnnOfInt64, 1, kPointersMax},
              {kPackPointers, kCudnnOfPointer, 1, kPointersMax},
              {kPackWorkspace, kCudnnOfPointer, 1, 1}};
    case CudnnType::kEngine:
    case CudnnType::kEngineConfig: return {};
    default: return RulesOfOperations(type);
  }
}

int FinalizeTensor(const Descriptor& of) {
  const int64_t alignment = One<int64_t>(of, kTensorAlignment);
  const int type = One<int>(of, kTensorDataType);
  if (type != kCudnnFloat && type != kCudnnBFloat16) return Say(kCudnnNotSupported, "data type");
  if (One<bool>(of, kTensorIsVirtual) && One<bool>(of, kTensorIsByValue)) {
    return Say(kCudnnBadParam, "virtual and by value");
  }
  if (alignment < 4 || (alignment & (alignment - 1)) != 0) return Say(kCudnnBadParam, "alignment");
  for (const int64_t size : Ints<4>(of, kTensorDimensions)) {
    if (size < 1) return Say(kCudnnBadParam, "dimension " + std::to_string(size));
  }
  return kCudnnSuccess;
}

const Handle* HandleOf(const Descriptor& of, CudnnAttribute attribute) {
  const auto found = Its().handles.find(One<void*>(of, attribute));
  return found == Its().handles.end() ? nullptr : found->second.get();
}

int FinalizeGraph(Descriptor& of) {
  if (HandleOf(of, kGraphHandle) == nullptr) return Say(kCudnnBadParam, "handle");
  const auto count = static_cast<size_t>(of.values[kGraphOperations].count);
  for (size_t i = 0; i < count; ++i) {
    const Descriptor* const operation = Find(One<void*>(of, kGraphOperations, i));
    if (operation == nullptr || !operation->finalized) return Say(kCudnnNotFinalized, "operation");
    if (operation->work != nullptr && count == 1) {
      of.work = operation->work;
    } else if (operation->steps.empty()) {
      return Say(kCudnnNotSupported, "what is no operation, or not one of several");
    }
    of.steps.insert(of.steps.end(), operation->steps.begin(), operation->steps.end());
  }
  return kCudnnSuccess;
}

int FinalizeHeuristics(Descriptor& of) {
  if (const int status = Asked("cudnnFinalizeHeuristics")) return status;
  const Descriptor* const graph = Part(of, kHeuristicsGraph, CudnnType::kGraph);
  if (graph == nullptr) return Say(kCudnnNotFinalized, "graph");
  of.work = graph->work;
  if (of.work != nullptr) return kCudnnSuccess;
  // By itself, not as a part of an operation.
  const std::string wrong = WhatIsWrong(graph->steps);
  if (!wrong.empty()) return Say(kCudnnBadParam, wrong);
  of.work = std::make_shared<FakeStepsWork>(graph->steps);
  return kCudnnSuccess;
}

int ParsePlan(const std::string& text, int version, std::shared_ptr<const FakeWork>* work,
              int* engine) {
  if (!text.starts_with(kPlanHead)) return kCudnnBadParam;
  std::istringstream words(text.substr(sizeof(kPlanHead) - 1));
  int of = 0, operation = 0;
  words >> of >> *engine >> operation;
  if (words.fail()) return kCudnnBadParam;
  if (of != version) return kCudnnSerializationMismatch;
  const auto type = static_cast<CudnnType>(operation);
  *work = type == CudnnType::kGraph ? FakeStepsWork::Parse(words)
                                    : FakeConvWork::Parse(type, words);
  return *work == nullptr ? kCudnnBadParam : kCudnnSuccess;
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
                                 ReadMachine().cudnn, &ready->work, &ready->engine);
    if (status != kCudnnSuccess) return Say(status, "text of a plan");
  } else {
    const Descriptor* const config = Part(of, kPlanEngineConfig, CudnnType::kEngineConfig);
    if (config == nullptr) return Say(kCudnnNotFinalized, "engine's configuration");
    ready->work = config->work;
    ready->engine = config->engine;
  }
  const int status = ready->work->EngineOf(ready->engine).finalized;
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
    to->work = of.work;
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
    if (!rule.may_lack && !of.values.contains(rule.attribute)) {
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
    case CudnnType::kVariantPack:
      return of.values[kPackIds].count == of.values[kPackPointers].count
                 ? kCudnnSuccess
                 : Say(kCudnnBadParam, "counts of ids and pointers");
    case CudnnType::kPointwise: return FinalizeFunction(of);
    case CudnnType::kMatmul: return kCudnnSuccess;
    case CudnnType::kReduction:
      return One<int>(of, kReductionOperator) == kCudnnReduceAdd
                 ? kCudnnSuccess
                 : Say(kCudnnNotSupported, "reduction");
    case CudnnType::kPointwiseOperation:
    case CudnnType::kMatmulOperation:
    case CudnnType::kReductionOperation:
    case CudnnType::kReshape:
    case CudnnType::kBandMask:
    case CudnnType::kSoftmax: return FinalizeStep(of);
    case CudnnType::kAttention: return FinalizeAttention(of);
    case CudnnType::kEngine:
    case CudnnType::kEngineConfig: break;
  }
  return Say(kCudnnNotSupported, "made by hand");
}

int Get(const Descriptor& of, CudnnAttribute attribute, int type, int64_t count, int64_t* got,
        void* elements) {
  if (of.type == CudnnType::kHeuristics && attribute == kHeuristicsResults) {
    if (type != kCudnnOfDescriptor) return Say(kCudnnAttributeType, "results");
    const std::vector<int> engines = of.work->EnginesFor(One<int>(of, kHeuristicsMode));
    return Fill(of, engines, CudnnType::kEngineConfig, count, got, elements);
  }
  if (of.type == CudnnType::kEngineConfig && attribute == kEngineConfigEngine) {
    if (type != kCudnnOfDescriptor) return Say(kCudnnAttributeType, "engine");
    return Fill(of, {&of.engine, 1}, CudnnType::kEngine, count, got, elements);
  }
  Answer answer;
  if (of.type == CudnnType::kEngine && attribute == kEngineNotes) {
    answer = AnswerOf<int>(kCudnnOfNote, of.work->EngineOf(of.engine).notes);
  } else if (of.type == CudnnType::kPlan && attribute == kPlanWorkspaceSize) {
    const int64_t bytes = of.plan->work->EngineOf(of.plan->engine).workspace;
    answer = AnswerOf<int64_t>(kCudnnOfInt64, {&bytes, 1});
  } else if (of.type == CudnnType::kPlan && attribute == kPlanJson) {
    if (const int status = Asked("cudnnPlanJson")) return status;
    answer = AnswerOf<char>(kCudnnOfChar, of.plan->work->Text(of.plan->engine,
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
