// Gangs: PodGroups of Volcano and of coscheduling, pod groups of Kueue, and jobs that must be in a
// gang where there is none.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/pod_json.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

const GangOptions kVolcano{.scheduler = GangScheduler::kVolcano, .name = "volcano"};
const GangOptions kCoscheduling{.scheduler = GangScheduler::kCoscheduling};
const GangOptions kKueue{.scheduler = GangScheduler::kKueue};

// As the API server and the view have it after the step.
void Take(Snapshot& now, const CreatePodGroup& made, const std::string& phase = "") {
  now.pod_group = PodGroupView{.uid = "group-1",
                               .resource_version = "30",
                               .owner_uid = made.job_uid,
                               .owner_kind = "TrainingJob",
                               .job = made.job_name,
                               .min_member = json::parse(made.spec)["minMember"],
                               .spec = made.spec,
                               .phase = phase};
}

Snapshot GangJob(const GangOptions& gang, JobShape shape = {.ps = 1, .workers = 3}) {
  Snapshot now = StartedJob(shape);
  now.gang = gang;
  return now;
}

// Its PodGroup is there and has its turn, and all pods run.
Snapshot RunningGang(const GangOptions& gang, JobShape shape = {.ps = 1, .workers = 3}) {
  Snapshot now = GangJob(gang, shape);
  Take(now, StepsOf<CreatePodGroup>(PlanJob(now)).at(0), "Running");
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) now.pods.push_back(PodOf(now, role, i));
  }
  return now;
}

bool ScheduledIsFalseFor(const Plan& plan, const std::string& reason) {
  for (const Condition& condition : plan.status.conditions) {
    if (condition.type == "Scheduled") return !condition.status && condition.reason == reason;
  }
  return false;
}

TEST(PodGroupTest, VolcanosIsMadeBeforeAnyPodAndSaysWhatTheGangNeeds) {
  Snapshot now = GangJob(kVolcano);
  now.job.spec.scheduling = {.queue = "team-a", .priority_class = "high"};
  now.job.spec.roles[Role::kWorker].gpus = 2;
  const Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<CreatePod>(plan), IsEmpty());
  const auto groups = StepsOf<CreatePodGroup>(plan);
  ASSERT_EQ(groups.size(), 1u);
  const json group = json::parse(PodGroupJson(groups[0]));
  EXPECT_EQ(group["apiVersion"], "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(group["kind"], "PodGroup");
  EXPECT_EQ(group["metadata"]["name"], "mnist");
  EXPECT_EQ(group["metadata"]["namespace"], "default");
  EXPECT_EQ(group["metadata"]["labels"]["taas.dev/job-name"], "mnist");
  EXPECT_EQ(group["metadata"]["ownerReferences"],
            json::parse(R"([{"apiVersion":"taas.dev/v1","kind":"TrainingJob","name":"mnist",
                             "uid":"uid-1","controller":true,"blockOwnerDeletion":true}])"));
  EXPECT_EQ(group["spec"], json::parse(R"({"minMember":4,"queue":"team-a",
      "priorityClassName":"high","minResources":{"nvidia.com/gpu":"6"}})"));
  EXPECT_TRUE(ScheduledIsFalseFor(plan, "WaitingForGang"));
}

TEST(PodGroupTest, PodsAreMadeWhenVolcanoHasLetTheGroupInAndBelongToIt) {
  Snapshot now = GangJob(kVolcano);
  const CreatePodGroup group = StepsOf<CreatePodGroup>(PlanJob(now)).at(0);
  for (const char* phase : {"", "Pending"}) {
    SCOPED_TRACE(phase);
    Take(now, group, phase);
    now.pod_group->trouble = "4/4 tasks in gang unschedulable";
    EXPECT_THAT(PlanJob(now).steps, IsEmpty());
    EXPECT_THAT(PlanJob(now).status.message, HasSubstr("waits for Volcano: its PodGroup mnist"));
    EXPECT_THAT(PlanJob(now).status.message, HasSubstr("4/4 tasks in gang unschedulable"));
  }
  Take(now, group, "Inqueue");
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 4u);
  const json pod = json::parse(*PodJson(pods[3].pod));
  EXPECT_EQ(pod["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"], "mnist");
  EXPECT_EQ(pod["metadata"]["annotations"]["volcano.sh/task-spec"], "worker");
}

TEST(PodGroupTest, CoschedulingsPodsAreMadeWithTheGroupAndFoundByALabel) {
  Snapshot now = GangJob(kCoscheduling);
  const CreatePodGroup made = StepsOf<CreatePodGroup>(PlanJob(now)).at(0);
  const json group = json::parse(PodGroupJson(made));
  EXPECT_EQ(group["apiVersion"], "scheduling.x-k8s.io/v1alpha1");
  EXPECT_EQ(group["spec"], json::parse(R"({"minMember":4})"));
  EXPECT_THAT(StepsOf<CreatePod>(PlanJob(now)), IsEmpty());
  Take(now, made);
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 4u);
  json pod = json::parse(*PodJson(pods[0].pod));
  EXPECT_EQ(pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"], "mnist");
  EXPECT_FALSE(pod["spec"].contains("schedulerName"));
  now.gang.name = "second-scheduler";
  pod = json::parse(*PodJson(StepsOf<CreatePod>(PlanJob(now)).at(0).pod));
  EXPECT_EQ(pod["spec"]["schedulerName"], "second-scheduler");
}

// 300 workers are told of each other by a ConfigMap.
TEST(PodGroupTest, AllOfALargeJobAreInItsGroup) {
  Snapshot now = GangJob(kVolcano, {.ps = 1, .workers = 300});
  const CreatePodGroup group = StepsOf<CreatePodGroup>(PlanJob(now)).at(0);
  EXPECT_EQ(json::parse(group.spec)["minMember"], 301);
  Take(now, group, "Inqueue");
  Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<CreatePod>(plan), IsEmpty());
  now.cluster_map = StepsOf<CreateConfigMap>(plan).at(0).name;
  plan = PlanJob(now);
  EXPECT_EQ(StepsOf<CreatePod>(plan).size(), 301u);
  for (const CreatePod& step : StepsOf<CreatePod>(plan)) {
    EXPECT_EQ(step.pod.annotations.at("scheduling.k8s.io/group-name"), "mnist");
  }
}

TEST(PodGroupTest, ATfJobsSaysWhatItsSchedulingPolicySays) {
  Snapshot now = StartedTfJob({.chiefs = 1, .workers = 2, .evaluators = 1});
  now.gang = kVolcano;
  EXPECT_EQ(json::parse(StepsOf<CreatePodGroup>(PlanJob(now)).at(0).spec),
            json::parse(R"({"minMember":4,"queue":"default"})"));
  now.job.spec.scheduling = {.queue = "q",
                             .priority_class = "high",
                             .min_available = 3,
                             .min_resources = R"({"cpu":4})",
                             .schedule_timeout_seconds = 90};
  EXPECT_EQ(json::parse(StepsOf<CreatePodGroup>(PlanJob(now)).at(0).spec),
            json::parse(R"({"minMember":3,"queue":"q","priorityClassName":"high",
                            "minResources":{"cpu":4}})"));
  now.gang = kCoscheduling;
  const CreatePodGroup group = StepsOf<CreatePodGroup>(PlanJob(now)).at(0);
  EXPECT_EQ(json::parse(group.spec), json::parse(R"({"minMember":3,"minResources":{"cpu":4},
                                                     "scheduleTimeoutSeconds":90})"));
  EXPECT_EQ(json::parse(PodGroupJson(group))["metadata"]["ownerReferences"][0]["kind"], "TFJob");
  Take(now, group);
  now.pod_group->owner_kind = "TFJob";
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_EQ(json::parse(*PodJson(pods[0].pod))["spec"]["priorityClassName"], "high");
}

TEST(PodGroupTest, TheEvaluatorOfATrainingJobIsNotWaitedFor) {
  Snapshot now = GangJob(kVolcano, {.chiefs = 1, .workers = 2, .evaluators = 1});
  EXPECT_EQ(json::parse(StepsOf<CreatePodGroup>(PlanJob(now)).at(0).spec)["minMember"], 3);
  Take(now, StepsOf<CreatePodGroup>(PlanJob(now)).at(0), "Inqueue");
  EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).size(), 4u);
}

TEST(PodGroupTest, TheResourcesAreThoseOfTheGangsPodsInTheOrderOfRoles) {
  Snapshot now = GangJob(kVolcano);
  now.job.spec.roles[Role::kPs].resources = R"({"requests":{"memory":"1Gi"}})";
  now.job.spec.roles[Role::kWorker].resources = R"({"requests":{"cpu":"1500m"}})";
  now.job.spec.scheduling.min_available = 2;
  const json spec = json::parse(StepsOf<CreatePodGroup>(PlanJob(now)).at(0).spec);
  EXPECT_EQ(spec["minMember"], 2);
  EXPECT_EQ(spec["minResources"], json::parse(R"({"cpu":"1500m","memory":"1073741824"})"));
}

TEST(PodGroupTest, ATemplateThatNamesAnotherSchedulerKeepsItAndSaysSo) {
  Snapshot now = NewJob({.workers = 1});
  now.gang = kVolcano;
  now.job.spec.roles[Role::kWorker].pod_template = R"({"spec":{"schedulerName":"mine"}})";
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  ASSERT_EQ(ledgers[0].notes.size(), 1u);
  EXPECT_EQ(ledgers[0].notes[0].reason, "SetPodTemplateSchedulerName");
  EXPECT_THAT(ledgers[0].notes[0].message, HasSubstr("names the scheduler mine"));
  now.job.ledger = ledgers[0].ledger;
  now.services["mnist"] = OurService(now);
  Take(now, StepsOf<CreatePodGroup>(PlanJob(now)).at(0), "Inqueue");
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(json::parse(*PodJson(pods[0].pod))["spec"]["schedulerName"], "mine");
}

TEST(PodGroupTest, NothingIsWrittenWhileTheGangRuns) {
  Snapshot now = RunningGang(kVolcano);
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
}

TEST(PodGroupTest, AJobThatIsScaledChangesItsGroupWithItsPods) {
  Snapshot now = RunningGang(kVolcano);
  now.job.spec.roles[Role::kWorker].replicas = 5;
  Plan plan = Follow(now);
  const auto updates = StepsOf<UpdatePodGroup>(plan);
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(json::parse(updates[0].spec)["minMember"], 6);
  EXPECT_EQ(updates[0].uid, "group-1");
  EXPECT_EQ(updates[0].resource_version, "30");
  EXPECT_EQ(updates[0].before, now.pod_group->spec);
  EXPECT_EQ(StepsOf<CreatePod>(plan).size(), 2u);
  now.job.spec.roles[Role::kWorker].replicas = 1;
  plan = Follow(now);
  ASSERT_EQ(StepsOf<UpdatePodGroup>(plan).size(), 1u);
  EXPECT_EQ(json::parse(StepsOf<UpdatePodGroup>(plan)[0].spec)["minMember"], 2);
}

// Volcano and coscheduling place what is above minMember when there is room.
TEST(PodGroupTest, OfAnElasticJobTheFewestThatTrainAreTheGang) {
  Snapshot now = GangJob(kVolcano, {.chiefs = 1, .workers = 5});
  RoleSpec& workers = now.job.spec.roles[Role::kWorker];
  workers.elastic = ElasticSpec{2, 8};
  workers.resources = R"({"requests": {"cpu": "2"}})";
  const auto made = StepsOf<CreatePodGroup>(PlanJob(now));
  ASSERT_EQ(made.size(), 1u);
  const json spec = json::parse(made[0].spec);
  EXPECT_EQ(spec["minMember"], 3);
  EXPECT_EQ(spec["minResources"]["cpu"], "4");
  Take(now, made[0], "Running");
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 6u);
  EXPECT_EQ(pods[5].pod.annotations.at("scheduling.k8s.io/group-name"), "mnist");
  // More and fewer of the others do not change it.
  for (int32_t i = 0; i < 5; ++i) now.pods.push_back(PodOf(now, Role::kWorker, i));
  now.pods.push_back(PodOf(now, Role::kChief, 0));
  for (const int32_t replicas : {8, 2}) {
    workers.replicas = replicas;
    EXPECT_TRUE(StepsOf<UpdatePodGroup>(Follow(now)).empty()) << replicas;
  }
}

// A completed pod holds no place, so a gang that still counted it could never be full again.
TEST(PodGroupTest, CompletedReplicasLeaveTheGangWhenAnotherOneWaitsForAPlace) {
  Snapshot now = RunningGang(kCoscheduling);
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  now.pods[2] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kSucceeded});
  EXPECT_THAT(StepsOf<UpdatePodGroup>(Follow(now)), IsEmpty());
  now.gone = {now.pods[3]};
  now.pods.pop_back();
  const auto updates = StepsOf<UpdatePodGroup>(Follow(now));
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(json::parse(updates[0].spec)["minMember"], 3);
}

TEST(PodGroupTest, ASizeThatSomebodyElseChangedIsPutBack) {
  Snapshot now = RunningGang(kVolcano);
  now.pod_group->min_member = 9;
  ASSERT_EQ(StepsOf<UpdatePodGroup>(PlanJob(now)).size(), 1u);
}

TEST(PodGroupTest, IsDeletedWhenTheJobIsSuspendedReleasedOrEnded) {
  Snapshot suspended = RunningGang(kVolcano);
  suspended.job.spec.suspend = true;
  const auto drops = StepsOf<DeletePodGroup>(Follow(suspended));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_EQ(drops[0].uid, "group-1");
  suspended.pod_group->terminating = true;
  EXPECT_THAT(StepsOf<DeletePodGroup>(PlanJob(suspended)), IsEmpty());

  Snapshot released = RunningGang(kVolcano);
  released.job.ledger->released_until = released.now + seconds(10);
  released.job.spec.pending_deadline_seconds = 60;
  EXPECT_EQ(StepsOf<DeletePodGroup>(Follow(released)).size(), 1u);
  released.pod_group.reset();
  EXPECT_THAT(StepsOf<CreatePodGroup>(PlanJob(released)), IsEmpty());
  released.now += seconds(10);
  released.pods.clear();
  released.gone.clear();
  EXPECT_EQ(StepsOf<CreatePodGroup>(Follow(released)).size(), 1u);

  Snapshot ended = RunningGang(kVolcano);
  ended.job.ledger->outcome = JobState::kSucceeded;
  EXPECT_EQ(StepsOf<DeletePodGroup>(PlanJob(ended)).size(), 1u);
  ended.pod_group.reset();
  EXPECT_THAT(StepsOf<CreatePodGroup>(PlanJob(ended)), IsEmpty());
}

// Symptom: a job that waited in a queue lost its place in it at each pendingDeadlineSeconds.
TEST(PodGroupTest, ThePendingDeadlineDoesNotRunWhileTheGangWaitsForItsTurn) {
  Snapshot now = GangJob(kVolcano);
  now.job.spec.pending_deadline_seconds = 60;
  Take(now, StepsOf<CreatePodGroup>(Follow(now)).at(0), "Pending");
  for (int i = 0; i < 5; ++i) {
    now.now += seconds(50);
    EXPECT_THAT(Follow(now).steps, IsEmpty());
  }
  now.pod_group->phase = "Inqueue";
  EXPECT_EQ(StepsOf<CreatePod>(Follow(now)).size(), 4u);
  EXPECT_EQ(now.job.ledger->pending_since, now.now);
  now.pods = {PodOf(now, Role::kPs, 0)};  // It holds a node, so the deadline runs.
  now.pod_group->phase = "Pending";
  now.now += seconds(60);
  Follow(now);
  EXPECT_EQ(now.job.ledger->releases, 1);
}

TEST(PodGroupTest, OneThatIsNotOursIsReportedNeverTouchedAndNoPodIsMade) {
  Snapshot now = GangJob(kVolcano);
  Take(now, StepsOf<CreatePodGroup>(PlanJob(now)).at(0), "Running");
  now.pod_group->owner_uid = "";
  now.pod_group->min_member = 1;
  Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<ReportConflict>(plan.steps[0]).kind, "PodGroup");
  EXPECT_THAT(plan.status.message, HasSubstr("the PodGroup mnist does not belong to this job"));
  now.job.spec.suspend = true;
  EXPECT_THAT(StepsOf<DeletePodGroup>(Follow(now)), IsEmpty());

  now = GangJob(kVolcano);
  Take(now, StepsOf<CreatePodGroup>(PlanJob(now)).at(0), "Running");
  now.pod_group->owner_uid = "uid-0";
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  EXPECT_THAT(PlanJob(now).status.message, HasSubstr("of an earlier job of this name"));
}

TEST(GangRequiredTest, AJobThatMustBeInAGangIsNotBegunWithoutOne) {
  Snapshot now = NewJob({.ps = 1, .workers = 2});
  now.job.spec.scheduling.gang_required = true;
  now.job.spec.active_deadline_seconds = 1;
  Plan plan = PlanJob(now);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.status.state, JobState::kPending);
  EXPECT_EQ(plan.status.ready, "0/3");
  EXPECT_TRUE(ScheduledIsFalseFor(plan, "NoGangScheduler"));
  EXPECT_THAT(plan.status.message, HasSubstr("--gang-scheduler"));
  now.job.status = plan.status;
  EXPECT_EQ(PlanJob(now).status, plan.status) << "nothing happens, so nothing is written";
  now.now += seconds(1000);
  now.gang = kVolcano;  // The operator was started again.
  EXPECT_EQ(StepsOf<CreatePodGroup>(Follow(now)).size(), 1u);
  EXPECT_FALSE(now.job.ledger->outcome.has_value()) << "its deadline ran while it was refused";
}

TEST(GangRequiredTest, AJobThatHasBegunGetsNoPodOutsideAGang) {
  Snapshot now = RunningGang(kVolcano);
  now.job.spec.scheduling.gang_required = true;
  now.gang = {};
  now.pod_group.reset();
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  EXPECT_EQ(PlanJob(now).status.message, "");
  now.gone = {now.pods.back()};
  now.pods.pop_back();
  const Plan plan = Follow(now);
  EXPECT_THAT(StepsOf<CreatePod>(plan), IsEmpty());
  EXPECT_THAT(plan.status.message, HasSubstr("gang is Required"));
}

TEST(GangRequiredTest, KueueNeedsTheNameOfAQueue) {
  Snapshot now = NewJob({.workers = 2});
  now.job.spec.scheduling.gang_required = true;
  now.gang = kKueue;
  Plan plan = PlanJob(now);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_TRUE(ScheduledIsFalseFor(plan, "NoQueue"));
  now.job.spec.scheduling.queue = "q";
  EXPECT_EQ(StepsOf<WriteLedger>(PlanJob(now)).size(), 1u);
}

TEST(GangAutoTest, WithoutAGangSchedulerAllPodsAreMadeAtOnce) {
  Snapshot now = NewJob({.ps = 1, .workers = 2});
  now.job.spec.scheduling = {.queue = "q", .min_available = 2};
  now.services["mnist"] = OurService(now);
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_FALSE(now.job.ledger->group.has_value());
  const json pod = json::parse(*PodJson(pods[0].pod));
  EXPECT_FALSE(pod["metadata"]["labels"].contains("kueue.x-k8s.io/queue-name"));
  EXPECT_FALSE(pod["spec"].contains("schedulerName"));
}

// A TrainingJob of Kueue's, as it is after its ledger was written.
Snapshot QueuedJob(JobShape shape) {
  Snapshot now = NewJob(shape);
  now.gang = kKueue;
  now.job.spec.scheduling.queue = "team-a";
  now.services["mnist"] = OurService(now);
  Follow(now);
  return now;
}

Snapshot AdmittedJob(JobShape shape) {
  Snapshot now = QueuedJob(shape);
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) {
      now.pods.push_back(PodOf(now, role, i));
      now.pods.back().held_by_kueue = true;
    }
  }
  return now;
}

std::string GroupOf(const CreatePod& step) {
  return step.pod.labels.at("kueue.x-k8s.io/pod-group-name");
}

TEST(KueueTest, ThePodsOfAnAttemptAreOneGroupOfTheQueue) {
  Snapshot now = QueuedJob({.chiefs = 1, .workers = 2, .evaluators = 1});
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 4u);
  for (const CreatePod& step : pods) {
    const json pod = json::parse(*PodJson(step.pod));
    const json& labels = pod["metadata"]["labels"];
    const json& annotations = pod["metadata"]["annotations"];
    EXPECT_EQ(labels["kueue.x-k8s.io/queue-name"], "team-a");
    EXPECT_EQ(labels["kueue.x-k8s.io/pod-group-name"], GroupOf(pods[0]));
    EXPECT_EQ(annotations["kueue.x-k8s.io/pod-group-total-count"], "4");
    EXPECT_EQ(annotations["kueue.x-k8s.io/role-hash"], RoleName(step.pod.role));
    EXPECT_FALSE(annotations.contains("kueue.x-k8s.io/retriable-in-group"));
  }
  EXPECT_THAT(GroupOf(pods[0]), testing::MatchesRegex("mnist-[0-9a-f]{7}"));
}

TEST(KueueTest, TheNameOfAGroupIsALabelAndAnotherForEachJobAndAttempt) {
  Snapshot now = QueuedJob({.workers = 1});
  const std::string first = GroupOf(StepsOf<CreatePod>(PlanJob(now)).at(0));
  now.job.ledger->attempt = now.job.ledger->group->attempt = 2;
  EXPECT_NE(GroupOf(StepsOf<CreatePod>(PlanJob(now)).at(0)), first);
  Snapshot other = NewJob({.workers = 1});
  other.gang = kKueue;
  other.job.meta.uid = "uid-2";
  other.job.spec.scheduling.queue = "team-a";
  other.services["mnist"] = OurService(other);
  EXPECT_NE(GroupOf(StepsOf<CreatePod>(Follow(other)).at(0)), first);
  now.job.meta.name = std::string(55, 'a');
  now.services[now.job.meta.name] = OurService(now);
  EXPECT_EQ(GroupOf(StepsOf<CreatePod>(PlanJob(now)).at(0)).size(), 63u);
}

TEST(KueueTest, TfJobsAndJobsWithoutAQueueHaveNoGroup) {
  Snapshot tf = StartedTfJob({.workers = 2});
  tf.gang = kKueue;
  tf.job.spec.scheduling.queue = "q";
  EXPECT_EQ(StepsOf<CreatePod>(Follow(tf)).at(0).pod.labels.count("kueue.x-k8s.io/queue-name"),
            0u);
  Snapshot plain = StartedJob({.workers = 2});
  plain.gang = kKueue;
  EXPECT_EQ(StepsOf<CreatePod>(Follow(plain)).at(0).pod.labels.count("kueue.x-k8s.io/queue-name"),
            0u);
}

TEST(KueueTest, ASuccessorIsOfItsPredecessorsGroupAndRole) {
  Snapshot now = AdmittedJob({.workers = 2});
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  const Snapshot before = QueuedJob({.workers = 2});
  const std::string group = GroupOf(StepsOf<CreatePod>(PlanJob(before)).at(0));
  now.gone = {now.pods[1]};
  now.pods.pop_back();
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].pod.pod_number, 2);
  EXPECT_EQ(GroupOf(pods[0]), group);
  EXPECT_EQ(pods[0].pod.annotations.at("kueue.x-k8s.io/pod-group-total-count"), "2");
}

// Symptom: Kueue keeps a deleted pod until its successor is there, and the successor has its name.
TEST(KueueTest, APodThatIsDeletedAndHasStoppedIsLetGoOnceItsEndIsCounted) {
  Snapshot now = AdmittedJob({.workers = 2});
  Pod& evicted = now.pods[1];
  evicted.meta.deletion_time = now.now;
  Plan plan = Follow(now);
  EXPECT_THAT(StepsOf<ReleasePod>(plan), IsEmpty()) << "it still runs";
  EXPECT_EQ(EntryOf(now, Role::kWorker, 1).pod_number, 2);
  EXPECT_EQ(now.job.ledger->restarts.at(RestartCause::kPreempted), 1);
  evicted.phase = PodPhase::kFailed;
  evicted.exit_code = 143;
  plan = Follow(now);
  const auto releases = StepsOf<ReleasePod>(plan);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].name, "mnist-worker-1");
  EXPECT_EQ(releases[0].uid, evicted.meta.uid);
  EXPECT_EQ(releases[0].resource_version, "20");
  EXPECT_FALSE(releases[0].ends_group);
  EXPECT_EQ(now.job.ledger->restarts.at(RestartCause::kPreempted), 1) << "counted twice";
}

TEST(KueueTest, APodThatNeverHadANodeIsLetGoAtOnce) {
  Snapshot now = AdmittedJob({.workers = 2});
  now.pods[1] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kPending});
  now.pods[1].held_by_kueue = true;
  now.pods[1].meta.deletion_time = now.now;
  EXPECT_EQ(StepsOf<ReleasePod>(Follow(now)).size(), 1u);
}

TEST(KueueTest, ASuspendedJobLetsItsPodsGoAndItsNextAttemptIsAnotherGroup) {
  Snapshot now = AdmittedJob({.workers = 2});
  const std::string first = GroupOf(StepsOf<CreatePod>(PlanJob(QueuedJob({.workers = 2}))).at(0));
  now.job.spec.suspend = true;
  EXPECT_EQ(StepsOf<DeletePod>(Follow(now)).size(), 2u);
  for (Pod& pod : now.pods) {
    pod.meta.deletion_time = now.now;
    pod.phase = PodPhase::kFailed;
  }
  EXPECT_EQ(StepsOf<ReleasePod>(Follow(now)).size(), 2u);
  now.pods.clear();
  now.job.spec.suspend = false;
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_NE(GroupOf(pods[0]), first);
}

// A pod more than was admitted would be deleted by Kueue as soon as it is there.
TEST(KueueTest, AJobThatGrowsBeginsItsNextAttemptAsAWhole) {
  Snapshot now = AdmittedJob({.ps = 1, .workers = 2});
  now.job.spec.roles[Role::kWorker].replicas = 3;
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  ASSERT_EQ(ledgers[0].notes.size(), 1u);
  EXPECT_EQ(ledgers[0].notes[0].reason, "NextAttempt");
  EXPECT_THAT(ledgers[0].notes[0].message, HasSubstr("4 replicas instead of 3"));
  const Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->attempt, 2);
  EXPECT_EQ(now.job.ledger->group, (AdmittedGroup{.attempt = 2, .replicas = 4, .pods = 4}));
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 3u);
  now.gone = now.pods;
  now.pods.clear();
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_EQ(pods[0].pod.annotations.at("kueue.x-k8s.io/pod-group-total-count"), "4");
  EXPECT_TRUE(now.job.ledger->restarts.empty()) << "nobody failed";
}

TEST(KueueTest, AnElasticJobGrowsByPodsThatAreAdmittedByThemselves) {
  Snapshot now = NewJob({.chiefs = 1, .workers = 3});
  now.gang = kKueue;
  now.job.spec.scheduling.queue = "team-a";
  now.job.spec.roles[Role::kWorker].elastic = ElasticSpec{2, 8};
  now.services["mnist"] = OurService(now);
  auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_EQ(now.job.ledger->group, (AdmittedGroup{.attempt = 1, .replicas = 3, .pods = 3}));
  EXPECT_EQ(GroupOf(pods[2]), GroupOf(pods[0])) << "worker-1";
  for (const CreatePod& step : pods) {
    now.pods.push_back(PodOf(now, step.pod.role, step.pod.index));
    now.pods.back().held_by_kueue = true;
  }
  now.job.spec.roles[Role::kWorker].replicas = 5;
  const Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->attempt, 1);
  EXPECT_TRUE(StepsOf<DeletePod>(plan).empty());
  const auto more = StepsOf<CreatePod>(plan);
  ASSERT_EQ(more.size(), 2u);
  pods.insert(pods.end(), more.begin(), more.end());
  for (const size_t surplus : {3u, 4u, 5u}) {
    EXPECT_EQ(pods[surplus].pod.labels.at("kueue.x-k8s.io/queue-name"), "team-a");
    EXPECT_FALSE(pods[surplus].pod.labels.contains("kueue.x-k8s.io/pod-group-name")) << surplus;
    EXPECT_TRUE(pods[surplus].pod.annotations.find("kueue.x-k8s.io/pod-group-total-count") ==
                pods[surplus].pod.annotations.end());
  }
  // At the end the group's quota is freed by one of the group only.
  now.pods = {PodOf(now, Role::kWorker, 2, {.phase = PodPhase::kSucceeded})};
  now.pods[0].held_by_kueue = true;
  now.job.ledger->outcome = JobState::kSucceeded;
  now.job.ledger->outcome_time = now.now;
  EXPECT_THAT(StepsOf<ReleasePod>(PlanJob(now)), IsEmpty());
}

TEST(KueueTest, AJobThatShrinksStaysAsItIs) {
  Snapshot now = AdmittedJob({.ps = 1, .workers = 3});
  now.job.spec.roles[Role::kWorker].replicas = 2;
  const Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->attempt, 1);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 1u);
}

TEST(KueueTest, WhereAllRestartTogetherTheEvaluatorDoesTooAndCompletedOnesAreNotCounted) {
  Snapshot now = AdmittedJob({.chiefs = 1, .workers = 2, .evaluators = 1});
  now.job.spec.restart_scope = RestartScope::kJob;
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.pods[1] = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kSucceeded});
  now.pods[2] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kFailed, .exit_code = 137});
  Follow(now);
  EXPECT_EQ(now.job.ledger->attempt, 2);
  EXPECT_EQ(EntryOf(now, Role::kEvaluator, 0).pod_number, 2);
  EXPECT_EQ(now.job.ledger->group, (AdmittedGroup{.attempt = 2, .replicas = 4, .pods = 3}));
}

TEST(KueueTest, PodsThatWereMadeBeforeKueueAreLeftInNoGroup) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.gang = kKueue;
  now.job.spec.scheduling.queue = "q";
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].pod.labels.count("kueue.x-k8s.io/pod-group-name"), 0u);
}

TEST(KueueTest, AtTheEndOneOfThePodsThatStaySaysThatNoneFollows) {
  Snapshot now = AdmittedJob({.chiefs = 1, .ps = 1});
  now.job.ledger->outcome = JobState::kSucceeded;
  EntryOf(now, Role::kChief, 0).completed = true;
  now.pods[0] = PodOf(now, Role::kChief, 0, {.phase = PodPhase::kSucceeded});
  now.pods[0].held_by_kueue = true;
  Plan plan = PlanJob(now);
  ASSERT_EQ(StepsOf<DeletePod>(plan).size(), 1u);
  ASSERT_EQ(StepsOf<ReleasePod>(plan).size(), 1u);
  EXPECT_EQ(StepsOf<ReleasePod>(plan)[0].name, "mnist-chief-0");
  EXPECT_TRUE(StepsOf<ReleasePod>(plan)[0].ends_group);
  now.pods[0].ends_group = true;
  now.pods[1].meta.deletion_time = now.now;
  now.pods[1].phase = PodPhase::kFailed;
  plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<ReleasePod>(plan.steps[0]).name, "mnist-ps-0");
  EXPECT_FALSE(std::get<ReleasePod>(plan.steps[0]).ends_group);
}

TEST(KueueTest, PodsOfAJobThatIsBeingDeletedAreLetGo) {
  Snapshot now = AdmittedJob({.workers = 2});
  now.job.meta.deletion_time = now.now;
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  now.pods[0].meta.deletion_time = now.now;
  now.pods[0].phase = PodPhase::kFailed;
  const auto releases = StepsOf<ReleasePod>(PlanJob(now));
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].name, "mnist-worker-0");
}

TEST(KueueTest, TheMessageSaysThatTheJobWaitsForItsTurn) {
  Snapshot now = QueuedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kPending})};
  now.pods[0].held_by_kueue = true;
  now.pods[0].unschedulable_reason = "SchedulingGated";
  EXPECT_EQ(PlanJob(now).status.message, "worker-0 waits until Kueue admits the job");
  now.pods[0].held_by_kueue = false;
  EXPECT_EQ(PlanJob(now).status.message, "worker-0 waits behind a scheduling gate");
  now.job.spec.pending_deadline_seconds = 60;
  now.now += seconds(1000);
  Follow(now);
  EXPECT_FALSE(now.job.ledger->pending_since.has_value()) << "its place in the queue would be lost";
}

}  // namespace
}  // namespace taas
