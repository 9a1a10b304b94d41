// Ranks of one thread, whose words are copied from one to the other. Sums are exact: the numbers
// are whole and so small that any order of additions gives the float that is predicted.

#include "trainer/ring/table_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/plan.h"
#include "trainer/loops/bfloat16_loops.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Holds = TableRows::Holds;
using Ids = std::vector<int32_t>;

constexpr int kRanksMax = 9;
constexpr size_t kChunk = 5;

// Behind so many elements that are nobody's here, and with some between tables.
std::vector<RowTable> Tables() {
  return {{.name = "wide", .begin = 16, .end = 144, .rows = 101, .width = 1},
          {.name = "words", .begin = 144, .end = 192, .rows = 13, .width = 3},
          {.name = "tags", .begin = 192, .end = 240, .rows = 7, .width = 5}};
}

struct Rank {
  Rank(const collective::Place& place, const TableRows::Options& options)
      : rows(Tables(), options) {
    rows.Enter(place);
    gradients.assign(Tables().back().end, 0);
    counts.resize(rows.counts());
    ids.resize(Tables().size());
  }

  // A batch that looks up so many of each table, each row's numbers in -250 to 250,
  // which bfloat16 has, too.
  void Compute(const std::vector<size_t>& looked_up, Random& random) {
    for (size_t t = 0; t < ids.size(); ++t) {
      const RowTable table = Tables()[t];
      ids[t].clear();
      std::fill(gradients.begin() + static_cast<ptrdiff_t>(table.begin),
                gradients.begin() + static_cast<ptrdiff_t>(table.end), 0.0F);
      while (ids[t].size() < looked_up[t]) {
        const auto id = static_cast<int32_t>(random.Below(table.rows));
        if (std::ranges::count(ids[t], id) == 0) ids[t].push_back(id);
      }
      std::ranges::sort(ids[t]);
      for (const int32_t id : ids[t]) {
        for (size_t i = 0; i < table.width; ++i) {
          gradients[table.begin + static_cast<size_t>(id) * table.width + i] =
              static_cast<float>(static_cast<int>(random.Below(501)) - 250);
        }
      }
    }
  }
  void Count() {
    rows.BeginStep();
    const std::vector<TableRows::Ids> own(ids.begin(), ids.end());
    rows.Count(own, counts);
  }

  TableRows rows;
  std::vector<float> gradients, counts;
  std::vector<Ids> ids;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

Ranks MakeRanks(int count, const TableRows::Options& options = {.saved_min = 0}) {
  Ranks ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.push_back(std::make_unique<Rank>(collective::Place{count, rank}, options));
  }
  return ranks;
}

// The counts of all, as an exchange adds them.
void AddCounts(Ranks& ranks) {
  for (const auto& rank : ranks) rank->Count();
  std::vector<float> sums(ranks[0]->counts.size());
  for (const auto& rank : ranks) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += rank->counts[i];
  }
  for (const auto& rank : ranks) rank->counts = sums;
}

// What each has packed comes to all.
void Gather(Ranks& ranks) {
  std::vector<std::span<float>> words;
  for (const auto& rank : ranks) words.push_back(rank->rows.Pack(rank->gradients));
  for (size_t to = 0; to < ranks.size(); ++to) {
    std::vector<size_t> taken(words[to].size());
    for (const collective::Receiving& it : ranks[to]->rows.PlanRows(kChunk).receptions) {
      for (size_t i = it.part.begin; i < it.part.end(); ++i) ++taken[i];
    }
    for (size_t from = 0; from < ranks.size(); ++from) {
      // Whose words are what it sends before anything has come.
      for (const collective::Sending& it : ranks[from]->rows.PlanRows(kChunk).sendings) {
        if (from == to || it.after > 0) continue;
        for (size_t i = it.part.begin; i < it.part.end(); ++i) {
          words[to][i] = words[from][i];
          ASSERT_EQ(taken[i]--, 1U);
        }
      }
    }
    ASSERT_EQ(std::ranges::count(taken, 0U), std::ssize(taken));
  }
}

std::vector<float> MeansOf(const Ranks& ranks) {
  std::vector<float> means(ranks[0]->gradients.size());
  for (const auto& rank : ranks) {
    for (size_t i = 0; i < means.size(); ++i) means[i] += rank->gradients[i];
  }
  for (float& mean : means) mean *= 1 / static_cast<float>(ranks.size());
  return means;
}

void ExpectExactMeans(const TableRows::Options& options) {
  SeededRandom random(5);
  for (int count = 2; count <= kRanksMax; ++count) {
    SCOPED_TRACE(count);
    Ranks ranks = MakeRanks(count, options);
    for (int step = 0; step < 20; ++step) {
      for (const auto& rank : ranks) {
        rank->Compute({random.Below(12), random.Below(3), random.Below(2)}, random);
      }
      const std::vector<float> means = MeansOf(ranks);
      AddCounts(ranks);
      for (const auto& rank : ranks) ASSERT_THAT(rank->rows.Decide(rank->counts), IsOk());
      Gather(ranks);
      for (const auto& rank : ranks) {
        const std::vector<float> before = rank->gradients;
        ASSERT_THAT(rank->rows.Add(rank->gradients), IsOk());
        for (size_t t = 0; t < Tables().size(); ++t) {
          const RowTable table = Tables()[t];
          const bool by_rows = rank->rows.holds(t) == Holds::kUnited;
          EXPECT_EQ(rank->rows.holds(t), ranks[0]->rows.holds(t));
          for (size_t i = table.begin; i < table.end; ++i) {
            ASSERT_EQ(rank->gradients[i], by_rows ? means[i] : before[i]) << t << ", " << i;
          }
          if (!by_rows) continue;
          std::map<int32_t, bool> all;
          for (const auto& one : ranks) {
            for (const int32_t id : one->ids[t]) all[id] = true;
          }
          Ids united;
          for (const auto& [id, in] : all) united.push_back(id);
          EXPECT_EQ(Ids(rank->rows.united(t).begin(), rank->rows.united(t).end()), united);
        }
      }
    }
  }
}

TEST(TableRowsTest, EveryRankHasTheExactMeansOfTheRowsOfAll) {
  ExpectExactMeans({.saved_min = 0});
  ExpectExactMeans({.saved_min = 0, .wire = collective::Wire::kBFloat16});
}

// What a rank sends counts so on itself, too; sums are float32.
TEST(TableRowsTest, InBFloat16RowsAreRoundedOnceAndTakeHalfTheBytes) {
  SeededRandom random(5);
  std::vector<size_t> words;
  for (const auto wire : {collective::Wire::kFloat32, collective::Wire::kBFloat16}) {
    Ranks ranks = MakeRanks(2, {.saved_min = 0, .wire = wire});
    for (const auto& rank : ranks) {
      rank->Compute({0, 3, 0}, random);
      for (float& value : rank->gradients) value *= 1.001F;
      // All have the same ids.
      rank->ids = ranks[0]->ids;
    }
    AddCounts(ranks);
    for (const auto& rank : ranks) ASSERT_THAT(rank->rows.Decide(rank->counts), IsOk());
    words.push_back(ranks[0]->rows.PlanRows(kChunk).elements);
    std::vector<float> means;
    for (size_t i = 0; i < ranks[0]->gradients.size(); ++i) {
      float mean = 0;
      for (const auto& rank : ranks) {
        const size_t row = (i - Tables()[1].begin) / Tables()[1].width;
        const bool sent = std::ranges::count(rank->ids[1], static_cast<int32_t>(row)) > 0;
        const float value = sent ? rank->gradients[i] : 0;
        mean += wire == collective::Wire::kBFloat16 ? FromBFloat16(RoundToBFloat16(value)) : value;
      }
      means.push_back(mean / 2);
    }
    Gather(ranks);
    for (const auto& rank : ranks) {
      ASSERT_THAT(rank->rows.Add(rank->gradients), IsOk());
      for (const int32_t id : rank->ids[1]) {
        const size_t at = Tables()[1].begin + static_cast<size_t>(id) * Tables()[1].width;
        for (size_t i = at; i < at + Tables()[1].width; ++i) {
          ASSERT_EQ(rank->gradients[i], means[i]);
        }
      }
    }
  }
  // Of each rank 3 ids and 9 numbers.
  EXPECT_THAT(words, ElementsAre(2 * (3 + 9), 2 * (3 + 5)));
}

// Of 101 rows of one number the whole costs 202 words, and a row two.
TEST(TableRowsTest, ATableGoesByRowsUpToTheBytesOfTheWhole) {
  SeededRandom random(5);
  for (const auto& [saved_min, most] : {std::pair(0, 101), std::pair(80, 91)}) {
    for (const int rows : {most - 1, most, most + 1}) {
      Ranks ranks = MakeRanks(2, {.saved_min = static_cast<size_t>(saved_min)});
      ranks[0]->Compute({static_cast<size_t>(rows - 30), 0, 0}, random);
      ranks[1]->Compute({30, 0, 0}, random);
      AddCounts(ranks);
      ASSERT_THAT(ranks[1]->rows.Decide(ranks[1]->counts), IsOk());
      EXPECT_EQ(ranks[1]->rows.any(), rows <= most) << rows;
    }
  }
}

TEST(TableRowsTest, WhatGoesWholeMayHoldAnyRowFromThenOn) {
  SeededRandom random(5);
  Ranks ranks = MakeRanks(2);
  // All rows of `words` on both, which whole is a half of that.
  for (const auto& rank : ranks) rank->Compute({3, 13, 1}, random);
  AddCounts(ranks);
  TableRows& rows = ranks[0]->rows;
  ASSERT_THAT(rows.Decide(ranks[0]->counts), IsOk());
  EXPECT_TRUE(rows.any());
  EXPECT_EQ(rows.holds(1), Holds::kOwn);
  EXPECT_THAT(rows.BeginWhole(), ElementsAre(collective::Part{144, 48}));
  EXPECT_EQ(rows.holds(1), Holds::kAny);
  EXPECT_EQ(rows.holds(0), Holds::kOwn) << "its rows have not come yet";
  rows.BeginStep();
  EXPECT_EQ(rows.holds(1), Holds::kOwn);
}

TEST(TableRowsTest, OneRankAloneKeepsWhatItHas) {
  SeededRandom random(5);
  Ranks ranks = MakeRanks(1);
  ranks[0]->Compute({3, 13, 1}, random);
  AddCounts(ranks);
  ASSERT_THAT(ranks[0]->rows.Decide(ranks[0]->counts), IsOk());
  EXPECT_FALSE(ranks[0]->rows.any());
  EXPECT_THAT(ranks[0]->rows.BeginWhole(), IsEmpty());
  EXPECT_EQ(ranks[0]->rows.holds(1), Holds::kOwn);
}

TEST(TableRowsTest, CountsThatCannotBeAreRefused) {
  SeededRandom random(5);
  Ranks ranks = MakeRanks(2);
  AddCounts(ranks);
  for (const float count : {-1.0F, 0.5F, 14.0F, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> counts = ranks[0]->counts;
    counts[4] = count;
    EXPECT_THAT(ranks[0]->rows.Decide(counts),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("rank 1"), HasSubstr("of the 13 rows of words"))))
        << count;
  }
}

TEST(TableRowsTest, IdsThatCannotBeAreRefusedBeforeAGradientChanges) {
  SeededRandom random(5);
  for (const int32_t bad : {-1, 13, 0}) {
    Ranks ranks = MakeRanks(2);
    for (const auto& rank : ranks) rank->Compute({2, 2, 0}, random);
    // The second of two; row 0 behind another.
    ranks[1]->ids[1][1] = 3;
    ranks[1]->ids[1][0] = 2;
    AddCounts(ranks);
    for (const auto& rank : ranks) ASSERT_THAT(rank->rows.Decide(rank->counts), IsOk());
    ASSERT_TRUE(ranks[0]->rows.any());
    const std::vector<float> before = ranks[0]->gradients;
    // As rank 1 would pack it.
    Gather(ranks);
    std::span<float> words = ranks[0]->rows.Pack(ranks[0]->gradients);
    const std::span<float> theirs = ranks[1]->rows.Pack(ranks[1]->gradients);
    std::copy(theirs.begin() + 12, theirs.end(), words.begin() + 12);
    std::memcpy(&words[12 + 3], &bad, sizeof(bad));
    EXPECT_THAT(ranks[0]->rows.Add(ranks[0]->gradients),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("rank 1 sends row " + std::to_string(bad)),
                               HasSubstr("of the 13 rows of words"))));
    EXPECT_EQ(ranks[0]->gradients, before);
    EXPECT_EQ(ranks[0]->rows.holds(1), Holds::kOwn);
  }
}

}  // namespace
}  // namespace taas
