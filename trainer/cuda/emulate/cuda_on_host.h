// What a kernel's source needs of CUDA C++, where the host's compiler compiles it: the kernels that
// run on GPUs run so on the processor, thread by thread, watched (emulator.h).
//
// Included before everything else of a kernel's source by the BUILD rule (kernels.bzl); names are
// CUDA's, of the CUDA C++ Programming Guide. Only what our kernels use is here.
//
// Threads: one thread of a block at a time. Errors: what a thread does wrong ends the run, which
// says so.

#ifndef TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_
#define TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace taas::cuda::emulate {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// Of the thread that runs.
struct Place {
  Index thread, block, block_size, grid_size;
};
const Place& Here();

// Until all threads of the block have come to `line`.
void WaitForBlock(int line);
// Until all lanes of `mask` have come to `line`; hands each lane's `value` to all.
struct Lanes {
  uint32_t values[32];
  unsigned there;  // Those that have come, a bit each.
};
Lanes WaitForWarp(unsigned mask, uint32_t value, int line);
// Ends the run: `lane` has no value to give.
void RefuseLane(unsigned lane, const char* why, int line);
// Before and after an access that no other thread comes between.
void BeginAtomic();
void EndAtomic();

template <typename T>
T FromLane(unsigned mask, T value, unsigned lane, int line) {
  static_assert(sizeof(T) == sizeof(uint32_t), "shuffles are of 32 bits");
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const Lanes lanes = WaitForWarp(mask, bits, line);
  if ((mask >> lane & 1) == 0) RefuseLane(lane, "is not in the mask", line);
  if ((lanes.there >> lane & 1) == 0) RefuseLane(lane, "has ended, or is none", line);
  std::memcpy(&value, &lanes.values[lane], sizeof(bits));
  return value;
}

inline unsigned Lane() {
  const Place& here = Here();
  const unsigned in_block =
      here.thread.x + here.block_size.x * (here.thread.y + here.block_size.y * here.thread.z);
  return in_block % 32;
}

template <typename T, typename Change>
T Atomically(T* address, Change change) {
  BeginAtomic();
  const T before = *address;
  *address = change(before);
  EndAtomic();
  return before;
}

}  // namespace taas::cuda::emulate

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
// All of a program's are one section, so that each block finds them unwritten.
#define __shared__ static __attribute__((section("cuda_shared")))

#define threadIdx (::taas::cuda::emulate::Here().thread)
#define blockIdx (::taas::cuda::emulate::Here().block)
#define blockDim (::taas::cuda::emulate::Here().block_size)
#define gridDim (::taas::cuda::emulate::Here().grid_size)

constexpr int warpSize = 32;

struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// Rounded each for itself; what is compiled for GPUs may round a product and a sum once.
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }

inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

inline void __syncthreads(int line = __builtin_LINE()) {
  ::taas::cuda::emulate::WaitForBlock(line);
}
inline void __syncwarp(unsigned mask = 0xffffffff, int line = __builtin_LINE()) {
  ::taas::cuda::emulate::WaitForWarp(mask, 0, line);
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int line = __builtin_LINE()) {
  return ::taas::cuda::emulate::FromLane(mask, value, static_cast<unsigned>(lane) % 32, line);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int line = __builtin_LINE()) {
  const unsigned own = ::taas::cuda::emulate::Lane();
  return ::taas::cuda::emulate::FromLane(mask, value, own + delta < 32 ? own + delta : own, line);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int line = __builtin_LINE()) {
  const unsigned from = ::taas::cuda::emulate::Lane() ^ static_cast<unsigned>(bits);
  return ::taas::cuda::emulate::FromLane(mask, value, from % 32, line);
}
inline unsigned __ballot_sync(unsigned mask, bool holds, int line = __builtin_LINE()) {
  const auto lanes = ::taas::cuda::emulate::WaitForWarp(mask, holds ? 1 : 0, line);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0 && lanes.values[lane] != 0) ballot |= 1u << lane;
  }
  return ballot;
}

template <typename T>
T atomicAdd(T* address, T value) {
  return ::taas::cuda::emulate::Atomically(address, [&](T before) { return before + value; });
}
template <typename T>
T atomicMin(T* address, T value) {
  return ::taas::cuda::emulate::Atomically(
      address, [&](T before) { return value < before ? value : before; });
}
template <typename T>
T atomicMax(T* address, T value) {
  return ::taas::cuda::emulate::Atomically(
      address, [&](T before) { return before < value ? value : before; });
}

#endif  // TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_
