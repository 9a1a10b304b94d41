#include "dashboard/events/python_random.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// random.Random(0).randint(0, limit - 1) of Python 3.11, one after the other.
TEST(PythonRandomTest, NumbersBelowALimitArePythons) {
  PythonRandom random;
  EXPECT_EQ(random.Below(1001), 864u);
  EXPECT_EQ(random.Below(1002), 394u);
  EXPECT_EQ(random.Below(1003), 776u);
  EXPECT_EQ(random.Below(8), 6u);
  EXPECT_EQ(random.Below((1u << 20) + 1), 84901u);
  EXPECT_EQ(random.Below((uint64_t{1} << 33) + 6), 6490875490u);
  EXPECT_EQ(random.Below((uint64_t{1} << 40) + 1), 788025983492u);
}

// x = 0; for i in range(5000): x = (x * 31 + r.randint(0, 1000 + i)) % 2**32
TEST(PythonRandomTest, TheyStayPythonsAfterThousands) {
  PythonRandom random;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    sum = sum * 31 + static_cast<uint32_t>(random.Below(1001 + i));
  }
  EXPECT_EQ(sum, 3506562044u);
}

TEST(PythonRandomTest, SamplesArePythonsOnBothSidesOfItsChangeOfMethod) {
  EXPECT_THAT(SortedSample(9, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(SortedSample(22, 5), ElementsAre(1, 8, 12, 13, 16));
  EXPECT_THAT(SortedSample(499, 6), ElementsAre(20, 197, 215, 388, 432, 455));
  EXPECT_THAT(SortedSample(5, 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(SortedSample(3, 0), IsEmpty());
  const std::vector<size_t> from_list = SortedSample(277, 50);
  EXPECT_EQ(from_list[0], 3u);
  EXPECT_EQ(from_list[49], 275u);
  const std::vector<size_t> from_set = SortedSample(278, 50);
  EXPECT_EQ(from_set[1], 7u);
  EXPECT_EQ(from_set[49], 272u);
}

}  // namespace
}  // namespace taas::dashboard
