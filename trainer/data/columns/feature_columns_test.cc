#include "trainer/data/columns/feature_columns.h"

#include <cmath>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

absl::StatusOr<FeatureColumns> Parse(const std::string& json) {
  return FeatureColumns::Parse(nlohmann::json::parse(json), "data.columns");
}

std::string ErrorOf(const std::string& json) {
  return std::string(Parse(json).status().message());
}

// Of one column of feature x; in double, which holds quantities and ids.
absl::StatusOr<double> EncodeX(const std::string& fields, const SourceValue& x) {
  const auto columns = Parse(R"([{"name": "c", "source": "x", )" + fields + "}]");
  if (!columns.ok()) return columns.status();
  std::vector<float> quantities;
  std::vector<int64_t> ids;
  const absl::Status status = columns->Encode(std::vector{x}, &quantities, &ids);
  if (!status.ok()) return status;
  EXPECT_EQ(quantities.size() + ids.size(), 1);
  return ids.empty() ? quantities.at(0) : static_cast<double>(ids[0]);
}

TEST(FeatureColumnsTest, EachColumnIsOneNumber) {
  const auto columns = Parse(R"([
      {"name": "age", "type": "numeric", "normalise": {"scale": 0.5, "offset": 1}},
      {"name": "group", "type": "bucketized", "source": "age", "boundaries": [18, 35]},
      {"name": "hour", "type": "identity", "buckets": 24},
      {"name": "school", "type": "vocabulary", "values": ["HS", "BSc"], "oovBuckets": 1},
      {"name": "hour_group", "type": "crossed", "sources": ["hour", "group"], "buckets": 9}])");
  ASSERT_THAT(columns, IsOk());
  EXPECT_THAT(columns->sources(), ElementsAre("age", "hour", "school"));
  EXPECT_THAT(columns->shapes(),
              ElementsAre(ColumnShape{"age", 0}, ColumnShape{"group", 3}, ColumnShape{"hour", 24},
                          ColumnShape{"school", 3}, ColumnShape{"hour_group", 9, true}));
  EXPECT_EQ(columns->ids(), 4);
  std::vector<float> quantities = {-1};
  std::vector<int64_t> ids = {-2};
  const std::vector<SourceValue> values = {std::string_view("35"), int64_t{23},
                                           std::string_view("BSc")};
  ASSERT_THAT(columns->Encode(values, &quantities, &ids), IsOk());
  EXPECT_THAT(quantities, ElementsAre(-1, 18.5));
  ASSERT_EQ(ids.size(), 5);
  ids.pop_back();  // Of the crossed column the test with TensorFlow knows.
  EXPECT_THAT(ids, ElementsAre(-2, 2, 23, 1));
}

// As floats these were 2^24 twice, and buckets were limited to that.
TEST(FeatureColumnsTest, IdsOfLargeTablesAreExact) {
  const std::string identity = R"("type": "identity", "buckets": 2147483647)";
  for (const int64_t id : {16'777'216, 16'777'217, 2'147'483'645, 2'147'483'646}) {
    EXPECT_EQ(*EncodeX(identity, id), static_cast<double>(id));
  }
  EXPECT_THAT(EncodeX(identity, int64_t{2'147'483'647}),
              StatusIs(Code::kInvalidArgument, HasSubstr("from 0 to 2147483646")));
  // What others crossed with are the ids themselves.
  const auto columns = Parse(R"([
      {"name": "i", "type": "identity", "buckets": 2147483647},
      {"name": "j", "type": "identity", "buckets": 9},
      {"name": "x", "type": "crossed", "sources": ["i", "j"], "buckets": 2147483647}])");
  ASSERT_THAT(columns, IsOk());
  std::vector<float> quantities;
  std::vector<int64_t> ids;
  for (const int64_t id : {16'777'216, 16'777'217}) {
    const std::vector<SourceValue> values = {id, int64_t{3}};
    ASSERT_THAT(columns->Encode(values, &quantities, &ids), IsOk());
  }
  EXPECT_NE(ids[2], ids[5]);
}

TEST(FeatureColumnsTest, BucketsBeginAtTheirBoundaries) {
  const std::string fields = R"("type": "bucketized", "boundaries": [0, 1.5])";
  EXPECT_EQ(*EncodeX(fields, -0.001), 0);
  EXPECT_EQ(*EncodeX(fields, 0.0), 1);
  EXPECT_EQ(*EncodeX(fields, int64_t{1}), 1);
  EXPECT_EQ(*EncodeX(fields, std::string_view(" 1.5 ")), 2);
}

TEST(FeatureColumnsTest, WholeNumbersAreTheirDigits) {
  const std::string hashed = R"("type": "hashed", "buckets": 1000)";
  EXPECT_EQ(*EncodeX(hashed, int64_t{-17}), *EncodeX(hashed, std::string_view("-17")));
  EXPECT_NE(*EncodeX(hashed, int64_t{-17}), *EncodeX(hashed, int64_t{17}));
  const std::string words = R"("type": "vocabulary", "values": [5, "7"])";
  EXPECT_EQ(*EncodeX(words, std::string_view("5")), 0);
  EXPECT_EQ(*EncodeX(words, int64_t{7}), 1);
}

TEST(FeatureColumnsTest, CrossesTellOrderAndKind) {
  const auto encode = [](const std::string& sources) {
    const auto columns =
        Parse(R"([{"name": "i", "type": "identity", "buckets": 9},
                  {"name": "j", "type": "identity", "buckets": 9},
                  {"name": "x", "type": "crossed", "buckets": 1000000, "sources": )" + sources +
              "}]");
    std::vector<float> quantities;
    std::vector<int64_t> ids;
    std::vector<SourceValue> values(columns->sources().size(), int64_t{4});
    values[0] = int64_t{3};
    EXPECT_THAT(columns->Encode(values, &quantities, &ids), IsOk());
    return ids.back();
  };
  EXPECT_EQ(encode(R"(["i", "j"])"), encode(R"(["i", "j"])"));
  EXPECT_NE(encode(R"(["i", "j"])"), encode(R"(["j", "i"])"));
  // k is a feature, whose text is hashed.
  EXPECT_NE(encode(R"(["i", "j"])"), encode(R"(["i", "k"])"));
}

TEST(FeatureColumnsTest, AHashedColumnIsCrossedByItsText) {
  const auto columns = Parse(R"([
      {"name": "few", "type": "hashed", "source": "word", "buckets": 1},
      {"name": "hour", "type": "identity", "buckets": 24},
      {"name": "x", "type": "crossed", "sources": ["few", "hour"], "buckets": 1000000}])");
  ASSERT_THAT(columns, IsOk());
  const auto encode = [&](std::string_view word) {
    std::vector<float> quantities;
    std::vector<int64_t> ids;
    EXPECT_THAT(columns->Encode(std::vector<SourceValue>{word, int64_t{1}}, &quantities, &ids),
                IsOk());
    return ids.back();
  };
  EXPECT_NE(encode("one"), encode("two"));
}

TEST(FeatureColumnsTest, AMissingValueNeedsADefault) {
  EXPECT_THAT(EncodeX(R"("type": "numeric")", {}),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr("column \"c\" of feature \"x\""), HasSubstr("missing"))));
  EXPECT_EQ(*EncodeX(R"("type": "numeric", "default": 2.5)", {}), 2.5);
  EXPECT_EQ(*EncodeX(R"("type": "numeric", "default": "2.5")", {}), 2.5);
  EXPECT_EQ(*EncodeX(R"("type": "identity", "buckets": 5, "default": 4)", {}), 4);
  EXPECT_EQ(*EncodeX(R"("type": "vocabulary", "values": ["a", "b"], "default": "b")", {}), 1);
  const std::string hashed = R"("type": "hashed", "buckets": 1000)";
  EXPECT_EQ(*EncodeX(hashed + R"(, "default": "none")", {}),
            *EncodeX(hashed, std::string_view("none")));
}

TEST(FeatureColumnsTest, ACrossTakesTheDefaultOfAHashedColumn) {
  const auto columns = Parse(R"([
      {"name": "ad", "type": "hashed", "buckets": 9, "default": "none"},
      {"name": "x", "type": "crossed", "sources": ["ad", "site"], "buckets": 1000000}])");
  ASSERT_THAT(columns, IsOk());
  std::vector<float> quantities;
  std::vector<int64_t> missing, there;
  const SourceValue site = std::string_view("s");
  ASSERT_THAT(columns->Encode(std::vector<SourceValue>{{}, site}, &quantities, &missing), IsOk());
  ASSERT_THAT(columns->Encode(std::vector<SourceValue>{std::string_view("none"), site},
                              &quantities, &there),
              IsOk());
  EXPECT_EQ(missing, there);
  EXPECT_THAT(columns->Encode(std::vector<SourceValue>{{}, {}}, &quantities, &there),
              StatusIs(Code::kInvalidArgument, HasSubstr("feature \"site\": the value is")));
}

TEST(FeatureColumnsTest, BadValuesNameTheColumnAndLeaveNothing) {
  const auto columns = Parse(R"([{"name": "a", "type": "numeric"},
                                 {"name": "b", "type": "identity", "buckets": 3}])");
  std::vector<float> out;
  std::vector<int64_t> ids;
  EXPECT_THAT(columns->Encode(std::vector<SourceValue>{1.0, int64_t{3}}, &out, &ids),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("column \"b\" of feature \"b\": want a whole number from 0 to 2, "
                                 "it is 3")));
  EXPECT_TRUE(out.empty() && ids.empty());
  EXPECT_THAT(EncodeX(R"("type": "identity", "buckets": 3)", 0.5), testing::Not(IsOk()));
  EXPECT_THAT(EncodeX(R"("type": "identity", "buckets": 3)", int64_t{-1}), testing::Not(IsOk()));
  EXPECT_THAT(EncodeX(R"("type": "numeric")", std::string_view("1x")),
              StatusIs(Code::kInvalidArgument, HasSubstr("\"1x\"")));
  EXPECT_THAT(EncodeX(R"("type": "numeric")", std::nan("")),
              StatusIs(Code::kInvalidArgument, HasSubstr("NaN")));
  EXPECT_THAT(EncodeX(R"("type": "numeric")", std::string_view("1e39")),
              StatusIs(Code::kInvalidArgument, HasSubstr("it becomes infinite in 32 bits")));
  EXPECT_THAT(EncodeX(R"("type": "vocabulary", "values": ["a"])", std::string_view("z")),
              StatusIs(Code::kInvalidArgument, HasSubstr("\"z\" is not in the vocabulary")));
  EXPECT_THAT(EncodeX(R"("type": "hashed", "buckets": 3)", 0.5),
              StatusIs(Code::kInvalidArgument, HasSubstr("it is a float")));
}

TEST(FeatureColumnsTest, BadColumnsNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "data.columns: must be a list of 1 to"},
      {R"([7])", "data.columns[0]: must be an object"},
      {R"([{"type": "numeric"}])", "data.columns[0].name"},
      {R"([{"name": "a b", "type": "numeric"}])", "letters, digits"},
      {R"([{"name": "a"}])", "data.columns[0].type"},
      {R"([{"name": "a", "type": "embedding"}])", "numeric"},
      {R"([{"name": "a", "type": "numeric"}, {"name": "a", "type": "numeric"}])", "twice"},
      {R"([{"name": "a", "type": "numeric", "buckets": 4}])", "buckets"},
      {R"([{"name": "a", "type": "numeric", "default": "x"}])", "default: must be a number"},
      {R"([{"name": "a", "type": "identity", "buckets": 3, "default": 3}])", "default: want a"},
      {R"([{"name": "a", "type": "vocabulary", "values": ["b"], "default": "c"}])",
       "default: \"c\" is not in the vocabulary"},
      {R"([{"name": "a", "type": "crossed", "sources": ["b", "c"], "buckets": 4},
           {"name": "b", "type": "identity", "buckets": 4}])", "\"b\" must come before this one"},
      {R"([{"name": "a", "type": "hashed"}])", "buckets: is missing"},
      {R"([{"name": "a", "type": "hashed", "buckets": 2147483648}])", "buckets"},
      {R"([{"name": "a", "type": "bucketized"}])", "boundaries: must be a list"},
      {R"([{"name": "a", "type": "bucketized", "boundaries": [1, 1]}])", "boundaries[1]"},
      {R"([{"name": "a", "type": "vocabulary", "values": ["b", "b"]}])", "values[1]: \"b\""},
      {R"([{"name": "a", "type": "vocabulary", "values": [true]}])", "values[0]"},
      {R"([{"name": "a", "type": "vocabulary", "values": ["b"], "oovBuckets": 2147483647}])",
       "2147483648 categories"},
      {R"([{"name": "a", "type": "crossed", "sources": ["b"], "buckets": 4}])", "at least two"},
      {R"([{"name": "n", "type": "numeric"},
           {"name": "a", "type": "crossed", "sources": ["n", "b"], "buckets": 4}])",
       "data.columns[1].sources[0]: \"n\" has no categories"},
  };
  for (const auto& [json, want] : cases) EXPECT_THAT(ErrorOf(json), HasSubstr(want)) << json;
}

}  // namespace
}  // namespace taas
