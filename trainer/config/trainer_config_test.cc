#include "trainer/config/trainer_config.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"({
  "model": {"name": "mlp", "hidden": [500]},
  "data": {"format": "idx", "train": {"images": "/data/a", "labels": "/data/b"}},
  "strategy": {"type": "ParameterServer", "mode": "Async"},
  "optimizer": {"name": "sgd", "learningRate": 0.2},
  "batchSize": 50, "maxSteps": 2000, "seed": 7,
  "regularization": {"l2": 0.004},
  "checkpoint": {"dir": "/out", "everySeconds": 30, "everySteps": 100, "keep": 2,
                 "maxShardBytes": 1048576, "saveDeadlineSeconds": 77},
  "export": {"format": "savedModel", "dir": "/export"},
  "summaries": {"dir": "/events", "everySteps": 20, "histograms": false},
  "evaluation": {"everySeconds": 3},
  "logSteps": 10, "jsonLogs": true,
  "engine": {"logDevicePlacement": true, "softPlacement": true, "interOpThreads": 2,
             "intraOpThreads": 4, "deterministic": true,
             "precision": "bfloat16", "trace": {"file": "/t.json", "fromStep": 7, "steps": 3}}})";

TEST(TrainerConfigTest, AllFieldsAreRead) {
  const auto config = ParseTrainerConfig(kGood);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->model, R"({"hidden":[500],"name":"mlp"})");
  EXPECT_EQ(config->optimizer, R"({"learningRate":0.2,"name":"sgd"})");
  EXPECT_EQ(config->batch_size, 50);
  EXPECT_EQ(config->max_steps, 2000);
  EXPECT_EQ(config->seed, 7u);
  EXPECT_TRUE(config->engine.log_device_placement);
  EXPECT_TRUE(config->engine.soft_placement);
  EXPECT_EQ(config->engine.inter_op_threads, 2);
  EXPECT_EQ(config->engine.intra_op_threads, 4);
  EXPECT_TRUE(config->engine.deterministic);
  EXPECT_EQ(config->engine.precision, "bfloat16");
  EXPECT_EQ(config->engine.trace_file, "/t.json");
  EXPECT_EQ(config->engine.trace_from, 7);
  EXPECT_EQ(config->engine.trace_steps, 3);
  EXPECT_EQ(config->checkpoint_dir, "/out");
  EXPECT_EQ(config->checkpoint_seconds, 30);
  EXPECT_EQ(config->checkpoint_steps, 100);
  EXPECT_EQ(config->checkpoint_keep, 2);
  EXPECT_EQ(config->checkpoint_shard_bytes, 1'048'576);
  EXPECT_EQ(config->checkpoint_save_deadline, 77);
  EXPECT_EQ(config->export_format, "savedModel");
  EXPECT_EQ(config->export_dir, "/export");
  EXPECT_EQ(config->log_steps, 10);
  EXPECT_TRUE(config->json_logs);
  EXPECT_EQ(config->l2, 0.004);
  EXPECT_EQ(config->summaries_dir, "/events");
  EXPECT_EQ(config->summary_steps, 20);
  EXPECT_FALSE(config->summary_histograms);
  EXPECT_EQ(config->evaluation_seconds, 3);
}

TrainerConfig WithStrategy(const std::string& strategy) {
  const auto config =
      ParseTrainerConfig(R"({"model":{},"data":{},"strategy":)" + strategy + "}");
  EXPECT_THAT(config, IsOk());
  return config.value_or(TrainerConfig{});
}

// `taas-trainer --learning_rate=0.01` was refused: "optimizer.name: must be one of sgd, …".
TEST(TrainerConfigTest, WhatTheOptimizerDoesNotSayIsAsAServerSetsIt) {
  const auto optimizer = [](const std::string& json) {
    const auto config =
        ParseTrainerConfig(R"({"model":{},"data":{},"maxSteps":1,"optimizer":)" + json + "}");
    EXPECT_THAT(config, IsOk());
    return config.value_or(TrainerConfig{}).optimizer;
  };
  EXPECT_EQ(optimizer(R"({"learningRate":0.01})"), R"({"learningRate":0.01,"name":"sgd"})");
  EXPECT_EQ(optimizer(R"({"name":"adam"})"), R"({"learningRate":0.1,"name":"adam"})");
}

TEST(TrainerConfigTest, NothingSaidMeansAsyncPlainGradientDescentWithoutExtras) {
  const TrainerConfig config = WithStrategy("{}");
  EXPECT_EQ(config.strategy, StrategyType::kParameterServer);
  EXPECT_EQ(config.mode, UpdateMode::kAsync);
  EXPECT_EQ(config.optimizer, R"({"learningRate":0.1,"name":"sgd"})");
  EXPECT_FALSE(config.moving_average);
  EXPECT_EQ(config.l2, 0);
  EXPECT_EQ(config.summaries_dir, "");
  EXPECT_EQ(config.summary_steps, 100);
  EXPECT_TRUE(config.summary_histograms);
  EXPECT_EQ(config.evaluation_seconds, 10);
  EXPECT_EQ(ExamplesPerStep(config), 100);
}

TEST(TrainerConfigTest, TheHeartbeatIsRead) {
  EXPECT_EQ(WithStrategy(R"({"type":"AllReduce"})").heartbeat_seconds, 5);
  EXPECT_EQ(WithStrategy(R"({"type":"AllReduce","heartbeatSeconds":60})").heartbeat_seconds, 60);
  EXPECT_EQ(WithStrategy(R"({"type":"AllReduce"})").gradient_precision, "float32");
  EXPECT_EQ(
      WithStrategy(R"({"type":"AllReduce","gradientPrecision":"bfloat16"})").gradient_precision,
      "bfloat16");
}

TEST(TrainerConfigTest, TowersAreRead) {
  const TrainerConfig config = WithStrategy(R"({"type":"Towers","towers":4})");
  EXPECT_EQ(config.strategy, StrategyType::kTowers);
  EXPECT_EQ(config.towers, 4);
  EXPECT_EQ(ExamplesPerStep(config), 400);
}

TEST(TrainerConfigTest, MovingAverageIsPartOfWhatAppliesGradients) {
  const auto config =
      ParseTrainerConfig(R"({"model":{},"data":{},"movingAverage":{"decay":0.999}})");
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->moving_average);
  EXPECT_EQ(config->optimizer,
            R"({"learningRate":0.1,"movingAverage":{"decay":0.999},"name":"sgd"})");
}

TEST(TrainerConfigTest, GradientWorkIsNotPartOfWhatAppliesGradients) {
  const auto config = ParseTrainerConfig(R"({"model":{},"data":{},"optimizer":{"name":"sgd",
      "learningRate":1,"clip":{"globalNorm":5},"lossScale":128},"regularization":{"l1":0.5}})");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->optimizer, R"({"learningRate":1,"name":"sgd"})");
  EXPECT_EQ(config->clip, R"({"globalNorm":5})");
  EXPECT_EQ(config->loss_scale, 128);
  EXPECT_EQ(config->l1, 0.5);
  EXPECT_EQ(config->l2, 0);
}

struct AggregateCase {
  const char* name;
  const char* strategy;
  int64_t replicas;
  int64_t gradients;
};

class GradientsPerStepTest : public testing::TestWithParam<AggregateCase> {};

TEST_P(GradientsPerStepTest, FollowsBackupsAndReplicas) {
  const auto gradients =
      GradientsPerStep(WithStrategy(GetParam().strategy), GetParam().replicas);
  ASSERT_THAT(gradients, IsOk());
  EXPECT_EQ(*gradients, GetParam().gradients);
}

INSTANTIATE_TEST_SUITE_P(
    Table, GradientsPerStepTest,
    testing::Values(
        AggregateCase{"Async", R"({})", 4, 1},
        AggregateCase{"AllOfThem", R"({"mode":"Sync"})", 4, 4},
        AggregateCase{"OneBackup", R"({"mode":"Sync","backupWorkers":1})", 4, 3},
        AggregateCase{"NoBackup", R"({"mode":"Sync","backupWorkers":0})", 4, 4},
        AggregateCase{"PercentIsRoundedUp", R"({"mode":"Sync","backupWorkers":"5%"})", 50, 47},
        AggregateCase{"PercentExact", R"({"mode":"Sync","backupWorkers":"5%"})", 100, 95},
        AggregateCase{"PercentZero", R"({"mode":"Sync","backupWorkers":"0%"})", 7, 7},
        AggregateCase{"PercentLeavesOne", R"({"mode":"Sync","backupWorkers":"99%"})", 3, 1},
        AggregateCase{"PercentOfOne", R"({"mode":"Sync","backupWorkers":"5%"})", 1, 1},
        AggregateCase{"MoreThanReplicas", R"({"mode":"Sync","replicasToAggregate":6})", 4, 6}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TrainerConfigTest, ABoundOnStalenessMayBeNone) {
  EXPECT_EQ(WithStrategy("{}").max_staleness, std::nullopt);
  EXPECT_EQ(WithStrategy(R"({"maxStaleness":0})").max_staleness, 0);
  EXPECT_EQ(WithStrategy(R"({"mode":"Async","maxStaleness":7})").max_staleness, 7);
}

TEST(TrainerConfigTest, BackupsThatLeaveNoGradientAreRefused) {
  EXPECT_THAT(GradientsPerStep(WithStrategy(R"({"mode":"Sync","backupWorkers":3})"), 3),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("strategy.backupWorkers: 3 of 3 training replicas")));
}

struct Case {
  const char* name;
  const char* json;
  const char* message;
};

class BadConfigTest : public testing::TestWithParam<Case> {};

TEST_P(BadConfigTest, IsRefusedWithASentenceThatNamesTheField) {
  EXPECT_THAT(ParseTrainerConfig(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadConfigTest,
    testing::Values(
        Case{"NotJson", "{", "TAAS_TRAINER: not JSON"},
        Case{"NotAnObject", "[]", "TAAS_TRAINER: must be an object"},
        Case{"UnknownField", R"({"modle":{}})", "modle: unknown field"},
        Case{"UnknownFieldBelow",
             R"({"model":{},"data":{},"checkpoint":{"dir":"a","evrySteps":1}})",
             "checkpoint.evrySteps: unknown field"},
        Case{"NoModel", R"({"data":{}})", "model: is required"},
        Case{"ModelIsText", R"({"model":"mlp","data":{}})", "model: must be an object"},
        Case{"BatchZero", R"({"model":{},"data":{},"batchSize":0})", "batchSize: must be"},
        Case{"BatchHalf", R"({"model":{},"data":{},"batchSize":1.5})", "batchSize: must be"},
        Case{"StepsHuge", R"({"model":{},"data":{},"maxSteps":18446744073709551615})",
             "maxSteps: must be"},
        Case{"SeedNegative", R"({"model":{},"data":{},"seed":-1})", "seed: must be"},
        Case{"Strategy", R"({"model":{},"data":{},"strategy":{"type":"Ring"}})",
             "strategy.type: must be"},
        Case{"Mode", R"({"model":{},"data":{},"strategy":{"mode":"Fast"}})", "strategy.mode: must"},
        Case{"SyncAlone", R"({"model":{},"data":{},"strategy":{"type":"Local","mode":"Sync"}})",
             "strategy.mode: Sync is of type ParameterServer"},
        Case{"BackupsAsync", R"({"model":{},"data":{},"strategy":{"backupWorkers":1}})",
             "strategy.backupWorkers: is of mode Sync only"},
        Case{"AggregateAsync", R"({"model":{},"data":{},"strategy":{"replicasToAggregate":1}})",
             "strategy.replicasToAggregate: is of mode Sync only"},
        Case{"StalenessOfSync", R"({"model":{},"data":{},"strategy":
             {"mode":"Sync","maxStaleness":1}})",
             "strategy.maxStaleness: is of type ParameterServer and mode Async only"},
        Case{"StalenessBelowNone", R"({"model":{},"data":{},"strategy":{"maxStaleness":-1}})",
             "strategy.maxStaleness: must be"},
        Case{"AggregateTwice", R"({"model":{},"data":{},"strategy":
             {"mode":"Sync","replicasToAggregate":1,"backupWorkers":1}})",
             "strategy.replicasToAggregate: says the same"},
        Case{"AggregateZero",
             R"({"model":{},"data":{},"strategy":{"mode":"Sync","replicasToAggregate":0}})",
             "strategy.replicasToAggregate: must be"},
        Case{"BackupsNegative",
             R"({"model":{},"data":{},"strategy":{"mode":"Sync","backupWorkers":-1}})",
             "strategy.backupWorkers: must be"},
        Case{"BackupsAll",
             R"({"model":{},"data":{},"strategy":{"mode":"Sync","backupWorkers":"100%"}})",
             "strategy.backupWorkers: must be"},
        Case{"BackupsHalfPercent",
             R"({"model":{},"data":{},"strategy":{"mode":"Sync","backupWorkers":"0.5%"}})",
             "strategy.backupWorkers: must be"},
        Case{"BackupsNoPercent",
             R"({"model":{},"data":{},"strategy":{"mode":"Sync","backupWorkers":"5"}})",
             "strategy.backupWorkers: must be"},
        Case{"TowersElsewhere", R"({"model":{},"data":{},"strategy":{"towers":2}})",
             "strategy.towers: is of type Towers only"},
        Case{"HeartbeatElsewhere",
             R"({"model":{},"data":{},"strategy":{"heartbeatSeconds":9}})",
             "strategy.heartbeatSeconds: is of type AllReduce only"},
        Case{"NarrowGradientsElsewhere",
             R"({"model":{},"data":{},
                 "strategy":{"type":"Towers","gradientPrecision":"bfloat16"}})",
             "strategy.gradientPrecision: is of types ParameterServer and AllReduce only"},
        Case{"GradientsOfAnotherPrecision",
             R"({"model":{},"data":{},
                 "strategy":{"type":"AllReduce","gradientPrecision":"float16"}})",
             "strategy.gradientPrecision: must be float32 or bfloat16, is \"float16\""},
        Case{"HeartbeatTooFast",
             R"({"model":{},"data":{},"strategy":{"type":"AllReduce","heartbeatSeconds":1}})",
             "strategy.heartbeatSeconds: must be a whole number from 2 to 600"},
        Case{"TowersMany",
             R"({"model":{},"data":{},"strategy":{"type":"Towers","towers":65}})",
             "strategy.towers: must be"},
        Case{"L2Negative", R"({"model":{},"data":{},"regularization":{"l2":-1}})",
             "regularization.l2: must be"},
        Case{"L1Negative", R"({"model":{},"data":{},"regularization":{"l1":-1}})",
             "regularization.l1: must be"},
        Case{"L3", R"({"model":{},"data":{},"regularization":{"l3":1}})",
             "regularization.l3: unknown field"},
        Case{"Clip", R"({"model":{},"data":{},"optimizer":{"name":"sgd","learningRate":1,
             "clip":{"value":0}}})", "optimizer.clip.value: must be"},
        Case{"LossScale", R"({"model":{},"data":{},"optimizer":{"name":"sgd","learningRate":1,
             "lossScale":0}})", "optimizer.lossScale: must be a number above 0"},
        Case{"AverageOne", R"({"model":{},"data":{},"movingAverage":{"decay":1}})",
             "movingAverage.decay: must be"},
        Case{"AverageInside", R"({"model":{},"data":{},"optimizer":{"name":"sgd",
             "learningRate":1,"movingAverage":{"decay":0.9}}})",
             "optimizer.movingAverage: unknown field"},
        Case{"Optimizer", R"({"model":{},"data":{},"optimizer":{"name":"sdg","learningRate":1}})",
             "optimizer.name: there is no optimizer"},
        Case{"SummariesNowhere", R"({"model":{},"data":{},"summaries":{"everySteps":1}})",
             "summaries.dir: must"},
        Case{"Histograms", R"({"model":{},"data":{},"summaries":{"dir":"a","histograms":1}})",
             "summaries.histograms: must be"},
        Case{"Evaluation", R"({"model":{},"data":{},"evaluation":{"everySeconds":0}})",
             "evaluation.everySeconds: must be"},
        Case{"SaveDeadline",
             R"({"model":{},"data":{},"checkpoint":{"dir":"a","saveDeadlineSeconds":0}})",
             "checkpoint.saveDeadlineSeconds: must be"},
        Case{"NoDir", R"({"model":{},"data":{},"checkpoint":{}})", "checkpoint.dir: must"},
        Case{"NoThreads", R"({"model":{},"data":{},"engine":{"interOpThreads":0}})",
             "engine.interOpThreads: must be"},
        Case{"EngineField", R"({"model":{},"data":{},"engine":{"threads":1}})",
             "engine.threads: unknown field"},
        Case{"Precision", R"({"model":{},"data":{},"engine":{"precision":"float16"}})",
             "engine.precision: must be float32, tf32 or bfloat16"},
        Case{"TraceNowhere", R"({"model":{},"data":{},"engine":{"trace":{"steps":2}}})",
             "engine.trace.file: must"},
        Case{"TraceOfNothing",
             R"({"model":{},"data":{},"engine":{"trace":{"file":"a","fromStep":0}}})",
             "engine.trace.fromStep: must be"},
        Case{"JsonLogs", R"({"model":{},"data":{},"jsonLogs":1})", "jsonLogs: must be"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TrainerConfigTest, ClassicEnvironmentOverrides) {
  auto config = *ParseTrainerConfig(kGood);
  std::map<std::string, std::string> environment = {
      {"TF_MAX_STEPS", "5"}, {"TF_LOGDIR", "/logs"}, {"TF_SAVE_CHECKPOINTS_SECS", "9"},
      {"TF_SAVE_SUMMARIES_STEPS", "4"}};
  const GetEnv get = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  ASSERT_THAT(ApplyEnvironment(get, &config), IsOk());
  EXPECT_EQ(config.max_steps, 5);
  EXPECT_EQ(config.checkpoint_dir, "/logs");
  EXPECT_EQ(config.checkpoint_seconds, 9);
  EXPECT_EQ(config.summaries_dir, "/logs");
  EXPECT_EQ(config.summary_steps, 4);
  environment["TF_MAX_STEPS"] = "many";
  EXPECT_THAT(ApplyEnvironment(get, &config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TF_MAX_STEPS")));
}

TEST(TrainerConfigTest, ElasticWorkersComeFromTheEnvironment) {
  const auto read = [](const char* strategy, const char* workers) {
    TrainerConfig config = WithStrategy(strategy);
    config.max_steps = 1;
    const absl::Status status = ApplyEnvironment(
        [workers](const std::string& name) -> std::optional<std::string> {
          if (name != "TAAS_ELASTIC_WORKERS") return std::nullopt;
          return workers;
        },
        &config);
    return std::pair(status, config.elastic);
  };
  constexpr char kRing[] = R"({"type":"AllReduce"})";
  EXPECT_EQ(read(kRing, "1:8").second, (WorkerBounds{1, 8}));
  EXPECT_EQ(read(kRing, "2:2").second, (WorkerBounds{2, 2}));
  EXPECT_EQ(read(kRing, "").second, std::nullopt);
  for (const char* bad : {"3", "0:4", "4:3", "1:10001", "1:", ":4", "a:b", "1:4 "}) {
    EXPECT_THAT(read(kRing, bad).first,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("TAAS_ELASTIC_WORKERS: must be MIN:MAX")))
        << bad;
  }
  EXPECT_THAT(read("{}", "1:8").first,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("AllReduce only")));
}

TEST(TrainerConfigTest, HashTellsConfigurationsApartThatMustNotMeet) {
  auto a = *ParseTrainerConfig(kGood);
  auto b = a;
  b.log_steps = 1;
  EXPECT_EQ(ConfigHash(a), ConfigHash(b));
  b.seed = 8;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.l2 = 0.0041;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.l1 = 0.1;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.clip = R"({"value":1})";
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.loss_scale = 2;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.mode = UpdateMode::kSync;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b.backup_workers = {.value = 5};
  auto c = b;
  c.backup_workers.percent = true;
  EXPECT_NE(ConfigHash(b), ConfigHash(c));
}

}  // namespace
}  // namespace taas
