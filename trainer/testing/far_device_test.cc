#include "trainer/testing/far_device.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

Kernel Appends(std::string* to, char letter, absl::Status status = absl::OkStatus()) {
  return {.run = [to, letter, status](const KernelCall&) {
    *to += letter;
    return status;
  }};
}

TEST(FarDeviceDeathTest, TheHostSeesNothingOfItsMemory) {
  const auto memory = FarDevice().Allocate(8);
  ASSERT_THAT(memory, IsOk());
  auto* const numbers = reinterpret_cast<volatile int*>(memory->data());
  EXPECT_DEATH((void)numbers[0], "");
  EXPECT_DEATH(numbers[1] = 3, "");
}

TEST(FarDeviceDeathTest, KernelsSeeNothingElse) {
  const auto launch = [] {
    const auto stream = FarDevice().MakeStream();
    float host = 0;
    const void* const inputs[] = {&host};
    std::string ran;
    const Kernel kernel = Appends(&ran, 'a');
    ASSERT_THAT(stream->Launch(kernel, {.inputs = inputs}), IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
  };
  EXPECT_DEATH(launch(), "lies in memory of the host");
}

TEST(FarDeviceTest, NothingRunsBeforeSomebodyWaits) {
  std::string ran;
  const Kernel a = Appends(&ran, 'a'), b = Appends(&ran, 'b');
  const auto stream = FarDevice().MakeStream();
  ASSERT_THAT(stream->Launch(a, {}), IsOk());
  ASSERT_THAT(stream->Launch(b, {}), IsOk());
  EXPECT_EQ(ran, "");
  ASSERT_THAT(stream->Synchronize(), IsOk());
  EXPECT_EQ(ran, "ab");
}

// Each waits for the other by turns.
TEST(FarDeviceTest, StreamsKeepTheOrderOfTheirEvents) {
  std::string ran;
  const Kernel a = Appends(&ran, 'a'), b = Appends(&ran, 'b'), c = Appends(&ran, 'c');
  for (int i = 0; i < 50; ++i) {
    ran.clear();
    const auto one = FarDevice().MakeStream(), two = FarDevice().MakeStream();
    const auto first = FarDevice().MakeEvent(), second = FarDevice().MakeEvent();
    ASSERT_THAT(one->Launch(a, {}), IsOk());
    ASSERT_THAT(one->Record(*first), IsOk());
    ASSERT_THAT(two->Wait(*first), IsOk());
    ASSERT_THAT(two->Launch(b, {}), IsOk());
    ASSERT_THAT(two->Record(*second), IsOk());
    ASSERT_THAT(one->Wait(*second), IsOk());
    ASSERT_THAT(one->Launch(c, {}), IsOk());
    ASSERT_THAT(two->Synchronize(), IsOk());
    EXPECT_TRUE(ran.starts_with("ab")) << ran;
    ASSERT_THAT(one->Synchronize(), IsOk());
    EXPECT_EQ(ran, "abc");
  }
}

TEST(FarDeviceTest, WithoutEventsTheOrderOfStreamsIsOpen) {
  bool before = false, after = false;
  for (int i = 0; i < 100; ++i) {
    std::string ran;
    const Kernel a = Appends(&ran, 'a'), b = Appends(&ran, 'b');
    const auto one = FarDevice().MakeStream(), two = FarDevice().MakeStream();
    ASSERT_THAT(one->Launch(a, {}), IsOk());
    ASSERT_THAT(two->Launch(b, {}), IsOk());
    ASSERT_THAT(two->Synchronize(), IsOk());
    ASSERT_THAT(one->Synchronize(), IsOk());
    (ran == "ab" ? before : after) = true;
  }
  EXPECT_TRUE(before && after);
}

TEST(FarDeviceTest, AnErrorIsToldToItsStreamWhoeverRanIt) {
  for (int i = 0; i < 20; ++i) {
    std::string ran;
    const Kernel bad = Appends(&ran, 'a', absl::InternalError("no")), b = Appends(&ran, 'b');
    const auto one = FarDevice().MakeStream(), two = FarDevice().MakeStream();
    ASSERT_THAT(one->Launch(bad, {}), IsOk());
    ASSERT_THAT(one->Launch(b, {}), IsOk());
    EXPECT_THAT(two->Synchronize(), IsOk());
    EXPECT_THAT(one->Synchronize(), StatusIs(absl::StatusCode::kInternal, "no"));
    EXPECT_EQ(ran, "a");
    ASSERT_THAT(one->Launch(b, {}), IsOk());
    EXPECT_THAT(one->Synchronize(), IsOk());
    EXPECT_EQ(ran, "ab");
  }
}

}  // namespace
}  // namespace taas
