#include "trainer/ps/version_copy.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace taas::ps {
namespace {

constexpr size_t kArrays = 3;
constexpr size_t kElements = 5 * VersionCopy::kSlice + 7;

std::vector<float> Numbered() {
  std::vector<float> values(kArrays * kElements);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000003);
  return values;
}

TEST(VersionCopyTest, WhatIsAwaitedWasCopiedOfEachArray) {
  const std::vector<float> from = Numbered();
  std::vector<float> to(from.size(), -1.0f);
  VersionCopy copy(from, to, kArrays);
  for (const size_t end : {size_t{1}, VersionCopy::kSlice, VersionCopy::kSlice + 1, kElements}) {
    copy.Await(end);
    for (size_t array = 0; array < kArrays; ++array) {
      const auto at = static_cast<ptrdiff_t>(array * kElements);
      EXPECT_TRUE(std::equal(to.begin() + at, to.begin() + at + static_cast<ptrdiff_t>(end),
                             from.begin() + at));
    }
  }
  EXPECT_TRUE(copy.ended());
  EXPECT_EQ(to, from);
}

TEST(VersionCopyTest, WhoWritesBehindItDoesNotChangeIt) {
  const std::vector<float> before = Numbered();
  for (int i = 0; i < 20; ++i) {
    std::vector<float> from = before, to(before.size());
    VersionCopy copy(from, to, kArrays);
    for (size_t at = 0; at < kElements; at += 1000) {
      const size_t end = std::min(at + 1000, kElements);
      copy.Await(end);
      for (size_t array = 0; array < kArrays; ++array) {
        for (size_t place = at; place < end; ++place) from[array * kElements + place] = -7.0f;
      }
    }
    copy.AwaitEnd();
    ASSERT_EQ(to, before);
  }
}

TEST(VersionCopyTest, WhoWaitsForOneThatIsStoppedGoesOn) {
  const std::vector<float> from = Numbered();
  std::vector<float> to(from.size());
  VersionCopy copy(from, to, kArrays);
  copy.Stop();
  copy.Stop();
  copy.AwaitEnd();
  EXPECT_TRUE(copy.ended());
  // The buffer is the caller's again.
  std::ranges::fill(to, 1.0f);
  EXPECT_TRUE(std::ranges::all_of(to, [](float value) { return value == 1.0f; }));
}

}  // namespace
}  // namespace taas::ps
