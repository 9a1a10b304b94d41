#include "trainer/cmd/flag_names.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

std::optional<std::string> NoVariable(const char*) { return std::nullopt; }
std::optional<std::string> InAJob(const char* name) {
  return std::string(name) == "TAAS_TRAINER" ? std::optional<std::string>("{}") : std::nullopt;
}

// `--train_steps=0` said "maxSteps: must be a whole number from 1".
TEST(FlagNamesTest, AnErrorOfAFlagThatWasGivenNamesIt) {
  Flags flags;
  flags.train_steps = 0;
  flags.hidden_units = {0};
  flags.learning_rate = -1;
  EXPECT_EQ(InFlagWords(flags, NoVariable, "maxSteps: must be from 1"),
            "--train_steps: must be from 1");
  EXPECT_EQ(InFlagWords(flags, NoVariable, "model.hidden[0]: must be from 1, is 0"),
            "--hidden_units: must be from 1, is 0");
  EXPECT_EQ(InFlagWords(flags, InAJob, "optimizer.learningRate: must be above 0"),
            "--learning_rate: must be above 0");
}

TEST(FlagNamesTest, WhatNobodyGaveIsNamedByTheFlagThatGivesIt) {
  EXPECT_EQ(InFlagWords({}, NoVariable, "maxSteps: is required"), "--train_steps: is required");
  EXPECT_EQ(InFlagWords({}, NoVariable, "data: is required"), "--data_dir: is required");
}

TEST(FlagNamesTest, AnErrorOfTheConfigurationStaysOne) {
  Flags flags;
  flags.batch_size = 5;
  EXPECT_EQ(InFlagWords(flags, InAJob, "maxSteps: is required"), std::nullopt);
  flags.config = "job.json";
  EXPECT_EQ(InFlagWords(flags, NoVariable, "maxSteps: is required"), std::nullopt);
  EXPECT_EQ(InFlagWords(flags, NoVariable, "maxSteps: must be from 1"), std::nullopt);
  EXPECT_EQ(InFlagWords(flags, NoVariable, "batchSizes: unknown field"), std::nullopt);
  EXPECT_EQ(InFlagWords(flags, NoVariable, "TF_CONFIG: not JSON"), std::nullopt);
  EXPECT_EQ(InFlagWords(flags, NoVariable, "out of memory"), std::nullopt);
}

}  // namespace
}  // namespace taas
