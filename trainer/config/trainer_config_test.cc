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
  "checkpoint": {"dir": "/out", "everySeconds": 30, "everySteps": 100, "keep": 2},
  "logSteps": 10, "jsonLogs": true})";

TEST(TrainerConfigTest, AllFieldsAreRead) {
  const auto config = ParseTrainerConfig(kGood);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->model, R"({"hidden":[500],"name":"mlp"})");
  EXPECT_EQ(config->optimizer, R"({"learningRate":0.2,"name":"sgd"})");
  EXPECT_EQ(config->batch_size, 50);
  EXPECT_EQ(config->max_steps, 2000);
  EXPECT_EQ(config->seed, 7u);
  EXPECT_EQ(config->checkpoint_dir, "/out");
  EXPECT_EQ(config->checkpoint_seconds, 30);
  EXPECT_EQ(config->checkpoint_steps, 100);
  EXPECT_EQ(config->checkpoint_keep, 2);
  EXPECT_EQ(config->log_steps, 10);
  EXPECT_TRUE(config->json_logs);
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
        Case{"Mode", R"({"model":{},"data":{},"strategy":{"mode":"Sync"}})", "strategy.mode: must"},
        Case{"NoDir", R"({"model":{},"data":{},"checkpoint":{}})", "checkpoint.dir: must"},
        Case{"JsonLogs", R"({"model":{},"data":{},"jsonLogs":1})", "jsonLogs: must be"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TrainerConfigTest, ClassicEnvironmentOverrides) {
  auto config = *ParseTrainerConfig(kGood);
  std::map<std::string, std::string> environment = {
      {"TF_MAX_STEPS", "5"}, {"TF_LOGDIR", "/logs"}, {"TF_SAVE_CHECKPOINTS_SECS", "9"}};
  const GetEnv get = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  ASSERT_THAT(ApplyEnvironment(get, &config), IsOk());
  EXPECT_EQ(config.max_steps, 5);
  EXPECT_EQ(config.checkpoint_dir, "/logs");
  EXPECT_EQ(config.checkpoint_seconds, 9);
  environment["TF_MAX_STEPS"] = "many";
  EXPECT_THAT(ApplyEnvironment(get, &config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TF_MAX_STEPS")));
}

TEST(TrainerConfigTest, HashTellsConfigurationsApartThatMustNotMeet) {
  auto a = *ParseTrainerConfig(kGood);
  auto b = a;
  b.log_steps = 1;
  EXPECT_EQ(ConfigHash(a), ConfigHash(b));
  b.seed = 8;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
}

}  // namespace
}  // namespace taas
