// That what differs from its twin is seen.

#include <cmath>
#include <vector>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin_sides.h"

namespace taas::cuda {
namespace {

Results Floating(const std::vector<float>& values) {
  return {.outputs = {Floats(Shape({2}), values).bytes}, .fault = {}, .costs = {}};
}

class TwinSidesTest : public testing::Test {
 protected:
  double Compare(const Results& got, const Results& wanted) const {
    return ExpectSame(of_, prepared_, got, wanted, "here");
  }
  OpCase of_{.op = "Relu", .inputs = {Floats(Shape({2}), {-8, 4})}, .tolerance = 0.01};
  Prepared prepared_ = Prepare(of_);
};

TEST_F(TwinSidesTest, ADifferenceIsInPartsOfTheLargest) {
  EXPECT_DOUBLE_EQ(Compare(Floating({-8, 4.0625f}), Floating({-8, 4})), 0.0625 / 8);
  EXPECT_NONFATAL_FAILURE(Compare(Floating({-8, 4.25f}), Floating({-8, 4})),
                          "[1] is 4.250000, wanted 4.000000");
  of_.tolerance = 0;
  EXPECT_NONFATAL_FAILURE(Compare(Floating({-8, 4.0625f}), Floating({-8, 4})), "Relu here");
}

TEST_F(TwinSidesTest, WhatIsNoNumberInOneOnlyIsSeen) {
  const float nan = std::nanf("");
  EXPECT_EQ(Compare(Floating({nan, HUGE_VALF}), Floating({nan, HUGE_VALF})), 0);
  EXPECT_NONFATAL_FAILURE(Compare(Floating({nan, 4}), Floating({-8, 4})), "[0] is nan");
  EXPECT_NONFATAL_FAILURE(Compare(Floating({-8, 4}), Floating({nan, 4})), "wanted nan");
  EXPECT_NONFATAL_FAILURE(Compare(Floating({HUGE_VALF, 4}), Floating({-8, 4})), "[0] is inf");
}

TEST_F(TwinSidesTest, AnotherFaultIsSeen) {
  Results faulty = Floating({-8, 4});
  faulty.fault.kind = Fault::Kind::kLabel;
  EXPECT_NONFATAL_FAILURE(Compare(faulty, Floating({-8, 4})), "Relu here");
}

}  // namespace
}  // namespace taas::cuda
