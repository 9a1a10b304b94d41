#include "trainer/kernels/cpu/batch_norm_kernels.h"

#include <algorithm>

#include "trainer/graph/rows.h"
#include "trainer/loops/image_loops.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// x as a matrix: rows of channels, which are shared out.
struct Batch {
  int64_t rows = 0;
  int64_t channels = 0;

  int64_t shares() const { return SharesOf(rows * channels); }
  // Of so many arrays of channels for each share.
  size_t scratch(size_t arrays) const {
    return arrays * static_cast<size_t>(shares() * channels) * sizeof(float);
  }
};

Batch BatchOf(const Shape& x) {
  const Rows rows = RowsOf(x);
  return {.rows = rows.rows, .channels = rows.columns};
}

// Calls `share(range, number)` for each.
template <typename Share>
void ForShares(int threads, const Batch& x, Share share) {
  ParallelFor(threads, x.shares(),
              [&](int64_t i) { share(ShareOf(x.rows, x.shares(), i), i); });
}

constexpr int64_t kMomentArrays = 5;  // Of a share: its moments, and what they are made with.

// The moments of all rows from those of the shares.
void Join(const Batch& x, const float* parts, const Moments& all) {
  const int64_t channels = x.channels;
  std::fill_n(all.mean, channels, 0.0f);
  std::fill_n(all.variance, channels, 0.0f);
  float rows = 0;
  for (int64_t i = 0; i < x.shares(); ++i) {
    const float here = static_cast<float>(ShareOf(x.rows, x.shares(), i).size());
    const float* const mean = parts + i * kMomentArrays * channels;
    const float* const variance = mean + channels;
    const float share = here / (rows + here);
    for (int64_t c = 0; c < channels; ++c) {
      const float delta = mean[c] - all.mean[c];
      all.mean[c] += delta * share;
      // Sums of squared differences, until the end.
      all.variance[c] += variance[c] * here + delta * delta * share * rows;
    }
    rows += here;
  }
  for (int64_t c = 0; c < channels; ++c) {
    const float sum = all.variance[c];
    all.variance[c] = sum / rows;
    all.unbiased[c] = sum / std::max(1.0f, rows - 1);
  }
}

void NormalizeShares(const Batch& x, const Normalization& norm, const KernelCall& call) {
  const ImageLoops& loops = BestImageLoops();
  ForShares(call.threads, x, [&](const Range& range, int64_t i) {
    const int64_t at = range.begin * x.channels;
    loops.normalize(norm, call.in(0) + at, range.size(), x.channels, call.out(0) + at,
                    static_cast<float*>(call.scratch) + 2 * i * x.channels);
  });
}

absl::StatusOr<Kernel> BatchNorm(const KernelSpec& spec) {
  const Batch x = BatchOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  const auto run = [x, epsilon, &loops = BestImageLoops()](const KernelCall& call) {
    auto* const scratch = static_cast<float*>(call.scratch);
    ForShares(call.threads, x, [&](const Range& range, int64_t i) {
      float* const mine = scratch + i * kMomentArrays * x.channels;
      loops.moments(call.in(0) + range.begin * x.channels, range.size(), x.channels,
                    {.mean = mine,
                     .variance = mine + x.channels,
                     .unbiased = mine + 2 * x.channels},
                    mine + 3 * x.channels);
    });
    Join(x, scratch,
         {.mean = call.out(1), .variance = call.out(2), .unbiased = call.out(3)});
    NormalizeShares(x,
                    {.mean = call.out(1),
                     .variance = call.out(2),
                     .scale = call.in(1),
                     .offset = call.in(2),
                     .epsilon = epsilon},
                    call);
    return absl::OkStatus();
  };
  return Kernel{.run = run, .scratch_bytes = x.scratch(kMomentArrays)};
}

// inputs: dy, x, scale, mean, variance.
absl::StatusOr<Kernel> BatchNormGrad(const KernelSpec& spec) {
  const Batch x = BatchOf(spec.inputs[1].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  const auto run = [x, epsilon, &loops = BestImageLoops()](const KernelCall& call) {
    const Normalization norm{.mean = call.in(3),
                             .variance = call.in(4),
                             .scale = call.in(2),
                             .epsilon = epsilon};
    const int64_t channels = x.channels;
    // The sums of all shares, then what each needs besides.
    auto* const dscales = static_cast<float*>(call.scratch);
    float* const doffsets = dscales + x.shares() * channels;
    float* const rest = doffsets + x.shares() * channels;
    ForShares(call.threads, x, [&](const Range& range, int64_t i) {
      const int64_t at = range.begin * channels;
      loops.normalize_sums(norm, call.in(0) + at, call.in(1) + at, range.size(), channels,
                           {.dscale = dscales + i * channels, .doffset = doffsets + i * channels},
                           rest + 3 * i * channels);
    });
    const NormalizationSums sums{.dscale = call.out(1), .doffset = call.out(2)};
    BestLoops().sum_rows(dscales, sums.dscale, x.shares(), channels);
    BestLoops().sum_rows(doffsets, sums.doffset, x.shares(), channels);
    ForShares(call.threads, x, [&](const Range& range, int64_t i) {
      const int64_t at = range.begin * channels;
      loops.normalize_grad(norm, call.in(0) + at, call.in(1) + at, range.size(), channels, sums,
                           x.rows, call.out(0) + at, rest + 3 * i * channels);
    });
    return absl::OkStatus();
  };
  return Kernel{.run = run, .scratch_bytes = x.scratch(5)};
}

absl::StatusOr<Kernel> BatchNormInference(const KernelSpec& spec) {
  const Batch x = BatchOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  const auto run = [x, epsilon](const KernelCall& call) {
    NormalizeShares(x,
                    {.mean = call.in(3),
                     .variance = call.in(4),
                     .scale = call.in(1),
                     .offset = call.in(2),
                     .epsilon = epsilon},
                    call);
    return absl::OkStatus();
  };
  return Kernel{.run = run, .scratch_bytes = x.scratch(2)};
}

}  // namespace

void AddBatchNormKernels(KernelRegistry* kernels) {
  kernels->Add("BatchNorm", "CPU", DType::kFloat32, BatchNorm);
  kernels->Add("BatchNormGrad", "CPU", DType::kFloat32, BatchNormGrad);
  kernels->Add("BatchNormInference", "CPU", DType::kFloat32, BatchNormInference);
}

}  // namespace taas
