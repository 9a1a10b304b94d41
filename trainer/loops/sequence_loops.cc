#include "trainer/loops/sequence_loops.h"

#include "trainer/loops/loops.h"

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/loops/sequence_loops_body.inc"
#include "trainer/loops/versions.inc"

}  // namespace

std::span<const SequenceLoops* const> SupportedSequenceLoops() {
  return {kVersions, SupportedLoops().size()};
}

const SequenceLoops& BestSequenceLoops() { return *SupportedSequenceLoops().back(); }

}  // namespace taas
