#include "trainer/data/empty_files.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

std::string LogOf(const EmptyFiles& empty, size_t files) {
  testing::internal::CaptureStderr();
  EXPECT_THAT(empty.Tell(files), IsOk());
  return testing::internal::GetCapturedStderr();
}

// Symptom: one empty part file of Spark ended a training on a thousand full ones.
TEST(EmptyFilesTest, SomeAreToldOfOnceAndAllAreAnError) {
  EmptyFiles empty;
  EXPECT_EQ(LogOf(empty, 3), "");
  empty.Add("/d/part-1");
  empty.Add("/d/part-2");
  const std::string log = LogOf(empty, 3);
  EXPECT_THAT(log, HasSubstr("2 of 3"));
  EXPECT_THAT(log, HasSubstr("/d/part-1"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
  EXPECT_THAT(empty.Tell(2),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "read /d/part-1: it has no examples, nor has any of the 1 other files"));
  EmptyFiles one;
  one.Add("/d/x");
  EXPECT_THAT(one.Tell(1), StatusIs(absl::StatusCode::kInvalidArgument,
                                    "read /d/x: it has no examples"));
}

}  // namespace
}  // namespace taas
