#include "trainer/kernels/cpu/sequence_loops.h"

#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

namespace baseline {
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/sequence_loops_body.inc"
}  // namespace baseline

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/sequence_loops_body.inc"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512")
namespace avx512 {
#include "trainer/kernels/cpu/functions_body.inc"
#include "trainer/kernels/cpu/sequence_loops_body.inc"
}  // namespace avx512
#pragma GCC pop_options

// In the order of SupportedLoops().
constexpr const SequenceLoops* kVersions[] = {&baseline::kLoops, &avx2::kLoops, &avx512::kLoops};

}  // namespace

std::span<const SequenceLoops* const> SupportedSequenceLoops() {
  return {kVersions, SupportedLoops().size()};
}

const SequenceLoops& BestSequenceLoops() { return *SupportedSequenceLoops().back(); }

}  // namespace taas
