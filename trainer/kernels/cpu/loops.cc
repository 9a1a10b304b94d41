#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

namespace baseline {
#define TAAS_LOOPS_TARGET "baseline"
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/loops_body.inc"
#undef TAAS_LOOPS_TARGET
}  // namespace baseline

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
#define TAAS_LOOPS_TARGET "avx2"
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/loops_body.inc"
#undef TAAS_LOOPS_TARGET
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512")
namespace avx512 {
#define TAAS_LOOPS_TARGET "avx512"
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/loops_body.inc"
#undef TAAS_LOOPS_TARGET
}  // namespace avx512
#pragma GCC pop_options

struct Supported {
  const Loops* loops[3] = {};
  size_t count = 0;
};

Supported FindSupported() {
  Supported found;
  found.loops[found.count++] = &baseline::kLoops;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.loops[found.count++] = &avx2::kLoops;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    found.loops[found.count++] = &avx512::kLoops;
  }
  return found;
}

}  // namespace

std::span<const Loops* const> SupportedLoops() {
  static const Supported kSupported = FindSupported();
  return {kSupported.loops, kSupported.count};
}

const Loops& BestLoops() {
  static const Loops& kBest = *SupportedLoops().back();
  return kBest;
}

}  // namespace taas
