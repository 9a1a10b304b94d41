#include "operator/plan/rank_times.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RankTimes TimesOf(const std::string& page) {
  const auto report = ParseTrainerReport(page);
  EXPECT_TRUE(report.has_value()) << page;
  return report.has_value() ? report->rank_times : RankTimes();
}

// As trainer/status/status_board.cc writes it.
constexpr char kPage[] = R"({"role": "chief", "index": 0, "step": 5,
  "shares": {"compute": 0.41, "wait": 0.38, "exchange": 0.15, "hiddenExchange": 0.2,
             "bytesPerStep": 2120044},
  "slowest": "worker-1",
  "peers": [{"role": "worker", "index": 0, "state": "Joined"},
            {"role": "worker", "index": 1,
             "shares": {"compute": 0.79, "wait": 0.01, "exchange": 0.15, "hiddenExchange": 0.25,
                        "bytesPerStep": 1}}],
  "maxSteps": 9})";

const RankTime kChief{.role = Role::kChief, .index = 0, .compute = 0.41, .wait = 0.38,
                      .exchange = 0.15, .hidden = 0.2, .bytes_per_step = 2'120'044};
const RankTime kWorker{.role = Role::kWorker, .index = 1, .compute = 0.79, .wait = 0.01,
                       .exchange = 0.15, .hidden = 0.25, .bytes_per_step = 1};

TEST(RankTimesTest, TheChiefsOwnSharesComeFirstThenThoseOfPeersThatTell) {
  const RankTimes times = TimesOf(kPage);
  EXPECT_THAT(times.ranks, ElementsAre(kChief, kWorker));
  EXPECT_EQ(times.slowest, "worker-1");
  EXPECT_EQ(times.ranks[1].name(), "worker-1");
  EXPECT_EQ(ParseTrainerReport(kPage)->max_steps, 9) << "what follows is read as before";
}

TEST(RankTimesTest, TheOrderOfFieldsDoesNotMatter) {
  const RankTimes times = TimesOf(
      R"({"peers": [{"shares": {"wait": 0.01, "compute": 0.79}, "index": 1, "role": "worker"}],
          "slowest": "worker-1", "shares": {"compute": 0.41}, "role": "chief"})");
  ASSERT_THAT(times.ranks, SizeIs(2));
  EXPECT_EQ(times.ranks[0].name(), "chief-0");
  EXPECT_EQ(times.ranks[0].compute, 0.41);
  EXPECT_EQ(times.ranks[1].name(), "worker-1");
  EXPECT_EQ(times.ranks[1].wait, 0.01);
  EXPECT_EQ(times.slowest, "worker-1");
}

TEST(RankTimesTest, OfAnotherStrategyThereAreNone) {
  EXPECT_EQ(TimesOf(R"({"role": "chief", "index": 0, "peers": [{"role": "ps", "index": 0}]})"),
            RankTimes());
}

TEST(RankTimesTest, WhatIsElsewhereOrOfAnotherTypeCountsForNothing) {
  for (const char* const page : {
           R"({"shares": {"compute": 1}})",  // Whose?
           R"({"role": "king", "shares": {"compute": 1}})",
           R"({"role": "chief", "shares": [{"compute": 1}]})",
           R"({"role": "chief", "shares": 5, "x": {"shares": {"compute": 1}}})",
           R"({"role": "chief", "peers": {"shares": {"compute": 1}, "role": "worker"}})",
           R"({"role": "chief", "peers": [[{"shares": {"compute": 1}, "role": "worker"}]]})",
           R"({"role": "chief", "peers": [{"x": {"shares": {"wait": 1}}, "role": "worker"}, 7]})",
           R"({"role": "chief", "slowest": "chief-0", "peers": []})"}) {
    EXPECT_EQ(TimesOf(page), RankTimes()) << page;
  }
}

TEST(RankTimesTest, FiguresThatNoRankHasAreCutToWhatOneMay) {
  const RankTimes times = TimesOf(
      R"({"role": "chief", "index": 1e300, "shares": {"compute": 7, "wait": -3, "exchange": 1e308,
          "hiddenExchange": "much", "bytesPerStep": 1e300}})");
  ASSERT_THAT(times.ranks, SizeIs(1));
  EXPECT_EQ(times.ranks[0],
            (RankTime{.role = Role::kChief, .index = 2147483647, .compute = 1, .wait = 0,
                      .exchange = 1, .hidden = 0, .bytes_per_step = int64_t{1} << 40}));
}

TEST(RankTimesTest, ASlowestThatIsNoneOfTheRanksIsNobody) {
  for (const std::string slowest : {R"("worker-9")", R"("<script>")", "5", R"(["chief-0"])",
                                    R"("chief-0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")"}) {
    const RankTimes times =
        TimesOf(R"({"role": "chief", "shares": {"wait": 0}, "slowest": )" + slowest + "}");
    EXPECT_THAT(times.ranks, SizeIs(1)) << slowest;
    EXPECT_EQ(times.slowest, "") << slowest;
  }
}

TEST(RankTimesTest, OfManyThousandsOfRanksOnlySoManyAreKept) {
  std::string page = R"({"peers": [)";
  for (int i = 0; i < 3'000; ++i) {
    page += (i > 0 ? "," : "") + std::string(R"({"role": "worker", "shares": {}, "index": )") +
            std::to_string(i) + "}";
  }
  const RankTimes times = TimesOf(page + R"(], "role": "chief", "shares": {"compute": 1}})");
  ASSERT_THAT(times.ranks, SizeIs(RankReader::kRanksMax));
  EXPECT_EQ(times.ranks[0].name(), "chief-0") << "the one that tells is not left out";
}

TEST(RankTimesTest, WhatIsTakenAwayAgainLeavesNothing) {
  RankSums sums;
  sums += SumOf(TimesOf(kPage));
  sums += SumOf(TimesOf(kPage));
  EXPECT_EQ(sums, (RankSums{.ranks = 4, .compute_thousandths = 2400, .wait_thousandths = 780,
                            .exchange_thousandths = 600, .hidden_thousandths = 900,
                            .bytes_per_step = 4'240'090, .jobs_with_slowest = 2}));
  sums -= SumOf(TimesOf(kPage));
  sums -= SumOf(TimesOf(kPage));
  EXPECT_EQ(sums, RankSums());
  EXPECT_THAT(RankTimes().ranks, IsEmpty());
}

}  // namespace
}  // namespace taas
