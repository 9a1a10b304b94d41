#include "operator/plan/exit_codes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

constexpr Verdict Again(RestartCause cause) { return {End::kRestart, cause}; }
constexpr Verdict kForGood{End::kPermanent};
constexpr Verdict kDone{End::kCompleted};
constexpr Verdict kUserError = Again(RestartCause::kUserError);
constexpr Verdict kKilled = Again(RestartCause::kKilled);
constexpr Verdict kOutOfMemory = Again(RestartCause::kOutOfMemory);

EndRules Rules(RestartPolicy policy, ExitCodeRules::Preset preset = ExitCodeRules::Preset::kSignals,
               bool bundled_trainer = true) {
  return {.policy = policy,
          .exit_codes = {.preset = preset},
          .bundled_trainer = bundled_trainer};
}

struct Case {
  const char* name;
  int exit_code;
  const char* reason;
  Verdict want;
};

class SignalsTest : public testing::TestWithParam<Case> {};

TEST_P(SignalsTest, FollowsTheTableOfTheContract) {
  EXPECT_EQ(ClassifyExit(GetParam().exit_code, GetParam().reason, Rules(RestartPolicy::kExitCode)),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SignalsTest,
    testing::Values(Case{"Done", 0, "Completed", kDone},
                    Case{"BadConfiguration", 1, "Error", kForGood},
                    Case{"ShellMisuse", 2, "Error", kForGood},
                    Case{"BadNode", 3, "Error", Again(RestartCause::kBadNode)},
                    Case{"CommandNotFound", 127, "Error", kForGood},
                    Case{"LastBelowSignals", 128, "Error", kForGood},
                    Case{"Interrupt", 130, "Error", kKilled},
                    Case{"Abort", 134, "Error", kForGood},
                    Case{"Kill", 137, "Error", kKilled},
                    Case{"OutOfMemory", 137, "OOMKilled", kOutOfMemory},
                    Case{"ChildOutOfMemory", 1, "OOMKilled", kOutOfMemory},
                    Case{"RestartMe", 138, "Error", kUserError},
                    Case{"SegmentationFault", 139, "Error", kForGood},
                    Case{"Terminate", 143, "Error", kKilled},
                    Case{"Largest", 255, "Error", kForGood}),
    [](const auto& info) { return std::string(info.param.name); });

class AtLeast128Test : public testing::TestWithParam<Case> {};

TEST_P(AtLeast128Test, FollowsTrainingOperator) {
  const EndRules rules =
      Rules(RestartPolicy::kExitCode, ExitCodeRules::Preset::kAtLeast128, false);
  EXPECT_EQ(ClassifyExit(GetParam().exit_code, GetParam().reason, rules), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AtLeast128Test,
    testing::Values(Case{"Done", 0, "Completed", kDone}, Case{"One", 1, "Error", kForGood},
                    Case{"ThreeOfAProgramThatKnowsNothingOfUs", 3, "Error", kForGood},
                    Case{"LastPermanent", 127, "Error", kForGood},
                    Case{"FirstRetryable", 128, "Error", kUserError},
                    Case{"Interrupt", 130, "Error", kKilled},
                    Case{"Abort", 134, "Error", kUserError},
                    Case{"OutOfMemory", 137, "OOMKilled", kOutOfMemory},
                    Case{"SegmentationFault", 139, "Error", kUserError},
                    Case{"Largest", 255, "Error", kUserError}),
    [](const auto& info) { return std::string(info.param.name); });

struct PolicyCase {
  const char* name;
  RestartPolicy policy;
  int exit_code;
  bool bundled_trainer;
  Verdict want;
};

class PolicyTest : public testing::TestWithParam<PolicyCase> {};

TEST_P(PolicyTest, SaysWhatTheEndOfAContainerMeans) {
  const PolicyCase& c = GetParam();
  const EndRules rules = Rules(c.policy, ExitCodeRules::Preset::kSignals, c.bundled_trainer);
  EXPECT_EQ(ClassifyExit(c.exit_code, "Error", rules), c.want);
}

// The restart matrix of tf-operator's own tests, and what the bundled trainer adds to it.
INSTANTIATE_TEST_SUITE_P(
    Table, PolicyTest,
    testing::Values(
        PolicyCase{"AlwaysRunsAgainAfter0", RestartPolicy::kAlways, 0, false, {End::kRestart}},
        PolicyCase{"AlwaysRunsAgainAfter1", RestartPolicy::kAlways, 1, false, kUserError},
        PolicyCase{"AlwaysEndsWithTheJobOfTheTrainer", RestartPolicy::kAlways, 0, true, kDone},
        PolicyCase{"OnFailureRunsAgainAfter1", RestartPolicy::kOnFailure, 1, false, kUserError},
        PolicyCase{"OnFailureIsDoneAfter0", RestartPolicy::kOnFailure, 0, false, kDone},
        PolicyCase{"OnFailureKnowsKills", RestartPolicy::kOnFailure, 137, false, kKilled},
        PolicyCase{"OnFailureKnowsBadNodes", RestartPolicy::kOnFailure, 3, true,
                   Again(RestartCause::kBadNode)},
        PolicyCase{"NeverFailsAfter1", RestartPolicy::kNever, 1, false, kForGood},
        PolicyCase{"NeverFailsAfter137", RestartPolicy::kNever, 137, true, kForGood},
        PolicyCase{"NeverFailsAfter138", RestartPolicy::kNever, 138, true, kForGood},
        PolicyCase{"NeverIsDoneAfter0", RestartPolicy::kNever, 0, false, kDone},
        PolicyCase{"ExitCodeFailsAfter1", RestartPolicy::kExitCode, 1, false, kForGood},
        PolicyCase{"ExitCodeRunsAgainAfter130", RestartPolicy::kExitCode, 130, false, kKilled},
        PolicyCase{"ExitCode3OfAnOwnImageIsPermanent", RestartPolicy::kExitCode, 3, false,
                   kForGood}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ExitCodeListTest, TheListsGoBeforeThePreset) {
  EndRules rules = Rules(RestartPolicy::kExitCode, ExitCodeRules::Preset::kSignals, false);
  rules.exit_codes.retryable = {1, 3, 42};
  rules.exit_codes.permanent = {42, 137};
  EXPECT_EQ(ClassifyExit(1, "Error", rules), kUserError);
  EXPECT_EQ(ClassifyExit(3, "Error", rules), Again(RestartCause::kBadNode));
  EXPECT_EQ(ClassifyExit(42, "Error", rules), kForGood);
  EXPECT_EQ(ClassifyExit(137, "OOMKilled", rules), kForGood);
  EXPECT_EQ(ClassifyExit(143, "Error", rules), kKilled);
}

// Symptom: a drained program that traps SIGTERM and exits with 0 counted as completed.
TEST(ToldToStopTest, ExitCode0IsACompletionOnlyBeforeTheDeletionBegan) {
  const EndRules own = Rules(RestartPolicy::kNever, ExitCodeRules::Preset::kSignals, false);
  const Clock::WallTime told(std::chrono::seconds(1000));
  Pod pod;
  pod.phase = PodPhase::kSucceeded;
  pod.exit_code = 0;
  pod.deletion_grace = std::chrono::seconds(30);
  pod.finished_at = told;
  EXPECT_EQ(ClassifyEnd(pod, own), kDone);
  pod.meta.deletion_time = told + pod.deletion_grace;
  EXPECT_EQ(ClassifyEnd(pod, own), Again(RestartCause::kPreempted));
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), kDone);
  pod.finished_at = told - std::chrono::seconds(1);
  EXPECT_EQ(ClassifyEnd(pod, own), kDone);
  pod.finished_at.reset();
  EXPECT_EQ(ClassifyEnd(pod, own), Again(RestartCause::kPreempted));
}

Pod Failed(int exit_code) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.exit_code = exit_code;
  return pod;
}

TEST(ClassifyEndTest, ADrainedPodIsPreemptedWhateverItsExitCode) {
  Pod pod = Failed(1);
  pod.disrupted = true;
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, AnEvictedPodIsPreempted) {
  Pod pod = Failed(137);
  pod.reason = "Evicted";
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, APodThatTheNodeTurnedAwayIsPreemptedThoughItNeverHadAnExitCode) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.reason = "OutOfcpu";
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), Again(RestartCause::kPreempted));
}

TEST(ClassifyEndTest, APodOfALostNodeIsNotTheUsersFault) {
  Pod pod = Failed(1);
  pod.node_lost = true;
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), Again(RestartCause::kNodeLost));
}

TEST(ClassifyEndTest, APodThatCompletedHasCompletedThoughItIsBeingDeleted) {
  Pod pod;
  pod.phase = PodPhase::kSucceeded;
  pod.meta.deletion_time = Clock::WallTime();
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)).end, End::kCompleted);
}

TEST(ClassifyEndTest, AFailureWithoutExitCodeForAnUnknownReasonIsPermanentAndQuoted) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.reason = "NoCommand";
  pod.message = "image x has no command";
  pod.started = true;  // A container beside it.
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kNever)), kForGood);
  EXPECT_EQ(DescribeEnd(pod), "NoCommand: image x has no command");
}

TEST(ClassifyEndTest, AFailureWithoutExitCodeIsRetriedWhereTrainingOperatorRetriesIt) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kExitCode)), kForGood);
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kExitCode, ExitCodeRules::Preset::kAtLeast128)),
            kUserError);
  EXPECT_EQ(ClassifyEnd(pod, Rules(RestartPolicy::kOnFailure)), kUserError);
}

TEST(DescribeEndTest, TheLastRunIsThatBeforeTheNodeStartedItAgain) {
  Pod pod;
  pod.exit_code = 7;
  pod.last_exit_code = 2;
  pod.last_exit_reason = "Error";
  pod.last_termination_message = "no such table\n";
  EXPECT_EQ(DescribeLastRun(pod), "exit code 2: no such table");
}

// Symptom: a manifest for a real cluster failed on the local one, whose programs are others, and
// the message did not tell.
TEST(DescribeEndTest, AProgramThatMayNotBeTheImagesIsSaidToBeSo) {
  Pod pod = Failed(2);
  pod.termination_message = "python: can't open file '/opt/mnist.py'";
  pod.image_note = "image \"x\" is not pulled";
  EXPECT_EQ(DescribeEnd(pod),
            "exit code 2: python: can't open file '/opt/mnist.py' (image \"x\" is not pulled)");
  pod.exit_code = 128;
  pod.exit_reason = "StartError";
  EXPECT_THAT(DescribeEnd(pod), testing::EndsWith("(image \"x\" is not pulled)"));
  pod.last_exit_code = 127;
  EXPECT_EQ(DescribeLastRun(pod), "exit code 127 (image \"x\" is not pulled)");
  // Who was killed has not failed for want of an image.
  pod.exit_code = 137;
  pod.exit_reason = "OOMKilled";
  EXPECT_THAT(DescribeEnd(pod), testing::Not(testing::HasSubstr("not pulled")));
}

TEST(WasTurnedAwayTest, OnlyAPodThatItsNodeDidNotEvenStartWas) {
  Pod pod;
  pod.phase = PodPhase::kFailed;
  pod.reason = "OutOfcpu";
  EXPECT_TRUE(WasTurnedAway(pod));
  Pod ran = pod;
  ran.reason = "Evicted";
  ran.started_at = Clock::WallTime();
  EXPECT_FALSE(WasTurnedAway(ran));
  Pod init_ran = pod;
  init_ran.started = true;
  EXPECT_FALSE(WasTurnedAway(init_ran));
  Pod silent = pod;
  silent.reason.clear();
  EXPECT_FALSE(WasTurnedAway(silent));
  Pod deleted = pod;
  deleted.meta.deletion_time = Clock::WallTime();
  EXPECT_FALSE(WasTurnedAway(deleted));
}

TEST(DescribeEndTest, TheTerminationMessageIsQuotedFromJsonAndFromPlainText) {
  Pod pod = Failed(1);
  pod.exit_reason = "Error";
  pod.termination_message = R"({"message":"open /a: not found","step":0})";
  EXPECT_EQ(DescribeEnd(pod), "exit code 1: open /a: not found");
  pod.termination_message = "plain\nwords\n";
  EXPECT_EQ(DescribeEnd(pod), "exit code 1: words (after: plain)");
  pod.exit_reason = "OOMKilled";
  pod.termination_message.clear();
  EXPECT_EQ(DescribeEnd(pod), "exit code 1 (OOMKilled)");
}

}  // namespace
}  // namespace taas
