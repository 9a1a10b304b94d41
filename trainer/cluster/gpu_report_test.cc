#include "trainer/cluster/gpu_report.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

// Symptom: /status of a chief grew beyond what the operator reads when a member's reports were
// large, and the job's step stood still.
TEST(GpuReportTest, OfALargeReportLittleIsKept) {
  wire::Report report;
  report.set_state(std::string(1 << 20, 's'));
  report.set_message(std::string(1 << 20, 'm'));
  report.set_step(7);
  for (int i = 0; i < 1000; ++i) report.add_gpus()->set_id(std::string(1000, 'g'));
  for (int i = 0; i < 1000; ++i) report.mutable_gpus(0)->add_throttle(std::string(1000, 't'));
  const wire::Report bounded = Bounded(report);
  EXPECT_EQ(bounded.step(), 7);
  EXPECT_EQ(bounded.message().size(), kReportTextMax);
  EXPECT_EQ(GpusOf(bounded).size(), static_cast<size_t>(kReportGpusMax));
  EXPECT_LT(bounded.ByteSizeLong(), 16u << 10);
}

TEST(GpuReportTest, AnOrdinaryReportStaysAsItIs) {
  wire::Report report;
  report.set_state("Training");
  report.set_message("waiting for ps-1");
  report.add_gpus()->set_id("GPU-3d1e");
  EXPECT_EQ(Bounded(report).SerializeAsString(), report.SerializeAsString());
}

TEST(GpuReportTest, WhatIsKnownOfAGpuArrivesAndWhatIsNotStaysUnknown) {
  const std::vector<GpuReading> gpus = {
      {.id = "GPU-a", .index = 1, .utilization = 0.5, .memory_used_mib = 3, .memory_total_mib = 4,
       .power_watts = 412.5, .power_limit_watts = 700, .temperature_c = 64,
       .throttle = {{"PowerCap", "Heat"}}, .ecc_uncorrected = 2},
      {.id = "GPU-b", .throttle = std::vector<std::string>{}, .ecc_uncorrected = 0},
      {.id = "MIG-c"}};
  wire::Report report;
  SetGpus(gpus, &report);
  EXPECT_EQ(GpusOf(Bounded(report)), gpus);
}

}  // namespace
}  // namespace taas
