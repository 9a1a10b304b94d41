// w -= what a rule makes of the gradient, its slots and the numbers of the step.
//
// One launch has many variables, which lie in arrays of one layout. Each has blocks of its own, so
// many elements a block and no more, that a large variable and a small one keep the GPU equally
// busy: a block finds its variable by halving, and its threads go over the elements side by side,
// or over those of the rows that are listed, whose number only the device knows. Each rule is one
// pass over memory: the gradient and the variable, each slot and the average, read once and written
// once: 12 bytes per element of ApplySgd, 28 of ApplyAdam, 8 more with an average. So bound by
// memory; the rule's numbers stay in registers.

#include "trainer/kernels/cuda/updates.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas;
using namespace taas::cuda;

namespace {

// The variable of this block: the last whose first block is not behind it.
__device__ const UpdatePart& PartOfBlock(const UpdateParams& p) {
  int low = 0, high = p.parts_count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (p.parts[middle].first_block <= static_cast<int>(blockIdx.x)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return p.parts[low];
}

// `update` makes the new value of (gradient, value, place), and of the slots at that place.
template <typename Update>
__device__ void UpdateEach(const UpdateParams& p, const Update& update) {
  if (p.block->fault.kind != Fault::Kind::kNone) return;
  const UpdateScalars& scalars = p.block->update;
  const UpdatePart& part = PartOfBlock(p);
  const bool listed = p.rows != nullptr && scalars.keeps_zeros;
  const int64_t count = listed ? *p.rows_count * p.width : part.count;
  const float share = scalars.average_share;
  const bool starts = scalars.starts_average;
  const int64_t first = int64_t{static_cast<int>(blockIdx.x) - part.first_block} * p.elements;
  const int64_t end = first + p.elements < count ? first + p.elements : count;
  for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const int64_t at = part.at + (listed ? p.rows[i / p.width] * p.width + i % p.width : i);
    const float before = p.value[at];
    const float after = update(p.gradient[at], before, at);
    p.value[at] = after;
    if (p.average == nullptr) continue;
    const float average = starts ? before : p.average[at];
    p.average[at] = average - share * (average - after);
  }
}

// Powers other than a root are rare enough to be taken in double, which is slow on some GPUs.
__device__ float FtrlOfOtherPower(const UpdateParams& p, float g, float w, int64_t at) {
  const std::array<float, 7>& rule = p.block->update.rule;
  const double per_rate = rule[0], l1 = rule[1], l2 = rule[2];
  const double sum = p.slots[0][at];
  const double new_sum = sum + double{g} * double{g};
  const double weight = pow(new_sum, p.power);
  const double sigma = (weight - pow(sum, p.power)) * per_rate;
  const double linear = double{p.slots[1][at]} + double{g} - sigma * double{w};
  p.slots[0][at] = static_cast<float>(new_sum);
  p.slots[1][at] = static_cast<float>(linear);
  if (fabs(linear) <= l1) return 0;
  return static_cast<float>((copysign(l1, linear) - linear) / (weight * per_rate + l2));
}

}  // namespace

// sum = sum + g²; w -= rate · g / √sum. The rule: rate.
extern "C" __global__ void ApplyAdagradKernel(const UpdateParams p) {
  const float rate = p.block->update.rule[0];
  UpdateEach(p, [&](float g, float w, int64_t at) {
    const float squares = p.slots[0][at] + g * g;
    p.slots[0][at] = squares;
    return w - rate * g / sqrtf(squares);
  });
}

// m = beta1 · m + rest1 · g; v = beta2 · v + rest2 · g²; w -= rate · m / (√v + epsilon) +
// shrink · w. The rule: rate, beta1, rest1, beta2, rest2, epsilon, shrink.
extern "C" __global__ void ApplyAdamKernel(const UpdateParams p) {
  const std::array<float, 7>& rule = p.block->update.rule;
  const float rate = rule[0], beta1 = rule[1], rest1 = rule[2], beta2 = rule[3], rest2 = rule[4];
  const float epsilon = rule[5], shrink = rule[6];
  UpdateEach(p, [&](float g, float w, int64_t at) {
    const float m = beta1 * p.slots[0][at] + rest1 * g;
    const float v = beta2 * p.slots[1][at] + rest2 * g * g;
    p.slots[0][at] = m;
    p.slots[1][at] = v;
    return w - (rate * m / (sqrtf(v) + epsilon) + shrink * w);
  });
}

// sum' = sum + g²; linear += g - (√sum' - √sum) · per_rate · w; w = 0 where |linear| <= l1, else
// (sign(linear) · l1 - linear) / (√sum' · per_rate + l2). The difference of two near roots is taken
// as g² / (√sum' + √sum), which keeps its digits. The rule: per_rate, l1, l2.
extern "C" __global__ void ApplyFtrlKernel(const UpdateParams p) {
  const UpdateScalars& scalars = p.block->update;
  const float per_rate = scalars.rule[0], l1 = scalars.rule[1], l2 = scalars.rule[2];
  const bool stays = scalars.stays;  // At a rate of 0, by which the rule would divide.
  UpdateEach(p, [&](float g, float w, int64_t at) {
    if (stays) return w;
    if (p.power != 0.5) return FtrlOfOtherPower(p, g, w, at);
    const float before = p.slots[0][at];
    const float square = g * g;
    const float sum = before + square;
    const float root = sqrtf(sum);
    const float both = root + sqrtf(before);
    const float sigma = both > 0.0f ? square / both * per_rate : 0.0f;
    const float linear = p.slots[1][at] + (g - sigma * w);
    p.slots[0][at] = sum;
    p.slots[1][at] = linear;
    if (fabsf(linear) <= l1) return 0.0f;
    return (copysignf(l1, linear) - linear) / (root * per_rate + l2);
  });
}

// sum = momentum · sum + g; w -= rate · sum, or with Nesterov's rate · (g + momentum · sum). The
// rule: rate, momentum.
extern "C" __global__ void ApplyMomentumKernel(const UpdateParams p) {
  const float rate = p.block->update.rule[0], momentum = p.block->update.rule[1];
  UpdateEach(p, [&](float g, float w, int64_t at) {
    const float sum = momentum * p.slots[0][at] + g;
    p.slots[0][at] = sum;
    return w - rate * (p.nesterov ? g + momentum * sum : sum);
  });
}

// squares += rest · (g² - squares); move = momentum · move + rate · g / √(squares + epsilon);
// w -= move. Centered, with mean += rest · (g - mean) and the root of squares - mean² + epsilon.
// The rule: rate, momentum, rest, epsilon. The slots: squares, the mean if centered, move.
extern "C" __global__ void ApplyRmsPropKernel(const UpdateParams p) {
  const std::array<float, 7>& rule = p.block->update.rule;
  const float rate = rule[0], momentum = rule[1], rest = rule[2], epsilon = rule[3];
  float* const moves = p.centered ? p.slots[2] : p.slots[1];
  UpdateEach(p, [&](float g, float w, int64_t at) {
    const float before = p.slots[0][at];
    const float squares = before + rest * (g * g - before);
    p.slots[0][at] = squares;
    float variance = squares + epsilon;
    if (p.centered) {
      const float old_mean = p.slots[1][at];
      const float mean = old_mean + rest * (g - old_mean);
      p.slots[1][at] = mean;
      variance = squares - mean * mean + epsilon;
    }
    const float move = momentum * moves[at] + rate * g / sqrtf(variance);
    moves[at] = move;
    return w - move;
  });
}

// w -= rate · g. The rule: rate.
extern "C" __global__ void ApplySgdKernel(const UpdateParams p) {
  const float rate = p.block->update.rule[0];
  UpdateEach(p, [&](float g, float w, int64_t) { return w + -rate * g; });
}
