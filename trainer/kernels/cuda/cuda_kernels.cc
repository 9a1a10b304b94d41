#include "trainer/kernels/cuda/cuda_kernels.h"

#include <memory>

#include "trainer/kernels/cuda/arg_max_ops.h"
#include "trainer/kernels/cuda/attention_ops.h"
#include "trainer/kernels/cuda/batch_norm_ops.h"
#include "trainer/kernels/cuda/conv_ops.h"
#include "trainer/kernels/cuda/dropout_ops.h"
#include "trainer/kernels/cuda/elementwise_ops.h"
#include "trainer/kernels/cuda/embedding_ops.h"
#include "trainer/kernels/cuda/fused_ops.h"
#include "trainer/kernels/cuda/layer_norm_ops.h"
#include "trainer/kernels/cuda/lstm_ops.h"
#include "trainer/kernels/cuda/moves_ops.h"
#include "trainer/kernels/cuda/one_hot_ops.h"
#include "trainer/kernels/cuda/pixels_ops.h"
#include "trainer/kernels/cuda/pooling_ops.h"
#include "trainer/kernels/cuda/product_ops.h"
#include "trainer/kernels/cuda/softmax_loss_ops.h"
#include "trainer/kernels/cuda/squared_error_ops.h"
#include "trainer/kernels/cuda/sums_ops.h"
#include "trainer/kernels/cuda/update_ops.h"

namespace taas::cuda {

void AddCudaKernels(KernelRegistry* kernels) {
  AddArgMaxKernels(kernels);
  AddAttentionKernels(kernels);
  AddBatchNormKernels(kernels);
  AddConvKernels(kernels);
  AddDropoutKernels(kernels);
  AddElementwiseKernels(kernels);
  AddEmbeddingKernels(kernels);
  AddFusedKernels(kernels);
  AddLayerNormKernels(kernels);
  AddLstmKernels(kernels);
  AddMoveKernels(kernels);
  AddOneHotKernels(kernels);
  AddPixelKernels(kernels);
  AddPoolingKernels(kernels);
  AddProductKernels(kernels);
  AddSoftmaxLossKernels(kernels);
  AddSquaredErrorKernels(kernels);
  AddSumKernels(kernels);
  AddUpdateKernels(kernels);
}

const KernelRegistry& StandardCudaKernels() {
  static const KernelRegistry* const kKernels = [] {
    auto kernels = std::make_unique<KernelRegistry>();
    AddCudaKernels(kernels.get());
    return kernels.release();  // Outlives all that is static.
  }();
  return *kKernels;
}

}  // namespace taas::cuda
