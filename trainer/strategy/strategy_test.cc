#include "trainer/strategy/strategy.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

// One ps, a chief and two workers, unless there are fewer.
ClusterSpec Cluster(const ReplicaId& self, int ps = 1, int workers = 2) {
  ClusterSpec cluster;
  cluster.addresses["chief"] = {"a:1"};
  for (int i = 0; i < ps; ++i) cluster.addresses["ps"].push_back("b:1");
  for (int i = 0; i < workers; ++i) cluster.addresses["worker"].push_back("c:1");
  cluster.self = self;
  return cluster;
}

TEST(StrategyTest, EachReplicaOfAClusterHasItsPart) {
  TrainerConfig config{.strategy = StrategyType::kParameterServer};
  struct Row {
    ReplicaId self;
    TrainerRole role;
    bool needed;
  };
  for (const Row& row : {Row{{"chief", 0}, TrainerRole::kChief, true},
                         Row{{"worker", 1}, TrainerRole::kWorker, false},
                         Row{{"ps", 0}, TrainerRole::kParameterServer, true},
                         Row{{"evaluator", 0}, TrainerRole::kEvaluator, false}}) {
    const Part part = PartOf(config, Cluster(row.self));
    EXPECT_EQ(part.role, row.role) << row.self.name();
    EXPECT_EQ(part.needed_to_save(), row.needed) << row.self.name();
  }
  ClusterSpec without_chief = Cluster({"worker", 0});
  without_chief.addresses.erase("chief");
  EXPECT_EQ(PartOf(config, without_chief).role, TrainerRole::kChief);
}

TEST(StrategyTest, AProcessAloneTrainsAloneWhateverTheStrategy) {
  for (const StrategyType type :
       {StrategyType::kParameterServer, StrategyType::kLocal, StrategyType::kTowers}) {
    const TrainerConfig config{.strategy = type};
    EXPECT_EQ(StrategyOf(type).type, type);
    EXPECT_EQ(PartOf(config, std::nullopt).role, TrainerRole::kLocal);
    const ClusterSpec alone = Cluster({"chief", 0}, /*ps=*/0, /*workers=*/0);
    const Part part = PartOf(config, alone);
    EXPECT_EQ(part.role, TrainerRole::kLocal);
    EXPECT_TRUE(part.needed_to_save());
    EXPECT_THAT(part.strategy->check(*part.strategy, alone), IsOk());
  }
}

// Those who are to come find somebody who leads them.
TEST(StrategyTest, AnElasticReplicaThatIsAloneLeads) {
  TrainerConfig config{.strategy = StrategyType::kAllReduce};
  const ClusterSpec alone = Cluster({"chief", 0}, /*ps=*/0, /*workers=*/0);
  EXPECT_EQ(PartOf(config, alone).role, TrainerRole::kLocal);
  config.elastic = WorkerBounds{1, 4};
  EXPECT_EQ(PartOf(config, alone).role, TrainerRole::kChief);
  EXPECT_EQ(PartOf(config, Cluster({"worker", 1}, /*ps=*/0)).role, TrainerRole::kWorker);
}

TEST(StrategyTest, AClusterThatCannotTrainSoIsRefused) {
  const ClusterSpec cluster = Cluster({"worker", 0}, /*ps=*/0);
  for (const auto& [type, text] :
       {std::pair(StrategyType::kParameterServer,
                  "strategy.type ParameterServer: the cluster in TF_CONFIG has no ps"),
        std::pair(StrategyType::kTowers,
                  "strategy.type Towers: one process trains, but TF_CONFIG has 3 training")}) {
    const Strategy& strategy = StrategyOf(type);
    EXPECT_THAT(strategy.check(strategy, cluster),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
  }
}

TEST(StrategyTest, ExamplesOfAStepAreThoseOfAllWhoMakeIt) {
  TrainerConfig config{.strategy = StrategyType::kParameterServer,
                       .mode = UpdateMode::kSync,
                       .backup_workers = {.value = 1},
                       .batch_size = 10};
  const auto examples = [&](const ReplicaId& self) {
    const ClusterSpec cluster = Cluster(self);
    return ExamplesPerStepOf(PartOf(config, cluster), config, cluster);
  };
  EXPECT_EQ(examples({"worker", 0}), 20);
  EXPECT_EQ(examples({"evaluator", 0}), 10);
  config.mode = UpdateMode::kAsync;
  EXPECT_EQ(examples({"worker", 0}), 10);
  config = {.strategy = StrategyType::kTowers, .towers = 4, .batch_size = 10};
  EXPECT_EQ(ExamplesPerStepOf(PartOf(config, std::nullopt), config, std::nullopt), 40);
}

}  // namespace
}  // namespace taas
