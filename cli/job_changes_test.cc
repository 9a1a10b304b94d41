#include "cli/job_changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChangeLinesTest, OnlyChangesAreSaid) {
  JobStatus before;
  JobStatus after = before;
  EXPECT_THAT(ChangeLines(before, after), IsEmpty());
  after.state = JobState::kRunning;
  after.ready = "5/5";
  after.message = "worker-1 restarts";
  after.restarts[RestartCause::kKilled] = 1;
  EXPECT_THAT(ChangeLines(before, after),
              ElementsAre("Running, 5/5 ready", "worker-1 restarts", "restart 1, cause killed"));
  EXPECT_THAT(ChangeLines(after, after), IsEmpty());
}

TEST(ProgressLineTest, ProgressIsOneLineAndABar) {
  JobStatus status;
  status.state = JobState::kRunning;
  status.progress = Progress{.step = 1000,
                             .max_steps = 2000,
                             .percent = 50,
                             .examples_per_second = 20000.4,
                             .loss = 0.08125,
                             .eta_seconds = 4};
  EXPECT_EQ(ProgressLine(status),
            "step 1000/2000 (50 %), loss 0.08125, 20000 examples/s, 4 s left");
  EXPECT_EQ(ProgressBar(status).substr(0, 32), "[###############...............]");
  // `taas describe` of a suspended job ended with "6588 s left".
  status.state = JobState::kSuspended;
  EXPECT_EQ(ProgressLine(status), "step 1000/2000 (50 %), loss 0.08125, 20000 examples/s");
  EXPECT_EQ(ProgressLine(JobStatus()), "");
  status.progress = Progress{.step = 7};
  EXPECT_EQ(ProgressLine(status), "step 7");
}

}  // namespace
}  // namespace taas
