#include "trainer/data/example_parser.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

std::string Sample() {
  ExampleBuilder builder;
  builder.AddBytes("pixels", "\0\xff\x33\x02"sv);
  builder.AddBytes("raw", "\0\0\x80\x3f\0\0\0\xc0"sv);
  builder.AddFloats("weights", std::array{1.5f, 2.5f});
  builder.AddInts("label", std::array<int64_t, 1>{7});
  builder.AddBytes("words", std::array{"a"sv, "bc"sv});
  return builder.Take();
}

std::vector<float> Floats(const FeatureSpec& spec, const std::string& record = Sample()) {
  ExampleParser parser({spec});
  EXPECT_THAT(parser.Parse(record), IsOk());
  std::vector<float> out;
  parser.AppendFloats(0, &out);
  return out;
}
absl::Status Fails(const FeatureSpec& spec) { return ExampleParser({spec}).Parse(Sample()); }

constexpr FeatureKind kBytes = FeatureKind::kBytes;
constexpr FeatureKind kFloat = FeatureKind::kFloat;
constexpr FeatureKind kInt64 = FeatureKind::kInt64;

TEST(ExampleParserTest, FeaturesOfFixedLengthGiveTheirNumbers) {
  EXPECT_THAT(Floats({.name = "weights", .kind = kFloat, .shape = {2}}), ElementsAre(1.5f, 2.5f));
  EXPECT_THAT(Floats({.name = "label", .kind = kInt64}), ElementsAre(7));
  EXPECT_THAT(Floats({.name = "label", .kind = kInt64, .shape = {1, 1}}), ElementsAre(7));
}

TEST(ExampleParserTest, RawBytesAreDecoded) {
  EXPECT_THAT(
      Floats({.name = "pixels", .kind = kBytes, .shape = {2, 2}, .raw = RawType::kUint8}),
      ElementsAre(0, 255, 51, 2));
  EXPECT_THAT(Floats({.name = "raw", .kind = kBytes, .shape = {2}, .raw = RawType::kFloat32}),
              ElementsAre(1, -2));
}

TEST(ExampleParserTest, NumbersAreScaledThenMoved) {
  EXPECT_THAT(Floats({.name = "weights", .kind = kFloat, .shape = {2}, .normalise = {{2, -1}}}),
              ElementsAre(2, 4));
  EXPECT_THAT(Floats({.name = "pixels", .kind = kBytes, .shape = {4}, .raw = RawType::kUint8,
                      .normalise = {{0.5f, 1}}}),
              ElementsAre(1, 128.5f, 26.5f, 2));
}

TEST(ExampleParserTest, MissingFeatureHasItsDefaultForEachValue) {
  EXPECT_THAT(Floats({.name = "none", .kind = kFloat, .shape = {2}, .fallback = 0.5}),
              ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(Floats({.name = "none", .kind = kInt64, .fallback = -1}), ElementsAre(-1));
  EXPECT_THAT(Floats({.name = "none", .kind = kBytes, .shape = {2}, .fallback = 3,
                      .raw = RawType::kUint8}),
              ElementsAre(3, 3));
  EXPECT_THAT(Floats({.name = "none", .kind = kBytes, .shape = {2}, .fallback = 3,
                      .raw = RawType::kFloat32}),
              ElementsAre(3, 3));
  ExampleParser text({{.name = "none", .kind = kBytes, .fallback_text = "x"}});
  ASSERT_THAT(text.Parse(Sample()), IsOk());
  EXPECT_THAT(text.values(0).bytes, ElementsAre("x"));
}

TEST(ExampleParserTest, FeaturesOfAnyLengthMayBeMissing) {
  EXPECT_THAT(Floats({.name = "weights", .kind = kFloat, .fixed = false}),
              ElementsAre(1.5f, 2.5f));
  EXPECT_THAT(Floats({.name = "weights", .kind = kFloat, .fixed = false, .shape = {5}}),
              ElementsAre(1.5f, 2.5f));
  EXPECT_THAT(Floats({.name = "none", .kind = kFloat, .fixed = false}), ElementsAre());
  EXPECT_THAT(Floats({.name = "none", .kind = kBytes, .fixed = false, .raw = RawType::kUint8}),
              ElementsAre());
  ExampleParser words({{.name = "words", .kind = kBytes, .fixed = false}});
  const std::string sample = Sample();  // The views are into it.
  ASSERT_THAT(words.Parse(sample), IsOk());
  EXPECT_THAT(words.values(0).bytes, ElementsAre("a", "bc"));
}

TEST(ExampleParserTest, LastFeatureOfANameCounts) {
  ExampleBuilder builder;
  builder.AddBytes("label", "wrong");
  builder.AddInts("label", std::array<int64_t, 1>{4});
  EXPECT_THAT(Floats({.name = "label", .kind = kInt64}, builder.Take()), ElementsAre(4));
}

TEST(ExampleParserTest, WhatIsNotAsSpecifiedIsNamed) {
  struct Case {
    FeatureSpec spec;
    const char* text;
  };
  for (const Case& c : {
           Case{{.name = "none", .kind = kFloat},
                "feature \"none\": want float, the record does not have it"},
           Case{{.name = "label", .kind = kFloat}, "feature \"label\": want float, it is int64"},
           Case{{.name = "weights", .kind = kFloat, .shape = {3, 1}},
                "feature \"weights\": want 3 values of shape [3, 1], it has 2"},
           Case{{.name = "weights", .kind = kFloat, .fixed = false, .shape = {1}},
                "want at most 1 values of shape [1], it has 2"},
           Case{{.name = "pixels", .kind = kBytes, .shape = {5}, .raw = RawType::kUint8},
                "feature \"pixels\": want 5 bytes of shape [5] of uint8, it has 4"},
           Case{{.name = "pixels", .kind = kBytes, .shape = {4}, .raw = RawType::kFloat32},
                "want 16 bytes of shape [4] of float32, it has 4"},
           Case{{.name = "words", .kind = kBytes, .shape = {1}, .raw = RawType::kUint8},
                "want one string to decode, it has 2"},
       }) {
    EXPECT_THAT(Fails(c.spec), StatusIs(Code::kInvalidArgument, HasSubstr(c.text)));
  }
  EXPECT_THAT(ExampleParser({}).Parse("\x0a\x05"), StatusIs(Code::kDataLoss));
}

}  // namespace
}  // namespace taas
