#include "trainer/loops/image_loops.h"

#include "trainer/loops/loops.h"

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/loops/image_loops_body.inc"
#include "trainer/loops/versions.inc"

}  // namespace

std::span<const ImageLoops* const> SupportedImageLoops() {
  return {kVersions, SupportedLoops().size()};
}

const ImageLoops& BestImageLoops() { return *SupportedImageLoops().back(); }

}  // namespace taas
