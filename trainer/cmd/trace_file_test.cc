#include "trainer/cmd/trace_file.h"

#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

class TraceFileTest : public testing::Test {
 protected:
  static void RunOnce(StepTrace::Track* track) {
    if (track->Begin()) track->Record(0, 0, track->Now(), track->Now());
    track->End();
  }
  // Of the steps in the file; -1 if there is none.
  int Steps(const std::string& path) {
    const auto text = files_.ReadAll(path);
    if (!text.ok()) return -1;
    int steps = 0;
    const nlohmann::json file = nlohmann::json::parse(*text);
    for (const auto& event : file["traceEvents"]) steps += event.value("cat", "") == "step" ? 1 : 0;
    return steps;
  }

  PosixFileSystem files_;
  FakeClock clock_;
  const std::string dir_ = testing::TempDir() + "/trace" + std::to_string(::getpid());
  const EngineConfig engine_{.trace_file = dir_ + "/a.b/t.json", .trace_from = 2,
                             .trace_steps = 3};
  void SetUp() override { ASSERT_THAT(files_.MakeDirs(dir_ + "/a.b"), IsOk()); }
};

TEST_F(TraceFileTest, WithoutAFileThereIsNoTrace) {
  TraceFile file(clock_, files_, EngineConfig(), {.name = "x", .suffix = "x"});
  EXPECT_EQ(file.trace(), nullptr);
  file.WriteIfComplete();
}

TEST_F(TraceFileTest, IsWrittenWhenTheLastStepHasRun) {
  TraceFile file(clock_, files_, engine_, {.name = "worker/1", .suffix = "worker-1"});
  StepTrace::Track* const track = file.trace()->AddTrack("", {{.name = "y", .op = "Relu"}}, 1);
  const std::string path = dir_ + "/a.b/t.worker-1.json";
  for (int run = 1; run <= 4; ++run) {
    EXPECT_EQ(Steps(path), -1) << run;
    RunOnce(track);
    file.WriteIfComplete();
  }
  EXPECT_EQ(Steps(path), 3);
  // And only once.
  ASSERT_THAT(files_.Remove(path), IsOk());
  RunOnce(track);
  file.WriteIfComplete();
  EXPECT_EQ(Steps(path), -1);
}

TEST_F(TraceFileTest, ATrainingThatEndsBeforeLeavesWhatWasRecorded) {
  {
    TraceFile nothing(clock_, files_, engine_, {.name = "a", .suffix = "idle"});
    nothing.trace()->AddTrack("", {}, 1);
    TraceFile file(clock_, files_, engine_, {.name = "a", .suffix = ""});
    StepTrace::Track* const track = file.trace()->AddTrack("", {{.name = "y", .op = "Relu"}}, 1);
    for (int run = 1; run <= 3; ++run) RunOnce(track);
  }
  EXPECT_EQ(Steps(dir_ + "/a.b/t.json"), 2);
  EXPECT_EQ(Steps(dir_ + "/a.b/t.idle.json"), -1);
}

}  // namespace
}  // namespace taas
