#include "trainer/ps/row_changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RowChangesTest, WhatChangedSinceAStepIsTheRowsOfAllUpdatesAfterIt) {
  RowChanges changes(/*pieces=*/2, /*step=*/10);
  changes.Add({{.width = 3, .ids = {1, 5}}, {.width = 2, .ids = {}}});
  changes.Add({{.width = 3, .ids = {0, 5, 7}}, {.width = 2, .ids = {4}}});
  EXPECT_THAT(changes.Since(10)[0].ids, ElementsAre(0, 1, 5, 7));
  EXPECT_EQ(changes.Since(10)[0].width, 3u);
  EXPECT_THAT(changes.Since(11)[0].ids, ElementsAre(0, 5, 7));
  EXPECT_THAT(changes.Since(10)[1].ids, ElementsAre(4));
  // Who has the newest values lacks nothing.
  EXPECT_THAT(changes.Since(12)[0].ids, IsEmpty());
  EXPECT_GT(changes.Since(12)[0].width, 0u);
}

TEST(RowChangesTest, AnUpdateOfAPieceAsAWholeChangedEverythingOfIt) {
  RowChanges changes(2, 0);
  changes.Add({{.width = 3, .ids = {1}}, {}});
  changes.Add({{}, {.width = 2, .ids = {4}}});
  changes.Add({{.width = 3, .ids = {2}}, {.width = 2, .ids = {5}}});
  EXPECT_EQ(changes.Since(0)[0].width, 0u);
  EXPECT_EQ(changes.Since(0)[1].width, 0u);
  EXPECT_EQ(changes.Since(1)[0].width, 0u);
  EXPECT_THAT(changes.Since(1)[1].ids, ElementsAre(4, 5));
  EXPECT_THAT(changes.Since(2)[0].ids, ElementsAre(2));
}

TEST(RowChangesTest, RowsOfTwoWidthsAreEverything) {
  RowChanges changes(1, 0);
  changes.Add({{.width = 3, .ids = {1}}});
  changes.Add({{.width = 6, .ids = {1}}});
  EXPECT_EQ(changes.Since(0)[0].width, 0u);
  EXPECT_EQ(changes.Since(1)[0].width, 6u);
}

TEST(RowChangesTest, BetweenTwoStepsIsWhatTheUpdatesBetweenThemChanged) {
  RowChanges changes(2, 10);
  EXPECT_FALSE(changes.LastByRows(0));
  EXPECT_EQ(changes.last(), 10);
  changes.Add({{.width = 3, .ids = {1, 5}}, {}});
  changes.Add({{.width = 3, .ids = {2}}, {.width = 2, .ids = {4}}});
  changes.Add({{.width = 3, .ids = {0, 5}}, {}});
  EXPECT_EQ(changes.last(), 13);
  EXPECT_THAT(changes.Between(0, 10, 12).ids, ElementsAre(1, 2, 5));
  EXPECT_THAT(changes.Between(0, 12, 13).ids, ElementsAre(0, 5));
  EXPECT_THAT(changes.Between(1, 11, 12).ids, ElementsAre(4));
  EXPECT_EQ(changes.Between(1, 11, 13).width, 0u);
  EXPECT_EQ(changes.Between(0, 12, 14).width, 0u);
  EXPECT_TRUE(changes.LastByRows(0));
  EXPECT_FALSE(changes.LastByRows(1));
  // An update of more rows than are kept is the last, but not known.
  changes.Add({{.width = 3, .ids = std::vector<int32_t>(RowChanges::kIdsMax + 1)}, {}});
  EXPECT_EQ(changes.last(), 14);
  EXPECT_FALSE(changes.LastByRows(0));
  EXPECT_EQ(changes.Between(0, 13, 14).width, 0u);
}

TEST(RowChangesTest, OfStepsThatAreNotKnownEverythingMayHaveChanged) {
  RowChanges changes(1, 10);
  changes.Add({{.width = 3, .ids = {1}}});
  for (const int64_t step : {int64_t{-1}, int64_t{9}, int64_t{12}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(changes.Since(step)[0].width, 0u) << step;
  }
}

TEST(RowChangesTest, NoMoreIsKeptThanTheLimits) {
  RowChanges by_updates(1, 0);
  for (size_t i = 0; i < RowChanges::kUpdatesMax + 1; ++i) {
    by_updates.Add({{.width = 1, .ids = {}}});
  }
  EXPECT_EQ(by_updates.Since(0)[0].width, 0u);
  EXPECT_EQ(by_updates.Since(1)[0].width, 1u);
  RowChanges by_ids(1, 0);
  std::vector<int32_t> half(RowChanges::kIdsMax / 2);
  for (size_t i = 0; i < half.size(); ++i) half[i] = static_cast<int32_t>(i);
  for (int i = 0; i < 3; ++i) by_ids.Add({{.width = 1, .ids = half}});
  EXPECT_EQ(by_ids.Since(0)[0].width, 0u);
  EXPECT_EQ(by_ids.Since(1)[0].ids.size(), half.size());
}

}  // namespace
}  // namespace taas::ps
