#include "operator/plan/trainer_report.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(TrainerReportTest, EveryFieldOfTheContractIsRead) {
  const auto report = ParseTrainerReport(
      R"({"uid":"u","state":"Training","message":"m","step":1200,"maxSteps":2000,"loss":0.5,
          "examplesPerSecond":20150.5,"etaSeconds":4,"data":{"source":"MNIST","examples":9000},
          "evaluation":{"step":1200,"accuracy":0.941,"loss":0.2,"examples":1000},"new":[1]})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(*report,
            (TrainerReport{.uid = "u", .state = "Training", .message = "m", .step = 1200,
                           .max_steps = 2000, .loss = 0.5, .examples_per_second = 20150.5,
                           .eta_seconds = 4,
                           .evaluation = Evaluation{.step = 1200, .accuracy = 0.941, .loss = 0.2,
                                                    .examples = 1000},
                           .data_source = "MNIST"}));
}

TEST(TrainerReportTest, HostileAnswersAreNoReportAndWrongTypesAreMissingFields) {
  EXPECT_FALSE(ParseTrainerReport("").has_value());
  EXPECT_FALSE(ParseTrainerReport("<html>").has_value());
  EXPECT_FALSE(ParseTrainerReport("[1]").has_value());
  const auto report = ParseTrainerReport(
      R"({"step":"many","loss":null,"maxSteps":1e300,"evaluation":7,"data":[],"message":{}})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(*report, TrainerReport{});
}

TEST(MergeProgressTest, PercentIsRoundedDownSoThat100MeansDone) {
  TrainerReport report{.step = 1999};
  EXPECT_EQ(MergeProgress({}, report, 2000).percent, 99);
  report.step = 2000;
  EXPECT_EQ(MergeProgress({}, report, 2000).percent, 100);
  report.step = 5000;
  EXPECT_EQ(MergeProgress({}, report, 2000).percent, 100);
}

TEST(MergeProgressTest, WhatAReportDoesNotSayIsKept) {
  const Progress before{.step = 5, .max_steps = 10, .loss = 0.5, .data_source = "MNIST"};
  const Progress after = MergeProgress(before, {.step = 6}, 0);
  EXPECT_EQ(after.step, 6);
  EXPECT_EQ(after.max_steps, 10);
  EXPECT_EQ(after.loss, 0.5);
  EXPECT_EQ(after.data_source, "MNIST");
}

TEST(MessageOfTerminationTest, ALongMessageIsCutAtACharacter) {
  std::string text(499, 'a');
  text += "\xc3\xa9\xc3\xa9";  // Two letters of two bytes; the limit falls into the first.
  EXPECT_EQ(MessageOfTermination(text), std::string(499, 'a') + "…");
}

}  // namespace
}  // namespace taas
