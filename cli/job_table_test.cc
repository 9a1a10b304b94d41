#include "cli/job_table.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

TEST(JobTableTest, EachJobIsALineAndColumnsAreAligned) {
  const Clock::WallTime now(1'800'000'000s);
  Job running;
  running.meta = {.ns = "team", .name = "mnist", .creation_time = now - 200s};
  running.status.state = JobState::kRunning;
  running.status.ready = "3/5";
  running.status.progress = Progress{.step = 1200, .max_steps = 2000, .percent = 60};
  running.status.restarts = {{RestartCause::kKilled, 2}, {RestartCause::kPreempted, 1}};
  Job fresh;
  fresh.meta = {.ns = "default", .name = "a-job-with-a-longer-name"};
  EXPECT_EQ(FormatJobTable({running, fresh}, now, false),
            "NAME                       STATE     READY   STEP        PROGRESS   RESTARTS   AGE\n"
            "mnist                      Running   3/5     1200/2000   60%        3          3m\n"
            "a-job-with-a-longer-name   Pending   -       -           -          0          -\n");
  EXPECT_EQ(FormatJobTable({running}, now, true).substr(0, 16), "NAMESPACE   NAME");
}

TEST(JobTableTest, AgesHaveOneUnit) {
  EXPECT_EQ(FormatAge(-5s), "0s");
  EXPECT_EQ(FormatAge(119s), "119s");
  EXPECT_EQ(FormatAge(120s), "2m");
  EXPECT_EQ(FormatAge(119min), "119m");
  EXPECT_EQ(FormatAge(47h), "47h");
  EXPECT_EQ(FormatAge(48h), "2d");
}

}  // namespace
}  // namespace taas
