#include "trainer/kernels/cpu/image_loops.h"

#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

#define TAAS_LOOPS_BODY "trainer/kernels/cpu/image_loops_body.inc"
#include "trainer/kernels/cpu/versions.inc"

}  // namespace

std::span<const ImageLoops* const> SupportedImageLoops() {
  return {kVersions, SupportedLoops().size()};
}

const ImageLoops& BestImageLoops() { return *SupportedImageLoops().back(); }

}  // namespace taas
