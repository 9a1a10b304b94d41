#include "trainer/loops/loops.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/loops/loops_body.inc"
#include "trainer/loops/versions.inc"

struct Supported {
  const Loops* loops[3] = {};
  size_t count = 0;
};

Supported FindSupported() {
  Supported found;
  found.loops[found.count++] = kVersions[0];
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.loops[found.count++] = kVersions[1];
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    found.loops[found.count++] = kVersions[2];
  }
  return found;
}

}  // namespace

std::span<const Loops* const> SupportedLoops() {
  static const Supported kSupported = FindSupported();
  return {kSupported.loops, kSupported.count};
}

void FinishPastCaches() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

const Loops& BestLoops() {
  static const Loops& kBest = *SupportedLoops().back();
  return kBest;
}

}  // namespace taas
