#include "cli/pod_wait_text.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string EventJson(const std::string& uid, const std::string& type) {
  return R"({"involvedObject":{"kind":"Pod","uid":")" + uid + R"("},"type":")" + type +
         R"(","reason":"FailedAttachVolume","message":"Multi-Attach error for volume \"v\""})";
}

TEST(PodWaitTextTest, ItIsTheWordsOfSchedulerAndKubelet) {
  Pod pod;
  pod.unschedulable_reason = "Unschedulable";
  pod.unschedulable_message = "0/3 nodes are available: 3 Insufficient memory.";
  EXPECT_EQ(WaitText(pod, {"FailedScheduling: old"}),
            "cannot be scheduled: Unschedulable: 0/3 nodes are available: 3 Insufficient memory.");
  Pod pulling;
  pulling.node = "n1";
  pulling.image = "me/trainer:9";
  pulling.waiting_reason = "ImagePullBackOff";
  EXPECT_EQ(WaitText(pulling, {}), "cannot start: ImagePullBackOff (image me/trainer:9)");
  Pod running;
  running.phase = PodPhase::kRunning;
  EXPECT_EQ(WaitText(running, {"FailedMount: old"}), "");
}

// Such a pod says no more than that its container is being made.
TEST(PodWaitTextTest, AVolumeThatAnotherNodeHasIsSaidWithWhatToDo) {
  Pod pod;
  pod.node = "n1";
  pod.waiting_reason = "ContainerCreating";
  EXPECT_EQ(WaitText(pod, {}), "is starting");
  const auto trouble = PodTrouble(EventJson("u", "Warning"), "u");
  ASSERT_TRUE(trouble.has_value());
  EXPECT_THAT(WaitText(pod, {"FailedMount: before", *trouble}),
              AllOf(HasSubstr("cannot start: FailedAttachVolume: Multi-Attach error"),
                    HasSubstr("ReadWriteOnce")));
  Pod elsewhere;
  elsewhere.unschedulable_reason = "Unschedulable";
  elsewhere.unschedulable_message = "0/2 nodes are available: 2 volume node affinity conflict.";
  EXPECT_THAT(WaitText(elsewhere, {}), HasSubstr("ReadWriteOnce"));
}

TEST(PodWaitTextTest, OnlyWarningsAboutThePodCount) {
  EXPECT_FALSE(PodTrouble(EventJson("u", "Normal"), "u").has_value());
  EXPECT_FALSE(PodTrouble(EventJson("other", "Warning"), "u").has_value());
  EXPECT_FALSE(PodTrouble("[]", "u").has_value());
  EXPECT_FALSE(PodTrouble(R"({"involvedObject":7,"type":"Warning"})", "u").has_value());
}

TEST(PodWaitTextTest, AnEndWithoutAnExitCodeHasItsReason) {
  Pod pod;
  pod.meta.ns = "team";
  pod.meta.name = "p";
  pod.phase = PodPhase::kFailed;
  pod.reason = "Evicted";
  pod.message = "the node was low on memory";
  EXPECT_THAT(EndOf(pod), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr("pod team/p ended before its command did: Evicted: "
                                             "the node was low on memory")));
  pod.reason = "DeadlineExceeded";
  EXPECT_THAT(EndOf(pod), StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("--timeout")));
  pod.reason = "";
  pod.init = std::make_shared<const InitContainer>(
      InitContainer{.name = "fetch", .exit_code = 7, .termination_message = "a\nno such host\n"});
  EXPECT_THAT(EndOf(pod),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("its init container fetch ended with exit code 7: no such host")));
}

}  // namespace
}  // namespace taas
