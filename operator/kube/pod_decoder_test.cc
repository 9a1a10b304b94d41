#include "operator/kube/pod_decoder.h"

#include <map>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/object_fields.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr char kFailedPod[] = R"({
 "apiVersion":"v1","kind":"Pod",
 "metadata":{"namespace":"ns","name":"mnist-worker-1","uid":"u1","resourceVersion":"812",
   "creationTimestamp":"2026-11-21T05:54:17Z","deletionTimestamp":null,
   "labels":{"taas.dev/job-name":"mnist","taas.dev/role":"worker","taas.dev/index":"1",
             "taas.dev/attempt":"2","taas.dev/pod-number":"3","other":"x"},
   "annotations":{"taas.dev/bootstrap":"127.0.0.1:20001",
                  "taas.dev/template":"00000000000000ff","taas.dev/job-token":"0abc",
                  "taas.dev/requests":"{\"cpu\":\"2\"}",
                  "taas.dev/cluster-map":"m-cluster-1"},
   "ownerReferences":[{"uid":"other","kind":"Job"},
     {"uid":"j1","kind":"TrainingJob","controller":true}],
   "managedFields":[{"fieldsV1":{"f:metadata":{"f:labels":{".":{}}}}}]},
 "spec":{"nodeName":"n1","containers":[
   {"name":"sidecar","image":"s:1","ports":[{"name":"x"}]},
   {"name":"trainer","image":"t:1","env":[{"name":"A","value":"B"}]}]},
 "status":{"phase":"Failed","podIP":"10.0.0.7","reason":"Evicted","message":"low on memory",
   "conditions":[{"type":"Ready","status":"False"},
     {"type":"DisruptionTarget","status":"True","reason":"TerminationByKubelet"},
     {"type":"taas.dev/ImagePulled","status":"False","message":"t:1 is not pulled"},
     {"type":"PodScheduled","status":"True"}],
   "containerStatuses":[
     {"name":"sidecar","state":{"terminated":{"exitCode":9}}},
     {"name":"trainer","state":{"terminated":{"exitCode":137,"reason":"OOMKilled",
        "message":"{\"message\":\"x\"}","startedAt":"2026-11-21T05:55:00Z",
        "finishedAt":"2026-11-21T05:56:00Z"}},
      "restartCount":4,
      "lastState":{"terminated":{"exitCode":1,"reason":"Error","message":"no data"}}}]}})";

TEST(PodDecoderTest, TheContainerOfATfJobsPodIsTensorflowWhateverStandsBesideIt) {
  const auto pod = DecodePod(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
      "ownerReferences":[{"uid":"j","kind":"TFJob","controller":true}]},
    "spec":{"containers":[{"name":"trainer","image":"s:1"},{"name":"tensorflow","image":"t:1"}]},
    "status":{"containerStatuses":[
      {"name":"trainer","state":{"terminated":{"exitCode":9}}},
      {"name":"tensorflow","state":{"waiting":{"reason":"CrashLoopBackOff"}},"restartCount":2,
       "lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->image, "t:1");
  EXPECT_EQ(pod->waiting_reason, "CrashLoopBackOff");
  EXPECT_EQ(pod->restart_count, 2);
  EXPECT_EQ(pod->last_exit_code, 137);
  EXPECT_EQ(pod->last_exit_reason, "OOMKilled");
  EXPECT_FALSE(pod->exit_code.has_value());
}

// `inits`: statuses of the init containers fetch, proxy (a sidecar) and unpack.
Pod WithInits(const std::string& inits, const std::string& main = R"({"waiting":{}})") {
  const auto pod = DecodePod(R"({"metadata":{"name":"a"},"spec":{"restartPolicy":"OnFailure",
      "initContainers":[{"name":"fetch","image":"f:1"},
                        {"name":"proxy","image":"p:1","restartPolicy":"Always"},
                        {"name":"unpack","image":"u:1"}],
      "containers":[{"name":"trainer","image":"t:1"}]},
    "status":{"phase":"Pending","initContainerStatuses":)" + inits +
                             R"(,"containerStatuses":[{"name":"trainer","state":)" + main +
                             "}]}}");
  EXPECT_THAT(pod, IsOk());
  return pod.ok() ? *pod : Pod();
}

// Symptom: of a pod whose init container failed the operator knew neither which, nor its exit code,
// nor its last words, and "is starting" was all that it said for ever.
TEST(PodDecoderTest, TheInitContainerThatAPodHasComeToIsKnownWithItsEnds) {
  const Pod pod = WithInits(R"([{"name":"fetch","restartCount":3,
      "state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s"}},
      "lastState":{"terminated":{"exitCode":22,"reason":"Error","message":"no such host"}}},
    {"name":"proxy","state":{"waiting":{"reason":"PodInitializing"}}},
    {"name":"unpack","state":{"waiting":{"reason":"PodInitializing"}}}])");
  ASSERT_NE(pod.init, nullptr);
  EXPECT_EQ(*pod.init, (InitContainer{.name = "fetch", .image = "f:1",
                                      .waiting_reason = "CrashLoopBackOff",
                                      .waiting_message = "back-off 40s", .restart_count = 3,
                                      .last_exit_code = 22, .last_exit_reason = "Error",
                                      .last_termination_message = "no such host"}));
  EXPECT_EQ(pod.restart_count, 3);
  EXPECT_TRUE(pod.started);
  EXPECT_FALSE(pod.exit_code.has_value());
}

TEST(PodDecoderTest, ThoseThatHaveDoneTheirWorkAndSidecarsThatServeAreInNobodysWay) {
  const std::string served = R"([{"name":"fetch","restartCount":2,
      "state":{"terminated":{"exitCode":0,"startedAt":"2026-11-21T05:55:00Z"}},
      "lastState":{"terminated":{"exitCode":1}}},
    {"name":"proxy","restartCount":5,"state":{"running":{"startedAt":"2026-11-21T05:55:00Z"}},
     "lastState":{"terminated":{"exitCode":1}}},)";
  const Pod next = WithInits(
      served + R"({"name":"unpack","state":{"running":{"startedAt":"2026-11-21T05:55:00Z"}}}])");
  ASSERT_NE(next.init, nullptr);
  EXPECT_EQ(next.init->name, "unpack");
  EXPECT_TRUE(next.init->running);
  EXPECT_EQ(next.restart_count, 2);  // The sidecar's are no failures of the pod.
  const Pod main = WithInits(served + R"({"name":"unpack","state":{"terminated":{"exitCode":0}}}])",
                             R"({"running":{"startedAt":"2026-11-21T05:56:00Z"}})");
  EXPECT_EQ(main.init, nullptr);
  EXPECT_EQ(main.restart_count, 2);
  EXPECT_EQ(main.last_exit_code, 1);  // Which those restarts came of.
}

// A node that lost the sandbox of a pod runs all of it again.
TEST(PodDecoderTest, AnInitContainerThatRanAgainAfterItsSuccessIsNoFailure) {
  const Pod pod = WithInits(R"([{"name":"fetch","restartCount":4,
      "state":{"running":{"startedAt":"2026-11-21T05:55:00Z"}},
      "lastState":{"terminated":{"exitCode":0}}}])");
  EXPECT_EQ(pod.restart_count, 0);
}

TEST(PodDecoderTest, WhetherAnythingOfAPodHasRunIsKnown) {
  EXPECT_FALSE(WithInits("[]").started);
  EXPECT_FALSE(WithInits(R"([{"name":"fetch","state":{"waiting":{"reason":"x"}}}])").started);
  EXPECT_TRUE(WithInits("[]", R"({"terminated":{"exitCode":128}})").started);
  EXPECT_TRUE(
      WithInits(R"([{"name":"fetch","state":{"terminated":{"exitCode":1}}}])").started);
}

TEST(PodDecoderTest, APodThatKueueHoldsIsKnownByItsFinalizer) {
  const auto held = DecodePod(R"({"metadata":{"name":"a",
      "finalizers":["other.io/x","kueue.x-k8s.io/managed"],
      "annotations":{"kueue.x-k8s.io/retriable-in-group":"false"}}})");
  ASSERT_THAT(held, IsOk());
  EXPECT_TRUE(held->held_by_kueue);
  EXPECT_TRUE(held->ends_group);
  const auto free = DecodePod(R"({"metadata":{"name":"a","finalizers":["other.io/x"]}})");
  ASSERT_THAT(free, IsOk());
  EXPECT_FALSE(free->held_by_kueue);
  EXPECT_FALSE(free->ends_group);
}

TEST(PodDecoderTest, APodGroupSaysWhoseItIsHowLargeAndWhatIsWrong) {
  const auto group = DecodePodGroup(R"({"metadata":{"name":"mnist","namespace":"ns","uid":"g",
      "resourceVersion":"7","labels":{"taas.dev/job-name":"mnist"},
      "annotations":{"taas.dev/pod-group-spec":"{}"},
      "ownerReferences":[{"uid":"j","kind":"TFJob","controller":true}]},
    "spec":{"minMember":4,"minResources":{"cpu":"4"}},
    "status":{"phase":"Pending","conditions":[
      {"type":"Scheduled","status":"True","message":"before"},
      {"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
       "message":"4/4 tasks in gang unschedulable"}]}})");
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(group->owner_uid, "j");
  EXPECT_EQ(group->owner_kind, "TFJob");
  EXPECT_EQ(group->job, "mnist");
  EXPECT_EQ(group->min_member, 4);
  EXPECT_EQ(group->spec, "{}");
  EXPECT_EQ(group->phase, "Pending");
  EXPECT_EQ(group->trouble, "4/4 tasks in gang unschedulable");
}

TEST(PodDecoderTest, TheFieldsOfAFailedPodComeOut) {
  const absl::StatusOr<Pod> pod = DecodePod(kFailedPod);
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->meta.ns, "ns");
  EXPECT_EQ(pod->meta.name, "mnist-worker-1");
  EXPECT_EQ(pod->image_note, "t:1 is not pulled");
  EXPECT_EQ(pod->meta.uid, "u1");
  EXPECT_EQ(pod->meta.resource_version, "812");
  ASSERT_TRUE(pod->meta.creation_time.has_value());
  EXPECT_EQ(FormatRfc3339(*pod->meta.creation_time), "2026-11-21T05:54:17Z");
  EXPECT_FALSE(pod->meta.deletion_time.has_value());
  EXPECT_EQ(pod->owner_uid, "j1");
  EXPECT_EQ(pod->owner_kind, "TrainingJob");
  EXPECT_EQ(pod->restart_count, 4);
  EXPECT_EQ(pod->last_exit_code, 1);
  EXPECT_EQ(pod->last_exit_reason, "Error");
  EXPECT_EQ(pod->last_termination_message, "no data");
  EXPECT_EQ(pod->job, "mnist");
  EXPECT_EQ(pod->role, Role::kWorker);
  EXPECT_EQ(pod->index, 1);
  EXPECT_EQ(pod->attempt, 2);
  EXPECT_EQ(pod->pod_number, 3);
  EXPECT_EQ(pod->bootstrap, "127.0.0.1:20001");
  EXPECT_EQ(pod->template_hash, 255u);
  EXPECT_EQ(pod->requests, R"({"cpu":"2"})");
  EXPECT_EQ(pod->token, "0abc");
  EXPECT_EQ(pod->cluster_map, "m-cluster-1");
  EXPECT_EQ(pod->node, "n1");
  EXPECT_EQ(pod->phase, PodPhase::kFailed);
  EXPECT_EQ(pod->reason, "Evicted");
  EXPECT_EQ(pod->message, "low on memory");
  EXPECT_FALSE(pod->ready);
  EXPECT_TRUE(pod->disrupted);
  EXPECT_EQ(pod->unschedulable_reason, "");
  EXPECT_EQ(pod->image, "t:1");
  EXPECT_EQ(pod->exit_code, 137);
  EXPECT_EQ(pod->exit_reason, "OOMKilled");
  EXPECT_EQ(pod->termination_message, R"({"message":"x"})");
  EXPECT_EQ(FormatRfc3339(*pod->started_at), "2026-11-21T05:55:00Z");
  EXPECT_EQ(FormatRfc3339(*pod->finished_at), "2026-11-21T05:56:00Z");
  EXPECT_EQ(pod->ip, "10.0.0.7");
}

// Symptom: a main container that had ended beside a running sidecar was not seen to have ended.
TEST(PodDecoderTest, AContainerHasEndedWhereItsNodeWillNotStartItAgain) {
  struct {
    const char* policy;
    int exit_code;
    bool want;
  } constexpr kCases[] = {{"Never", 0, true},     {"Never", 1, true},   {"OnFailure", 0, true},
                          {"OnFailure", 1, false}, {"Always", 0, false}};
  for (const auto& c : kCases) {
    const auto pod = DecodePod(
        R"({"metadata":{"name":"a"},"spec":{"restartPolicy":")" + std::string(c.policy) +
        R"(","containers":[{"name":"trainer"},{"name":"s"}]},"status":{"phase":"Running",
        "containerStatuses":[{"name":"s","state":{"running":{}}},
          {"name":"trainer","state":{"terminated":{"exitCode":)" +
        std::to_string(c.exit_code) + "}}}]}}");
    ASSERT_THAT(pod, IsOk());
    EXPECT_EQ(pod->container_ended, c.want) << c.policy << " " << c.exit_code;
  }
}

// Symptom: nobody could tell a preemption by the scheduler from a drain.
TEST(PodDecoderTest, WhoTookAPodAwayIsItsMessageWhereItHasNone) {
  const auto message = [](const std::string& own) {
    const auto pod = DecodePod(R"({"metadata":{"name":"a"},"status":{)" + own +
                               R"("conditions":[{"type":"DisruptionTarget","status":"True",
        "reason":"PreemptionByScheduler","message":"default-scheduler: preempting"}]}})");
    return pod.ok() ? pod->message.str() : std::string(pod.status().message());
  };
  EXPECT_EQ(message(""), "PreemptionByScheduler: default-scheduler: preempting");
  EXPECT_EQ(message(R"("message":"low on memory",)"), "low on memory");
}

// Symptom: pods of a lost node counted as preempted.
TEST(PodDecoderTest, APodWasLostWithItsNodeWhereThatDidNotAnswerOrIsNoMore) {
  struct {
    const char* ready;
    const char* reason;
    const char* status;
    bool want;
  } constexpr kCases[] = {{"False", "DeletionByTaintManager", "True", true},
                          {"True", "DeletionByTaintManager", "True", false},
                          {"False", "DeletionByTaintManager", "False", false},
                          {"False", "DeletionByPodGC", "True", true},
                          {"False", "EvictionByEvictionAPI", "True", false}};
  for (const auto& c : kCases) {
    // In either order.
    const std::string ready = R"({"type":"Ready","status":")" + std::string(c.ready) + R"("})";
    const std::string target = R"({"type":"DisruptionTarget","status":")" +
                               std::string(c.status) + R"(","reason":")" + c.reason + R"("})";
    for (const std::string& both : {ready + "," + target, target + "," + ready}) {
      const auto pod = DecodePod(R"({"metadata":{"name":"a"},"status":{"conditions":[)" + both +
                                 "]}}");
      ASSERT_THAT(pod, IsOk());
      EXPECT_EQ(pod->node_lost, c.want) << both;
    }
  }
  const auto old = DecodePod(R"({"metadata":{"name":"a"},"status":{"reason":"NodeLost"}})");
  ASSERT_THAT(old, IsOk());
  EXPECT_TRUE(old->node_lost);
}

TEST(PodDecoderTest, ANodeIsSilentWhereSomebodyElseCallsItsPodNotReady) {
  struct {
    const char* ready;
    const char* containers;
    bool want;
  } constexpr kCases[] = {{R"("False")", "True", true},
                          {R"("True")", "True", false},
                          {R"("False","reason":"ReadinessGatesNotReady")", "True", false},
                          {R"("False","reason":"ContainersNotReady")", "False", false}};
  for (const auto& c : kCases) {
    const auto pod = DecodePod(R"({"metadata":{"name":"a"},"status":{"conditions":[
        {"type":"Ready","status":)" + std::string(c.ready) + R"(},
        {"type":"ContainersReady","status":")" + c.containers + R"("}]}})");
    ASSERT_THAT(pod, IsOk());
    EXPECT_EQ(pod->node_silent, c.want) << c.ready;
  }
}

// Symptoms: with cleanPodPolicy Running the pod that decided a success was deleted with its log, as
// one that runs, and an evicted one was charged to its program.
TEST(PodDecoderTest, APodHasNotEndedWhileItsKubeletHoldsBackThePhaseAndSoTheReason) {
  struct {
    const char* policy;
    const char* phase;
    const char* other;  // The state of the container beside the main one.
    int exit_code;
    bool ended;
  } constexpr kCases[] = {
      {"Never", "Running", R"({"terminated":{"exitCode":0}})", 0, false},
      {"Never", "Pending", R"({"terminated":{"exitCode":0}})", 0, false},
      {"Never", "Running", R"({"terminated":{"exitCode":0}})", 137, false},
      {"Never", "Failed", R"({"terminated":{"exitCode":0}})", 137, true},
      {"OnFailure", "Running", R"({"terminated":{"exitCode":0}})", 0, false},
      {"OnFailure", "Succeeded", R"({"terminated":{"exitCode":0}})", 0, true},
      // It has ended beside one that goes on, will be started again, or may never start.
      {"Never", "Running", R"({"running":{}})", 1, true},
      {"OnFailure", "Running", R"({"terminated":{"exitCode":1}})", 0, true},
      {"Never", "Pending", R"({"waiting":{"reason":"ErrImagePull"}})", 0, true},
  };
  for (const auto& c : kCases) {
    const auto pod = DecodePod(
        R"({"metadata":{"name":"a"},"spec":{"restartPolicy":")" + std::string(c.policy) +
        R"(","containers":[{"name":"trainer"},{"name":"s"}]},"status":{"phase":")" + c.phase +
        R"(","containerStatuses":[{"name":"s","state":)" + c.other +
        R"(},{"name":"trainer","state":{"terminated":{"exitCode":)" +
        std::to_string(c.exit_code) + "}}}]}}");
    ASSERT_THAT(pod, IsOk());
    EXPECT_EQ(pod->container_ended, c.ended) << c.policy << " " << c.phase << " " << c.other;
  }
}

// Symptom: a worker that its node evicted had two restarts, one of them "killed", when the kubelet
// had lost sight of its container.
TEST(PodDecoderTest, AContainerThatItsKubeletLostIsNoRunOfANewOne) {
  struct {
    const char* policy;
    const char* phase;
    int restarts;
    std::optional<int32_t> exit_code;
    bool ended;
  } constexpr kCases[] = {
      {"Never", "Failed", 0, 137, true},
      {"OnFailure", "Failed", 0, 137, false},  // Its phase says that it is over.
      // The reason may still come with the phase.
      {"Never", "Running", 0, 137, false},
      // After a restart of its node.
      {"OnFailure", "Running", 1, std::nullopt, false},
  };
  for (const auto& c : kCases) {
    const auto pod = DecodePod(
        R"({"metadata":{"name":"a"},"spec":{"restartPolicy":")" + std::string(c.policy) +
        R"(","containers":[{"name":"trainer"}]},"status":{"phase":")" + c.phase +
        R"(","containerStatuses":[{"name":"trainer","restartCount":1,
            "state":{"waiting":{"reason":"ContainerCreating"}},
            "lastState":{"terminated":{"exitCode":137,"reason":"ContainerStatusUnknown",
                                       "message":"could not be located"}}}]}})");
    ASSERT_THAT(pod, IsOk());
    SCOPED_TRACE(std::string(c.policy) + " " + c.phase);
    EXPECT_EQ(pod->restart_count, c.restarts);
    EXPECT_EQ(pod->exit_code, c.exit_code);
    EXPECT_EQ(pod->container_ended, c.ended);
    EXPECT_EQ(pod->waiting_reason.empty(), c.exit_code.has_value());
    EXPECT_EQ(pod->last_termination_message.empty(), c.exit_code.has_value());
  }
}

TEST(PodDecoderTest, TheGraceOfADeletionIsReadAndANonsenseOneCut) {
  const auto pod = DecodePod(R"({"metadata":{"name":"a","deletionGracePeriodSeconds":30}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->deletion_grace, std::chrono::seconds(30));
  const auto nonsense =
      DecodePod(R"({"metadata":{"name":"a","deletionGracePeriodSeconds":9000000000000000000}})");
  ASSERT_THAT(nonsense, IsOk());
  EXPECT_EQ(nonsense->deletion_grace, std::chrono::seconds(INT32_MAX));
}

TEST(PodDecoderTest, AWaitingPodSaysWhatItWaitsFor) {
  const absl::StatusOr<Pod> pod = DecodePod(R"({"metadata":{"name":"a"},
    "spec":{"containers":[{"name":"main","image":"nope:1"}]},
    "status":{"phase":"Pending","containerStatuses":[{"name":"main",
      "state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image"}}}]}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->waiting_reason, "ImagePullBackOff");
  EXPECT_EQ(pod->waiting_message, "Back-off pulling image");
  EXPECT_EQ(pod->image, "nope:1");  // The only container counts whatever its name.
  EXPECT_FALSE(pod->exit_code.has_value());
}

TEST(PodDecoderTest, AnUnschedulablePodHasTheSchedulersWords) {
  const absl::StatusOr<Pod> pod = DecodePod(R"({"metadata":{"name":"a"},"status":{"conditions":[
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->unschedulable_reason, "Unschedulable");
  EXPECT_EQ(pod->unschedulable_message, "0/3 nodes");
  EXPECT_EQ(pod->phase, PodPhase::kPending);
}

TEST(PodDecoderTest, LabelsThatAreNotOursLeaveThePodNobodys) {
  const absl::StatusOr<Pod> pod = DecodePod(
      R"({"metadata":{"name":"a","labels":{"taas.dev/role":"boss","taas.dev/index":"1x"}}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_FALSE(pod->role.has_value());
  EXPECT_EQ(pod->index, -1);
  EXPECT_EQ(pod->owner_uid, "");
}

// Whether it is believed is for those to say who know the ledger.
TEST(PodDecoderTest, APodNumberIsWhatItsLabelSaysUnlessThatIsNone) {
  for (const auto& [label, number] : std::map<std::string, int32_t>{
           {"7", 7}, {"2147483647", INT32_MAX}, {"2147483648", 0}, {"-1", 0}, {"first", 0}}) {
    const auto pod = DecodePod(R"({"metadata":{"name":"a","labels":{"taas.dev/pod-number":")" +
                               label + R"("}}})");
    ASSERT_THAT(pod, IsOk());
    EXPECT_EQ(pod->pod_number, number) << label;
  }
}

TEST(PodDecoderTest, LongMessagesAreCutAtACharacter) {
  std::string message;
  for (int i = 0; i < 200; ++i) message += "€";
  const absl::StatusOr<Pod> pod =
      DecodePod(R"({"metadata":{"name":"a"},"status":{"message":")" + message + R"("}})");
  ASSERT_THAT(pod, IsOk());
  // 56 and 27 characters of three bytes, and the mark between them.
  EXPECT_EQ(pod->message, message.substr(0, 168) + " … " + message.substr(0, 81));
}

TEST(PodDecoderTest, AFieldOfTheWrongTypeIsNamed) {
  EXPECT_THAT(DecodePod(R"({"metadata":{"name":"a"},"status":{"phase":3}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("status.phase")));
  EXPECT_THAT(DecodePod(R"({"metadata":{"name":"a","creationTimestamp":"soon"}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("creationTimestamp")));
  EXPECT_THAT(
      DecodePod(R"({"metadata":{"name":"a"},"status":{"containerStatuses":[{"name":"c",
        "state":{"terminated":{"exitCode":99999999999}}}]}})"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exitCode")));
}

TEST(PodDecoderTest, OfATextThatIsOddJsonTheSameComesOutAsOfAnyReader) {
  const auto pod = DecodePod(R"( {"metadata" : {"name":"first","name":"a","uid":{"x":["name"]},
      "labels":{"taas.dev\/job-name":"escaped","taas.dev/job-name":"mnist"},
      "finalizers":null,"ownerReferences":[{"uid":"u1"},{"uid":"u2","kind":"TrainingJob",
        "deep":[[{"uid":"x"}],2],"controller":true},{"uid":"u3"}]},
    "status":{"conditions":[],"containerStatuses":[[],{"name":"t","restartCount":2}]},
    "spec":{"containers":[{"name":"s"},{"name":"trainer","image":"i"}],"nodeName":null}} )");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->meta.name, "a") << "the last counts";
  EXPECT_EQ(pod->meta.uid, "") << "an object is no text";
  EXPECT_EQ(pod->job, "mnist");
  EXPECT_EQ(pod->owner_uid, "u2");
  EXPECT_EQ(pod->image, "i");
  EXPECT_EQ(pod->node, "");
}

TEST(PodDecoderTest, WhatIsNoJsonIsRefused) {
  for (const char* bad :
       {R"({"metadata":{"name":"a",}})", R"({"metadata":{"name":"a"},})",
        R"({"metadata":{"name"}})", R"({"metadata":{"name":"a"}} x)",
        R"({"metadata":{"name":"a"}}{})", R"({"metadata":{"name":a}})",
        R"({"metadata":{"name":"a" "uid":"b"}})", R"({"status":{"conditions":[{},]}})",
        R"({"metadata":{"name":"a"},"spec":{"nodeName":nul}})",
        "{\"metadata\":{\"name\":\"\xff\"}}", "{\"metadata\":{\"name\":\"a\nb\"}}"}) {
    EXPECT_THAT(DecodePod(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(PodDecoderTest, NoCutOfAPodDecodes) {
  const std::string text = kFailedPod;
  for (size_t end = 0; end < text.size(); ++end) {
    ASSERT_THAT(DecodePod(text.substr(0, end)), StatusIs(absl::StatusCode::kInvalidArgument))
        << end;
  }
}

TEST(PodDecoderTest, EveryChangedByteGivesAPodOrAnErrorAndNothingElse) {
  const std::string text = kFailedPod;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'"', '{', ']', '\0', '\x80', '9'}) {
      std::string changed = text;
      changed[at] = byte;
      const absl::StatusOr<Pod> pod = DecodePod(changed);
      if (!pod.ok()) {
        ASSERT_EQ(pod.status().code(), absl::StatusCode::kInvalidArgument);
      }
    }
  }
}

TEST(PodDecoderTest, AnObjectWithoutANameIsRefused) {
  EXPECT_THAT(DecodePod("{}"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name")));
  EXPECT_THAT(DecodePod("[]"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodePod("3"), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Symptom: status.message of an image that could not be pulled broke off in the middle of a word,
// and the reason, which a runtime names last, was lost.
TEST(PodDecoderTest, OfALongReasonThatAPodWaitsTheEndIsKept) {
  const std::string unpack = "failed to pull and unpack image \\\"ghcr.io/acme/trainer:1.2\\\": ";
  const absl::StatusOr<Pod> pod = DecodePod(
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"trainer"}]},
        "status":{"conditions":[{"type":"PodScheduled","status":"False",
        "reason":"Unschedulable","message":")" + std::string(300, 'x') + R"( and that is all"}],
        "containerStatuses":[{"name":"trainer",
          "state":{"waiting":{"reason":"ErrImagePull","message":")" +
      unpack + unpack + unpack + unpack + R"(dial tcp: network is unreachable"}}}]}})");
  ASSERT_THAT(pod, IsOk());
  EXPECT_LE(pod->waiting_message.str().size(), kPodMessageBytesMax);
  EXPECT_THAT(pod->waiting_message.str(), testing::StartsWith("failed to pull and unpack image"));
  EXPECT_THAT(pod->waiting_message.str(), testing::HasSubstr(" … "));
  EXPECT_THAT(pod->waiting_message.str(), testing::EndsWith("network is unreachable"));
  EXPECT_THAT(pod->unschedulable_message.str(), testing::EndsWith("and that is all"));
}

// What stays of a big pod: the promise is 1 KB each.
TEST(PodDecoderTest, APodOfOneHundredKilobytesStaysSmall) {
  std::string big = kFailedPod;
  std::string env;
  for (int i = 0; i < 2'000; ++i) env += R"({"name":"A","value":"0123456789012345678901234567"},)";
  big.insert(big.find(R"({"name":"A")"), env);
  ASSERT_GT(big.size(), 100'000u);
  const absl::StatusOr<Pod> pod = DecodePod(big);
  ASSERT_THAT(pod, IsOk());
  EXPECT_LE(sizeof(Pod), 1024u);
}

TEST(PodDecoderTest, AServiceSaysWhoseItIs) {
  const absl::StatusOr<OwnedObject> service = DecodeOwnedObject(
      R"({"metadata":{"namespace":"ns","name":"mnist","uid":"s","resourceVersion":"4",
        "labels":{"taas.dev/job-name":"mnist"},"ownerReferences":[{"uid":"j1","controller":true}]},
        "spec":{"clusterIP":"None"}})");
  ASSERT_THAT(service, IsOk());
  EXPECT_EQ(service->meta.resource_version, "4");
  EXPECT_EQ(service->owner_uid, "j1");
  EXPECT_EQ(service->job, "mnist");
  EXPECT_EQ(service->epoch, 0);
}

// Whoever may edit a pod may write anything there, and must not stop the operator with it.
TEST(PodDecoderTest, AnEpochIsReadAndNonsenseIsNone) {
  const auto epoch_of = [](const std::string& value) {
    const std::string text =
        R"({"metadata":{"name":"a","annotations":{"taas.dev/epoch":)" + value + "}}}";
    const auto pod = DecodePod(text);
    const auto object = DecodeOwnedObject(text);
    EXPECT_THAT(pod, IsOk());
    EXPECT_EQ(pod->epoch, object->epoch);
    return pod->epoch;
  };
  EXPECT_EQ(epoch_of(R"("12")"), 12);
  EXPECT_EQ(epoch_of(R"("999999999")"), 999'999'999);
  for (const char* nonsense :
       {R"("")", R"("0")", R"("-3")", R"("7 ")", R"("x")", R"("1000000000")",
        R"("99999999999999999999")", "null"}) {
    EXPECT_EQ(epoch_of(nonsense), 0) << nonsense;
  }
}

}  // namespace
}  // namespace taas
