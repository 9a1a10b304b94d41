#include "trainer/ring/gradient_area.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(GradientAreaTest, NothingIsLentBeforeItIsAskedFor) {
  EXPECT_EQ(GradientArea().lent(), nullptr);
}

TEST(GradientAreaTest, WhatIsGivenIsZeroAndWhatIsLentAndStaysWhileOneOfBothDoes) {
  std::optional<Buffer> given;
  {
    GradientArea area;
    given = area.memory()(5'000);
    ASSERT_TRUE(given);
    ASSERT_NE(area.lent(), nullptr);
    EXPECT_EQ(static_cast<void*>(area.lent()->data()), given->data());
    EXPECT_EQ(area.lent()->size(), 5'000U);
    EXPECT_GE(area.lent()->descriptor(), 0);
  }
  const std::span<std::byte> bytes(given->data(), given->bytes());
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }));
  bytes.back() = std::byte{1};

  GradientArea area;
  given = area.memory()(5'000);
  given.reset();
  EXPECT_EQ(area.lent()->data()[4'999], 0);
}

TEST(GradientAreaTest, WhereNothingCanBeSharedNothingIsGivenAndTheDeviceGivesIt) {
  GradientArea area;
  EXPECT_FALSE(area.memory()(0));
  EXPECT_EQ(area.lent(), nullptr);
}

}  // namespace
}  // namespace taas
