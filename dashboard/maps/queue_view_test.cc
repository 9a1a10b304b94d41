#include "dashboard/maps/queue_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using State = KueueWorkload::State;

const Clock::WallTime kStart{std::chrono::seconds(1'770'000'000)};

std::shared_ptr<WatchedJob> NewJob(const std::string& name, JobState state = JobState::kPending,
                                   const std::string& ns = "ml") {
  auto job = std::make_shared<WatchedJob>();
  job->meta = {.ns = ns, .name = name, .uid = "uid-" + name};
  job->meta.creation_time = kStart;
  job->status.state = state;
  job->status.message = "why " + name + " waits";
  return job;
}

std::shared_ptr<WatchedPod> NewPod(const std::string& node, int32_t gpus,
                                   const std::string& ns = "ml") {
  auto pod = std::make_shared<WatchedPod>();
  pod->meta = {.ns = ns, .name = "pod"};
  pod->meta.creation_time = kStart + 5s;
  pod->node = node;
  pod->gpus = gpus;
  return pod;
}

class WaitingTest : public testing::Test {
 protected:
  std::optional<WaitingJob> Waits() {
    std::vector<std::shared_ptr<const WatchedPod>> pods(pods_.begin(), pods_.end());
    return WaitingOf(job_, pods);
  }
  std::shared_ptr<WatchedJob> job_ = NewJob("a");
  std::vector<std::shared_ptr<WatchedPod>> pods_;
};

TEST_F(WaitingTest, APendingJobWithoutPodsWaitsForAllItsGpus) {
  job_->roles = {{.role = Role::kPs, .desired = 2, .gpus = 0},
                 {.role = Role::kWorker, .desired = 3, .gpus = 4}};
  const auto waiting = Waits();
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(waiting->gpus, 12);
  EXPECT_EQ(waiting->since, kStart);
  EXPECT_EQ(waiting->reason, "why a waits");
}

TEST_F(WaitingTest, OfARunningJobThePodsWithoutANodeWaitSinceTheyWereMade) {
  job_->status.state = JobState::kRunning;
  pods_ = {NewPod("node", 4), NewPod("", 2), NewPod("", 2)};
  pods_[2]->meta.creation_time = kStart + 3s;
  pods_[1]->unschedulable_reason = "Unschedulable";
  pods_[1]->unschedulable_message = "0/4 nodes";
  const auto waiting = Waits();
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(waiting->gpus, 4);
  EXPECT_EQ(waiting->since, kStart + 3s);
  EXPECT_EQ(waiting->reason, "Unschedulable: 0/4 nodes");
}

TEST_F(WaitingTest, WhoeverHasAPlaceOrWantsNoneDoesNotWait) {
  pods_ = {NewPod("node", 4)};
  EXPECT_FALSE(Waits().has_value()) << "its containers are on their way";
  pods_ = {NewPod("", 4)};
  EXPECT_TRUE(Waits().has_value());
  pods_[0]->phase = PodPhase::kFailed;
  EXPECT_FALSE(Waits().has_value()) << "an ended pod";
  pods_ = {NewPod("", 4)};
  pods_[0]->meta.deletion_time = kStart;
  EXPECT_FALSE(Waits().has_value()) << "a pod that is deleted";
  pods_ = {NewPod("", 4)};
  for (const JobState state : {JobState::kSuspended, JobState::kSucceeded, JobState::kFailed}) {
    job_->status.state = state;
    EXPECT_FALSE(Waits().has_value()) << JobStateName(state);
  }
  job_->status.state = JobState::kPending;
  job_->suspend = true;
  EXPECT_FALSE(Waits().has_value()) << "it is about to be suspended";
  job_->suspend = false;
  job_->meta.deletion_time = kStart;
  EXPECT_FALSE(Waits().has_value()) << "it is about to go";
  job_ = NewJob("b", JobState::kRunning);
  pods_.clear();
  EXPECT_FALSE(Waits().has_value()) << "its pods have not been heard of yet";
}

class QueueViewTest : public testing::Test {
 protected:
  QueueViewTest() {
    sight_.nodes = true;
    sight_.pods.all = true;
    sight_.jobs[JobKind::kTrainingJob].all = true;
    queue_sight_ = {.cluster_queues = true, .local_queues = {.all = true},
                    .workloads = {.all = true}};
    facts_.resource = "nvidia.com/gpu";
    facts_.job_of = [this](const KueueWorkload& workload) -> std::shared_ptr<const WatchedJob> {
      const auto found = jobs_.find(workload.meta.name);
      return found == jobs_.end() ? nullptr : found->second;
    };
  }

  void AddNode(const std::string& name, const std::string& product, int32_t allocatable) {
    auto node = std::make_shared<WatchedNode>();
    node->meta.name = name;
    node->product = product;
    node->capacity = node->allocatable = allocatable;
    facts_.nodes.push_back(node);
  }
  void AddWaiting(const std::string& name, std::chrono::seconds after,
                  const std::string& ns = "ml") {
    auto job = NewJob(name, JobState::kPending, ns);
    facts_.waiting.push_back({.job = job, .gpus = 1, .since = kStart + after, .reason = "r"});
  }
  KueueObjects& Kueue() {
    if (!facts_.kueue.has_value()) facts_.kueue.emplace();
    return *facts_.kueue;
  }
  KueueQueue& AddQueue(const std::string& ns, const std::string& name,
                       const std::string& cluster_queue) {
    auto queue = std::make_shared<KueueQueue>();
    queue->meta = {.ns = ns, .name = name};
    queue->cluster_queue = cluster_queue;
    queue->admitted = 2;
    (ns.empty() ? Kueue().cluster_queues : Kueue().local_queues).push_back(queue);
    return *queue;
  }
  KueueWorkload& AddWorkload(const std::string& name, const std::string& queue,
                             const std::string& ns = "ml") {
    auto workload = std::make_shared<KueueWorkload>();
    workload->meta = {.ns = ns, .name = name};
    workload->queue = queue;
    workload->queued = kStart;
    workload->gpus = 8;
    Kueue().workloads.push_back(workload);
    return *workload;
  }

  Json Show() {
    text_ = QueueTable(facts_).TextFor(sight_, queue_sight_);
    return Json::parse(text_);
  }
  static std::vector<std::string> Order(const Json& queue) {
    std::vector<std::string> out;
    for (const Json& one : queue["pending"]) {
      out.push_back(std::to_string(one["position"].get<int>()) + " " +
                    one.value("workload", one.value("/job/name"_json_pointer, "?")));
    }
    return out;
  }

  QueueFacts facts_;
  std::map<std::string, std::shared_ptr<const WatchedJob>> jobs_;  // By name of workload.
  Sight sight_;
  QueueSight queue_sight_;
  std::string text_;
};

TEST_F(QueueViewTest, WithoutKueueJobsWaitInTheOrderOfCreationWhateverTheirNamespace) {
  AddWaiting("third", 3s);
  AddWaiting("first", 1s, "vision");
  AddWaiting("b", 2s);
  AddWaiting("a", 2s);
  const Json list = Show();
  EXPECT_EQ(list["source"], "builtin");
  ASSERT_EQ(list["queues"].size(), 1u);
  const Json& queue = list["queues"][0];
  EXPECT_EQ(queue["inOrder"], true);
  EXPECT_THAT(Order(queue), ElementsAre("1 first", "2 a", "3 b", "4 third"));
  EXPECT_EQ(queue["pending"][0],
            Json::parse(R"({"position": 1, "state": "waiting", "namespace": "vision", "gpus": 1,
                "since": "2026-02-02T02:40:01Z", "reason": "r",
                "job": {"kind": "TrainingJob", "namespace": "vision", "name": "first"}})"));
}

TEST_F(QueueViewTest, UsageIsWhatIsHeldOfWhatNodesHaveByProduct) {
  AddNode("a", "H100", 8);
  AddNode("b", "H100", 8);
  AddNode("c", "L4", 4);
  AddNode("cpu", "", 0);
  facts_.pods = {NewPod("a", 6), NewPod("c", 1), NewPod("", 5), NewPod("gone", 2)};
  auto ended = NewPod("a", 2);
  ended->phase = PodPhase::kSucceeded;
  facts_.pods.push_back(ended);
  EXPECT_EQ(Show()["queues"][0]["usage"],
            Json::parse(R"([{"resource": "nvidia.com/gpu", "used": 2, "nominal": 0},
                {"resource": "nvidia.com/gpu", "flavor": "H100", "used": 6, "nominal": 16},
                {"resource": "nvidia.com/gpu", "flavor": "L4", "used": 1, "nominal": 4}])"));
}

TEST_F(QueueViewTest, JobsThatHoldGpusInSightAreCountedOnce) {
  AddNode("a", "H100", 8);
  const auto add = [this](const std::string& ns, const std::string& job) {
    auto pod = NewPod("a", 1, ns);
    pod->job = job;
    facts_.pods.push_back(pod);
  };
  add("ml", "mnist");
  add("ml", "mnist");
  add("ml", "bert");
  add("secret", "other");
  add("ml", "");
  EXPECT_EQ(Show()["queues"][0]["admitted"], 3);
  sight_.pods = {.all = false, .namespaces = {"ml"}};
  EXPECT_EQ(Show()["queues"][0]["admitted"], 2);
}

TEST_F(QueueViewTest, WithoutTheRightToNodesUsageIsWhatOnesOwnPodsHold) {
  AddNode("a", "H100", 8);
  facts_.pods = {NewPod("a", 3), NewPod("a", 4, "secret")};
  sight_.pods = {.all = false, .namespaces = {"ml"}};
  const Json want = Json::parse(R"([{"resource": "nvidia.com/gpu", "used": 3}])");
  sight_.nodes = false;
  EXPECT_EQ(Show()["queues"][0]["usage"], want);
  sight_.nodes = true;
  facts_.nodes_known = false;
  EXPECT_EQ(Show()["queues"][0]["usage"], want);
}

TEST_F(QueueViewTest, APositionCountsThoseThatOneMayNotSeeAndNamesThemNot) {
  AddWaiting("secret-job", 1s, "secret-ns");
  AddWaiting("mine", 2s);
  sight_.jobs[JobKind::kTrainingJob] = {.all = false, .namespaces = {"ml"}};
  const Json queue = Show()["queues"][0];
  EXPECT_THAT(Order(queue), ElementsAre("2 mine"));
  EXPECT_EQ(queue["waiting"], 2);
  EXPECT_EQ(queue["hidden"], 1);
  EXPECT_THAT(text_, Not(HasSubstr("secret")));
}

TEST_F(QueueViewTest, OfAnEndlessQueueTheFirstShowAndTheRestIsCounted) {
  for (int i = 0; i < 1'500; ++i) AddWaiting("j" + std::to_string(i), std::chrono::seconds(i));
  const Json queue = Show()["queues"][0];
  EXPECT_EQ(queue["pending"].size(), QueueTable::kShownMax);
  EXPECT_EQ(queue["waiting"], 1'500);
  EXPECT_EQ(queue["hidden"], 0);
}

TEST_F(QueueViewTest, KueueTakesByPriorityThenAsTheyCameOverAllQueuesOfAClusterQueue) {
  AddQueue("", "research", "");
  AddQueue("ml", "team", "research");
  AddQueue("vision", "eyes", "research");
  AddWorkload("late", "team").queued = kStart + 9s;
  AddWorkload("early", "eyes", "vision").queued = kStart + 1s;
  KueueWorkload& urgent = AddWorkload("urgent", "team");
  urgent.priority = 10;
  urgent.queued = kStart + 20s;
  AddWorkload("off", "team").state = State::kInactive;
  AddWorkload("checked", "team").state = State::kReserved;
  AddWorkload("runs", "team").state = State::kAdmitted;
  AddWorkload("done", "team").state = State::kFinished;
  const Json list = Show();
  EXPECT_EQ(list["source"], "kueue");
  ASSERT_EQ(list["queues"].size(), 3u);
  EXPECT_EQ(list["queues"][0]["name"], "research");
  EXPECT_THAT(Order(list["queues"][0]),
              ElementsAre("0 checked", "1 urgent", "2 early", "3 late", "0 off"));
  EXPECT_EQ(list["queues"][1]["name"], "team");
  EXPECT_EQ(list["queues"][1]["namespace"], "ml");
  EXPECT_EQ(list["queues"][1]["clusterQueue"], "research");
  EXPECT_THAT(Order(list["queues"][1]),
              ElementsAre("0 checked", "1 urgent", "3 late", "0 off"));
  EXPECT_EQ(list["queues"][1]["pending"][0]["state"], "reserved");
  EXPECT_EQ(list["queues"][1]["pending"][3]["state"], "inactive");
  EXPECT_THAT(Order(list["queues"][2]), ElementsAre("2 early"));
}

TEST_F(QueueViewTest, QuotaAndUseOfAQueueAreInWholeUnitsAndFractions) {
  KueueQueue& queue = AddQueue("", "research", "");
  queue.cohort = "all";
  queue.strategy = "StrictFIFO";
  queue.stopped = true;
  queue.inactive = "is stopped";
  queue.quotas = {{.resource = "nvidia.com/gpu", .flavor = "h100", .nominal = 16'000,
                   .borrowing_limit = 8'000, .used = 20'000, .borrowed = 4'000},
                  {.resource = "cpu", .flavor = "spot", .nominal = {}, .used = 1'500}};
  EXPECT_EQ(Show()["queues"][0],
            Json::parse(R"({"name": "research", "cohort": "all", "strategy": "StrictFIFO",
                "stopped": true, "message": "is stopped", "admitted": 2, "usage": [
                {"resource": "nvidia.com/gpu", "flavor": "h100", "used": 20, "nominal": 16,
                 "borrowed": 4, "borrowingLimit": 8},
                {"resource": "cpu", "flavor": "spot", "used": 1.5}],
                "waiting": 0, "hidden": 0, "pending": []})"));
}

TEST_F(QueueViewTest, AWorkloadLeadsToItsJobAndAJobInAQueueStandsInNoOtherLine) {
  AddQueue("ml", "team", "research");
  AddWorkload("w", "team").reason = "insufficient quota";
  AddWaiting("queued", 1s);
  AddWaiting("loose", 2s);
  jobs_["w"] = facts_.waiting[0].job;
  const Json list = Show();
  ASSERT_EQ(list["queues"].size(), 2u);
  const Json& pending = list["queues"][0]["pending"][0];
  EXPECT_EQ(pending["job"]["name"], "queued");
  EXPECT_EQ(pending["workload"], "w");
  EXPECT_EQ(pending["queue"], "team");
  EXPECT_EQ(pending["gpus"], 8);
  EXPECT_EQ(pending["reason"], "insufficient quota");
  EXPECT_EQ(list["queues"][1]["inOrder"], true);
  EXPECT_THAT(Order(list["queues"][1]), ElementsAre("1 loose"));
}

TEST_F(QueueViewTest, WhereAllAreInQueuesOfKueueThereIsNoOtherLine) {
  AddQueue("ml", "team", "research");
  EXPECT_EQ(Show()["queues"].size(), 1u);
}

TEST_F(QueueViewTest, AQueueThatDoesNotExistSaysSoWithThoseWhoWaitInIt) {
  Kueue();
  AddWorkload("lost", "typo");
  const Json list = Show();
  ASSERT_EQ(list["queues"].size(), 1u);
  EXPECT_EQ(list["queues"][0]["name"], "typo");
  EXPECT_EQ(list["queues"][0]["missing"], true);
  EXPECT_THAT(Order(list["queues"][0]), ElementsAre("0 lost"));
}

struct RightsCase {
  const char* what;
  bool cluster_queues, local_queues, workloads, jobs;
  std::vector<std::string> queues;  // Name, then the order with what is named of each.
};

TEST_F(QueueViewTest, EachRightShowsItsOwnPartAndNoMore) {
  AddQueue("", "research", "").quotas = {{.resource = "gpu", .flavor = "f", .used = 1'000}};
  AddQueue("ml", "team", "research");
  AddWorkload("w", "team");
  jobs_["w"] = NewJob("mnist");
  const RightsCase cases[] = {
      {"none", false, false, false, false, {}},
      {"jobs", false, false, false, true, {"team: 1 mnist"}},
      {"workloads", false, false, true, false, {"team: 1 w"}},
      {"local queues", false, true, false, false, {"team: hidden 1"}},
      {"cluster queues", true, false, false, false, {"research: hidden 1"}},
      {"all but cluster queues", false, true, true, true, {"team: 1 w mnist"}},
      {"all", true, true, true, true, {"research: 1 w mnist", "team: 1 w mnist"}}};
  for (const RightsCase& one : cases) {
    const auto reach = [](bool may) {
      return may ? Reach{.all = false, .namespaces = {"ml"}} : Reach{};
    };
    queue_sight_ = {.cluster_queues = one.cluster_queues, .local_queues = reach(one.local_queues),
                    .workloads = reach(one.workloads)};
    sight_.jobs[JobKind::kTrainingJob] = reach(one.jobs);
    std::vector<std::string> got;
    const Json list = Show();
    for (const Json& queue : list["queues"]) {
      std::string text = queue["name"].get<std::string>() + ":";
      if (queue["hidden"] != 0) text += " hidden " + queue["hidden"].dump();
      for (const Json& pending : queue["pending"]) {
        text += " " + pending["position"].dump();
        if (pending.contains("workload")) text += " " + pending["workload"].get<std::string>();
        if (pending.contains("job")) text += " " + pending["job"]["name"].get<std::string>();
      }
      // Of a queue that one may not see only the name is known, from those who wait in it.
      if (!one.local_queues && queue["name"] == "team") {
        EXPECT_FALSE(queue.contains("clusterQueue")) << one.what;
        EXPECT_EQ(queue["admitted"], 0) << one.what;
      }
      got.push_back(text);
    }
    EXPECT_EQ(got, one.queues) << one.what;
  }
}

TEST_F(QueueViewTest, NamesAndReasonsOfAnyLengthAreCut) {
  const std::string huge(100'000, 'x');
  AddQueue("ml", huge, huge).inactive = huge;
  AddWorkload("w", huge).reason = huge + "\"\n\xff";
  AddWaiting(huge, 0s);
  Show();
  EXPECT_LT(text_.size(), 6'000u);
}

}  // namespace
}  // namespace taas::dashboard
