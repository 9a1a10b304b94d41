// All kernels of this tree for NVIDIA GPUs: what they take, and the list by which they are found in
// the compiled images, run on the processor in tests, and launched (launch.h).
//
// A kernel is a function in a .cu file of the name that stands here, whose only argument is a
// struct of plain numbers and of pointers to memory of the device. The struct stands in the header
// beside the .cu file. One idea is one file.
//
// A new kernel: its struct and its function, a line here, its op in *_ops.cc, and a twin in the
// test (testing/twin.h).
//
// Ownership: structs borrow what they point to. Threads and errors: those of a launch.

#ifndef TRAINER_KERNELS_CUDA_KERNELS_H_
#define TRAINER_KERNELS_CUDA_KERNELS_H_

#include <cstddef>
#include <type_traits>

#include "trainer/kernels/cuda/arg_max.h"
#include "trainer/kernels/cuda/attention.h"
#include "trainer/kernels/cuda/batch_norm.h"
#include "trainer/kernels/cuda/bfloat16.h"
#include "trainer/kernels/cuda/dropout.h"
#include "trainer/kernels/cuda/elementwise.h"
#include "trainer/kernels/cuda/embedding.h"
#include "trainer/kernels/cuda/fused.h"
#include "trainer/kernels/cuda/gradient_work.h"
#include "trainer/kernels/cuda/layer_norm.h"
#include "trainer/kernels/cuda/lstm.h"
#include "trainer/kernels/cuda/memory_check.h"
#include "trainer/kernels/cuda/moves.h"
#include "trainer/kernels/cuda/norm_sums.h"
#include "trainer/kernels/cuda/one_hot.h"
#include "trainer/kernels/cuda/patches.h"
#include "trainer/kernels/cuda/pixels.h"
#include "trainer/kernels/cuda/pooling.h"
#include "trainer/kernels/cuda/report.h"
#include "trainer/kernels/cuda/softmax_loss.h"
#include "trainer/kernels/cuda/squared_error.h"
#include "trainer/kernels/cuda/sums.h"
#include "trainer/kernels/cuda/updates.h"

// KERNEL(function, struct), in the order of files and of names in them.
#define TAAS_CUDA_KERNELS(KERNEL)                            \
  KERNEL(AddByFactorKernel, AddByFactorParams)               \
  KERNEL(AddKernel, TwoInputsParams)                         \
  KERNEL(AddNKernel, AddNParams)                             \
  KERNEL(BiasAddKernel, BiasParams)                          \
  KERNEL(BiasAddReluKernel, BiasParams)                      \
  KERNEL(GeluGradKernel, TwoInputsParams)                    \
  KERNEL(GeluKernel, OneInputParams)                         \
  KERNEL(IdentityKernel, OneInputParams)                     \
  KERNEL(MovingAverageKernel, MovingAverageParams)           \
  KERNEL(MulKernel, TwoInputsParams)                         \
  KERNEL(ReluGradKernel, TwoInputsParams)                    \
  KERNEL(ReluKernel, OneInputParams)                         \
  KERNEL(ScaleByFactorKernel, ByFactorParams)                \
  KERNEL(ScaleKernel, ScaleParams)                           \
  KERNEL(SigmoidGradKernel, TwoInputsParams)                 \
  KERNEL(SigmoidKernel, OneInputParams)                      \
  KERNEL(SignByFactorKernel, ByFactorParams)                 \
  KERNEL(SquareKernel, OneInputParams)                       \
  KERNEL(SubKernel, TwoInputsParams)                         \
  KERNEL(TanhGradKernel, TwoInputsParams)                    \
  KERNEL(TanhKernel, OneInputParams)                         \
  KERNEL(FusedKernel, FusedParams)                           \
  KERNEL(ColumnSumsKernel, ColumnSumsParams)                 \
  KERNEL(ExpandKernel, ExpandParams)                         \
  KERNEL(RowSumsByBlockKernel, RowSumsParams)                \
  KERNEL(RowSumsByWarpKernel, RowSumsParams)                 \
  KERNEL(ClipByValueKernel, GradientsParams)                 \
  KERNEL(ClipFactorKernel, ClipFactorParams)                 \
  KERNEL(MeanGradientsKernel, MeanParams)                    \
  KERNEL(ScaleGradientsKernel, GradientsParams)              \
  KERNEL(SquaresKernel, GradientsParams)                     \
  KERNEL(CheckLossKernel, CheckLossParams)                   \
  KERNEL(CountKernel, CountParams)                           \
  KERNEL(LossUnlessFaultKernel, LossUnlessFaultParams)       \
  KERNEL(MeanLossKernel, MeanLossParams)                     \
  KERNEL(SoftmaxLossBlockKernel, SoftmaxLossParams)          \
  KERNEL(SoftmaxLossGradBlockKernel, SoftmaxLossGradParams)  \
  KERNEL(SoftmaxLossGradWarpKernel, SoftmaxLossGradParams)   \
  KERNEL(SoftmaxLossQuadsKernel, SoftmaxLossParams)          \
  KERNEL(SoftmaxLossWarpKernel, SoftmaxLossParams)           \
  KERNEL(MeanOfPartsKernel, MeanOfPartsParams)               \
  KERNEL(SquaredErrorGradKernel, SquaredErrorGradParams)     \
  KERNEL(SquaredErrorKernel, SquaredErrorParams)             \
  KERNEL(ApplyAdagradKernel, UpdateParams)                   \
  KERNEL(ApplyAdamKernel, UpdateParams)                      \
  KERNEL(ApplyFtrlKernel, UpdateParams)                      \
  KERNEL(ApplyMomentumKernel, UpdateParams)                  \
  KERNEL(ApplyRmsPropKernel, UpdateParams)                   \
  KERNEL(ApplySgdKernel, UpdateParams)                       \
  KERNEL(PatchSumsKernel, PatchesParams)                     \
  KERNEL(PatchesKernel, PatchesParams)                       \
  KERNEL(ArgMaxKernel, ArgMaxParams)                         \
  KERNEL(CountRightKernel, CountRightParams)                 \
  KERNEL(ShareRightKernel, ShareRightParams)                 \
  KERNEL(AttentionBlockKernel, AttentionParams)              \
  KERNEL(AttentionGradBlockKernel, AttentionGradParams)      \
  KERNEL(AttentionGradWarpKernel, AttentionGradParams)       \
  KERNEL(AttentionWarpKernel, AttentionParams)               \
  KERNEL(NarrowKernel, NarrowParams)                         \
  KERNEL(WidenKernel, WidenParams)                           \
  KERNEL(JoinKernel, JoinParams)                             \
  KERNEL(SwapKernel, SwapParams)                             \
  KERNEL(SwapTilesKernel, SwapTilesParams)                   \
  KERNEL(OneHotKernel, OneHotParams)                         \
  KERNEL(AugmentPixelsKernel, AugmentPixelsParams)           \
  KERNEL(DecodePixelsKernel, DecodePixelsParams)             \
  KERNEL(MomentPartsKernel, MomentPartsParams)               \
  KERNEL(MomentsKernel, MomentsParams)                       \
  KERNEL(NormalizeGradKernel, NormalizeGradParams)           \
  KERNEL(NormalizeKernel, NormalizeParams)                   \
  KERNEL(DropoutKernel, DropoutParams)                       \
  KERNEL(AddRowsKernel, AddRowsParams)                       \
  KERNEL(ClearRowsKernel, ClearRowsParams)                   \
  KERNEL(CountRowsKernel, CountRowsParams)                   \
  KERNEL(EmbeddingKernel, EmbeddingParams)                   \
  KERNEL(ListRowsKernel, ListRowsParams)                     \
  KERNEL(MergeUsesKernel, MergeUsesParams)                   \
  KERNEL(TileUsesKernel, TileUsesParams)                     \
  KERNEL(LayerNormBlockKernel, LayerNormParams)              \
  KERNEL(LayerNormGradBlockKernel, LayerNormGradParams)      \
  KERNEL(LayerNormGradQuadsKernel, LayerNormGradQuadsParams) \
  KERNEL(LayerNormGradWarpKernel, LayerNormGradParams)       \
  KERNEL(LayerNormQuadsKernel, LayerNormParams)              \
  KERNEL(LayerNormWarpKernel, LayerNormParams)               \
  KERNEL(NormSumPartsKernel, NormSumPartsParams)             \
  KERNEL(NormSumsKernel, NormSumsParams)                     \
  KERNEL(AvgPoolGradKernel, PoolGradParams)                  \
  KERNEL(AvgPoolKernel, PoolParams)                          \
  KERNEL(MaxPoolGradKernel, PoolGradParams)                  \
  KERNEL(MaxPoolKernel, PoolParams)                          \
  KERNEL(PatternCheckKernel, PatternCheckParams)             \
  KERNEL(PatternKernel, PatternParams)                       \
  KERNEL(LstmCellGradKernel, LstmCellGradParams)             \
  KERNEL(LstmCellKernel, LstmCellParams)

namespace taas::cuda {

// What a launch names a kernel by: its number in the list.
template <typename Params>
struct KernelRef {
  int index;
};

enum KernelIndex : int {
#define TAAS_KERNEL_INDEX(function, params) kIndexOf##function,
  TAAS_CUDA_KERNELS(TAAS_KERNEL_INDEX)
#undef TAAS_KERNEL_INDEX
      kKernelsCount
};

#define TAAS_KERNEL_REF(function, params)                                        \
  static_assert(std::is_trivially_copyable_v<params>, "it is copied to the GPU"); \
  inline constexpr KernelRef<params> k##function{kIndexOf##function};
TAAS_CUDA_KERNELS(TAAS_KERNEL_REF)
#undef TAAS_KERNEL_REF

struct KernelInfo {
  const char* name;
  size_t params_bytes;
};

inline constexpr KernelInfo kKernels[] = {
#define TAAS_KERNEL_INFO(function, params) {#function, sizeof(params)},
    TAAS_CUDA_KERNELS(TAAS_KERNEL_INFO)
#undef TAAS_KERNEL_INFO
};

}  // namespace taas::cuda

// For those who compile or call them: nvcc, and tests on the processor.
#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)
#define TAAS_KERNEL_FUNCTION(function, params) \
  extern "C" __global__ void function(const taas::cuda::params p);
TAAS_CUDA_KERNELS(TAAS_KERNEL_FUNCTION)
#undef TAAS_KERNEL_FUNCTION
#endif

#endif  // TRAINER_KERNELS_CUDA_KERNELS_H_
