// Residual networks (He et al. 2015).
//
// resnet20 is theirs for images of 32 × 32 (3 stages of 3 blocks, 16 to 64 filters, 0.27 million
// weights); where a block changes the shape, the shortcut is a 1 × 1 convolution. resnet50 is the
// one for 224 × 224 (25.6 million weights), with the stride in the 3 × 3 convolution of a block, as
// all use it today ("v1.5").
//
// Ownership: borrows the chain. Threads: one at a time. Errors: the chain's.
//
//   AddResnet20(spec, &chain);

#ifndef TRAINER_MODEL_RESNET_H_
#define TRAINER_MODEL_RESNET_H_

#include "trainer/model/layer.h"

namespace taas {

struct ModelSpec;

// Up to the mean over all pixels, which the last layer takes.
void AddResnet20(const ModelSpec& spec, Chain* chain);
void AddResnet50(const ModelSpec& spec, Chain* chain);

}  // namespace taas

#endif  // TRAINER_MODEL_RESNET_H_
