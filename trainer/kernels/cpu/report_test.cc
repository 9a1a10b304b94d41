#include "trainer/kernels/cpu/report.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::HasSubstr;

TEST(ReportTest, TheFirstByTheOrderOfTheKernelsCountsWhoeverIsFirstInTime) {
  StepBlock block;
  for (const int32_t index : {5, 3, 4}) {
    Report({.block = &block, .index = index}, {.kind = Fault::Kind::kLabel, .at = 10 + index});
  }
  EXPECT_EQ(block.fault.kernel, 3);
  EXPECT_EQ(block.fault.at, 13);
}

TEST(ReportTest, EachFaultIsASentence) {
  EXPECT_EQ(FaultText({}), "");
  EXPECT_EQ(FaultText({.kind = Fault::Kind::kLabel, .at = 3, .bound = 10, .value = 12}),
            "the label of row 3 is 12, the model has 10 classes from 0");
  EXPECT_EQ(FaultText({.kind = Fault::Kind::kId, .at = 1, .bound = 4, .value = -2}),
            "id -2 at 1 is out of range, the table has 4 rows");
  // No double holds it.
  EXPECT_EQ(FaultText({.kind = Fault::Kind::kId, .bound = 4, .value = (int64_t{1} << 53) + 1}),
            "id 9007199254740993 at 0 is out of range, the table has 4 rows");
  EXPECT_THAT(FaultText({.kind = Fault::Kind::kLoss, .loss = INFINITY}), HasSubstr("inf"));
}

}  // namespace
}  // namespace taas
