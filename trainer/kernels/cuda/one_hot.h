// What the kernel takes that writes ids as rows of zeros with a one.

#ifndef TRAINER_KERNELS_CUDA_ONE_HOT_H_
#define TRAINER_KERNELS_CUDA_ONE_HOT_H_

#include <cstdint>

#include "trainer/kernels/cuda/report.h"

namespace taas::cuda {

// y[i, columns] is 1 at ids[i], else 0.
struct OneHotParams {
  const int64_t* ids;
  float* y;
  int64_t rows;
  int64_t columns;
  bool by_fours;  // by_fours.h; columns are fours, too.
  ReportTo report;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ONE_HOT_H_
