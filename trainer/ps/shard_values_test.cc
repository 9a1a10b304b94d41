#include "trainer/ps/shard_values.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/ps/piece_update.h"

namespace taas::ps {
namespace {

constexpr size_t kWidth = 8;
// Followed by rows; more elements than ShardValues::kCopiedFrom, not a number of slices.
constexpr size_t kTable = SpareFollower::kElementsMin + 5 * kWidth, kBias = 13;
constexpr size_t kElements = kTable + kBias;

std::vector<float> Floats(const VersionStore::Reader& reader) {
  return {reader.values().begin(), reader.values().end()};
}

class ShardValuesTest : public testing::Test {
 protected:
  ShardValuesTest() {
    optimizer_ = *Optimizer::Make({.name = "adagrad", .learning_rate = {.start = 0.1}});
  }

  // The same in place on a plain array.
  void UpdatePlain(std::span<const PieceGradient> gradients, std::span<const size_t> sizes) {
    size_t at = 0;
    for (size_t i = 0; i < sizes.size(); at += sizes[i++]) {
      const std::span<float> values = std::span(plain_).subspan(at, sizes[i]);
      const std::span<float> slot = std::span(plain_).subspan(kElements + at, sizes[i]);
      const std::span<const float> slot_in = slot;
      UpdatePiece(*optimizer_, gradients.subspan(i, 1),
                  {.in = values,
                   .out = values,
                   .slots_in = std::span(&slot_in, 1),
                   .slots_out = std::span(&slot, 1),
                   .step = step_});
    }
  }

  void UpdateWhole() {
    ++step_;
    const ShardGradient pushed{.values = gradient_};
    values_.Update(*optimizer_, step_, std::span(&pushed, 1));
    const PieceGradient whole{.values = gradient_};
    UpdatePlain(std::span(&whole, 1), std::vector{kElements});
  }

  void UpdateRows() {
    ++step_;
    std::set<int32_t> ids;
    while (ids.size() < 50) {
      ids.insert(static_cast<int32_t>(random_.Below(kTable / kWidth)));
    }
    RowContents rows{.heads = {{.rows = 50, .width = kWidth}, {.rows = 0, .width = 0}},
                     .ids = {ids.begin(), ids.end()},
                     .values = std::vector<float>(50 * kWidth + kBias, 0.5f)};
    const ShardGradient pushed{.rows = &rows};
    values_.Update(*optimizer_, step_, std::span(&pushed, 1));
    UpdatePlain(PiecesOf(rows, sizes_), sizes_);
  }

  std::vector<float> Cut() {
    if (const auto copying = values_.Copying(); copying != nullptr) copying->AwaitEnd();
    return Floats(values_.HoldCut());
  }
  bool Right() { return std::ranges::equal(values_.Hold().values(), plain_); }

  SeededRandom random_{7};
  std::unique_ptr<Optimizer> optimizer_;
  // Made before: an update at once after a cut then begins before the copy's thread does.
  const std::vector<float> gradient_ = std::vector<float>(kElements, 2.0f);
  const std::vector<size_t> sizes_ = {kTable, kBias};
  std::vector<float> plain_ = std::vector<float>(2 * kElements, 0.5f);
  ShardValues values_{plain_, sizes_, 1, 0};
  int64_t step_ = 0;
};

TEST_F(ShardValuesTest, UpdatesAfterACutGoOnInPlace) {
  UpdateWhole();
  const std::vector<float> before = plain_;
  const float* const place = values_.Hold().values().data();
  values_.Cut();
  EXPECT_EQ(values_.cut_step(), 1);
  for (int i = 0; i < 3; ++i) UpdateWhole();
  EXPECT_EQ(values_.Hold().values().data(), place);
  EXPECT_TRUE(Right());
  EXPECT_EQ(Cut(), before);
  EXPECT_EQ(values_.cut_step(), 1);
  values_.ReleaseCut();
  EXPECT_EQ(values_.cut_step(), -1);
}

TEST_F(ShardValuesTest, ACutOfWhatAReplyIsSentFromTakesNoThirdBuffer) {
  UpdateWhole();
  for (const bool ended : {false, true}) {
    const std::vector<float> of_cut = plain_;
    const VersionStore::Reader reply = values_.Hold();
    values_.Cut();
    if (ended) {
      EXPECT_EQ(Cut(), of_cut);
    }
    UpdateWhole();
    EXPECT_EQ(values_.buffers(), 2u);
    EXPECT_TRUE(Right());
    EXPECT_EQ(Cut(), of_cut);
    EXPECT_EQ(Floats(reply), of_cut);
    values_.ReleaseCut();
  }
}

TEST_F(ShardValuesTest, ACutAndAReplyThatAreBothBeingSentStayAsTheyAre) {
  UpdateWhole();
  const std::vector<float> before = plain_;
  values_.Cut();
  EXPECT_EQ(Cut(), before);
  const VersionStore::Reader sent = values_.HoldCut(), reply = values_.Hold();
  EXPECT_NE(sent.values().data(), reply.values().data());
  for (int i = 0; i < 2; ++i) UpdateWhole();
  EXPECT_TRUE(Right());
  EXPECT_EQ(Floats(sent), before);
  EXPECT_EQ(Floats(reply), before);
}

TEST_F(ShardValuesTest, ACutWhoseLastOneIsStillSentIsHeldWhereItIs) {
  values_.Cut();
  Cut();
  const VersionStore::Reader sent = values_.HoldCut();
  UpdateWhole();
  const std::vector<float> before = plain_;
  values_.Cut();
  EXPECT_EQ(values_.Copying(), nullptr);  // There is no buffer for it.
  UpdateWhole();
  EXPECT_EQ(Cut(), before);
  EXPECT_TRUE(Right());
}

TEST_F(ShardValuesTest, AnotherCutOrNoneEndsTheCopyOfTheLast) {
  for (int i = 0; i < 5; ++i) {
    values_.Cut();
    values_.Cut();
    values_.ReleaseCut();
    EXPECT_EQ(values_.Copying(), nullptr);
    UpdateWhole();
    values_.Cut();
    EXPECT_EQ(Cut(), plain_);
  }
  EXPECT_EQ(values_.buffers(), 2u);
}

TEST_F(ShardValuesTest, WhereRowsAreUpdatedTheNextUpdateTakesTheBufferThatIsNear) {
  for (int i = 0; i < 3; ++i) UpdateRows();
  const std::vector<float> before = plain_;
  values_.Cut();
  EXPECT_EQ(values_.Copying(), nullptr);
  UpdateRows();
  EXPECT_TRUE(Right());
  EXPECT_EQ(Cut(), before);
}

TEST_F(ShardValuesTest, AFewValuesAreHeldAndNotCopied) {
  ShardValues few(std::vector<float>(ShardValues::kCopiedFrom - 1, 1.0f),
                  {ShardValues::kCopiedFrom - 1}, 0, 4);
  few.Cut();
  EXPECT_EQ(few.Copying(), nullptr);
  EXPECT_EQ(few.cut_step(), 4);
  EXPECT_EQ(few.HoldCut().values().data(), few.Hold().values().data());
}

TEST_F(ShardValuesTest, AnyCourseOfCutsAndRepliesGivesTheBitsOfUpdatesInPlace) {
  std::vector<std::pair<VersionStore::Reader, std::vector<float>>> held;
  std::vector<float> cut;
  for (int i = 0; i < 80; ++i) {
    const uint64_t chance = random_.Below(12);
    if (chance < 3) {
      values_.Cut();
      cut = plain_;
    }
    if (chance == 3) values_.ReleaseCut();
    if (chance == 4 && held.size() < 3) held.emplace_back(values_.Hold(), plain_);
    if (chance == 5 && values_.cut_step() >= 0) {
      ASSERT_EQ(Cut(), cut) << "update " << i;
      held.emplace_back(values_.HoldCut(), cut);
    }
    if (chance > 8) held.clear();
    random_.Below(3) == 0 ? UpdateRows() : UpdateWhole();
    if (values_.cut_step() >= 0 && random_.Below(4) == 0) {
      ASSERT_EQ(Cut(), cut) << "update " << i;
    }
    if (i % 8 == 7) {
      ASSERT_TRUE(Right()) << "update " << i;
      for (const auto& [reader, values] : held) {
        ASSERT_TRUE(std::ranges::equal(reader.values(), values)) << "update " << i;
      }
    }
  }
}

// Of four values the last two are moved: in place and beside a reader, by whole gradients and where
// others list rows.
TEST(MovedValuesTest, EachUpdateKeepsAPartOfThemAndAddsTheMean) {
  const auto optimizer = Optimizer::Make({.name = "adagrad", .learning_rate = {.start = 0.1}});
  ASSERT_THAT(optimizer, IsOk());
  std::vector<float> start = {1, 1, 8, 4, 0.1f, 0.1f, 0, 0};
  ShardValues values(start, {2, 1, 1}, 1, 0, {0.5f, 0.75f});
  const std::vector<float> zero = {0, 0, 2, 3}, one = {0, 0, 4, 1};
  const ShardGradient pushed[] = {{.values = zero}, {.values = one}};
  values.Update(**optimizer, 1, pushed);
  EXPECT_THAT(values.Hold().values().first(4), testing::ElementsAre(1, 1, 7, 5));
  const VersionStore::Reader reply = values.Hold();
  values.Update(**optimizer, 2, std::span(pushed, 1));
  EXPECT_THAT(values.Hold().values().first(4), testing::ElementsAre(1, 1, 5.5f, 6.75f));
  EXPECT_THAT(reply.values().first(4), testing::ElementsAre(1, 1, 7, 5));
  const RowContents rows{.heads = {{.rows = 1, .width = 1}, {}, {}}, .ids = {0},
                         .values = {0, 2, 0}};
  const ShardGradient listed{.rows = &rows};
  values.Update(**optimizer, 3, std::span(&listed, 1));
  EXPECT_THAT(values.Hold().values().first(4), testing::ElementsAre(1, 1, 4.75f, 5.0625f));
}

}  // namespace
}  // namespace taas::ps
