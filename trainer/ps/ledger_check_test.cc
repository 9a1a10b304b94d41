#include "trainer/ps/ledger_check.h"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/ps/commit_ledger.h"

namespace taas::ps {
namespace {

using ::testing::HasSubstr;
using Kind = LedgerRecord::Kind;
using Process = std::vector<LedgerRecord>;

LedgerRecord Begin(int64_t generation, int shard, int64_t step) {
  return {.kind = Kind::kBegin, .generation = generation, .shard = shard, .shards = 2, .step = step,
          .pushes = {}};
}

LedgerRecord Commit(int64_t generation, int shard, int64_t step, std::vector<int64_t> batches) {
  LedgerRecord record{.generation = generation, .shard = shard, .step = step};
  for (const int64_t batch : batches) {
    record.pushes.push_back({{0, 1, 7}, static_cast<uint64_t>(batch) + 1, batch});
  }
  return record;
}

// Two shards and a chief; shard 1 was killed after the cut of step 1 and step 2 was made again, of
// another batch.
std::vector<Process> GoodHistory() {
  return {{Begin(1, -1, 0), Begin(2, -1, 1)},
          {Begin(1, 0, 0), Commit(1, 0, 1, {0}), Commit(1, 0, 2, {1}), Commit(1, 0, 3, {2}),
           Begin(2, 0, 1), Commit(2, 0, 2, {2}), Commit(2, 0, 3, {1})},
          {Begin(1, 1, 0), Commit(1, 1, 1, {0}), Commit(1, 1, 2, {1})},
          {Begin(2, 1, 1), Commit(2, 1, 2, {2}), Commit(2, 1, 3, {1})}};
}

TEST(LedgerCheckTest, HistoryThatWentBackToACutIsWhole) {
  EXPECT_THAT(CheckLedgers(GoodHistory(), {.steps = 3}), IsOk());
}

struct Case {
  const char* name;
  void (*damage)(std::vector<Process>& history);
  const char* sentence;
};

class BrokenHistoryTest : public testing::TestWithParam<Case> {};

TEST_P(BrokenHistoryTest, IsRefusedWithWhatIsWrong) {
  std::vector<Process> history = GoodHistory();
  GetParam().damage(history);
  EXPECT_THAT(CheckLedgers(history, {.steps = 3}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(GetParam().sentence)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenHistoryTest,
    testing::Values(
        Case{"UpdateAppliedOnOneShardOnly",
             [](std::vector<Process>& history) { history[3].pop_back(); }, "has 2 steps of 3"},
        Case{"UpdateAppliedTwice",
             [](std::vector<Process>& history) { history[1].push_back(Commit(2, 0, 3, {1})); },
             "applies step 3 where step 4 follows"},
        Case{"ShardsDisagreeOnAStep",
             [](std::vector<Process>& history) { history[3][1] = Commit(2, 1, 2, {1}); },
             "other pushes"},
        Case{"BatchUsedTwice",
             [](std::vector<Process>& history) {
               history[1][6] = Commit(2, 0, 3, {0});
               history[3][2] = Commit(2, 1, 3, {0});
             },
             "batch 0 is part of step 1 and of step 3"},
        Case{"BatchSkipped",
             [](std::vector<Process>& history) {
               history[1][6] = Commit(2, 0, 3, {3});
               history[3][2] = Commit(2, 1, 3, {3});
             },
             "batch 1 is part of no step"},
        Case{"StepLeftOut",
             [](std::vector<Process>& history) { history[1].erase(history[1].begin() + 5); },
             "applies step 3 where step 2 follows"},
        Case{"RecoveryToAStepThatNobodyMade",
             [](std::vector<Process>& history) {
               history[0][1].step = history[1][4].step = history[3][0].step = 4;
               history[1].resize(5);
               history[3].resize(1);
             },
             "begins at step 4"},
        Case{"ShardsBeginAtDifferentCuts",
             [](std::vector<Process>& history) { history[3][0].step = 0; },
             "elsewhere at step 1"},
        Case{"ChiefSaysAnotherCut",
             [](std::vector<Process>& history) { history[0][1].step = 2; },
             "elsewhere at step 2"},
        Case{"StepOfTooManyBatches",
             [](std::vector<Process>& history) {
               history[1][6] = Commit(2, 0, 3, {1, 3});
               history[3][2] = Commit(2, 1, 3, {1, 3});
             },
             "step 3 is of 2 batches"},
        Case{"CommitWithoutAGeneration",
             [](std::vector<Process>& history) { history[3].erase(history[3].begin()); },
             "commits before it begins"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CommitLedgerTest, WhatIsWrittenIsReadAndATornLastLineIsLeftOut) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/ps-0.ledger";
  {
    const auto ledger = CommitLedger::Open(path);
    ASSERT_THAT(ledger, IsOk());
    (*ledger)->OnGeneration({.generation = 3, .shard = 1, .shards = 2, .step = 50});
    (*ledger)->OnCommit({Decision::Kind::kCommit,
                         {{{1, 2, UINT64_MAX}, 9, 100}, {{0, 1, 5}, 8, 101}}, 51});
  }
  std::ofstream(path, std::ios::app) << R"({"generation":3,"sha)";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto records = ParseLedger(text.str());
  ASSERT_THAT(records, IsOk());
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ((*records)[0].kind, Kind::kBegin);
  EXPECT_EQ((*records)[0].step, 50);
  EXPECT_EQ((*records)[0].shards, 2);
  EXPECT_EQ((*records)[1].step, 51);
  EXPECT_EQ((*records)[1].shard, 1);
  EXPECT_EQ((*records)[1].pushes[0], (PushId{{1, 2, UINT64_MAX}, 9, 100}));
  EXPECT_EQ((*records)[1].pushes[1].batch, 101);
  EXPECT_THAT(ParseLedger("{}\n"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace taas::ps
