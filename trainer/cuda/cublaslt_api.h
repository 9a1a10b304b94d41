// cuBLASLt's functions and numbers, as far as they are used: of the cuBLAS library documentation
// (13.0), declared here since its header comes with the library only.
//
// Ownership: none. Threads: any. Errors: cublasStatus_t, as numbers.

#ifndef TRAINER_CUDA_CUBLASLT_API_H_
#define TRAINER_CUDA_CUBLASLT_API_H_

#include <cstddef>
#include <cstdint>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda {

// cublasStatus_t.
inline constexpr int kLtSuccess = 0, kLtInvalidValue = 7, kLtNotSupported = 15;
// cudaDataType_t CUDA_R_32F; cublasComputeType_t; cublasOperation_t.
inline constexpr int kLtFloat = 0;
inline constexpr int kLtCompute32 = 68, kLtComputeFastBFloat16 = 75, kLtComputeFastTf32 = 77;
inline constexpr int32_t kLtPlain = 0, kLtTransposed = 1;
// cublasLtMatmulDescAttributes_t.
inline constexpr int kLtTransposeA = 3, kLtTransposeB = 4, kLtEpilogue = 7, kLtBiasPointer = 8;
// cublasLtEpilogue_t, an attribute of 32 bits. A bias is as long as the result has rows, and BGRADA
// sums the first factor over the columns that are multiplied.
inline constexpr uint32_t kLtNoEpilogue = 1, kLtBias = 4, kLtBiasGradA = 256;
// cublasLtMatrixLayoutAttribute_t.
inline constexpr int kLtBatchCount = 5, kLtStridedBatchOffset = 6;
// cublasLtMatmulPreferenceAttributes_t.
inline constexpr int kLtMaxWorkspaceBytes = 1, kLtAlignmentA = 5, kLtAlignmentB = 6,
                     kLtAlignmentC = 7, kLtAlignmentD = 8;

struct LtAlgo {
  uint64_t data[8];
};
struct LtHeuristic {
  LtAlgo algo;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUBLASLT_API_H_
