#include "tools/fuzz/target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using std::literals::string_view_literals::operator""sv;

TEST(FuzzPartsTest, PartsComeBackAndAnyBytesAreSome) {
  const std::string joined = JoinFuzzParts({"one", "", std::string(300, 'x'), "rest"});
  EXPECT_THAT(FuzzParts(joined, 4), ElementsAre("one", "", std::string(300, 'x'), "rest"));
  EXPECT_THAT(FuzzParts("", 3), ElementsAre("", "", ""));
  EXPECT_THAT(FuzzParts("\x05", 2), ElementsAre("", ""));
  EXPECT_THAT(FuzzParts("\x05\0ab"sv, 2), ElementsAre("ab", ""));
  EXPECT_THAT(FuzzParts("ab", 1), ElementsAre("ab"));
}

}  // namespace
}  // namespace taas
