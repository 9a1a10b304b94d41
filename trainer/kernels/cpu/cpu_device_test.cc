#include "trainer/kernels/cpu/cpu_device.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/memory_plan.h"

namespace taas {
namespace {

TEST(CpuDeviceTest, MemoryIsZeroedAndAligned) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, kHugePagesFrom - 1,
                             kHugePagesFrom + 1}) {
    const auto buffer = CpuDevice().Allocate(bytes);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_GE(buffer->bytes(), std::max(bytes, size_t{1}));
    const size_t alignment = bytes >= kHugePagesFrom ? kHugePage : MemoryPlan::kAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % alignment, 0u) << bytes;
    EXPECT_EQ(buffer->bytes() % alignment, 0u) << bytes;
    EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + buffer->bytes(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST(CpuDeviceTest, MemoryThatIsNotThereIsAnError) {
  for (const size_t bytes : {std::numeric_limits<size_t>::max(), size_t{1} << 62}) {
    EXPECT_THAT(CpuDevice().Allocate(bytes).status(),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         testing::HasSubstr("no memory for " + std::to_string(bytes))));
  }
}

TEST(CpuDeviceTest, AStreamRunsKernelsInOrderAndSaysWhatTheySay) {
  const auto stream = CpuDevice().MakeStream();
  std::string order;
  const auto kernel = [&](char name, absl::Status status) {
    return Kernel{.run = [&order, name, status](const KernelCall& call) {
      order += name + std::to_string(call.step);
      return status;
    }};
  };
  EXPECT_THAT(stream->Launch(kernel('a', absl::OkStatus()), {.step = 7}), IsOk());
  EXPECT_THAT(stream->Launch(kernel('b', absl::InternalError("no")), {.step = 8}),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(stream->Synchronize(), IsOk());
  EXPECT_EQ(order, "a7b8");
}

}  // namespace
}  // namespace taas
