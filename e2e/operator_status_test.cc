// What a job of either kind says of itself on a real kube-apiserver: conditions in their order,
// with reasons and times, counts of replicas, why it failed, events. The test plays the kubelet.

#include <algorithm>

#include "e2e/contract_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class StatusTest : public ContractFixture {
 protected:
  // "Running=False TFJobRunning" and so on, in their order.
  std::vector<std::string> ConditionsOf(const PlayedJob& job) {
    std::vector<std::string> found;
    for (const json& condition : StatusOf(job).value("conditions", json::array())) {
      found.push_back(condition.value("type", "") + "=" + condition.value("status", "") + " " +
                      condition.value("reason", ""));
    }
    return found;
  }
  // In any order: of a TrainingJob it has no meaning.
  bool AwaitConditions(const PlayedJob& job, const std::vector<std::string>& wanted) {
    return Await([&] {
      const std::vector<std::string> found = ConditionsOf(job);
      if (job.tf) return found == wanted;
      return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
        return std::find(found.begin(), found.end(), one) != found.end();
      });
    });
  }
  // The times of a job that has ended are those of its life, in their order.
  void CheckTimes(const PlayedJob& job) {
    const json stored = Stored(job);
    const json status = stored["status"];
    const absl::Time began = TimeOf(stored["metadata"], "creationTimestamp");
    const absl::Time ended = TimeOf(status, "completionTime");
    const absl::Time started = TimeOf(status, "startTime");
    EXPECT_GE(started, began);
    EXPECT_GE(ended, started);
    absl::Time before = began;
    for (const json& condition : status["conditions"]) {
      const absl::Time changed = TimeOf(condition, "lastTransitionTime");
      EXPECT_GE(changed, began) << condition;
      EXPECT_LE(changed, ended + absl::Seconds(1)) << condition;
      if (!job.tf) {
        EXPECT_EQ(condition["observedGeneration"], stored["metadata"]["generation"]) << condition;
        continue;
      }
      EXPECT_GE(TimeOf(condition, "lastUpdateTime"), changed) << condition;
      // One that is no more true changed when the next one came.
      if (condition["status"] == "False") continue;
      EXPECT_GE(changed, before) << condition;
      before = changed;
    }
    EXPECT_EQ(status["observedGeneration"], stored["metadata"]["generation"]);
  }
};

TEST_F(StatusTest, ConditionsTellALifeInItsOrderWithReasonsAndTimes) {
  const Both jobs = Start("life", {.roles = {{"worker", 2}}, .policy = "ExitCode"});
  const std::vector<std::string> created[] = {
      {"Created=True Accepted", "Scheduled=False WaitingForNodes", "Running=False ReplicasStart"},
      {"Created=True TFJobCreated"}};
  for (const PlayedJob& job : jobs) {
    for (const std::string& pod : job.Pods()) ASSERT_TRUE(AwaitPod(pod)) << Told(job);
    EXPECT_TRUE(AwaitConditions(job, created[job.tf])) << Told(job);
    EXPECT_EQ(StatusOf(job)["state"], "Pending");
    for (const std::string& pod : job.Pods()) Bind(pod, "node-a");
    EXPECT_TRUE(RunPods(job));
  }
  const std::vector<std::string> running[] = {
      {"Created=True Accepted", "Scheduled=True AllScheduled", "Running=True ReplicasRun"},
      {"Created=True TFJobCreated", "Running=True TFJobRunning"}};
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitConditions(job, running[job.tf])) << Told(job);
    const std::string uid = UidOf(job.Pod("worker", 1));
    End(job.Pod("worker", 1), 130);
    ASSERT_TRUE(AwaitSuccessor(job.Pod("worker", 1), uid)) << Told(job);
  }
  const std::vector<std::string> restarting[] = {
      {"Running=False ReplicasRestart", "Restarting=True ReplicasRestart"},
      {"Created=True TFJobCreated", "Restarting=True TFJobRestarting"}};
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitConditions(job, restarting[job.tf])) << Told(job);
    Bind(job.Pod("worker", 1), "node-a");
    Run(job.Pod("worker", 1));
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitConditions(job, running[job.tf])) << Told(job);
    End(job.Pod("worker"), 0);
  }
  const std::vector<std::string> ended[] = {
      {"Created=True Accepted", "Scheduled=True AllScheduled", "Running=False JobEnded",
       "Restarting=False JobEnded", "Succeeded=True Completed"},
      {"Created=True TFJobCreated", "Running=False TFJobRunning",
       "Succeeded=True TFJobSucceeded"}};
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitConditions(job, ended[job.tf])) << Told(job);
    CheckTimes(job);
    EXPECT_EQ(StatusOf(job)["restarts"], json({{"killed", 1}}));
  }
  EXPECT_EQ(ConditionOf(jobs[1], "Succeeded")["message"],
            "TFJob default/tf-life successfully completed.");
}

TEST_F(StatusTest, AJobRunsWhenItsChiefAndItsParameterServersDo) {
  const Both jobs = Start("core", {.roles = {{"chief", 1}, {"ps", 1}, {"worker", 2}}});
  for (const PlayedJob& job : jobs) {
    for (const std::string& pod : job.Pods()) ASSERT_TRUE(AwaitPod(pod)) << Told(job);
    Run(job.Pod("worker"));
    EXPECT_TRUE(Await([&] { return StatusOf(job).value("ready", "") == "1/4"; })) << Told(job);
    EXPECT_EQ(StatusOf(job)["state"], "Pending");
    Run(job.Pod("chief"));
    Run(job.Pod("ps"));
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitState(job, "Running")) << Told(job);
    EXPECT_TRUE(AwaitMessage(job, "worker-1 ")) << Told(job);
    EXPECT_EQ(StatusOf(job)["ready"], "3/4");
  }
}

TEST_F(StatusTest, ReplicaStatusesCountWhoRunsHasCompletedAndHasFailed) {
  const Both jobs = StartAndRun(
      "counts",
      {.roles = {{"chief", 1}, {"worker", 3}}, .policies = {{"cleanPodPolicy", "None"}}});
  const auto await_counts = [&](const PlayedJob& job, const std::string& role, const json& some) {
    // Of a TFJob what is none is left out.
    json wanted = {{"active", 0}, {"succeeded", 0}, {"failed", 0}};
    if (job.tf) {
      wanted = {{"selector", "training.kubeflow.org/job-name=tf-counts,"
                             "training.kubeflow.org/operator-name=tfjob-controller,"
                             "training.kubeflow.org/replica-type=" + role}};
    }
    wanted.update(some);
    return Await([&] {
      json counts = CountsOf(job, role);
      counts.erase("desired");
      counts.erase("ready");
      return counts == wanted;
    });
  };
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(await_counts(job, "chief", {{"active", 1}})) << Told(job);
    EXPECT_TRUE(await_counts(job, "worker", {{"active", 3}})) << Told(job);
    End(job.Pod("worker", 2), 0);
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(await_counts(job, "worker", {{"active", 2}, {"succeeded", 1}})) << Told(job);
    EXPECT_EQ(StatusOf(job)["state"], "Running");
    EXPECT_EQ(StatusOf(job)["ready"], "3/4");
    End(job.Pod("worker", 1), 1);
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(await_counts(job, "worker", {{"active", 1}, {"succeeded", 1}, {"failed", 1}}))
        << Told(job);
    EXPECT_TRUE(AwaitState(job, "Failed"));
    EXPECT_TRUE(await_counts(job, "chief", {{"active", 1}})) << Told(job);
  }
}

// How worker-1 of a job ends, and what its condition Failed says: the sentence that readers of
// TFJobs know, and the reason of a TrainingJob; then which replica it was, and why.
struct Failure {
  const char* name;
  JobText text;
  int exit_code;  // 0: it runs on.
  std::string said;
  std::string known;
  const char* reason;
  std::string cause;
};

std::vector<Failure> Failures() {
  return {
      {.name = "never",
       .text = {.roles = {{"ps", 1}, {"worker", 2}}},
       .exit_code = 1,
       .said = "Traceback (most recent call last):\r\nValueError: \x1b[31mno such column\n",
       .known = "TFJob default/tf-never has failed because 1 Worker replica(s) failed.",
       .reason = "ReplicaFailed",
       .cause = "worker-1 failed for good: exit code 1: ValueError: no such column (after: "
                "Traceback (most recent call last):)"},
      {.name = "beside",
       .text = {.roles = {{"chief", 1}, {"worker", 2}}},
       .exit_code = 3,
       .said = R"({"message":"open /data: No such file or directory","step":0})",
       .known = "TFJob default/tf-beside has failed because 1 Worker replica(s) failed.",
       .reason = "ReplicaFailed",
       .cause = "worker-1 failed for good: exit code 3: open /data: No such file or directory"},
      {.name = "permanent",
       .text = {.roles = {{"worker", 2}}, .policy = "ExitCode"},
       .exit_code = 127,
       .said = "",
       .known = "job \"tf-permanent\" is failing because \"Worker\" replica(s) failed.",
       .reason = "ReplicaFailed",
       .cause = "worker-1 failed for good: exit code 127"},
      {.name = "backoff",
       .text = {.roles = {{"worker", 2}},
                .policy = "ExitCode",
                .policies = {{"backoffLimit", 0}}},
       .exit_code = 138,
       .said = "",
       .known = "Job tf-backoff has failed because it has reached the specified backoff limit",
       .reason = "BackoffLimitExceeded",
       .cause = "backoffLimit is 0: exit code 138"},
      {.name = "deadline",
       .text = {.roles = {{"worker", 2}}, .policies = {{"activeDeadlineSeconds", 1}}},
       .exit_code = 0,
       .said = "",
       .known = "Job tf-deadline has failed because it was active longer than specified deadline",
       .reason = "DeadlineExceeded",
       .cause = ""},
  };
}

TEST_F(StatusTest, AFailureNamesTheReplicaAndTheCause) {
  const std::vector<Failure> failures = Failures();
  std::vector<Both> all;
  for (const Failure& failure : failures) {
    all.push_back(Start(failure.name, failure.text));
    if (failure.exit_code == 0) continue;
    for (const PlayedJob& job : all.back()) EXPECT_TRUE(RunPods(job)) << Told(job);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (failures[i].exit_code == 0) continue;
    for (const PlayedJob& job : all[i]) {
      EXPECT_TRUE(AwaitRunning(job)) << Told(job);
      End(job.Pod("worker", 1), failures[i].exit_code, failures[i].said);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Failure& failure = failures[i];
    for (const PlayedJob& job : all[i]) {
      SCOPED_TRACE(job.name);
      ASSERT_TRUE(AwaitState(job, "Failed")) << Told(job);
      const json failed = ConditionOf(job, "Failed");
      EXPECT_EQ(failed["status"], "True") << Told(job);
      EXPECT_EQ(failed["reason"], job.tf ? "TFJobFailed" : failure.reason);
      EXPECT_THAT(failed.value("message", ""),
                  AllOf(StartsWith(job.tf ? failure.known : ""), HasSubstr(failure.cause)));
      EXPECT_THAT(StatusOf(job).value("message", ""), HasSubstr(failure.cause));
      EXPECT_TRUE(ConditionOf(job, "Succeeded").empty()) << Told(job);
      const std::string reason = job.tf ? "TFJobFailed" : failure.reason;
      ASSERT_TRUE(AwaitEvent(job, reason)) << reason;
      EXPECT_EQ(EventOf(job, reason)["type"], "Warning");
      EXPECT_THAT(EventOf(job, reason).value("message", ""), HasSubstr(failure.cause));
    }
  }
}

TEST_F(StatusTest, WhatTheMainReplicaSaysAtAGoodEndIsTold) {
  const Both jobs = StartAndRun("said", {.roles = {{"chief", 1}, {"worker", 1}}});
  const std::string said = "the checkpoint was at maxSteps already: nothing was left to train";
  for (const PlayedJob& job : jobs) {
    End(job.Pod("chief"), 0, json({{"message", said}, {"step", 100}}).dump());
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitState(job, "Succeeded")) << Told(job);
    EXPECT_EQ(StatusOf(job)["message"], said);
    EXPECT_EQ(StatusOf(job)["progress"]["step"], 100);
    EXPECT_THAT(ConditionOf(job, "Succeeded").value("message", ""), HasSubstr(said));
  }
}

TEST_F(StatusTest, ALifeIsToldInEventsOfTheJob) {
  const Both jobs = StartAndRun("events", {.roles = {{"worker", 2}}, .policy = "ExitCode"});
  for (const PlayedJob& job : jobs) SetPolicies(job, {{"suspend", true}});
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitState(job, "Suspended")) << Told(job);
    EXPECT_TRUE(Await([&] { return NamesOf(kPodsPath, job.name).empty(); }));
    SetPolicies(job, {{"suspend", false}});
    EXPECT_TRUE(RunPods(job)) << Told(job);
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitRunning(job)) << Told(job);
    const std::string uid = UidOf(job.Pod("worker", 1));
    End(job.Pod("worker", 1), 137);
    EXPECT_TRUE(AwaitSuccessor(job.Pod("worker", 1), uid)) << Told(job);
    End(job.Pod("worker"), 0);
  }
  const std::vector<std::string> told[] = {
      {"PodsCreated", "Suspended", "Resumed", "Restarting", "Completed"},
      {"SuccessfulCreatePod", "SuccessfulCreateService", "TFJobSuspended", "TFJobResumed",
       "ExitedWithCode", "TFJobRestarting", "TFJobSucceeded"}};
  for (const PlayedJob& job : jobs) {
    for (const std::string& reason : told[job.tf]) {
      ASSERT_TRUE(AwaitEvent(job, reason)) << job.name << ": " << reason;
      const json event = EventOf(job, reason);
      const bool warning = reason.find("Restarting") != std::string::npos;
      EXPECT_EQ(event["type"], warning ? "Warning" : "Normal") << event;
      EXPECT_EQ(event["involvedObject"]["uid"], Stored(job)["metadata"]["uid"]) << event;
      EXPECT_EQ(event["source"]["component"], "taas-operator") << event;
    }
  }
}

TEST_F(StatusTest, AnInitContainerThatFailsIsNamedWithItsLastWords) {
  const json init = json::parse(R"([{"name":"fetch","image":"own/fetch:1"}])");
  const Both jobs =
      Start("init", {.roles = {{"worker", 2}}, .pod = {{"initContainers", init}}});
  const auto set_init = [&](const std::string& pod, const std::string& phase, const json& state) {
    SetPodStatus(pod, {{"phase", phase},
                       {"initContainerStatuses",
                        {{{"name", "fetch"}, {"image", "own/fetch:1"}, {"imageID", ""},
                          {"ready", false}, {"restartCount", 0}, {"state", state}}}}});
  };
  for (const PlayedJob& job : jobs) {
    for (const std::string& pod : job.Pods()) {
      ASSERT_TRUE(AwaitPod(pod)) << Told(job);
      Bind(pod, "node-a");
    }
    set_init(job.Pod("worker", 1), "Pending",
             {{"waiting", {{"reason", "CreateContainerConfigError"},
                           {"message", "configmap \"settings\" not found"}}}});
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitMessage(job, "worker-1 cannot start its init container fetch: "
                                  "CreateContainerConfigError: configmap \"settings\" not found"))
        << Told(job);
    EXPECT_TRUE(AwaitEvent(job, "CreateContainerConfigError"));
    set_init(job.Pod("worker", 1), "Failed",
             {{"terminated", {{"exitCode", 2}, {"reason", "Error"}, {"message", "no bucket"}}}});
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitState(job, "Failed")) << Told(job);
    EXPECT_THAT(
        ConditionOf(job, "Failed").value("message", ""),
        HasSubstr("worker-1 failed for good: init container fetch: exit code 2: no bucket"));
  }
}

TEST_F(StatusTest, AnEvaluatorThatFailsForGoodIsToldAndTheTrainingGoesOn) {
  const Both jobs = StartAndRun(
      "evaluator", {.roles = {{"chief", 1}, {"worker", 1}, {"evaluator", 1}}});
  for (const PlayedJob& job : jobs) End(job.Pod("evaluator"), 1, "no test data");
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitMessage(job, "evaluator-0 failed for good: exit code 1: no test data; "
                                  "training goes on without it"))
        << Told(job);
    EXPECT_EQ(StatusOf(job)["state"], "Running");
    EXPECT_TRUE(Await([&] { return CountsOf(job, "evaluator").value("failed", 0) == 1; }));
    End(job.Pod("chief"), 0);
  }
  for (const PlayedJob& job : jobs) EXPECT_TRUE(AwaitState(job, "Succeeded")) << Told(job);
  EXPECT_THAT(StatusOf(jobs[0]).value("message", ""), HasSubstr("evaluator-0 failed for good"));
}

// Of which there may be more or fewer at any time.
TEST_F(StatusTest, ADynamicWorkerThatFailsDoesNotEndATfJobUnlessItDecidesItsSuccess) {
  const JobText text{.roles = {{"ps", 1}, {"worker", 2}}, .spec = {{"enableDynamicWorker", true}}};
  std::vector<PlayedJob> jobs;
  for (const char* name : {"dynamic-0", "dynamic-1"}) {
    jobs.push_back(StartOne(/*tf=*/true, name, text));
    EXPECT_TRUE(RunPods(jobs.back()));
    EXPECT_TRUE(AwaitRunning(jobs.back())) << Told(jobs.back());
  }
  End(jobs[0].Pod("worker", 0), 1);
  End(jobs[1].Pod("worker", 1), 1);
  EXPECT_TRUE(AwaitState(jobs[0], "Failed")) << Told(jobs[0]);
  EXPECT_TRUE(Await([&] { return CountsOf(jobs[1], "worker").value("failed", 0) == 1; }))
      << Told(jobs[1]);
  EXPECT_EQ(StatusOf(jobs[1])["state"], "Running");
  End(jobs[1].Pod("worker", 0), 0);
  EXPECT_TRUE(AwaitState(jobs[1], "Succeeded")) << Told(jobs[1]);
}

TEST_F(StatusTest, APodHasEndedWhenItsMainContainerHasThoughAnotherRunsOn) {
  const json sidecar = json::parse(R"([{"name":"proxy","image":"own/proxy:1"}])");
  const JobText text{.roles = {{"worker", 2}},
                     .policies = {{"cleanPodPolicy", "Running"}},
                     .pod = {{"containers", sidecar}}};
  std::map<int, Both> jobs;  // By the exit code of worker-0.
  for (const int code : {0, 1}) jobs[code] = StartAndRun("beside-" + std::to_string(code), text);
  for (const auto& [code, both] : jobs) {
    for (const PlayedJob& job : both) {
      const std::string now = FormatRfc3339(clock_.WallNow());
      const auto container = [](const std::string& name, bool ready, const json& state) {
        return json{{"name", name}, {"image", "own/program:1"}, {"imageID", ""},
                    {"ready", ready}, {"restartCount", 0}, {"state", state}};
      };
      SetPodStatus(job.Pod("worker"),
                   {{"phase", "Running"},
                    {"containerStatuses",
                     {container(job.tf ? "tensorflow" : "trainer", false,
                                {{"terminated", {{"exitCode", code}, {"finishedAt", now}}}}),
                      container("proxy", true, {{"running", {{"startedAt", now}}}})}}});
    }
  }
  for (const auto& [code, both] : jobs) {
    for (const PlayedJob& job : both) {
      EXPECT_TRUE(AwaitState(job, code == 0 ? "Succeeded" : "Failed")) << Told(job);
      // It runs still, so it goes.
      EXPECT_TRUE(Await([&] { return !Pod(job.Pod("worker")).contains("spec"); }));
    }
  }
}

// Others wait for the chief: that it does not come is not their fault.
TEST_F(StatusTest, AWorkerThatWaitedInVainForAChiefWithoutAPlaceIsMadeAgainAndNotCounted) {
  const Both jobs = Start("early", {.roles = {{"chief", 1}, {"worker", 1}},
                                    .policies_of = {{"worker", "ExitCode"}},
                                    .policies = {{"backoffLimit", 0}}});
  std::map<std::string, std::string> uids;
  for (const PlayedJob& job : jobs) {
    ASSERT_TRUE(AwaitPod(job.Pod("chief"))) << Told(job);
    ASSERT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    uids[job.name] = UidOf(job.Pod("worker"));
    Run(job.Pod("worker"));
    End(job.Pod("worker"), 138);
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitSuccessor(job.Pod("worker"), uids[job.name])) << Told(job);
    EXPECT_TRUE(RunPods(job));
    EXPECT_TRUE(AwaitRunning(job)) << Told(job);
    EXPECT_FALSE(StatusOf(job).contains("restarts")) << Told(job);
  }
}

TEST_F(StatusTest, ATfJobAndATrainingJobOfOneNameLeaveEachOthersPodsAlone) {
  const JobText text{.roles = {{"worker", 1}}};
  const PlayedJob first = StartOne(/*tf=*/true, "twin", text);
  EXPECT_TRUE(RunPods(first));
  EXPECT_TRUE(AwaitRunning(first)) << Told(first);
  const std::string uid = UidOf("twin-worker-0");
  const PlayedJob second = StartOne(/*tf=*/false, "twin", text);
  EXPECT_TRUE(AwaitMessage(second, "the pod twin-worker-0 does not belong to this job (owner: "
                                   "TFJob, uid " +
                                       Stored(first)["metadata"]["uid"].get<std::string>()))
      << Told(second);
  EXPECT_TRUE(AwaitEvent(second, "NameConflict"));
  Call("DELETE", second.path());
  End("twin-worker-0", 0);
  EXPECT_TRUE(AwaitState(first, "Succeeded")) << Told(first);
  EXPECT_EQ(UidOf("twin-worker-0"), uid);
}

}  // namespace
}  // namespace taas
