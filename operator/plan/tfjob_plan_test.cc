// What users of TFJobs, and the programs around them, see: names, labels, services, conditions.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/job_codec.h"
#include "operator/base/status_matchers.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/pod_json.h"
#include "third_party/json.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As Follow, and the status is written even if nothing else is.
Plan Settle(Snapshot& now) {
  Plan plan = PlanJob(now);
  for (const auto& step : StepsOf<WriteLedger>(plan)) {
    now.job.ledger = step.ledger;
    now.job.status = plan.status;
    return PlanJob(now);
  }
  now.job.status = plan.status;
  return plan;
}

Snapshot RunningTfJob(JobShape shape) {
  Snapshot now = StartedTfJob(shape);
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) now.pods.push_back(PodOf(now, role, i));
  }
  return now;
}

void End(Snapshot& now, Role role, int32_t index, int32_t exit_code) {
  for (Pod& pod : now.pods) {
    if (pod.role != role || pod.index != index) continue;
    pod = PodOf(now, role, index,
                {.phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed,
                 .exit_code = exit_code});
  }
}

// "Created", "Running=False", …: in their order.
std::vector<std::string> ConditionsOf(const Plan& plan) {
  std::vector<std::string> out;
  for (const Condition& condition : plan.status.conditions) {
    out.push_back(condition.type + (condition.status ? "" : "=False"));
  }
  return out;
}

TEST(TfJobPlanTest, EachReplicaHasAServiceOfItsNameWithThePortsOfItsContainer) {
  Snapshot now = StartedTfJob({.ps = 1, .workers = 1});
  now.services.clear();
  now.job.spec.roles[Role::kWorker].ports = {{"tfjob-port", 4444}, {"profile", 6009}};
  now.job.spec.roles[Role::kWorker].port = 4444;
  const auto services = StepsOf<CreateService>(PlanJob(now));
  ASSERT_EQ(services.size(), 2u);
  EXPECT_EQ(services[0].name, "mnist-ps-0");
  EXPECT_THAT(services[0].ports, ElementsAre(ServicePort{"tfjob-port", 2222}));
  EXPECT_EQ(services[1].name, "mnist-worker-0");
  EXPECT_THAT(services[1].ports,
              ElementsAre(ServicePort{"tfjob-port", 4444}, ServicePort{"profile", 6009}));
  EXPECT_EQ(services[1].selector, (std::map<std::string, std::string>{
                                      {"training.kubeflow.org/operator-name", "tfjob-controller"},
                                      {"training.kubeflow.org/job-name", "mnist"},
                                      {"training.kubeflow.org/replica-type", "worker"},
                                      {"training.kubeflow.org/replica-index", "0"}}));
  EXPECT_EQ(services[1].labels.at("training.kubeflow.org/replica-index"), "0");
  EXPECT_EQ(services[1].labels.at("taas.dev/job-name"), "mnist");
}

// Symptom: a template whose port 2222 had no name, or another one, made a service that the API
// server refuses: the job waited for ever.
TEST(TfJobPlanTest, AServiceHasThePortOfTheJobOnceWhateverTheTemplateCallsIt) {
  for (const char* name : {"", "grpc"}) {
    Snapshot now = StartedTfJob({.workers = 1});
    now.services.clear();
    now.job.spec.roles[Role::kWorker].ports = {{"", 6009}, {name, 2222}};
    const auto services = StepsOf<CreateService>(PlanJob(now));
    ASSERT_EQ(services.size(), 1u);
    EXPECT_THAT(services[0].ports,
                ElementsAre(ServicePort{"tfjob-port", 2222}, ServicePort{"port-6009", 6009}));
  }
}

TEST(TfJobPlanTest, PodsCarryTheLabelsThatToolsLookFor) {
  Snapshot now = StartedTfJob({.chiefs = 1, .workers = 1});
  now.job.spec.chief_is_master = true;
  now.services.clear();
  auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].pod.name, "mnist-master-0");
  EXPECT_EQ(pods[0].pod.labels.at("training.kubeflow.org/replica-type"), "master");
  EXPECT_EQ(pods[0].pod.labels.at("training.kubeflow.org/job-role"), "master");
  EXPECT_EQ(pods[1].pod.labels.count("training.kubeflow.org/job-role"), 0u);
  EXPECT_EQ(pods[1].pod.labels.count("tf-job-name"), 0u);
  EXPECT_EQ(pods[1].pod.owner_kind, JobKind::kTfJob);
  EXPECT_EQ(pods[1].pod.status_port, 0);
  now.legacy_labels = true;
  pods = StepsOf<CreatePod>(PlanJob(now));
  EXPECT_EQ(pods[1].pod.labels.at("tf-job-name"), "mnist");
}

TEST(TfJobPlanTest, ServicesGoWithTheReplicasThatAreScaledDownOrSuspended) {
  Snapshot now = RunningTfJob({.workers = 2});
  now.job.spec.roles[Role::kWorker].replicas = 1;
  auto services = StepsOf<DeleteService>(Settle(now));
  ASSERT_EQ(services.size(), 1u);
  EXPECT_EQ(services[0].name, "mnist-worker-1");
  EXPECT_EQ(services[0].uid, "service-1");
  now = RunningTfJob({.workers = 2});
  now.job.spec.suspend = true;
  const Plan plan = Settle(now);
  EXPECT_EQ(StepsOf<DeleteService>(plan).size(), 2u);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 2u);
}

struct CleanCase {
  const char* name;
  CleanPodPolicy policy;
  bool succeeded_pods;
  size_t want;
};
class TfJobCleanTest : public testing::TestWithParam<CleanCase> {};
TEST_P(TfJobCleanTest, PodsAndTheirServicesGoTogether) {
  Snapshot now = RunningTfJob({.ps = 2, .workers = 4});
  now.job.spec.clean_pod_policy = GetParam().policy;
  now.job.ledger->outcome = JobState::kSucceeded;
  if (GetParam().succeeded_pods) {
    for (Pod& pod : now.pods) pod.phase = PodPhase::kSucceeded;
  }
  const Plan plan = PlanJob(now);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), GetParam().want);
  EXPECT_EQ(StepsOf<DeleteService>(plan).size(), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(
    Table, TfJobCleanTest,
    testing::Values(CleanCase{"AllOfRunning", CleanPodPolicy::kAll, false, 6},
                    CleanCase{"RunningOfRunning", CleanPodPolicy::kRunning, false, 6},
                    CleanCase{"RunningOfSucceeded", CleanPodPolicy::kRunning, true, 0},
                    CleanCase{"NoneOfRunning", CleanPodPolicy::kNone, false, 0},
                    CleanCase{"NoneOfSucceeded", CleanPodPolicy::kNone, true, 0}),
    [](const auto& info) { return std::string(info.param.name); });

// The table of training-operator's own tests of a job's status.
struct StatusCase {
  const char* name;
  bool chief = false;
  std::vector<int32_t> chief_exit;             // Empty: it runs.
  std::map<int32_t, int32_t> worker_exits;     // Of 4 workers; the rest runs.
  std::map<int32_t, int32_t> ps_exits;         // Of 2.
  SuccessPolicy policy = SuccessPolicy::kAuto;
  std::string want;                            // The type of the last condition.
};
class TfJobStatusTest : public testing::TestWithParam<StatusCase> {};
TEST_P(TfJobStatusTest, TheLastConditionIsTheJobsState) {
  const StatusCase& c = GetParam();
  Snapshot now = RunningTfJob({.chiefs = c.chief ? 1 : 0, .ps = 2, .workers = 4});
  now.job.spec.success_policy = c.policy;
  now.job.status = PlanJob(now).status;
  if (!c.chief_exit.empty()) End(now, Role::kChief, 0, c.chief_exit[0]);
  for (const auto& [index, code] : c.worker_exits) End(now, Role::kWorker, index, code);
  for (const auto& [index, code] : c.ps_exits) End(now, Role::kPs, index, code);
  Settle(now);
  now.now += kFinishGrace;
  const Plan plan = Settle(now);
  EXPECT_EQ(plan.status.conditions.back().type, c.want);
  EXPECT_TRUE(plan.status.conditions.back().status);
  int outcomes = 0;
  for (const Condition& condition : plan.status.conditions) {
    if (condition.type == "Succeeded" || condition.type == "Failed") ++outcomes;
  }
  EXPECT_EQ(outcomes, c.want == "Running" ? 0 : 1);
}
constexpr bool kChief = true;
INSTANTIATE_TEST_SUITE_P(
    Table, TfJobStatusTest,
    testing::Values(
        StatusCase{"ChiefSucceeded", kChief, {0}, {}, {}, SuccessPolicy::kAuto, "Succeeded"},
        StatusCase{"ChiefRunning", kChief, {}, {}, {}, SuccessPolicy::kAuto, "Running"},
        StatusCase{"ChiefFailed", kChief, {1}, {}, {}, SuccessPolicy::kAuto, "Failed"},
        StatusCase{"ChiefRunningWorkersSucceeded", kChief, {}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}},
                   {}, SuccessPolicy::kAllWorkers, "Running"},
        StatusCase{"ChiefRunningPsFailed", kChief, {}, {}, {{1, 1}}, SuccessPolicy::kAuto,
                   "Failed"},
        StatusCase{"ChiefFailedWorkersSucceeded", kChief, {1}, {{0, 0}, {1, 0}}, {},
                   SuccessPolicy::kAuto, "Failed"},
        StatusCase{"ChiefSucceededWorkersFailed", kChief, {0}, {{0, 1}, {1, 1}}, {},
                   SuccessPolicy::kAuto, "Succeeded"},
        StatusCase{"WorkersRunning", false, {}, {}, {}, SuccessPolicy::kAuto, "Running"},
        StatusCase{"WorkerFailed", false, {}, {{2, 1}}, {}, SuccessPolicy::kAuto, "Failed"},
        StatusCase{"AllWorkersSucceeded", false, {}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}, {},
                   SuccessPolicy::kAuto, "Succeeded"},
        StatusCase{"TwoOthersSucceeded", false, {}, {{1, 0}, {2, 0}}, {}, SuccessPolicy::kAuto,
                   "Running"},
        StatusCase{"TwoSucceededTwoFailed", false, {}, {{1, 0}, {2, 0}, {0, 1}, {3, 1}}, {},
                   SuccessPolicy::kAuto, "Failed"},
        StatusCase{"Worker0Succeeded", false, {}, {{0, 0}}, {}, SuccessPolicy::kAuto, "Succeeded"},
        StatusCase{"Worker0OfAllSucceeded", false, {}, {{0, 0}}, {}, SuccessPolicy::kAllWorkers,
                   "Running"},
        StatusCase{"AllOfAllSucceeded", false, {}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}, {},
                   SuccessPolicy::kAllWorkers, "Succeeded"},
        StatusCase{"OneOfAllFailed", false, {}, {{0, 0}, {1, 1}}, {}, SuccessPolicy::kAllWorkers,
                   "Failed"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TfJobConditionsTest, TheirOrderIsTheHistoryAndTheirWordsAreTheKnownOnes) {
  Snapshot now = RunningTfJob({.workers = 2});
  now.job.spec.roles[Role::kWorker].restart_policy = RestartPolicy::kExitCode;
  now.pods[0].phase = PodPhase::kPending;
  Plan plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created"));
  EXPECT_EQ(plan.status.conditions[0].message, "TFJob mnist is created.");
  now.pods[0].phase = PodPhase::kRunning;
  plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created", "Running"));
  EXPECT_EQ(plan.status.conditions[1].reason, "TFJobRunning");
  EXPECT_EQ(plan.status.conditions[1].message, "TFJob default/mnist is running.");
  End(now, Role::kWorker, 1, 130);
  plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created", "Restarting"));
  EXPECT_EQ(plan.status.conditions[1].message,
            "job mnist is restarting because Worker replica(s) failed.");
  now.pods[1] = PodOf(now, Role::kWorker, 1, {.number = 2});
  plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created", "Running"));
  End(now, Role::kWorker, 0, 0);
  plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created", "Running=False", "Succeeded"));
  EXPECT_EQ(plan.status.conditions[2].message, "TFJob default/mnist successfully completed.");
  EXPECT_EQ(plan.status.completion_time, now.now);
}

TEST(TfJobConditionsTest, SuspendingAndResumingAreToldAsTrainingOperatorTellsThem) {
  Snapshot now = RunningTfJob({.workers = 1});
  Settle(now);
  now.job.spec.suspend = true;
  Plan plan = Settle(now);
  EXPECT_THAT(ConditionsOf(plan), ElementsAre("Created", "Running=False", "Suspended"));
  EXPECT_EQ(plan.status.conditions[1].reason, "TFJobSuspended");
  EXPECT_EQ(plan.status.conditions[2].message, "TFJob mnist is suspended.");
  now.pods.clear();
  now.job.spec.suspend = false;
  now.now += seconds(9);
  plan = Settle(now);
  EXPECT_EQ(plan.status.conditions.back().type, "Suspended");
  EXPECT_FALSE(plan.status.conditions.back().status);
  EXPECT_EQ(plan.status.conditions.back().reason, "TFJobResumed");
  EXPECT_EQ(plan.status.start_time, now.now);
  now.pods = {PodOf(now, Role::kWorker, 0, {.number = 2})};
  EXPECT_EQ(Settle(now).status.conditions.back().type, "Running");
}

struct FailureCase {
  const char* name;
  RestartPolicy policy;
  std::string want;
};
class TfJobFailureTest : public testing::TestWithParam<FailureCase> {};
TEST_P(TfJobFailureTest, HasTheWordsOfThePolicy) {
  Snapshot now = RunningTfJob({.ps = 1, .workers = 2});
  now.job.spec.roles[Role::kWorker].restart_policy = GetParam().policy;
  End(now, Role::kWorker, 1, 1);
  const Plan plan = Settle(now);
  EXPECT_EQ(plan.status.conditions.back().reason, "TFJobFailed");
  // In the words that readers know, and then why.
  EXPECT_EQ(plan.status.conditions.back().message,
            GetParam().want + " worker-1 failed for good: exit code 1");
  EXPECT_THAT(plan.status.message, HasSubstr("worker-1 failed for good: exit code 1"));
  EXPECT_EQ(plan.status.replica_statuses.at(Role::kWorker),
            (ReplicaStatus{.desired = 2, .active = 1, .ready = 1, .failed = 1}));
}
INSTANTIATE_TEST_SUITE_P(
    Table, TfJobFailureTest,
    testing::Values(
        FailureCase{"Never", RestartPolicy::kNever,
                    "TFJob default/mnist has failed because 1 Worker replica(s) failed."},
        FailureCase{"ExitCode", RestartPolicy::kExitCode,
                    R"(job "mnist" is failing because "Worker" replica(s) failed.)"}),
    [](const auto& info) { return std::string(info.param.name); });

// Symptom: that the failed worker had run out of memory stood in no condition.
TEST(TfJobFailureTest, TheConditionNamesTheReplicaAndTheCause) {
  Snapshot now = RunningTfJob({.ps = 1, .workers = 2});
  End(now, Role::kWorker, 1, 137);
  now.pods[2].exit_reason = "OOMKilled";
  EXPECT_EQ(Settle(now).status.conditions.back().message,
            "TFJob default/mnist has failed because 1 Worker replica(s) failed. worker-1 failed "
            "for good: exit code 137 (OOMKilled)");
}

// Symptom: a TFJob whose ps, or evaluator, ran on was told to have succeeded ten seconds (minutes)
// after its worker 0 had ended.
TEST(TfJobEndTest, ComesWithWorker0AndTheOthersHaveTheirGraceAfterIt) {
  Snapshot now = RunningTfJob({.ps = 1, .workers = 2, .evaluators = 1});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kRunning;
  End(now, Role::kWorker, 0, 0);
  Plan plan = Settle(now);
  EXPECT_EQ(plan.status.conditions.back().type, "Succeeded");
  EXPECT_EQ(plan.status.completion_time, now.now);
  EXPECT_THAT(StepsOf<DeletePod>(plan), IsEmpty());
  EXPECT_THAT(StepsOf<DeleteService>(plan), IsEmpty());
  EXPECT_EQ(plan.wake_at, now.now + kFinishGrace);
  const Clock::WallTime end = now.now;
  now.now += kFinishGrace;
  plan = Settle(now);
  std::vector<std::string> deleted;
  for (const DeletePod& step : StepsOf<DeletePod>(plan)) deleted.push_back(step.name);
  EXPECT_THAT(deleted, ElementsAre("mnist-ps-0", "mnist-worker-1"));
  EXPECT_EQ(plan.wake_at, end + kEvaluatorGrace);
  now.now = end + kEvaluatorGrace;
  deleted.clear();
  for (const DeletePod& step : StepsOf<DeletePod>(Settle(now))) deleted.push_back(step.name);
  EXPECT_THAT(deleted, testing::Contains("mnist-evaluator-0"));
  EXPECT_EQ(PlanJob(now).status.completion_time, end);
}

TEST(TfJobEndTest, WhoCompletesInTheGraceHasCompletedAlsoWhenItsPodIsGone) {
  Snapshot now = RunningTfJob({.ps = 1, .workers = 3});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kAll;
  End(now, Role::kWorker, 0, 0);
  Settle(now);
  End(now, Role::kWorker, 1, 0);
  // Written ahead of the deletion of what shows it.
  Plan plan = PlanJob(now);
  ASSERT_EQ(StepsOf<WriteLedger>(plan).size(), 1u);
  for (const DeletePod& step : StepsOf<DeletePod>(plan)) EXPECT_NE(step.name, "mnist-worker-1");
  now.now += seconds(3);
  plan = Settle(now);
  EXPECT_TRUE(EntryOf(now, Role::kWorker, 1).completed);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  now.pods.erase(now.pods.begin() + 1, now.pods.begin() + 3);
  EXPECT_EQ(PlanJob(now).status.replica_statuses.at(Role::kWorker).succeeded, 2);
}

TEST(TfJobEndTest, APodThatHasNotBegunByThenGoesAtOnce) {
  Snapshot now = RunningTfJob({.workers = 2, .evaluators = 1});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kRunning;
  now.pods[2] = PodOf(now, Role::kEvaluator, 0, {.phase = PodPhase::kPending});
  End(now, Role::kWorker, 0, 0);
  const auto deletes = StepsOf<DeletePod>(Settle(now));
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].name, "mnist-evaluator-0");
}

TEST(TfJobFailureTest, TheDeadlineHasItsOwnWords) {
  Snapshot now = RunningTfJob({.workers = 2});
  now.job.spec.active_deadline_seconds = 2;
  now.now += seconds(3);
  const Plan plan = Settle(now);
  EXPECT_EQ(plan.status.conditions.back().message,
            "Job mnist has failed because it was active longer than specified deadline");
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 2u);
}

TEST(TfJobFailureTest, AWipedLedgerDoesNotChangeTheWords) {
  Snapshot now = RunningTfJob({.workers = 2});
  End(now, Role::kWorker, 1, 1);
  const Plan before = Settle(now);
  now.job.status = before.status;
  now.job.ledger.reset();
  EXPECT_EQ(PlanJob(now).status.conditions, before.status.conditions);
}

TEST(TfJobPlanTest, AJobThatAnotherControllerManagesIsNotTouched) {
  Snapshot now = StartedTfJob({.workers = 2});
  now.job.ledger.reset();
  now.job.spec.managed_by = "kueue.x-k8s.io/multikueue";
  const Plan plan = PlanJob(now);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.status, now.job.status);
  now.job.spec.managed_by.clear();
  EXPECT_EQ(StepsOf<WriteLedger>(PlanJob(now)).size(), 1u);
}

TEST(TfJobPlanTest, APodOfATrainingJobOfThisNameIsForeignNotOfAnEarlierJob) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].owner_uid = "uid-0";
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  now.pods[0].owner_kind = "TrainingJob";
  const Plan plan = PlanJob(now);
  ASSERT_EQ(StepsOf<ReportConflict>(plan).size(), 1u);
  EXPECT_THAT(plan.status.message,
              HasSubstr("does not belong to this job (owner: TrainingJob, uid uid-0)"));
}

// Symptom: pods that training-operator had made for the same TFJob were taken for old ones of ours
// and deleted.
TEST(TfJobPlanTest, APodOfAnotherControllerForThisVeryJobIsReportedNotTouched) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0, {.number = 0})};
  now.pods[0].job.clear();
  const Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<DeletePod>(plan), IsEmpty());
  EXPECT_EQ(StepsOf<ReportConflict>(plan).size(), 1u);
  EXPECT_THAT(plan.status.message, HasSubstr("another controller made the pod mnist-worker-0"));
  now.gone = std::move(now.pods);
  now.pods.clear();
  EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).size(), 1u);
}

// Symptom: pod and service are made at the same time; where only the pod came through, its peers
// never found it.
TEST(TfJobPlanTest, AServiceThatDidNotComeThroughWithItsPodIsMadeLater) {
  Snapshot now = StartedTfJob({.workers = 2});
  for (int32_t i = 0; i < 2; ++i) now.pods.push_back(PodOf(now, Role::kWorker, i));
  now.services.erase("mnist-worker-1");
  const auto services = StepsOf<CreateService>(PlanJob(now));
  ASSERT_EQ(services.size(), 1u);
  EXPECT_EQ(services[0].name, "mnist-worker-1");
}

TEST(TfJobPlanTest, AServiceOfSomebodyElseHoldsUpItsReplicaOnly) {
  Snapshot now = StartedTfJob({.workers = 2});
  now.services["mnist-worker-0"] = {.uid = "s", .owner_uid = "x", .owner_kind = "Deployment"};
  const Plan plan = PlanJob(now);
  ASSERT_EQ(StepsOf<ReportConflict>(plan).size(), 1u);
  EXPECT_EQ(StepsOf<ReportConflict>(plan)[0].kind, "service");
  ASSERT_EQ(StepsOf<CreatePod>(plan).size(), 1u);
  EXPECT_EQ(StepsOf<CreatePod>(plan)[0].pod.name, "mnist-worker-1");
  EXPECT_THAT(plan.status.message, HasSubstr("the service mnist-worker-0 does not belong to this "
                                             "job (owner: Deployment, uid x)"));
}

TEST(TfJobPlanTest, WithOneServicePerJobPodsAreFoundUnderIt) {
  Snapshot now = StartedTfJob({.workers = 2});
  now.addresses.service_per_job = true;
  now.services.clear();
  const Plan plan = PlanJob(now);
  const auto services = StepsOf<CreateService>(plan);
  ASSERT_EQ(services.size(), 1u);
  EXPECT_EQ(services[0].name, "mnist");
  EXPECT_THAT(services[0].ports, ElementsAre(ServicePort{"tfjob-port", 2222}));
  EXPECT_EQ(StepsOf<CreatePod>(plan).at(0).pod.subdomain, "mnist");
}

TEST(TfJobPlanTest, ARestartPolicyOfTheTemplateIsSaidToBeOverridden) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.job.ledger.reset();
  now.job.spec.roles[Role::kWorker].pod_template =
      R"({"spec":{"restartPolicy":"Always","containers":[{"name":"tensorflow"}]}})";
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  ASSERT_EQ(ledgers[0].notes.size(), 1u);
  EXPECT_EQ(ledgers[0].notes[0].reason, "SetPodTemplateRestartPolicy");
  EXPECT_TRUE(ledgers[0].notes[0].warning);
}

// The pod of a job's only worker, as the API server gets it.
nlohmann::json PodOfOneWorker(const std::string& run_policy, const std::string& pod_spec) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.gpu_resource = "nvidia.com/mig-1g.5gb";
  const auto job = DecodeJob(
      JobKind::kTfJob, R"({"metadata":{"name":"mnist"},"spec":{"runPolicy":)" + run_policy +
                           R"(,"tfReplicaSpecs":{"Worker":{"template":{"spec":)" + pod_spec +
                           "}}}}}");
  EXPECT_THAT(job, IsOk());
  now.job.spec = job->spec;
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  EXPECT_EQ(pods.size(), 1u);
  return nlohmann::json::parse(*PodJson(pods.at(0).pod));
}

// It asked for a slice of a GPU beside the whole one: no node has both.
TEST(TfJobPodTest, AsksForTheGpusOfItsTemplateAndForNoOthers) {
  const std::string resources = R"({"limits":{"nvidia.com/gpu":1}})";
  const nlohmann::json pod = PodOfOneWorker(
      "{}", R"({"containers":[{"name":"tensorflow","image":"i","resources":)" + resources + "}]}");
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"], nlohmann::json::parse(resources));
}

TEST(TfJobPodTest, HasThePriorityOfTheJobUnlessItsTemplateNamesOne) {
  const std::string high = R"({"schedulingPolicy":{"priorityClass":"high"}})";
  const std::string containers = R"("containers":[{"name":"tensorflow","image":"i"}]})";
  EXPECT_EQ(PodOfOneWorker(high, "{" + containers)["spec"]["priorityClassName"], "high");
  EXPECT_EQ(PodOfOneWorker(high, R"({"priorityClassName":"low",)" + containers)["spec"]
                          ["priorityClassName"],
            "low");
}

}  // namespace
}  // namespace taas
