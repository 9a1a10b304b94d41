#include "trainer/kernels/cpu/sequence_loops.h"

#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/kernels/cpu/sequence_loops_body.inc"
#include "trainer/kernels/cpu/versions.inc"

}  // namespace

std::span<const SequenceLoops* const> SupportedSequenceLoops() {
  return {kVersions, SupportedLoops().size()};
}

const SequenceLoops& BestSequenceLoops() { return *SupportedSequenceLoops().back(); }

}  // namespace taas
