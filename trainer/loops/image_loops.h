// The loops of image ops that are not convolutions: pooling and batch normalization, over tensors
// whose last axis is the channels. One version per instruction set, as loops.h has them.
//
// Ownership: none. Threads: any. Errors: none.
//
//   BestImageLoops().max_pool(shape, x, y);

#ifndef TRAINER_LOOPS_IMAGE_LOOPS_H_
#define TRAINER_LOOPS_IMAGE_LOOPS_H_

#include <cstdint>
#include <span>

namespace taas {

struct PoolShape {
  int64_t images = 0;
  int64_t channels = 0;
  // Of height and width.
  int64_t in[2] = {};
  int64_t out[2] = {};
  int64_t kernel[2] = {};
  int64_t stride[2] = {};
  int64_t before[2] = {};  // Padding, which counts in no maximum and in no mean.
  bool after_relu = false;  // Of max_pool_grad.
};

// Per channel, of the batch; `variance` divides by the number of rows, `unbiased` by one less.
struct Moments {
  float* mean = nullptr;
  float* variance = nullptr;
  float* unbiased = nullptr;
};

// y = scale · (x - mean) / √(variance + epsilon) + offset, per channel.
struct Normalization {
  const float* mean = nullptr;
  const float* variance = nullptr;
  const float* scale = nullptr;
  const float* offset = nullptr;  // Not of gradients.
  float epsilon = 0;
};

struct NormalizationSums {
  float* dscale = nullptr;
  float* doffset = nullptr;
};

// The numbers of one op in one step; a part of its elements begins at `first`.
struct DropoutKey {
  uint32_t key = 0;
  int64_t first = 0;
};

struct ImageLoops {
  // NaN of a window with a NaN, as in PyTorch.
  void (*max_pool)(const PoolShape& shape, const float* x, float* y);
  // The gradient goes to the first element of a window that is its maximum, as in TensorFlow; to a
  // NaN if there is one. `y` is what max_pool made of `x`, bit for bit.
  // `left` are channels floats of scratch. With shape.after_relu, `x` is what a Relu made, and dx
  // the gradient of what that got.
  void (*max_pool_grad)(const PoolShape& shape, const float* dy, const float* x, const float* y,
                        float* dx, float* left);
  void (*avg_pool)(const PoolShape& shape, const float* x, float* y);
  void (*avg_pool_grad)(const PoolShape& shape, const float* dy, float* dx);
  // Of x[rows, channels]; `scratch` are 2 · channels floats. By chunks that stay in the first
  // cache, whose moments are joined as in Chan, Golub and LeVeque (1979): one pass over memory, and
  // no difference of large squares.
  void (*moments)(const float* x, int64_t rows, int64_t channels, Moments moments,
                  float* scratch);
  // `scratch` are 2 · channels floats.
  void (*normalize)(const Normalization& norm, const float* x, int64_t rows, int64_t channels,
                    float* y, float* scratch);
  // `scratch` are 3 · channels floats.
  void (*normalize_sums)(const Normalization& norm, const float* dy, const float* x, int64_t rows,
                         int64_t channels, const NormalizationSums& sums, float* scratch);
  // dx of rows of a batch that has `batch` rows and these sums; `scratch` are 3 · channels floats.
  void (*normalize_grad)(const Normalization& norm, const float* dy, const float* x, int64_t rows,
                         int64_t channels, const NormalizationSums& sums, int64_t batch, float* dx,
                         float* scratch);
  // y = x / (1 - rate) where the number in [0, 1) that is drawn for (key, index) is at least rate,
  // else 0.
  void (*dropout)(const DropoutKey& key, float rate, const float* x, float* y, int64_t n);
};

const ImageLoops& BestImageLoops();
// All versions that this machine can run, the baseline first. For tests.
std::span<const ImageLoops* const> SupportedImageLoops();

}  // namespace taas

#endif  // TRAINER_LOOPS_IMAGE_LOOPS_H_
