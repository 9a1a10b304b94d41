#include "trainer/cuda/operation_graph.h"

#include "operator/base/status.h"

namespace taas::cuda {

using enum CudnnAttribute;

// Null behind an error.
const CudnnDescriptor* OperationGraph::Make(
    CudnnType type, absl::FunctionRef<absl::Status(CudnnDescriptor&)> set) {
  if (!status_.ok()) return nullptr;
  CudnnDescriptor& part = parts_.emplace_back(cudnn_, type);
  status_ = set(part);
  if (status_.ok()) status_ = part.Finalize();
  return status_.ok() ? &part : nullptr;
}

OperationGraph::Tensor OperationGraph::Made(int64_t id, int type, const CudnnTensorShape& shape,
                                            bool is_virtual, bool by_value) {
  const auto set = [&](CudnnDescriptor& tensor) -> absl::Status {
    RETURN_IF_ERROR(tensor.SetEnum(kTensorDataType, kCudnnOfDataType, type));
    RETURN_IF_ERROR(tensor.SetInts(kTensorDimensions, shape.dimensions));
    RETURN_IF_ERROR(tensor.SetInts(kTensorStrides, shape.strides));
    RETURN_IF_ERROR(tensor.SetInt(kTensorId, id));
    RETURN_IF_ERROR(tensor.SetInt(kTensorAlignment, alignment_));
    if (is_virtual) {
      RETURN_IF_ERROR(tensor.SetBool(kTensorIsVirtual, true));
    }
    if (by_value) {
      RETURN_IF_ERROR(tensor.SetBool(kTensorIsByValue, true));
    }
    return absl::OkStatus();
  };
  return {Make(CudnnType::kTensor, set), id};
}

OperationGraph::Tensor OperationGraph::InMemory(int64_t id, int type,
                                                const CudnnTensorShape& shape) {
  return Made(id, type, shape, /*is_virtual=*/false, /*by_value=*/false);
}

OperationGraph::Tensor OperationGraph::Virtual(int type, const CudnnTensorShape& shape) {
  return Made(next_virtual_++, type, shape, /*is_virtual=*/true, /*by_value=*/false);
}

OperationGraph::Tensor OperationGraph::Scalar(int64_t id) {
  return Made(id, kCudnnFloat, {.dimensions = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}},
              /*is_virtual=*/false, /*by_value=*/true);
}

void OperationGraph::Matmul(const Tensor& a, const Tensor& b, const Tensor& c) {
  const CudnnDescriptor* const matmul = Make(CudnnType::kMatmul, [](CudnnDescriptor& of) {
    return of.SetEnum(kMatmulComputeType, kCudnnOfDataType, kCudnnFloat);
  });
  operations_.push_back(Make(CudnnType::kMatmulOperation, [&](CudnnDescriptor& of) -> absl::Status {
    RETURN_IF_ERROR(of.SetDescriptor(kMatmulA, *a.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kMatmulB, *b.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kMatmulC, *c.descriptor));
    return of.SetDescriptor(kMatmulDescriptor, *matmul);
  }));
}

void OperationGraph::Pointwise(int mode, const Tensor& x, const Tensor& y) {
  Pointwise(mode, x, nullptr, y);
}

void OperationGraph::Pointwise(int mode, const Tensor& x, const Tensor& b, const Tensor& y) {
  Pointwise(mode, x, &b, y);
}

void OperationGraph::Pointwise(int mode, const Tensor& x, const Tensor* b, const Tensor& y) {
  const CudnnDescriptor* const function =
      Make(CudnnType::kPointwise, [&](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetEnum(kPointwiseMode, kCudnnOfPointwiseMode, mode));
        return of.SetEnum(kPointwiseMathPrecision, kCudnnOfDataType, kCudnnFloat);
      });
  operations_.push_back(
      Make(CudnnType::kPointwiseOperation, [&](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetDescriptor(kPointwiseDescriptor, *function));
        RETURN_IF_ERROR(of.SetDescriptor(kPointwiseX, *x.descriptor));
        if (b != nullptr) {
          RETURN_IF_ERROR(of.SetDescriptor(kPointwiseB, *b->descriptor));
        }
        return of.SetDescriptor(kPointwiseY, *y.descriptor);
      }));
}

void OperationGraph::Sum(const Tensor& x, const Tensor& y) {
  const CudnnDescriptor* const sum =
      Make(CudnnType::kReduction, [](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetEnum(kReductionOperator, kCudnnOfReduction, kCudnnReduceAdd));
        return of.SetEnum(kReductionComputeType, kCudnnOfDataType, kCudnnFloat);
      });
  operations_.push_back(
      Make(CudnnType::kReductionOperation, [&](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetDescriptor(kReductionDescriptor, *sum));
        RETURN_IF_ERROR(of.SetDescriptor(kReductionX, *x.descriptor));
        return of.SetDescriptor(kReductionY, *y.descriptor);
      }));
}

void OperationGraph::Reshape(const Tensor& x, const Tensor& y) {
  operations_.push_back(Make(CudnnType::kReshape, [&](CudnnDescriptor& of) -> absl::Status {
    RETURN_IF_ERROR(of.SetDescriptor(kReshapeX, *x.descriptor));
    return of.SetDescriptor(kReshapeY, *y.descriptor);
  }));
}

void OperationGraph::CausalMask(const Tensor& x, const Tensor& fill, const Tensor& y) {
  operations_.push_back(Make(CudnnType::kBandMask, [&](CudnnDescriptor& of) -> absl::Status {
    RETURN_IF_ERROR(of.SetDescriptor(kMaskX, *x.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kMaskFill, *fill.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kMaskY, *y.descriptor));
    return of.SetEnum(kMaskComparison, kCudnnOfPointwiseMode, kCudnnGreaterOrEqual);
  }));
}

void OperationGraph::Attend(const Attention& with) {
  const Tensor from = Virtual(kCudnnFloat, with.scores), to = Virtual(kCudnnFloat, with.scores);
  const CudnnDescriptor* const softmax =
      Make(CudnnType::kSoftmax, [&](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetDescriptor(kSoftmaxX, *from.descriptor));
        RETURN_IF_ERROR(of.SetDescriptor(kSoftmaxY, *to.descriptor));
        return of.SetDescriptor(kSoftmaxStatistics, *with.statistics.descriptor);
      });
  operations_.push_back(Make(CudnnType::kAttention, [&](CudnnDescriptor& of) -> absl::Status {
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionQ, *with.q.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionK, *with.k.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionV, *with.v.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionO, *with.o.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionScale, *with.scale.descriptor));
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionSoftmax, *softmax));
    if (with.mask == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(of.SetDescriptor(kAttentionSubgraph, *with.mask));
    RETURN_IF_ERROR(of.SetInt(kAttentionSubgraphInput, with.masked_from.id));
    return of.SetInt(kAttentionSubgraphOutput, with.masked_to.id);
  }));
}

absl::StatusOr<const CudnnDescriptor*> OperationGraph::Finish() {
  const CudnnDescriptor* const graph =
      Make(CudnnType::kGraph, [&](CudnnDescriptor& of) -> absl::Status {
        RETURN_IF_ERROR(of.SetHandle(kGraphHandle));
        return of.SetDescriptors(kGraphOperations, operations_);
      });
  RETURN_IF_ERROR(status_);
  return graph;
}

}  // namespace taas::cuda
