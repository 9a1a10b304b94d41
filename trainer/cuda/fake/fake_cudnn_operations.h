// Operations of the cuDNN that stands for NVIDIA's, as descriptors: what makes one wrong, and the
// work or the steps that it becomes.
//
// Ownership, threads, errors: fake_cudnn_descriptors.h.
//
//   const int status = FinalizeStep(of);

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_OPERATIONS_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_OPERATIONS_H_

#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/fake/fake_cudnn_descriptors.h"

namespace taas::cuda::fake {

// Null unless it is there, finalized, and of the type.
const Descriptor* Part(const Descriptor& of, CudnnAttribute attribute, CudnnType type);

int FinalizeConvolution(const Descriptor& of);
// A convolution's, whose attributes begin at `first`.
int FinalizeOperation(Descriptor& of, int first);
// Of elements.
int FinalizeFunction(const Descriptor& of);
// One that a graph may have several of.
int FinalizeStep(Descriptor& of);
// Scores, from one product to the other, as the steps of which it consists.
int FinalizeAttention(Descriptor& of);

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_OPERATIONS_H_
