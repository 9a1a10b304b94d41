// y[i] = f(a[i], b[i], …). Four elements a thread, in blocks of 256 (places.h). Bound by memory:
// 4 bytes per element for each input and for the result, so 8 of one input, 12 of two; a bias stays
// in the caches. As much is moved by whatever computes an op alone; chains of them are in fused.cu.

#include "trainer/kernels/cuda/elementwise.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas::cuda;

namespace {

template <typename Function>
__device__ void Compute(const OneInputParams& p, Function function) {
  ForPlaces(p.count, p.by_fours,
            [&](auto place) { place.Store(p.y, Each(function, place.Load(p.x))); });
}

template <typename Function>
__device__ void Compute(const TwoInputsParams& p, Function function) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each(function, place.Load(p.a), place.Load(p.b)));
  });
}

template <typename Function>
__device__ void Compute(const BiasParams& p, Function function) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    // The remainder is one of 32 bits where both numbers have no more: the compiler sees to it.
    place.Store(p.y, Each(function, place.Load(p.x), place.At(place.i % p.columns).Load(p.b)));
  });
}

template <typename Function>
__device__ void Compute(const ByFactorParams& p, Function function) {
  const float factor = *p.factor;
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each([&](float x) { return function(x, factor); }, place.Load(p.x)));
  });
}

__device__ float SigmoidOf(float x) { return 1.0f / (1.0f + expf(-x)); }

// x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), which is x · sigmoid of twice that.
constexpr float kGeluSlope = 1.5957691216f;  // 2 √(2/π).
constexpr float kGeluCube = 0.044715f;

__device__ float GeluGateOf(float x) {
  return SigmoidOf(kGeluSlope * x * (1.0f + kGeluCube * x * x));
}

}  // namespace

extern "C" __global__ void AddByFactorKernel(const AddByFactorParams p) {
  const float factor = *p.factor;
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each([&](float a, float x) { return a + factor * x; }, place.Load(p.a),
                          place.Load(p.x)));
  });
}

extern "C" __global__ void AddKernel(const TwoInputsParams p) {
  Compute(p, [](float a, float b) { return a + b; });
}

extern "C" __global__ void AddNKernel(const AddNParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    auto sum = place.Load(p.x[0]);
    for (int k = 1; k < p.inputs; ++k) {
      sum = Each([](float a, float b) { return a + b; }, sum, place.Load(p.x[k]));
    }
    place.Store(p.y, sum);
  });
}

extern "C" __global__ void BiasAddKernel(const BiasParams p) {
  Compute(p, [](float x, float b) { return x + b; });
}

extern "C" __global__ void BiasAddReluKernel(const BiasParams p) {
  Compute(p, [](float x, float b) {
    const float sum = x + b;
    return sum < 0.0f ? 0.0f : sum;  // NaN stays.
  });
}

extern "C" __global__ void GeluGradKernel(const TwoInputsParams p) {
  Compute(p, [](float dy, float x) {
    const float gate = GeluGateOf(x);
    const float slope = kGeluSlope * (1.0f + 3.0f * kGeluCube * x * x);
    return dy * (gate + x * gate * (1.0f - gate) * slope);
  });
}

extern "C" __global__ void GeluKernel(const OneInputParams p) {
  Compute(p, [](float x) { return x * GeluGateOf(x); });
}

extern "C" __global__ void IdentityKernel(const OneInputParams p) {
  Compute(p, [](float x) { return x; });
}

extern "C" __global__ void MovingAverageKernel(const MovingAverageParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each([&](float average, float x) { return average - p.share * (average - x); },
                          place.Load(p.average), place.Load(p.x)));
  });
}

extern "C" __global__ void MulKernel(const TwoInputsParams p) {
  Compute(p, [](float a, float b) { return a * b; });
}

extern "C" __global__ void ReluGradKernel(const TwoInputsParams p) {
  Compute(p, [](float dy, float y) { return y > 0.0f ? dy : 0.0f; });
}

// Written so that NaN stays NaN: a diverged model must be seen.
extern "C" __global__ void ReluKernel(const OneInputParams p) {
  Compute(p, [](float x) { return x < 0.0f ? 0.0f : x; });
}

extern "C" __global__ void ScaleByFactorKernel(const ByFactorParams p) {
  Compute(p, [](float x, float factor) { return factor * x; });
}

extern "C" __global__ void ScaleKernel(const ScaleParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each([&](float x) { return p.factor * x; }, place.Load(p.x)));
  });
}

extern "C" __global__ void SigmoidGradKernel(const TwoInputsParams p) {
  Compute(p, [](float dy, float y) { return dy * y * (1.0f - y); });
}

extern "C" __global__ void SigmoidKernel(const OneInputParams p) {
  Compute(p, [](float x) { return SigmoidOf(x); });
}

extern "C" __global__ void SignByFactorKernel(const ByFactorParams p) {
  Compute(p, [](float x, float factor) {
    const float positive = x > 0.0f ? factor : 0.0f;
    return x < 0.0f ? -factor : positive;
  });
}

extern "C" __global__ void SquareKernel(const OneInputParams p) {
  Compute(p, [](float x) { return x * x; });
}

extern "C" __global__ void SubKernel(const TwoInputsParams p) {
  Compute(p, [](float a, float b) { return a - b; });
}

extern "C" __global__ void TanhGradKernel(const TwoInputsParams p) {
  Compute(p, [](float dy, float y) { return dy * (1.0f - y * y); });
}

extern "C" __global__ void TanhKernel(const OneInputParams p) {
  Compute(p, [](float x) { return tanhf(x); });
}
