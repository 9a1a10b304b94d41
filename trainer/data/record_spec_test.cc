#include "trainer/data/record_spec.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<RecordDataOptions> Parse(const std::string& text, ClassCount classes = {}) {
  return ParseRecordSpec(json::parse(text), "data.tfrecord", classes);
}
absl::StatusOr<RecordDataOptions> ParseFeature(const std::string& feature) {
  return Parse(R"({"label":"y","features":[{"name":"y","dtype":"int64"},)" + feature + "]}");
}

TEST(RecordSpecTest, AllOfTheHeadersExampleIsTaken) {
  const auto options = Parse(R"({"compression":"gzip","badRecords":"skip","label":"label",
    "features":[
     {"name":"image_raw","dtype":"bytes","decode":"raw","rawDtype":"uint8","shape":[28,28,1],
      "normalise":{"scale":0.5,"offset":-1}},
     {"name":"words","dtype":"int64","kind":"VarLen","shape":[16],"default":-1},
     {"name":"label","dtype":"int64"}]})", 10);
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->reader.compression, Compression::kGzip);
  EXPECT_TRUE(options->reader.skip_bad);
  EXPECT_EQ(options->label, "label");
  EXPECT_EQ(options->classes, 10);
  ASSERT_EQ(options->features.size(), 3u);
  const FeatureSpec& image = options->features[0];
  EXPECT_EQ(image.kind, FeatureKind::kBytes);
  EXPECT_EQ(image.raw, RawType::kUint8);
  EXPECT_TRUE(image.fixed);
  EXPECT_THAT(image.shape, ElementsAre(28, 28, 1));
  EXPECT_EQ(image.normalise->scale, 0.5f);
  EXPECT_EQ(image.normalise->offset, -1);
  EXPECT_FALSE(options->features[1].fixed);
  EXPECT_EQ(options->features[1].fallback, -1);
  EXPECT_EQ(options->features[2].count(), 1);
}

TEST(RecordSpecTest, DefaultsAreThoseOfTheManifest) {
  const auto options = ParseFeature(R"({"name":"a","dtype":"bytes","decode":"raw"})");
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->reader.compression, Compression::kAuto);
  EXPECT_FALSE(options->reader.skip_bad);
  EXPECT_EQ(options->features[1].raw, RawType::kUint8);
  EXPECT_FALSE(options->features[1].normalise.has_value());
}

TEST(RecordSpecTest, MistakesOfAFeatureNameTheField) {
  struct Case {
    const char* feature;
    const char* text;
  };
  for (const Case& c : {
           Case{R"([])", "features[1]: must be an object"},
           Case{R"({"name":"a","dtype":"float","size":1})", "features[1].size: unknown field"},
           Case{R"({"dtype":"float"})", "features[1].name: is missing"},
           Case{R"({"name":"a"})", "features[1].dtype: is missing"},
           Case{R"({"name":"a","dtype":"double"})", "dtype: must be one of float, int64, bytes"},
           Case{R"({"name":"a","dtype":"float","kind":"Ragged"})", "features[1].kind: must be"},
           Case{R"({"name":"a","dtype":"float","shape":[0]})", "features[1].shape: must be"},
           Case{R"({"name":"a","dtype":"float","shape":[65536,65536,65536,65536,65536]})",
                "features[1].shape: must be"},
           Case{R"({"name":"a","dtype":"float","shape":3})", "features[1].shape: must be"},
           Case{R"({"name":"a","dtype":"float","kind":"VarLen"})", "features[1].shape: is missing"},
           Case{R"({"name":"a","dtype":"float","default":"x"})", "features[1].default: must be"},
           Case{R"({"name":"a","dtype":"float","default":1e300})", "features[1].default: must be"},
           Case{R"({"name":"a","dtype":"int64","default":0.5})", "default: must be a whole"},
           Case{R"({"name":"a","dtype":"bytes","decode":"raw","default":256})", "from 0 to 255"},
           Case{R"({"name":"a","dtype":"bytes"})", "features[1].decode: is missing"},
           Case{R"({"name":"a","dtype":"float","decode":"raw"})", "features[1].decode: is of"},
           Case{R"({"name":"a","dtype":"bytes","decode":"jpeg"})", "decode: must be one of raw"},
           Case{R"({"name":"a","dtype":"float","rawDtype":"uint8"})", "features[1].rawDtype: is"},
           Case{R"({"name":"a","dtype":"float","normalise":{"mean":0}})",
                "features[1].normalise.mean: unknown field"},
           Case{R"({"name":"y","dtype":"float"})", "features[1].name: \"y\" is there twice"},
       }) {
    EXPECT_THAT(ParseFeature(c.feature),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.text)))
        << c.feature;
  }
}

TEST(RecordSpecTest, MistakesOfTheWholeNameTheField) {
  const std::string two = R"("features":[
      {"name":"a","dtype":"float","shape":[2]}, {"name":"y","dtype":"int64","shape":[2]},
      {"name":"v","dtype":"float","kind":"VarLen","shape":[1]}])";
  struct Case {
    std::string spec;
    const char* text;
  };
  for (const Case& c : {
           Case{"[]", "data.tfrecord: must be an object"},
           Case{R"({"features":[]})", "data.tfrecord.label: is missing"},
           Case{R"({"label":"y"})", "data.tfrecord.features: must be a list"},
           Case{R"({"label":"y","features":[{"name":"y","dtype":"float"}]})", "at least one more"},
           Case{R"({"label":"y","files":[]})", "data.tfrecord.files: unknown field"},
           Case{R"({"label":"y","compression":"zip"})", "compression: must be one of auto, none"},
           Case{R"({"label":"y","badRecords":"drop"})", "badRecords: must be one of fail, skip"},
           Case{R"({"label":"z",)" + two + "}", "data.tfrecord.label: \"z\" is none of"},
           Case{R"({"label":"y",)" + two + "}", "data.tfrecord.label: \"y\" has 2 values"},
           Case{R"({"label":"v",)" + two + "}", "data.tfrecord.label: \"v\" is not FixedLen"},
       }) {
    EXPECT_THAT(Parse(c.spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.text)))
        << c.spec;
  }
  EXPECT_THAT(Parse(R"({"label":"y",)" + two + "}", 0), IsOk()) << "targets of a regression";
  EXPECT_THAT(Parse(R"({"label":"a",)" + two + "}"), IsOk()) << "floats are targets";
}

TEST(RecordSpecTest, SourcesOfColumnsAreSingleValues) {
  const auto columns = FeatureColumns::Parse(
      json::parse(R"([{"name":"a","type":"hashed","buckets":9}])"), "data.columns");
  ASSERT_THAT(columns, IsOk());
  const auto shared = std::make_shared<const FeatureColumns>(*columns);
  const auto parse = [&](const std::string& feature) {
    return ParseRecordSpec(
        json::parse(R"({"label":"y","features":[{"name":"y","dtype":"int64"},)" + feature + "]}"),
        "data.tfrecord", {}, shared);
  };
  const auto text = parse(R"({"name":"a","dtype":"bytes","decode":"text"})");
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(text->features[1].raw, RawType::kNone);
  EXPECT_EQ(text->feature_columns, shared);
  EXPECT_THAT(parse(R"({"name":"b","dtype":"int64"})").status().message(),
              HasSubstr("the source \"a\" is none of data.tfrecord.features"));
  for (const char* several : {R"({"name":"a","dtype":"int64","shape":[2]})",
                              R"({"name":"a","dtype":"bytes","decode":"raw"})"}) {
    EXPECT_THAT(parse(several).status().message(), HasSubstr("must be one value")) << several;
  }
  EXPECT_THAT(parse(R"({"name":"a","dtype":"float","normalise":{"scale":2}})").status().message(),
              HasSubstr("features[1].normalise: is that of the column here"));
  EXPECT_THAT(parse(R"({"name":"a","dtype":"int64","default":2})").status().message(),
              HasSubstr("features[1].default: is that of the column here"));
  EXPECT_THAT(ParseFeature(R"({"name":"a","dtype":"bytes","decode":"text"})").status().message(),
              HasSubstr("features[1].decode: text is of the sources of data.columns only"));
  EXPECT_THAT(parse(R"({"name":"a","dtype":"bytes","decode":"text","rawDtype":"uint8"})")
                  .status().message(),
              HasSubstr("rawDtype"));
}

}  // namespace
}  // namespace taas
