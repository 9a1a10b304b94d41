#include "trainer/cluster/gpu_report.h"

#include <string>

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

}  // namespace
}  // namespace taas
