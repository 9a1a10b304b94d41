#include "trainer/data/record_data.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr FeatureKind kBytes = FeatureKind::kBytes;
constexpr FeatureKind kFloat = FeatureKind::kFloat;
constexpr FeatureKind kInt64 = FeatureKind::kInt64;

std::string Example(std::string_view pixels, int64_t label, std::vector<float> weights) {
  ExampleBuilder builder;
  builder.AddBytes("pixels", pixels);
  builder.AddInts("label", {&label, 1});
  builder.AddFloats("weights", weights);
  return builder.Take();
}

class RecordDataTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, const std::vector<std::string>& records) {
    const std::string path = ::testing::TempDir() + "/" + name;
    auto writer = RecordWriter::Open(files_, path);
    EXPECT_THAT(writer, IsOk());
    for (const std::string& record : records) EXPECT_THAT((*writer)->Append(record), IsOk());
    EXPECT_THAT((*writer)->Close(), IsOk());
    return path;
  }
  std::string Two() {
    return Put("two", {Example("\0\xff"sv, 1, {0.5f}), Example("\x33\x66", 0, {1, 2})});
  }
  static RecordDataOptions Of(std::vector<FeatureSpec> inputs) {
    inputs.push_back({.name = "label", .kind = kInt64});
    return {.features = std::move(inputs), .label = "label"};
  }
  static std::vector<float> Row(const Dataset& set, int64_t index) {
    std::vector<float> out(static_cast<size_t>(set.features() - set.ids()));
    set.GatherFeatures(std::array{index}, out.data());
    return out;
  }
  static std::vector<int64_t> IdsOf(const Dataset& set, int64_t index) {
    std::vector<int64_t> out(static_cast<size_t>(set.ids()));
    set.GatherIds(std::array{index}, out.data());
    return out;
  }
  PosixFileSystem files_;
};

const FeatureSpec kPixels{.name = "pixels", .kind = kBytes, .shape = {1, 2, 1},
                          .raw = RawType::kUint8};
const FeatureSpec kWeights{.name = "weights", .kind = kFloat, .fixed = false, .shape = {3}};

TEST_F(RecordDataTest, PixelsOfSeveralFilesAreImages) {
  const std::string more = Put("more.gz", {Example("\1\2", 3, {})});
  const auto data = ReadRecords(files_, {Two(), more}, Of({kPixels}));
  ASSERT_THAT(data, IsOk());
  EXPECT_THAT(data->set.labels(), ElementsAre(1, 0, 3));
  EXPECT_EQ(data->set.classes(), 4);
  EXPECT_EQ(data->set.image(), (ImageShape{1, 2, 1}));
  EXPECT_THAT(Row(data->set, 1), ElementsAre(FloatEq(0.2f), FloatEq(0.4f)));
}

TEST_F(RecordDataTest, ScaleOfPixelsMayBeGiven) {
  FeatureSpec pixels = kPixels;
  pixels.normalise = Normalise{2, -1};
  const auto data = ReadRecords(files_, {Two()}, Of({pixels}));
  ASSERT_THAT(data, IsOk());
  EXPECT_THAT(Row(data->set, 1), ElementsAre(101, 203));
}

TEST_F(RecordDataTest, FeaturesAreTogetherAndFilledUp) {
  FeatureSpec weights = kWeights;
  weights.fallback = -1;
  const auto data = ReadRecords(files_, {Two()}, Of({weights, kPixels}));
  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->set.image(), ImageShape());
  EXPECT_THAT(Row(data->set, 0), ElementsAre(0.5f, -1, -1, 0, 1));
  EXPECT_THAT(Row(data->set, 1), ElementsAre(1, 2, -1, FloatEq(0.2f), FloatEq(0.4f)));
  weights.normalise = Normalise{2, 5};
  const auto scaled = ReadRecords(files_, {Two()}, Of({weights}));
  ASSERT_THAT(scaled, IsOk());
  EXPECT_THAT(Row(scaled->set, 0), ElementsAre(6, 3, 3));
}

TEST_F(RecordDataTest, FloatLabelsAreTargets) {
  RecordDataOptions options = Of({kPixels});
  options.features.back() = {.name = "weights", .kind = kFloat};
  options.label = "weights";
  const std::string path = Put("targets", {Example("\0\xff"sv, 1, {0.5f})});
  const auto data = ReadRecords(files_, {path}, options);
  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->set.classes(), 0);
  EXPECT_THAT(Row(data->set, 0), ElementsAre(0, FloatEq(1)));
  options.classes = 3;
  EXPECT_THAT(ReadRecords(files_, {path}, options),
              StatusIs(Code::kInvalidArgument, HasSubstr("feature \"weights\": label 0.5")));
}

TEST_F(RecordDataTest, MistakesNameFileRecordAndFeature) {
  FeatureSpec pixels = kPixels;
  pixels.shape = {3};
  EXPECT_THAT(ReadRecords(files_, {Two()}, Of({pixels})),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("/two: record 0 at offset 0: feature \"pixels\": want 3 bytes")));
  const std::string later = Put("later", {Example("ab", 1, {}), "\x0a\x05"});
  EXPECT_THAT(ReadRecords(files_, {later}, Of({kPixels})),
              StatusIs(Code::kDataLoss, HasSubstr("/later: record 1 at offset ")));
  RecordDataOptions options = Of({kPixels});
  options.classes = 1;
  EXPECT_THAT(ReadRecords(files_, {Two()}, options),
              StatusIs(Code::kInvalidArgument, HasSubstr("record 0 at offset 0: feature \"label\": "
                                                         "label 1 is out of range")));
  const std::string empty = Put("empty", {});
  EXPECT_THAT(ReadRecords(files_, {empty}, Of({kPixels})),
              StatusIs(Code::kInvalidArgument, HasSubstr(empty + ": it has no examples")));
}

// Trained on, each would make a model of NaN. They are no damage that may be passed over, as other
// values that are none of their feature.
TEST_F(RecordDataTest, NumbersThatAreNotFiniteNameFileRecordAndFeature) {
  const FeatureSpec decoded{.name = "pixels", .kind = kBytes, .fixed = false, .shape = {1},
                            .raw = RawType::kFloat32};
  FeatureSpec scaled = kWeights;
  scaled.normalise = Normalise{1e38f, 0};
  const std::string infinite = Example("ab", 0, {1, 2, -INFINITY});
  struct Case {
    std::string record;
    std::vector<FeatureSpec> inputs;
    const char* text;
  };
  for (const Case& c :
       {Case{infinite, {kWeights}, "\"weights\": value 2: want a finite number, it is infinite"},
        Case{infinite, {kPixels, kWeights}, "\"weights\": value 2: want a finite number, it is "
                                            "infinite"},
        Case{Example("\0\0\xc0\x7f"sv, 0, {}), {decoded}, "\"pixels\": value 0: want a finite "
                                                         "number, it is NaN"},
        Case{Example("ab", 0, {1, 4}), {scaled}, "\"weights\": value 1: want a finite number, it "
                                                 "is infinite"}}) {
    const bool decodes = c.inputs.front().raw == RawType::kFloat32;
    const std::string first = Example(decodes ? "" : "ab", 1, {0.5f});
    const std::string path = Put("numbers", {first, c.record});
    for (const bool skip : {false, true}) {
      RecordDataOptions options = Of(c.inputs);
      options.reader.skip_bad = skip;
      EXPECT_THAT(ReadRecords(files_, {path}, options),
                  StatusIs(Code::kInvalidArgument,
                           "read " + path + ": record 1 at offset " +
                               std::to_string(first.size() + 16) + ": feature " + c.text));
    }
  }
  EXPECT_THAT(ReadRecords(files_, {Put("unused", {infinite})}, Of({kPixels})), IsOk());
}

TEST_F(RecordDataTest, TargetsThatAreNotFiniteNameFileRecordAndFeature) {
  const std::string path = Put("targets", {Example("ab", 1, {NAN})});
  RecordDataOptions options = Of({kPixels});
  options.features.back() = {.name = "weights", .kind = kFloat};
  options.label = "weights";
  EXPECT_THAT(ReadRecords(files_, {path}, options),
              StatusIs(Code::kInvalidArgument,
                       "read " + path + ": record 0 at offset 0: feature \"weights\": want a "
                       "finite number, it is NaN"));
}

TEST_F(RecordDataTest, DamagedRecordsAreCountedWhenPassedOver) {
  const std::string path = Two();
  std::string text = *files_.ReadAll(path);
  text[20] ^= 1;
  ASSERT_THAT(files_.WriteAtomically(path, text), IsOk());
  EXPECT_THAT(ReadRecords(files_, {path}, Of({kPixels})), StatusIs(Code::kDataLoss));
  RecordDataOptions options = Of({kPixels});
  options.reader.skip_bad = true;
  const auto data = ReadRecords(files_, {path}, options);
  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->skipped, 1);
  EXPECT_THAT(data->set.labels(), ElementsAre(0));
}

// With right checksums, so that the parser and the collector see what is wrong.
TEST_F(RecordDataTest, DamagedExamplesAreReadOrRefused) {
  SeededRandom random(9);
  for (int round = 0; round < 500; ++round) {
    std::string record = Example("\0\xff"sv, 1, {0.5f});
    for (int flips = 0; flips < 2; ++flips) {
      record[random.Below(record.size())] = static_cast<char>(random.Next());
    }
    const auto data = ReadRecords(files_, {Put("fuzz", {record})}, Of({kPixels, kWeights}));
    if (data.ok()) continue;
    EXPECT_THAT(std::string(data.status().message()), HasSubstr("/fuzz"));
  }
}

TEST_F(RecordDataTest, IdsAreWholeNumbersOfAnySize) {
  const auto record = [](std::vector<int64_t> words, std::vector<float> weights) {
    ExampleBuilder builder;
    builder.AddInts("words", words);
    builder.AddFloats("weights", weights);
    builder.AddInts("label", std::array<int64_t, 1>{1});
    return builder.Take();
  };
  const std::string path =
      Put("ids", {record({16'777'217, int64_t{1} << 62}, {3}), record({5}, {0.5f})});
  const FeatureSpec words{
      .name = "words", .kind = kInt64, .fixed = false, .shape = {2}, .fallback = 9};
  RecordDataOptions options = Of({words});
  options.ids = true;
  const auto data = ReadRecords(files_, {path}, options);
  ASSERT_THAT(data, IsOk());
  EXPECT_THAT(IdsOf(data->set, 0), ElementsAre(16'777'217, int64_t{1} << 62));
  EXPECT_THAT(IdsOf(data->set, 1), ElementsAre(5, 9));
  // Floats may be whole numbers, too.
  options = Of({{.name = "weights", .kind = kFloat}});
  options.ids = true;
  EXPECT_THAT(ReadRecords(files_, {path}, options),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("example 1, value 0: want a whole number")));
}

TEST_F(RecordDataTest, FeatureColumnsTakeTheirSources) {
  const auto columns = FeatureColumns::Parse(nlohmann::json::parse(R"([
      {"name": "town", "type": "vocabulary", "values": ["Ulm", "Bonn"], "default": "Bonn"},
      {"name": "day", "type": "identity", "buckets": 8},
      {"name": "heat", "type": "bucketized", "boundaries": [20.5]}])"),
                                             "columns");
  ASSERT_THAT(columns, IsOk());
  const auto record = [](std::string_view town, int64_t day, float heat) {
    ExampleBuilder builder;
    if (!town.empty()) builder.AddBytes("town", town);
    builder.AddInts("day", {&day, 1});
    builder.AddFloats("heat", {&heat, 1});
    builder.AddInts("label", std::array<int64_t, 1>{day % 2});
    return builder.Take();
  };
  RecordDataOptions options =
      Of({{.name = "heat", .kind = kFloat},
          {.name = "town", .kind = kBytes, .fixed = false, .shape = {1}},
          {.name = "day", .kind = kInt64}});
  options.feature_columns = std::make_shared<const FeatureColumns>(*columns);
  const auto data =
      ReadRecords(files_, {Put("columns", {record("Ulm", 3, 20), record("", 4, 21)})}, options);
  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->set.columns(), columns->shapes());
  EXPECT_THAT(data->set.labels(), ElementsAre(1, 0));
  EXPECT_THAT(IdsOf(data->set, 0), ElementsAre(0, 3, 0));
  EXPECT_THAT(IdsOf(data->set, 1), ElementsAre(1, 4, 1));
  EXPECT_THAT(ReadRecords(files_, {Put("bad", {record("Ulm", 3, 20), record("Ulm", 8, 20)})},
                          options),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("column \"day\" of feature \"day\": want a whole")));
}

}  // namespace
}  // namespace taas
