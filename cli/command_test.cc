#include "cli/command.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

TEST(ParseDurationTest, SecondsAreMeantWhereNoUnitIs) {
  EXPECT_EQ(ParseDuration("90"), 90s);
  EXPECT_EQ(ParseDuration("90s"), 90s);
  EXPECT_EQ(ParseDuration("5m"), 300s);
  EXPECT_EQ(ParseDuration("1h30m"), 5400s);
  EXPECT_EQ(ParseDuration("2d"), 48h);
  EXPECT_EQ(ParseDuration("0"), 0s);
}

TEST(ParseDurationTest, AnythingElseIsNoTime) {
  for (const char* text : {"", "soon", "-1", "5x", "m", "1h30x", "400d", "9223372036854775807d"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace taas
