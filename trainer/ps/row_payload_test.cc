#include "trainer/ps/row_payload.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A table of 10 rows of 3, cut behind its fourth row, and a vector of 4.
struct Model {
  std::vector<float> table = std::vector<float>(30), bias = {1, 2, 3, 4};
  std::vector<int32_t> ids;

  explicit Model(std::vector<int32_t> rows) : ids(std::move(rows)) {
    for (const int32_t id : ids) {
      for (size_t i = 0; i < 3; ++i) table[static_cast<size_t>(id) * 3 + i] = float(10 * id + i);
    }
  }
  RowPayload Pack(const std::vector<Piece>& pieces) {
    const std::span<const float> gradients[] = {table, bias};
    const std::optional<GradientRows> rows[] = {GradientRows{.width = 3, .ids = ids}, std::nullopt};
    RowPayload push;
    push.Pack(pieces, gradients, rows);
    return push;
  }
};

std::string BytesOf(const RowPayload& push) {
  std::string bytes;
  for (const comm::ConstBlock& block : push.payload()) {
    if (block.bytes > 0) bytes.append(static_cast<const char*>(block.data), block.bytes);
  }
  return bytes;
}

// What a shard makes of the payload.
struct Received : RowContents {
  absl::Status Read(const std::string& bytes, const std::vector<size_t>& elements) {
    heads.resize(elements.size());
    bytes.copy(reinterpret_cast<char*>(heads.data()), elements.size() * sizeof(RowHead));
    const auto sizes = SizesOf(heads, elements, bytes.size());
    if (!sizes.ok()) return sizes.status();
    ids.resize(sizes->ids);
    values.resize(sizes->values);
    const size_t ids_at = elements.size() * sizeof(RowHead);
    bytes.copy(reinterpret_cast<char*>(ids.data()), sizes->ids * sizeof(int32_t), ids_at);
    bytes.copy(reinterpret_cast<char*>(values.data()), sizes->values * sizeof(float),
               ids_at + sizes->ids * sizeof(int32_t));
    return CheckIds(heads, elements, ids);
  }
};

TEST(RowPayloadTest, EachShardGetsItsRowsCountedFromItsFirst) {
  Model model({1, 4, 9});
  const RowPayload first = model.Pack({{0, 0, 12}});
  const RowPayload second = model.Pack({{0, 12, 18}, {1, 0, 4}});
  EXPECT_TRUE(first.saves());
  EXPECT_TRUE(second.saves());
  Received at_first, at_second;
  ASSERT_THAT(at_first.Read(BytesOf(first), {12}), IsOk());
  EXPECT_THAT(at_first.ids, ElementsAre(1));
  EXPECT_THAT(at_first.values, ElementsAre(10, 11, 12));
  ASSERT_THAT(at_second.Read(BytesOf(second), {18, 4}), IsOk());
  const auto pieces = PiecesOf(at_second, std::vector<size_t>{18, 4});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_THAT(pieces[0].rows->ids, ElementsAre(0, 5));
  EXPECT_THAT(pieces[0].values, ElementsAre(40, 41, 42, 90, 91, 92));
  EXPECT_FALSE(pieces[1].rows.has_value());
  EXPECT_THAT(pieces[1].values, ElementsAre(1, 2, 3, 4));
}

TEST(RowPayloadTest, RowsAreSentOnlyWhereTheyAndTheirIdsAreFewerWords) {
  // Seven rows and ids are 28 words of 30, with a head for each piece 32.
  Model seven({0, 1, 2, 3, 4, 5, 6});
  const RowPayload push = seven.Pack({{0, 0, 30}, {1, 0, 4}});
  EXPECT_EQ(push.bytes(), (4u + 28u + 4u) * 4);
  EXPECT_FALSE(push.saves());
  Model six({0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(six.Pack({{0, 0, 30}, {1, 0, 4}}).saves());
  // Eight would be 32 words: the piece goes whole, and only the heads are more.
  Model eight({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(eight.Pack({{0, 0, 30}, {1, 0, 4}}).bytes(), (4u + 30u + 4u) * 4);
  EXPECT_FALSE(eight.Pack({{0, 0, 30}, {1, 0, 4}}).saves());
}

TEST(RowPayloadTest, WithoutListsNothingIsSaved) {
  Model model({});
  const std::span<const float> gradients[] = {model.table, model.bias};
  RowPayload push;
  push.Pack(std::vector<Piece>{{0, 0, 30}, {1, 0, 4}}, gradients, {});
  EXPECT_FALSE(push.saves());
}

TEST(RowPayloadTest, AStepWithoutRowsSendsNone) {
  Model model({});
  const RowPayload push = model.Pack({{0, 0, 30}, {1, 0, 4}});
  EXPECT_TRUE(push.saves());
  Received received;
  ASSERT_THAT(received.Read(BytesOf(push), {30, 4}), IsOk());
  EXPECT_EQ(received.heads[0].width, 3u);
  EXPECT_EQ(received.ids.size(), 0u);
}

struct DamagedCase {
  const char* name;
  RowHead head;
  std::vector<int32_t> ids;
  size_t values;
  const char* sentence;
};

class DamagedRowPayloadTest : public testing::TestWithParam<DamagedCase> {};

TEST_P(DamagedRowPayloadTest, IsRefusedWithASentence) {
  const DamagedCase& c = GetParam();
  std::string bytes(reinterpret_cast<const char*>(&c.head), sizeof(c.head));
  for (const int32_t id : c.ids) bytes.append(reinterpret_cast<const char*>(&id), sizeof(id));
  bytes.append(c.values * sizeof(float), '\0');
  Received received;
  EXPECT_THAT(received.Read(bytes, {30}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.sentence)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, DamagedRowPayloadTest,
    testing::Values(
        DamagedCase{"IdBeyondThePiece", {2, 3}, {0, 10}, 6,
                    "piece 0 has 10 rows here, the payload has row 10"},
        DamagedCase{"NegativeId", {1, 3}, {-1}, 3, "the payload has row -1"},
        DamagedCase{"NotAscending", {2, 3}, {4, 3}, 6,
                    "rows of piece 0 do not ascend: 3 comes after 4"},
        DamagedCase{"Twice", {2, 3}, {4, 4}, 6, "do not ascend: 4 comes after 4"},
        DamagedCase{"TooShort", {2, 3}, {4, 5}, 5, "a payload of 2 rows has 36 bytes, not 40"},
        DamagedCase{"TooLong", {2, 3}, {4, 5}, 7, "a payload of 2 rows has 44 bytes, not 40"},
        DamagedCase{"WidthThatDoesNotDivide", {2, 7}, {0, 1}, 14,
                    "piece 0 has 30 elements here, the payload has 2 rows of 7"},
        DamagedCase{"MoreRowsThanThereAre", {11, 3}, {}, 0, "the payload has 11 rows of 3"},
        DamagedCase{"RowsOfNothing", {1, 0}, {0}, 30, "the payload has 1 rows of 0"},
        DamagedCase{"EndlessRows", {0xffffffffu, 0xffffffffu}, {}, 0, "rows of 4294967295"}),
    [](const auto& info) { return std::string(info.param.name); });

// Symptom: pieces whose sum is 0 modulo 2^64 had as many elements as no payload at all.
TEST(RowPayloadTest, PiecesWhoseSumDoesNotFitIntoANumberAreRefused) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  const std::vector<RowHead> heads(3);
  for (const std::vector<size_t>& elements :
       {std::vector<size_t>{kMost / 2, kMost / 2, 2}, std::vector<size_t>{kMost / 4 + 1, 0, 0},
        std::vector<size_t>{1, 0, kMost}}) {
    EXPECT_THAT(SizesOf(heads, elements, heads.size() * sizeof(RowHead)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than a frame holds")));
  }
}

}  // namespace
}  // namespace taas::ps
