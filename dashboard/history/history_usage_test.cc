#include "dashboard/history/history_usage.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;

constexpr double kStart = 1'795'273'616;

json RowsOf(const std::string& used, const std::string& replica = "worker-0") {
  return json::parse(used)["replicas"][replica];
}

TEST(JoinUsageTest, EachReplicaHasALineOfWhatIsMeasured) {
  std::string used = JoinUsage("", {kStart, {{"worker-0", {.cpu = 1.23456, .memory_mib = 99.6}},
                                             {"ps-0", {.gpu = 0.456, .gpu_memory_mib = 1'024}},
                                             {"chief-0", {}}}});
  used = JoinUsage(used, {kStart + 5, {{"worker-0", {.cpu = 2}}}});
  EXPECT_EQ(json::parse(used), json::parse(R"({"every":0.0,"replicas":{
      "ps-0":[[1795273616.0,null,null,0.46,1024.0]],
      "worker-0":[[1795273616.0,1.235,100.0],[1795273621.0,2.0]]}})"));
  EXPECT_EQ(JoinUsage("", {kStart, {{"worker-0", {}}}}), "");
}

TEST(JoinUsageTest, OfALongJobTheTimesAreFewerAndKeepItsWholeLength) {
  std::string used;
  constexpr int kSamples = 1'500;
  for (int i = 0; i < kSamples; ++i) {
    const double cpu = i < kSamples / 2 ? 1 : 3;
    used = JoinUsage(used, {kStart + 60.0 * i, {{"worker-0", {.cpu = cpu}}}});
  }
  const json rows = RowsOf(used);
  EXPECT_LE(rows.size(), kUsageTimesMax);
  EXPECT_GE(rows.size(), kUsageTimesMax / 3);
  EXPECT_LT(rows.front()[0], kStart + 1'000);
  EXPECT_GT(rows.back()[0], kStart + 60.0 * kSamples - 1'000);
  EXPECT_EQ(rows.front()[1], 1.0);
  EXPECT_EQ(rows.back()[1], 3.0);
  EXPECT_GE(json::parse(used)["every"], 320);
}

TEST(JoinUsageTest, ManyReplicasHaveFewerTimesEach) {
  UsageSample sample{.at = kStart, .replicas = {}};
  for (size_t i = 0; i < kUsageReplicasMax + 5; ++i) {
    sample.replicas["worker-" + std::to_string(i)] = {.cpu = 1};
  }
  std::string used;
  for (int i = 0; i < 40; ++i) {
    sample.at += 60;
    used = JoinUsage(used, sample);
  }
  EXPECT_EQ(json::parse(used)["replicas"].size(), kUsageReplicasMax);
  EXPECT_LE(RowsOf(used).size(), kUsageValuesMax / kUsageReplicasMax);
}

TEST(JoinUsageTest, WhatIsDamagedCountsAsEmptyAndTimeGoesOn) {
  for (const char* damaged :
       {"{", "[]", R"({"replicas":[],"every":"x"})", R"({"replicas":{"worker-0":5}})",
        R"({"replicas":{"worker-0":[[],7]}})"}) {
    const std::string used = JoinUsage(damaged, {kStart, {{"worker-0", {.cpu = 1}}}});
    EXPECT_EQ(RowsOf(used).size(), 1u) << damaged;
  }
  const std::string used = JoinUsage("", {kStart, {{"worker-0", {.cpu = 1}}}});
  EXPECT_EQ(JoinUsage(used, {kStart - 9, {{"worker-0", {.cpu = 2}}}}), used);
}

}  // namespace
}  // namespace taas::dashboard
