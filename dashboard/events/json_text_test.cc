#include "dashboard/events/json_text.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

std::string PythonFloat(double number) {
  std::string out;
  AppendPythonFloat(number, &out);
  return out;
}

template <typename T>
std::string Json(const T& value) {
  std::string out;
  AppendJson(value, &out);
  return out;
}

// As Python 3 prints them.
TEST(JsonTextTest, FloatsArePythons) {
  EXPECT_EQ(PythonFloat(0), "0.0");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
  EXPECT_EQ(PythonFloat(1), "1.0");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(PythonFloat(0.0001), "0.0001");
  EXPECT_EQ(PythonFloat(0.00001), "1e-05");
  EXPECT_EQ(PythonFloat(1.5e-7), "1.5e-07");
  EXPECT_EQ(PythonFloat(9007199254740993), "9007199254740992.0");
  EXPECT_EQ(PythonFloat(1e16), "1e+16");
  EXPECT_EQ(PythonFloat(-DBL_MAX), "-1.7976931348623157e+308");
  EXPECT_EQ(PythonFloat(5e-324), "5e-324");
  EXPECT_EQ(PythonFloat(1700000000.1234567), "1700000000.1234567");
  EXPECT_EQ(PythonFloat(NAN), "nan");
  EXPECT_EQ(PythonFloat(-HUGE_VAL), "-inf");
}

TEST(JsonTextTest, WhatJsonHasNoNumberForIsAText) {
  EXPECT_EQ(Json(static_cast<double>(NAN)), "\"NaN\"");
  EXPECT_EQ(Json(HUGE_VAL), "\"Infinity\"");
  EXPECT_EQ(Json(-HUGE_VAL), "\"-Infinity\"");
  EXPECT_EQ(Json(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(Json(UINT64_MAX), "18446744073709551615");
}

TEST(JsonTextTest, EveryDoubleIsReadBackAsItWas) {
  SeededRandom random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random.Next());
    if (!std::isfinite(number)) continue;
    ASSERT_EQ(nlohmann::json::parse(Json(number)).get<double>(), number) << i;
  }
}

TEST(JsonTextTest, TextsAreEscapedAndMadeValid) {
  EXPECT_EQ(Json(std::string_view("a\"b\\c/é")), "\"a\\\"b\\\\c/é\"");
  EXPECT_EQ(Json(std::string_view("\n\0", 2)), "\"\\u000a\\u0000\"");
  EXPECT_EQ(Json(std::string_view("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(JsonTextTest, QuotesArePythons) {
  EXPECT_EQ(PythonQuoted("loss"), "'loss'");
  EXPECT_EQ(PythonQuoted("it's"), "\"it's\"");
  EXPECT_EQ(PythonQuoted("it's \"so\""), "'it\\'s \"so\"'");
  EXPECT_EQ(PythonQuoted("a\\\n\x01"), "'a\\\\\\n\\x01'");
}

TEST(JsonTextTest, ListsHaveCommasBetweenTheirItems) {
  std::string out;
  const auto append = [&](int64_t item) { AppendJson(item, &out); };
  AppendJsonList(std::vector<int64_t>{}, append, &out);
  AppendJsonList(std::vector<int64_t>{1, 2}, append, &out);
  EXPECT_EQ(out, "[][1,2]");
}

}  // namespace
}  // namespace taas::dashboard
