#include "operator/base/finite.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FirstNonFiniteTest, NamesTheFirstElementWhereverItIs) {
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{9999}}) {
    std::vector<float> values(10000, std::numeric_limits<float>::max());
    values[at] = std::numeric_limits<float>::quiet_NaN();
    values.back() = at + 1 == values.size() ? values[at] : -kInfinity;
    EXPECT_EQ(FindNonFinite(values), at);
    EXPECT_EQ(FirstNonFinite(values), "element " + std::to_string(at) + " is NaN");
  }
}

TEST(FirstNonFiniteTest, TellsInfinitiesFromNumbersThatAreNone) {
  EXPECT_EQ(FirstNonFinite(std::vector<float>{1, -kInfinity}), "element 1 is infinite");
  EXPECT_EQ(FirstNonFinite(std::vector<float>{kInfinity}), "element 0 is infinite");
}

TEST(FirstNonFiniteTest, AllFiniteNumbersAre) {
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(FirstNonFinite(std::vector<float>{0, -0.0f, Limits::max(), Limits::lowest(),
                                              Limits::denorm_min(), Limits::min()}),
            "");
  EXPECT_EQ(FirstNonFinite({}), "");
}

}  // namespace
}  // namespace taas
