#include "operator/plan/exit_codes.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

struct Case {
  const char* name;
  int exit_code;
  const char* reason;
  Verdict want;
};

class ClassifyExitTest : public testing::TestWithParam<Case> {};

TEST_P(ClassifyExitTest, FollowsTheTableOfTheContract) {
  EXPECT_EQ(ClassifyExit(GetParam().exit_code, GetParam().reason), GetParam().want);
}

constexpr Verdict Again(RestartCause cause) { return {End::kRestart, cause}; }
constexpr Verdict kForGood{End::kPermanent};

INSTANTIATE_TEST_SUITE_P(
    Table, ClassifyExitTest,
    testing::Values(Case{"Done", 0, "Completed", {End::kCompleted}},
                    Case{"BadConfiguration", 1, "Error", kForGood},
                    Case{"ShellMisuse", 2, "Error", kForGood},
                    Case{"BadNode", 3, "Error", Again(RestartCause::kBadNode)},
                    Case{"CommandNotFound", 127, "Error", kForGood},
                    Case{"LastBelowSignals", 128, "Error", kForGood},
                    Case{"Interrupt", 130, "Error", Again(RestartCause::kKilled)},
                    Case{"Abort", 134, "Error", kForGood},
                    Case{"Kill", 137, "Error", Again(RestartCause::kKilled)},
                    Case{"OutOfMemory", 137, "OOMKilled", Again(RestartCause::kOutOfMemory)},
                    Case{"ChildOutOfMemory", 1, "OOMKilled", Again(RestartCause::kOutOfMemory)},
                    Case{"RestartMe", 138, "Error", Again(RestartCause::kUserError)},
                    Case{"SegmentationFault", 139, "Error", kForGood},
                    Case{"Terminate", 143, "Error", Again(RestartCause::kKilled)},
                    Case{"Largest", 255, "Error", kForGood}),
    [](const auto& info) { return std::string(info.param.name); });

Pod Failed(int exit_code) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.exit_code = exit_code;
  return pod;
}

TEST(ClassifyEndTest, ADrainedPodIsPreemptedWhateverItsExitCode) {
  Pod pod = Failed(1);
  pod.disrupted = true;
  EXPECT_EQ(ClassifyEnd(pod), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, AnEvictedPodIsPreempted) {
  Pod pod = Failed(137);
  pod.reason = "Evicted";
  EXPECT_EQ(ClassifyEnd(pod), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, APodThatTheNodeTurnedAwayIsPreemptedThoughItNeverHadAnExitCode) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.reason = "OutOfcpu";
  EXPECT_EQ(ClassifyEnd(pod), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, APodOfALostNodeIsNotTheUsersFault) {
  Pod pod = Failed(1);
  pod.reason = "NodeLost";
  EXPECT_EQ(ClassifyEnd(pod), Again(RestartCause::kNodeLost));
}

TEST(ClassifyEndTest, APodThatCompletedHasCompletedThoughItIsBeingDeleted) {
  Pod pod;
  pod.phase = PodPhase::kSucceeded;
  pod.meta.deletion_time = Clock::WallTime();
  EXPECT_EQ(ClassifyEnd(pod).end, End::kCompleted);
}

TEST(ClassifyEndTest, AFailureWithoutExitCodeForAnUnknownReasonIsPermanentAndQuoted) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.reason = "NoCommand";
  pod.message = "image x has no command";
  EXPECT_EQ(ClassifyEnd(pod), kForGood);
  EXPECT_EQ(DescribeEnd(pod), "NoCommand: image x has no command");
}

TEST(DescribeEndTest, TheTerminationMessageIsQuotedFromJsonAndFromPlainText) {
  Pod pod = Failed(1);
  pod.exit_reason = "Error";
  pod.termination_message = R"({"message":"open /a: not found","step":0})";
  EXPECT_EQ(DescribeEnd(pod), "exit code 1: open /a: not found");
  pod.termination_message = "plain\nwords\n";
  EXPECT_EQ(DescribeEnd(pod), "exit code 1: plain words");
  pod.exit_reason = "OOMKilled";
  pod.termination_message.clear();
  EXPECT_EQ(DescribeEnd(pod), "exit code 1 (OOMKilled)");
}

}  // namespace
}  // namespace taas
