#include "trainer/data/example.h"

#include <array>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/formats/wire.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  AppendBytesField(number, bytes, &out);
  return out;
}
FeatureValues Read(const std::string& feature) {
  FeatureValues values;
  EXPECT_THAT(ReadFeature(feature, &values), IsOk());
  return values;
}
std::string Sample() {
  ExampleBuilder builder;
  builder.AddBytes("image", "abc\0d"sv);
  builder.AddFloats("weights", std::array{1.5f, -0.0f, INFINITY});
  builder.AddInts("label", std::array<int64_t, 3>{7, -1, INT64_MAX});
  return builder.Take();
}

TEST(ExampleTest, WhatIsBuiltIsRead) {
  const std::string record = Sample();
  std::vector<ExampleFeature> features;
  ASSERT_THAT(FindFeatures(record, &features), IsOk());
  ASSERT_EQ(features.size(), 3u);
  EXPECT_EQ(features[0].name, "image");
  FeatureValues values;
  ASSERT_THAT(ReadFeature(features[0].value, &values), IsOk());
  EXPECT_EQ(values.kind, FeatureKind::kBytes);
  EXPECT_THAT(values.bytes, ElementsAre("abc\0d"sv));
  ASSERT_THAT(ReadFeature(features[1].value, &values), IsOk());
  EXPECT_THAT(values.floats, ElementsAre(1.5f, -0.0f, INFINITY));
  EXPECT_THAT(values.bytes, ElementsAre()) << "of the feature before";
  ASSERT_THAT(ReadFeature(features[2].value, &values), IsOk());
  EXPECT_THAT(values.ints, ElementsAre(7, -1, INT64_MAX));
}

TEST(ExampleTest, BytesAreThoseOfTensorFlow) {
  // tf.train.Example(features=Features(feature={"label": int64_list [7, 300]}))
  ExampleBuilder builder;
  builder.AddInts("label", std::array<int64_t, 2>{7, 300});
  EXPECT_EQ(builder.Take(), "\x0a\x12\x0a\x10\x0a\x05label\x12\x07\x1a\x05\x0a\x03\x07\xac\x02"sv);
  EXPECT_EQ(builder.Take(), "\x0a\0"sv) << "the next has no features yet";
}

TEST(ExampleTest, NumbersMayBePackedOrNotOrBoth) {
  EXPECT_THAT(Read(Field(2, "\x0d\0\0\x80\x3f\x0d\0\0\0\x40"sv)).floats, ElementsAre(1, 2));
  EXPECT_THAT(Read(Field(2, "\x0d\0\0\x80\x3f\x0a\x08\0\0\0\x40\0\0\x40\x40"sv)).floats,
              ElementsAre(1, 2, 3));
  EXPECT_THAT(Read(Field(3, "\x08\x01\x0a\x02\x02\x03\x08\x04")).ints, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Read(Field(3, "\x0a\0"sv)).kind, FeatureKind::kInt64) << "an empty list has a kind";
}

TEST(ExampleTest, OrderAndUnknownFieldsDoNotMatter) {
  const std::string feature = Field(9, "later") + Field(3, Field(7, "x") + "\x08\x05" + "\x10\x06");
  const std::string entry = Field(2, feature) + "\x18\x01" + Field(1, "label");
  const std::string record = Field(5, "new") + Field(1, "\x20\x01" + Field(1, entry));
  std::vector<ExampleFeature> features;
  ASSERT_THAT(FindFeatures(record, &features), IsOk());
  ASSERT_EQ(features.size(), 1u);
  EXPECT_EQ(features[0].name, "label");
  EXPECT_THAT(Read(std::string(features[0].value)).ints, ElementsAre(5));
}

TEST(ExampleTest, LastListOfAFeatureCounts) {
  // The views are into it.
  const std::string feature = Field(3, "\x08\x05") + Field(1, Field(1, "text"));
  const FeatureValues values = Read(feature);
  EXPECT_EQ(values.kind, FeatureKind::kBytes);
  EXPECT_THAT(values.bytes, ElementsAre("text"));
  EXPECT_THAT(values.ints, ElementsAre());
  EXPECT_EQ(Read("").kind, FeatureKind::kNone);
}

TEST(ExampleTest, ASequenceExampleIsNotTakenForItsContext) {
  std::vector<ExampleFeature> features;
  // SequenceExample{context, feature_lists}.
  EXPECT_THAT(FindFeatures(Sample() + Field(2, Field(1, Field(1, "tokens"))), &features),
              StatusIs(Code::kDataLoss, HasSubstr("it is a SequenceExample")));
}

TEST(ExampleTest, DamagedBytesSayWhat) {
  struct Case {
    std::string record;
    const char* text;
  };
  for (const Case& c : {Case{"\x0a\x05", "no protobuf"}, Case{Field(1, "\x0a\x05"), "features"},
                        Case{Field(1, Field(1, "\x0a\x05")), "entry"}}) {
    std::vector<ExampleFeature> features;
    EXPECT_THAT(FindFeatures(c.record, &features), StatusIs(Code::kDataLoss, HasSubstr(c.text)));
  }
  FeatureValues values;
  EXPECT_THAT(ReadFeature("\x1a\x05", &values), StatusIs(Code::kDataLoss, HasSubstr("a feature")));
  for (const std::string& bad : {Field(3, "\x0a\x01\xff"), Field(2, "\x0a\x03" "abc"),
                                 Field(1, "\x0a\x05")}) {
    EXPECT_THAT(ReadFeature(bad, &values), StatusIs(Code::kDataLoss, HasSubstr("a list of")));
  }
}

// Under the address sanitizer this shows that nothing is read beyond the record.
TEST(ExampleTest, DamagedRecordsAreReadOrRefused) {
  SeededRandom random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string record = Sample();
    record.resize(random.Below(record.size() + 1));
    for (uint64_t flips = random.Below(4); flips > 0 && !record.empty(); --flips) {
      record[random.Below(record.size())] = static_cast<char>(random.Next());
    }
    std::vector<ExampleFeature> features;
    FeatureValues values;
    if (!FindFeatures(record, &features).ok()) continue;
    for (const ExampleFeature& feature : features) {
      const absl::Status status = ReadFeature(feature.value, &values);
      EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss);
      EXPECT_LE(values.count(), std::ssize(record)) << "no more values than bytes";
    }
  }
}

}  // namespace
}  // namespace taas
