#include "trainer/cuda/conv_plan.h"

#include <utility>

#include "operator/base/status.h"

namespace taas::cuda {
namespace {

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

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::Make(const Cudnn& cudnn,
                                                                   const ConvShape& shape) {
  ASSIGN_OR_RETURN(const Graph graph, GraphOf(cudnn, shape));
  ASSIGN_OR_RETURN(std::unique_ptr<CudnnPlan> plan,
                   CudnnPlan::Make(cudnn, graph.graph, shape.tf32));
  return std::make_unique<CudnnConvPlan>(std::move(plan));
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> CudnnConvPlan::FromJson(const Cudnn& cudnn,
                                                                       const ConvShape&,
                                                                       std::string_view json) {
  ASSIGN_OR_RETURN(std::unique_ptr<CudnnPlan> plan, CudnnPlan::FromJson(cudnn, json));
  return std::make_unique<CudnnConvPlan>(std::move(plan));
}

absl::Status CudnnConvPlan::Launch(const ConvTensors& tensors, CuStream stream) const {
  constexpr int64_t kIds[] = {kImagesId, kFiltersId, kOutputsId};
  void* const pointers[] = {tensors.images, tensors.filters, tensors.outputs};
  return plan_->Launch("convolve", kIds, pointers, tensors.workspace, stream);
}

}  // namespace taas::cuda
