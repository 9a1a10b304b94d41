#include "operator/plan/gpu_sums.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

GpuSums SumsOf(const std::string& page) {
  const auto report = ParseTrainerReport(page);
  EXPECT_TRUE(report.has_value()) << page;
  return report.has_value() ? report->gpus : GpuSums();
}

constexpr char kPage[] = R"({"step": 5,
  "gpus": [{"id": "GPU-a", "index": 7, "utilization": 0.25, "memoryUsedMiB": 100,
            "memoryTotalMiB": 400, "powerWatts": 412.5, "powerLimitWatts": 700,
            "temperatureC": 64, "throttle": ["PowerCap", "Heat"], "eccUncorrected": 2}],
  "peers": [{"role": "worker", "index": 3, "gpus": [
               {"id": "GPU-b", "utilization": 0.5, "memoryUsedMiB": 1, "memoryTotalMiB": 400,
                "powerWatts": 100, "powerLimitWatts": 700, "temperatureC": 71,
                "throttle": ["Heat"], "eccUncorrected": 0},
               {"id": "MIG-c", "memoryUsedMiB": 5}]},
             {"role": "ps", "index": 0}],
  "maxSteps": 9})";

TEST(GpuSumsTest, TheChiefsOwnGpusAndThoseOfItsPeersAreAddedUp) {
  GpuSums want{.told = 3, .measured = 2, .busy_thousandths = 750, .memory_used_mib = 106,
               .memory_total_mib = 800, .power_milliwatts = 512'500,
               .power_limit_milliwatts = 1'400'000, .ecc_errors = 2, .with_ecc_errors = 1,
               .hottest_c = 71};
  want.throttled = {1, 0, 0, 2, 0, 0};
  EXPECT_EQ(SumsOf(kPage), want);
  EXPECT_EQ(ParseTrainerReport(kPage)->max_steps, 9) << "what follows is read as before";
}

TEST(GpuSumsTest, WhatIsTakenAwayAgainLeavesNothing) {
  GpuSums sums;
  sums += SumsOf(kPage);
  sums += SumsOf(kPage);
  EXPECT_EQ(sums.told, 6);
  sums -= SumsOf(kPage);
  sums -= SumsOf(kPage);
  EXPECT_EQ(sums, GpuSums());
}

TEST(GpuSumsTest, WhatIsElsewhereOrNoGpuCountsForNothing) {
  for (const char* const page : {
           R"({"x": {"gpus": [{"utilization": 1}]}})",
           R"({"gpus": {"utilization": 1}, "peers": {"gpus": [{"utilization": 1}]}})",
           R"({"gpus": 5, "peers": [[{"gpus": [{"utilization": 1}]}], 7, "gpus"]})",
           R"({"peers": [{"x": [{"gpus": [{"utilization": 1}]}]}], "utilization": 1})",
           R"({"gpus": []})"}) {
    EXPECT_EQ(SumsOf(page), GpuSums()) << page;
  }
}

TEST(GpuSumsTest, FiguresThatNoGpuHasAreCutToWhatOneMay) {
  const GpuSums sums = SumsOf(
      R"({"gpus": [{"utilization": -7, "memoryUsedMiB": 1e300, "powerWatts": -1,
                    "temperatureC": 1e9, "eccUncorrected": "many",
                    "throttle": ["Heat", "Heat", "rm -rf", 7, {"x": "PowerCap"}]}]})");
  EXPECT_EQ(sums.busy_thousandths, 0);
  EXPECT_EQ(sums.memory_used_mib, 1 << 24);
  EXPECT_EQ(sums.power_milliwatts, 0);
  EXPECT_EQ(sums.hottest_c, 500);
  EXPECT_EQ(sums.ecc_errors, 0);
  EXPECT_EQ(sums.throttled, (std::array<int64_t, 6>{0, 0, 0, 1, 0, 0}));
}

TEST(GpuSumsTest, MoreGpusThanAJobHasAreNotCounted) {
  std::string page = R"({"gpus": [)";
  for (int i = 0; i < GpuReader::kGpusMax + 9; ++i) page += R"({"utilization": 1},)";
  page.back() = ']';
  EXPECT_EQ(SumsOf(page + "}").told, GpuReader::kGpusMax);
}

}  // namespace
}  // namespace taas
