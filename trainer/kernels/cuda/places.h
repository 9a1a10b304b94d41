// Device functions of kernels that compute elements, four by a thread: neighbours, moved at once,
// where all memory allows it (by_fours.h), else one every blockDim.x, so that in both cases a warp
// moves whole lines.
//
// Four at once are a quarter of the instructions, and more of a thread's loads are under way at a
// time than with one. More than four, or threads that go on to further elements, would gain little:
// these kernels wait for memory.
//
// Ownership: none. Threads: each has its own places. Errors: none.
//
//   ForPlaces(p.count, p.by_fours, [&](auto place) {
//     place.Store(p.y, Each([](float x) { return 2 * x; }, place.Load(p.x)));
//   });

#ifndef TRAINER_KERNELS_CUDA_PLACES_H_
#define TRAINER_KERNELS_CUDA_PLACES_H_

#include <cstdint>

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

namespace taas::cuda {

// Elements from `i` on, as many as V has: float, or float4.
template <typename V>
struct Place {
  int64_t i;

  __device__ V Load(const float* x) const { return *reinterpret_cast<const V*>(x + i); }
  __device__ void Store(float* y, V value) const { *reinterpret_cast<V*>(y + i) = value; }
  // As many elements, elsewhere.
  __device__ Place At(int64_t element) const { return {element}; }
};

// `function` of each element.
template <typename Function, typename... X>
__device__ float Each(Function function, float x, X... more) {
  return function(x, more...);
}
template <typename Function, typename... X>
__device__ float4 Each(Function function, float4 x, X... more) {
  return make_float4(function(x.x, more.x...), function(x.y, more.y...),
                     function(x.z, more.z...), function(x.w, more.w...));
}

// All elements are `x`.
template <typename V>
__device__ V Filled(float x) {
  return Each([x](float) { return x; }, V{});
}

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Times {
  __device__ float operator()(float a, float b) const { return a * b; }
};

constexpr int kOfAThread = 4;

// Calls `compute` with the places of this thread, of a grid of ForElements(count, kOfAThread).
template <typename Compute>
__device__ void ForPlaces(int64_t count, bool by_fours, Compute compute) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x * kOfAThread;
  if (by_fours) {
    const int64_t i = first + threadIdx.x * kOfAThread;
    if (i + kOfAThread <= count) return compute(Place<float4>{i});
    // The tensor's last elements, which are no four; later threads have none.
    for (int64_t j = i; j < count; ++j) compute(Place<float>{j});
    return;
  }
  for (int k = 0; k < kOfAThread; ++k) {
    const int64_t i = first + k * int64_t{blockDim.x} + threadIdx.x;
    if (i >= count) return;  // The last block is partly idle.
    compute(Place<float>{i});
  }
}

}  // namespace taas::cuda

#endif  // A compiler of kernels.

#endif  // TRAINER_KERNELS_CUDA_PLACES_H_
