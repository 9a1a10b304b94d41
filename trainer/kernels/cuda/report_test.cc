// What a GPU counts of itself, on the emulator.

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/report.h"
#include "trainer/kernels/cuda/testing/emulated_stream.h"

namespace taas::cuda {
namespace {

TEST(CountTest, EachLaunchIsOneMore) {
  emulate::Emulator emulator;
  EmulatedStream stream(emulator, {});
  const int64_t before[] = {int64_t{1} << 32, 5};
  const emulate::DeviceBuffer<int64_t> counts(emulator, "counts", before);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_THAT(Launch({.stream = &stream}, kCountKernel, {.threads = 1}, {counts.data()}), IsOk());
  }
  EXPECT_THAT(counts.Read(), testing::ElementsAre((int64_t{1} << 32) + 3, 5));
}

}  // namespace
}  // namespace taas::cuda
