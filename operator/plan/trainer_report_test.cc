#include "operator/plan/trainer_report.h"

#include <sys/resource.h>

#include <string>
#include <string_view>

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

// A column of kubectl showed 0.18234567046165466; a regression had an accuracy of 0.
TEST(TrainerReportTest, MeasuresHaveSixDigitsAndThoseThatThereAreNotHaveNone) {
  const auto report = ParseTrainerReport(
      R"({"step":1,"loss":0.18234567046165466,"evaluation":{"step":1,"loss":123456.789}})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->loss, 0.182346);
  ASSERT_TRUE(report->evaluation.has_value());
  EXPECT_EQ(report->evaluation->loss, 123457);
  EXPECT_EQ(report->evaluation->accuracy, std::nullopt);
}

TEST(TrainerReportTest, HostileAnswersAreNoReportAndWrongTypesAreMissingFields) {
  EXPECT_FALSE(ParseTrainerReport("").has_value());
  EXPECT_FALSE(ParseTrainerReport("<html>").has_value());
  EXPECT_FALSE(ParseTrainerReport("[1]").has_value());
  const auto report = ParseTrainerReport(
      R"({"step":"many","loss":null,"maxSteps":[9],"evaluation":7,"data":[],"message":{}})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(*report, TrainerReport{});
}

// The most that this process has held so far.
long PeakKb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string Repeated(std::string_view part, size_t length) {
  std::string out;
  while (out.size() < length) out += part;
  return out;
}

// Symptom: a pod that answered with 3.9 MB of "[" had the operator, and with it every job of the
// cluster, killed for memory again and again.
TEST(TrainerReportTest, PagesThatAreDeepOrWideTakeLittleMoreMemoryThanTheyAreLong) {
  constexpr size_t kLength = 3'900'000;
  const std::string deep[] = {
      std::string(kLength, '['),
      R"({"step":5,"x":)" + std::string(kLength / 2, '[') + std::string(kLength / 2, ']') + "}",
      R"({"step":5,"x":)" + Repeated(R"({"x":)", kLength)};
  const std::string wide[] = {
      R"({"step":5,"x":[)" + Repeated("[],", kLength) + "[]]}",
      R"({"x":[)" + Repeated(R"({"k":{}},)", kLength) + R"([]],"step":5})",
      "{" + Repeated(R"("step":{},"k":null,)", kLength) + R"("step":5})",
      R"({"message":")" + std::string(kLength, 'm') + R"(","step":5})"};
  const long before = PeakKb();
  for (const std::string& page : deep) EXPECT_FALSE(ParseTrainerReport(page).has_value());
  for (const std::string& page : wide) {
    const auto report = ParseTrainerReport(page);
    ASSERT_TRUE(report.has_value()) << page.substr(0, 40);
    EXPECT_EQ(report->step, 5) << page.substr(0, 40);
  }
  EXPECT_LT(PeakKb() - before, 24 << 10);
}

TEST(TrainerReportTest, FieldsOfTheSameNamesFurtherWithinAreOthers) {
  const auto report = ParseTrainerReport(
      R"({"peers":[{"step":1,"state":"x","evaluation":{"loss":1}}],"more":{"step":2,"source":"y"},
          "data":{"more":{"source":"z"},"source":"MNIST"},"evaluation":[{"loss":3}],"step":7})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(*report, (TrainerReport{.step = 7, .data_source = "MNIST"}));
}

// Symptom: a pod that said etaSeconds 9223372036854775807 put its job beyond suspension, deadlines
// and the command line: the number came into the status, which nobody could read from then on.
TEST(TrainerReportTest, NumbersAtTheEdgeAreTheNearestThatEverybodyReads) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const auto report = ParseTrainerReport(
      R"({"step":18446744073709551615,"maxSteps":-9223372036854775808,
          "etaSeconds":9223372036854775807,"examplesPerSecond":-5,"loss":-1e308,
          "evaluation":{"accuracy":1e308,"step":-1,"examples":1e300}})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->step, kMost);
  EXPECT_EQ(report->max_steps, 0);
  EXPECT_EQ(report->eta_seconds, kMost);
  EXPECT_EQ(report->examples_per_second, 0);
  EXPECT_EQ(report->loss, -1e308);
  EXPECT_EQ(report->evaluation,
            (Evaluation{.step = 0, .accuracy = 1e308, .examples = kMost}));
  EXPECT_EQ(ParseTrainerReport(R"({"step":4.0})")->step, 4);
}

// Symptom: a pod's /status set the title of the terminal in which somebody described the job.
TEST(TrainerReportTest, TextsHaveNoControlCharactersAndAnEnd) {
  const auto report = ParseTrainerReport(
      R"({"message":"a\u001b]0;t\u0007\r\n\u0000\u202eb","state":"\u001b[2J",
          "data":{"source":"\u009b3m"}})");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->message, "a ]0;t     b");
  EXPECT_EQ(report->state, " [2J");
  EXPECT_EQ(report->data_source, " 3m");
  const auto long_one = ParseTrainerReport(R"({"message":")" + std::string(100'000, 'm') + "\"}");
  ASSERT_TRUE(long_one.has_value());
  EXPECT_EQ(long_one->message.size(), 4096u);
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
  std::string text(496, 'a');
  // Letters of two bytes: what is left beside the three of "…" ends in the first.
  text += "\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_EQ(MessageOfTermination(text), std::string(496, 'a') + "…");
}

}  // namespace
}  // namespace taas
