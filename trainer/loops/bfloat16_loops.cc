#include "trainer/loops/bfloat16_loops.h"

#include "trainer/loops/loops.h"

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/loops/bfloat16_loops_body.inc"
#include "trainer/loops/versions.inc"

}  // namespace

std::span<const BFloat16Loops* const> SupportedBFloat16Loops() {
  return {kVersions, SupportedLoops().size()};
}

const BFloat16Loops& BestBFloat16Loops() { return *SupportedBFloat16Loops().back(); }

}  // namespace taas
