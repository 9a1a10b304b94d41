#include "trainer/cuda/conv_plan.h"

#include <map>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/short_text.h"

namespace taas::cuda {
namespace {

// What the heuristics propose, best first: 40 at most, in 9.28 on an H100.
constexpr int64_t kConfigsMax = 64;

// By which graph and variant pack name the tensors.
constexpr int64_t kImagesId = 1, kFiltersId = 2, kOutputsId = 3;

// The attributes of one kind of operation.
struct Operation {
  CudnnType type;
  CudnnAttribute alpha, beta, convolution, images, filters, outputs;
};

Operation OperationOf(ConvPart part) {
  using enum CudnnAttribute;
  switch (part) {
    case ConvPart::kOutputs:
      return {CudnnType::kForward, kForwardAlpha, kForwardBeta, kForwardConvolution,
              kForwardX,           kForwardW,     kForwardY};
    case ConvPart::kImagesGrad:
      return {CudnnType::kBackwardData, kBackwardDataAlpha, kBackwardDataBeta,
              kBackwardDataConvolution, kBackwardDataDx,    kBackwardDataW,
              kBackwardDataDy};
    case ConvPart::kFiltersGrad: break;
  }
  return {CudnnType::kBackwardFilter, kBackwardFilterAlpha, kBackwardFilterBeta,
          kBackwardFilterConvolution, kBackwardFilterX,     kBackwardFilterDw,
          kBackwardFilterDy};
}

absl::StatusOr<CudnnDescriptor> TensorOf(const Cudnn& cudnn, int64_t id,
                                         const CudnnTensorShape& shape) {
  CudnnDescriptor tensor(cudnn, CudnnType::kTensor);
  RETURN_IF_ERROR(tensor.SetEnum(CudnnAttribute::kTensorDataType, kCudnnOfDataType, kCudnnFloat));
  RETURN_IF_ERROR(tensor.SetInts(CudnnAttribute::kTensorDimensions, shape.dimensions));
  RETURN_IF_ERROR(tensor.SetInts(CudnnAttribute::kTensorStrides, shape.strides));
  RETURN_IF_ERROR(tensor.SetInt(CudnnAttribute::kTensorId, id));
  RETURN_IF_ERROR(tensor.SetInt(CudnnAttribute::kTensorAlignment, kConvAlignment));
  RETURN_IF_ERROR(tensor.Finalize());
  return tensor;
}

absl::StatusOr<CudnnDescriptor> ConvolutionOf(const Cudnn& cudnn, const ConvShape& shape) {
  constexpr int64_t kNotDilated[] = {1, 1};
  CudnnDescriptor conv(cudnn, CudnnType::kConvolution);
  RETURN_IF_ERROR(conv.SetEnum(CudnnAttribute::kConvolutionComputeType, kCudnnOfDataType,
                               kCudnnFloat));
  RETURN_IF_ERROR(conv.SetEnum(CudnnAttribute::kConvolutionMode, kCudnnOfConvolutionMode,
                               kCudnnCrossCorrelation));
  RETURN_IF_ERROR(conv.SetInt(CudnnAttribute::kConvolutionSpatialDims, 2));
  RETURN_IF_ERROR(conv.SetInts(CudnnAttribute::kConvolutionDilations, kNotDilated));
  RETURN_IF_ERROR(conv.SetInts(CudnnAttribute::kConvolutionStrides, shape.stride));
  RETURN_IF_ERROR(conv.SetInts(CudnnAttribute::kConvolutionPrePaddings, shape.before));
  RETURN_IF_ERROR(conv.SetInts(CudnnAttribute::kConvolutionPostPaddings, shape.after));
  RETURN_IF_ERROR(conv.Finalize());
  return conv;
}

// The operation, all that it is made of, and a graph of it alone. Each part stays as long as the
// graph is used.
struct Graph {
  CudnnDescriptor images, filters, outputs, convolution, operation, graph;
};

absl::StatusOr<Graph> GraphOf(const Cudnn& cudnn, const ConvShape& shape) {
  const CudnnConvShapes shapes = ShapesOf(shape);
  ASSIGN_OR_RETURN(CudnnDescriptor images, TensorOf(cudnn, kImagesId, shapes.images));
  ASSIGN_OR_RETURN(CudnnDescriptor filters, TensorOf(cudnn, kFiltersId, shapes.filters));
  ASSIGN_OR_RETURN(CudnnDescriptor outputs, TensorOf(cudnn, kOutputsId, shapes.outputs));
  ASSIGN_OR_RETURN(CudnnDescriptor convolution, ConvolutionOf(cudnn, shape));
  const Operation of = OperationOf(shape.part);
  CudnnDescriptor operation(cudnn, of.type);
  RETURN_IF_ERROR(operation.SetDescriptor(of.images, images));
  RETURN_IF_ERROR(operation.SetDescriptor(of.filters, filters));
  RETURN_IF_ERROR(operation.SetDescriptor(of.outputs, outputs));
  RETURN_IF_ERROR(operation.SetDescriptor(of.convolution, convolution));
  RETURN_IF_ERROR(operation.SetFloat(of.alpha, 1));
  RETURN_IF_ERROR(operation.SetFloat(of.beta, 0));
  RETURN_IF_ERROR(operation.Finalize());
  CudnnDescriptor graph(cudnn, CudnnType::kGraph);
  RETURN_IF_ERROR(graph.SetHandle(CudnnAttribute::kGraphHandle));
  RETURN_IF_ERROR(graph.SetDescriptor(CudnnAttribute::kGraphOperations, operation));
  RETURN_IF_ERROR(graph.Finalize());
  return Graph{.images = std::move(images),
               .filters = std::move(filters),
               .outputs = std::move(outputs),
               .convolution = std::move(convolution),
               .operation = std::move(operation),
               .graph = std::move(graph)};
}

// Best first.
absl::StatusOr<std::vector<CudnnDescriptor>> ConfigsOf(const Cudnn& cudnn, const Graph& graph,
                                                       int mode) {
  CudnnDescriptor heuristics(cudnn, CudnnType::kHeuristics);
  RETURN_IF_ERROR(heuristics.SetDescriptor(CudnnAttribute::kHeuristicsGraph, graph.graph));
  RETURN_IF_ERROR(
      heuristics.SetEnum(CudnnAttribute::kHeuristicsMode, kCudnnOfHeuristicsMode, mode));
  RETURN_IF_ERROR(heuristics.Finalize());
  return heuristics.GetDescriptors(CudnnAttribute::kHeuristicsResults, CudnnType::kEngineConfig,
                                   kConfigsMax);
}

absl::StatusOr<std::string_view> WhyNot(const CudnnDescriptor& config, bool tf32) {
  ASSIGN_OR_RETURN(const std::vector<CudnnDescriptor> engines,
                   config.GetDescriptors(CudnnAttribute::kEngineConfigEngine, CudnnType::kEngine,
                                         1));
  if (engines.empty()) return "of no engine";
  ASSIGN_OR_RETURN(const std::vector<int> notes,
                   engines[0].GetNotes(CudnnAttribute::kEngineNotes));
  return WhyNotWith(notes, tf32);
}

std::string PairText(const ConvShape::Pair& pair) {
  return std::to_string(pair[0]) + "," + std::to_string(pair[1]);
}

}  // namespace

std::string TextOf(const ConvShape& shape) {
  const auto numbers = [](int64_t first, const ConvShape::Pair& pair, int64_t last) {
    return std::to_string(first) + " × " + std::to_string(pair[0]) + " × " +
           std::to_string(pair[1]) + " × " + std::to_string(last);
  };
  const char* const part = shape.part == ConvPart::kOutputs      ? "outputs"
                           : shape.part == ConvPart::kImagesGrad ? "gradient of images"
                                                                 : "gradient of filters";
  return std::string(part) + ": images " + numbers(shape.count, shape.image, shape.in) +
         ", filters " + numbers(shape.out, shape.filter, shape.in) + ", outputs " +
         numbers(shape.count, shape.output, shape.out) + ", stride " + PairText(shape.stride) +
         ", padding " + PairText(shape.before) + " and " + PairText(shape.after) + ", " +
         (shape.tf32 ? "tf32" : "float32");
}

CudnnConvShapes ShapesOf(const ConvShape& shape) {
  const auto dense = [](int64_t first, const ConvShape::Pair& pair, int64_t channels) {
    return CudnnTensorShape{
        .dimensions = {first, channels, pair[0], pair[1]},
        .strides = {pair[0] * pair[1] * channels, 1, pair[1] * channels, channels}};
  };
  return {.images = dense(shape.count, shape.image, shape.in),
          .filters = dense(shape.out, shape.filter, shape.in),
          .outputs = dense(shape.count, shape.output, shape.out)};
}

std::string_view WhyNotWith(std::span<const int> notes, bool tf32) {
  for (const int note : notes) {
    switch (note) {
      case kCudnnNotDeterministic: return "not deterministic";
      // Sums of floats are floats.
      case kCudnnReducedPrecisionSums: return "sums of less than float32";
      // To half precision, whose range is another one.
      case kCudnnDownConvertsInputs: return "rounds inputs";
      case kCudnnTensorCore:
        if (!tf32) return "tensor cores";
        break;
      // Their sums are a hundred times as far off as those of plain products.
      case kCudnnWinograd4x4:
      case kCudnnWinograd6x6:
      case kCudnnWinograd13x13: return "large Winograd tiles";
      default: break;
    }
  }
  return "";
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::Of(const Cudnn& cudnn,
                                                                 CudnnDescriptor plan) {
  ASSIGN_OR_RETURN(const int64_t bytes, plan.GetInt(CudnnAttribute::kPlanWorkspaceSize));
  if (bytes < 0 || bytes > kWorkspaceMax) {
    return absl::UnimplementedError("wants " + BytesText(static_cast<size_t>(bytes)) +
                                    " of workspace");
  }
  return std::unique_ptr<CudnnConvPlan>(
      new CudnnConvPlan(cudnn, std::move(plan), static_cast<size_t>(bytes)));
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::OfConfig(
    const Cudnn& cudnn, const CudnnDescriptor& config) {
  CudnnDescriptor plan(cudnn, CudnnType::kPlan);
  RETURN_IF_ERROR(plan.SetHandle(CudnnAttribute::kPlanHandle));
  RETURN_IF_ERROR(plan.SetDescriptor(CudnnAttribute::kPlanEngineConfig, config));
  RETURN_IF_ERROR(plan.Finalize());
  return Of(cudnn, std::move(plan));
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::Make(const Cudnn& cudnn,
                                                                   const ConvShape& shape) {
  ASSIGN_OR_RETURN(const Graph graph, GraphOf(cudnn, shape));
  std::map<std::string, int> reasons;  // How many engines each has ruled out.
  for (const int mode : {kCudnnHeuristicsA, kCudnnHeuristicsB}) {
    const auto configs = ConfigsOf(cudnn, graph, mode);
    if (!configs.ok()) {
      ++reasons[std::string(configs.status().message())];
      continue;
    }
    for (const CudnnDescriptor& config : *configs) {
      const absl::StatusOr<std::string_view> why = WhyNot(config, shape.tf32);
      if (!why.ok() || !why->empty()) {
        ++reasons[why.ok() ? std::string(*why) : std::string(why.status().message())];
        continue;
      }
      auto plan = OfConfig(cudnn, config);
      if (plan.ok()) return plan;
      ++reasons[std::string(plan.status().message())];
    }
  }
  std::string text = "no engine of cuDNN " + LibraryVersion(cudnn.version()) + " fits";
  if (reasons.empty()) text += ": none is proposed";
  const char* between = ": ";
  for (const auto& [reason, count] : reasons) {
    text += between + reason + " (" + std::to_string(count) + ")";
    between = "; ";
  }
  return absl::UnimplementedError(text);
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::FromJson(const Cudnn& cudnn,
                                                                       std::string_view json) {
  CudnnDescriptor plan(cudnn, CudnnType::kPlan);
  RETURN_IF_ERROR(plan.SetHandle(CudnnAttribute::kPlanHandle));
  RETURN_IF_ERROR(plan.SetText(CudnnAttribute::kPlanJson, json));
  RETURN_IF_ERROR(plan.Finalize());
  return Of(cudnn, std::move(plan));
}

absl::StatusOr<std::string> CudnnConvPlan::Json() const {
  return plan_.GetText(CudnnAttribute::kPlanJson);
}

absl::Status CudnnConvPlan::Launch(const ConvTensors& tensors, CuStream stream) const {
  constexpr int64_t kIds[] = {kImagesId, kFiltersId, kOutputsId};
  void* const pointers[] = {tensors.images, tensors.filters, tensors.outputs};
  CudnnDescriptor pack(cudnn_, CudnnType::kVariantPack);
  RETURN_IF_ERROR(pack.SetInts(CudnnAttribute::kPackIds, kIds));
  RETURN_IF_ERROR(pack.SetPointers(CudnnAttribute::kPackPointers, pointers));
  RETURN_IF_ERROR(pack.SetPointers(CudnnAttribute::kPackWorkspace, {&tensors.workspace, 1}));
  RETURN_IF_ERROR(pack.Finalize());
  RETURN_IF_ERROR(
      cudnn_.Check("set the stream", cudnn_.api().SetStream(cudnn_.handle(), stream)));
  return cudnn_.Check("convolve", cudnn_.api().BackendExecute(cudnn_.handle(), plan_.handle(),
                                                              pack.handle()));
}

}  // namespace taas::cuda
