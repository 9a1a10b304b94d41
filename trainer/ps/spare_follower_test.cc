#include "trainer/ps/spare_follower.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/ps/piece_update.h"

namespace taas::ps {
namespace {

constexpr size_t kWidth = 8;
// Large enough to be followed, and to take several slices; and one that is too small.
constexpr size_t kTable = SpareFollower::kSlice * 5 / 4, kSmall = 4 * kWidth;
constexpr size_t kTableRows = kTable / kWidth;

// A shard's update of two pieces as Shard::Model makes it, and the same in place beside it.
class SpareFollowerTest : public testing::Test {
 protected:
  SpareFollowerTest() {
    optimizer_ = *Optimizer::Make({.name = "adagrad", .learning_rate = {.start = 0.1}});
    store_.Reserve();
    follower_.Wrote(store_.spare().values.data(), 0);
  }

  // `listed` rows of the table; 0: a whole gradient.
  void Update(size_t listed) {
    const std::vector<int32_t> table_ids = Ids(kTableRows, listed), small_ids = Ids(4, 2);
    std::vector<float> gradients(listed == 0 ? kTable : table_ids.size() * kWidth, 0.5f);
    const std::vector<float> small_gradients(small_ids.size() * kWidth, 0.25f);
    std::vector<PieceGradient> of_pieces = {
        {.values = gradients},
        {.values = small_gradients, .rows = GradientRows{.width = kWidth, .ids = small_ids}}};
    if (listed > 0) of_pieces[0].rows = GradientRows{.width = kWidth, .ids = table_ids};
    ++step_;
    const auto apply = [&](std::span<const float> in, std::span<float> out, bool of_store) {
      std::vector<RowChanges::Rows> changed;
      for (size_t piece = 0, at = 0; piece < pieces_.size(); at += pieces_[piece++]) {
        RowChanges::Rows behind;
        if (of_store && in.data() != out.data()) {
          behind = follower_.Behind(out.data(), piece, changes_);
          lacked_[piece] = behind.width == 0 ? pieces_[piece] / kWidth : behind.ids.size();
        }
        const size_t count = pieces_[piece];
        const std::span<const float> slot_in = in.subspan(elements_ + at, count);
        const std::span<float> slot_out = out.subspan(elements_ + at, count);
        changed.push_back(UpdatePiece(*optimizer_, std::span(&of_pieces[piece], 1),
                                      {.in = in.subspan(at, count),
                                       .out = out.subspan(at, count),
                                       .slots_in = std::span(&slot_in, 1),
                                       .slots_out = std::span(&slot_out, 1),
                                       .step = step_},
                                      behind));
      }
      return changed;
    };
    apply(plain_, plain_, false);
    std::vector<RowChanges::Rows> changed;
    store_.Update(step_, [&](std::span<const float> in, std::span<float> out) {
      changed = apply(in, out, true);
      follower_.Wrote(out.data(), step_);
    });
    changes_.Add(std::move(changed));
    follower_.Follow(changes_, store_.spare());
  }

  bool Right() { return std::ranges::equal(store_.Hold().values(), plain_); }

  SeededRandom random_{3};
  std::unique_ptr<Optimizer> optimizer_;
  const std::vector<size_t> pieces_ = {kTable, kSmall};
  const size_t elements_ = kTable + kSmall;
  std::vector<float> plain_ = std::vector<float>(2 * elements_, 0.5f);
  VersionStore store_{plain_, 0};
  RowChanges changes_{2, 0};
  SpareFollower follower_{pieces_, 1};
  std::vector<size_t> lacked_ = {0, 0};  // Rows of each piece at the last update out of place.
  int64_t step_ = 0;

 private:
  std::vector<int32_t> Ids(size_t rows, size_t listed) {
    std::set<int32_t> ids;
    while (ids.size() < listed) ids.insert(static_cast<int32_t>(random_.Below(rows)));
    return {ids.begin(), ids.end()};
  }
};

TEST_F(SpareFollowerTest, AnUpdateBesideACutCopiesWhatTheSpareLacksAndNotAll) {
  for (int i = 0; i < 20; ++i) Update(100);
  const VersionStore::Reader cut = store_.Hold();
  const std::vector<float> before(cut.values().begin(), cut.values().end());
  Update(100);
  EXPECT_EQ(lacked_[0], 0u);
  EXPECT_TRUE(Right());
  EXPECT_TRUE(std::ranges::equal(cut.values(), before));
}

TEST_F(SpareFollowerTest, ASpareThatWasACutForLongIsBroughtNearSliceBySlice) {
  {
    const VersionStore::Reader cut = store_.Hold();
    // More than is kept of updates.
    for (size_t i = 0; i <= RowChanges::kUpdatesMax; ++i) Update(2);
  }
  EXPECT_TRUE(Right());
  {
    const VersionStore::Reader cut = store_.Hold();
    Update(100);
    EXPECT_EQ(lacked_[0], kTableRows);
    EXPECT_TRUE(Right());
    for (size_t i = 0; i <= RowChanges::kUpdatesMax; ++i) Update(2);
  }
  for (int i = 0; i < 10; ++i) Update(100);
  const VersionStore::Reader cut = store_.Hold();
  Update(100);
  EXPECT_LE(lacked_[0], 1000u);
  EXPECT_TRUE(Right());
}

TEST_F(SpareFollowerTest, ACutInTheMiddleOfASliceGetsEverything) {
  {
    const VersionStore::Reader cut = store_.Hold();
    for (size_t i = 0; i <= RowChanges::kUpdatesMax; ++i) Update(2);
  }
  Update(100);
  const VersionStore::Reader cut = store_.Hold();
  Update(100);
  EXPECT_EQ(lacked_[0], kTableRows);
  EXPECT_TRUE(Right());
}

TEST_F(SpareFollowerTest, AWholeGradientLeavesNothingKnown) {
  for (int i = 0; i < 3; ++i) Update(100);
  Update(0);
  {
    const VersionStore::Reader cut = store_.Hold();
    Update(100);
    EXPECT_EQ(lacked_[0], kTableRows);
    EXPECT_TRUE(Right());
  }
  const VersionStore::Reader cut = store_.Hold();
  Update(0);
  EXPECT_TRUE(Right());
}

TEST_F(SpareFollowerTest, AnyCourseOfCutsGivesTheBitsOfUpdatesInPlace) {
  std::vector<VersionStore::Reader> cuts;
  for (int i = 0; i < 150; ++i) {
    const uint64_t chance = random_.Below(10);
    if (chance < 3) cuts.push_back(store_.Hold());
    if (chance > 5) cuts.clear();
    Update(random_.Below(40) == 0 ? 0 : 50);
    if (i % 10 == 9) {
      ASSERT_TRUE(Right()) << "update " << i;
    }
  }
}

}  // namespace
}  // namespace taas::ps
