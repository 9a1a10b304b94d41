#include "trainer/kernels/cpu/cpu_device.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

TEST(CpuDeviceTest, MemoryIsZeroedAndAligned) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, kHugePagesFrom - 1,
                             kHugePagesFrom + 1}) {
    const auto buffer = CpuDevice().Allocate(bytes);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_GE(buffer->bytes(), std::max(bytes, size_t{1}));
    const size_t alignment = bytes >= kHugePagesFrom ? kHugePage : CpuDevice().alignment();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % alignment, 0u) << bytes;
    EXPECT_EQ(buffer->bytes() % alignment, 0u) << bytes;
    EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + buffer->bytes(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

// Symptom: "no memory for 695861870592 bytes", and not how much there is.
TEST(CpuDeviceTest, MemoryThatIsNotThereIsAnErrorWithWhatTheMachineHas) {
  for (const size_t bytes : {std::numeric_limits<size_t>::max(), size_t{1} << 62}) {
    EXPECT_THAT(CpuDevice().Allocate(bytes).status(),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         testing::ContainsRegex("no memory for [0-9.e+]+ TB of tensors; this "
                                                "machine has [0-9.]+ .B")));
  }
}

TEST(CpuDeviceTest, MemoryKnowsItsKind) {
  EXPECT_EQ(CpuDevice().Allocate(1)->kind(), MemoryKind::kDevice);
  EXPECT_EQ(CpuDevice().Allocate(1, MemoryKind::kPinned)->kind(), MemoryKind::kPinned);
  EXPECT_TRUE(CpuDevice().host_sees_memory());
}

// Adds `by` to a number, which copies bring and take away.
TEST(CpuDeviceTest, WhatIsCapturedRunsEachTimeItIsLaunchedAndNotBefore) {
  const auto stream = CpuDevice().MakeStream();
  const auto event = CpuDevice().MakeEvent();
  float from = 1, at = 0, to = 0;
  const void* const inputs[] = {&at};
  void* const outputs[] = {&at};
  const Kernel add{.run = [](const KernelCall& call) {
    *call.out() = *call.in(0) + static_cast<float>(call.index);
    return absl::OkStatus();
  }};
  auto program = stream->Capture([&]() -> absl::Status {
    EXPECT_THAT(stream->Copy(&at, &from, sizeof at), IsOk());
    EXPECT_THAT(stream->Launch(add, {.inputs = inputs, .outputs = outputs, .index = 5}), IsOk());
    EXPECT_THAT(stream->Record(*event), IsOk());
    EXPECT_THAT(stream->Wait(*event), IsOk());
    return stream->Copy(&to, &at, sizeof to);
  });
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(at, 0);
  for (const float number : {1.0f, 10.0f}) {
    from = number;
    ASSERT_THAT((*program)->Launch(*stream), IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
    EXPECT_EQ(to, number + 5);
  }
  EXPECT_THAT(event->Synchronize(), IsOk());
}

TEST(CpuDeviceTest, ACaptureThatFailsLeavesTheStreamAsItWas) {
  const auto stream = CpuDevice().MakeStream();
  int from = 1, to = 0;
  EXPECT_THAT(stream->Capture([&]() -> absl::Status {
    EXPECT_THAT(stream->Copy(&to, &from, sizeof to), IsOk());
    return absl::InternalError("no");
  }).status(), StatusIs(absl::StatusCode::kInternal, "no"));
  EXPECT_EQ(to, 0);
  ASSERT_THAT(stream->Copy(&to, &from, sizeof to), IsOk());
  EXPECT_EQ(to, 1);
}

TEST(CpuDeviceTest, AStreamRunsKernelsInOrderAndSaysWhatTheySay) {
  const auto stream = CpuDevice().MakeStream();
  std::string order;
  const auto kernel = [&](char name, absl::Status status) {
    return Kernel{.run = [&order, name, status](const KernelCall& call) {
      order += name + std::to_string(call.index);
      return status;
    }};
  };
  EXPECT_THAT(stream->Launch(kernel('a', absl::OkStatus()), {.index = 7}), IsOk());
  EXPECT_THAT(stream->Launch(kernel('b', absl::InternalError("no")), {.index = 8}),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(stream->Synchronize(), IsOk());
  EXPECT_EQ(order, "a7b8");
}

}  // namespace
}  // namespace taas
