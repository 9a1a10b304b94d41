// Lives of jobs in gangs under the whole controller, in virtual time. The cluster plays Volcano,
// and Kueue's finalizers.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

const GangOptions kVolcano{.scheduler = GangScheduler::kVolcano, .name = "volcano"};
const GangOptions kKueue{.scheduler = GangScheduler::kKueue};

std::optional<int> ChiefEnds(const std::string& pod, int, milliseconds ran) {
  return pod == "mnist-chief-0" && ran >= seconds(5) ? std::optional(0) : std::nullopt;
}

std::vector<std::string> Reasons(SimCluster& cluster) {
  std::vector<std::string> reasons;
  for (const json& event : cluster.api().events()) reasons.push_back(event["reason"]);
  return reasons;
}

TEST(VolcanoTest, AJobWaitsForItsTurnRunsAndLeavesNoGroupBehind) {
  SimCluster cluster(1);
  cluster.RestartWith(kVolcano);
  cluster.set_gang_phase("Pending");
  cluster.set_script(ChiefEnds);
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 2});
  cluster.RunFor(seconds(60));
  EXPECT_THAT(cluster.api().Names("pods"), IsEmpty());
  EXPECT_EQ(cluster.Status()["state"], "Pending");
  EXPECT_THAT(cluster.Status()["message"].dump(), HasSubstr("waits for Volcano"));
  EXPECT_EQ((*cluster.api().Find("podgroups", "mnist"))["spec"]["minMember"], 4);

  cluster.set_gang_phase("Running");
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.api().Names("pods").size(), 4u);
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("podgroups").empty(); },
                               seconds(60)));
  EXPECT_THAT(cluster.api().complaints(), IsEmpty());
  cluster.RunFor(seconds(30));  // The last counts of the status.
  const int writes = cluster.api().writes();
  cluster.RunFor(seconds(600));
  EXPECT_EQ(cluster.api().writes(), writes) << "a finished job costs writes";
}

// What a former leader sent before it lost its lease may arrive after the job's end.
TEST(VolcanoTest, AGroupThatArrivesAfterTheEndGoes) {
  SimCluster cluster(3);
  cluster.RestartWith(kVolcano);
  cluster.set_script(ChiefEnds);
  cluster.CreateJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  const auto gone = [&] { return cluster.api().Names("podgroups").empty(); };
  ASSERT_FALSE(gone());
  json late = *cluster.api().Find("podgroups", "mnist");
  late["metadata"].erase("uid");
  ASSERT_TRUE(cluster.RunUntilState("Succeeded"));
  ASSERT_TRUE(cluster.RunUntil(gone, seconds(60)));
  cluster.api().Put("podgroups", late);
  EXPECT_FALSE(gone());
  EXPECT_TRUE(cluster.RunUntil(gone, seconds(60)));
  EXPECT_THAT(cluster.api().complaints(), IsEmpty());
}

TEST(VolcanoTest, AGroupIsMadeOnceThoughTheReplyWasLostOrTheOperatorDied) {
  for (int write = 1; write <= 4; ++write) {
    for (const bool dies : {false, true}) {
      SCOPED_TRACE(std::to_string(write) + (dies ? " dies" : " loses the reply"));
      SimCluster cluster(40 + write);
      cluster.RestartWith(kVolcano);
      (dies ? cluster.api().faults().crash_after_write
            : cluster.api().faults().lose_reply_of_write) = write;
      cluster.CreateJob({.workers = 2});
      ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
      EXPECT_EQ(cluster.api().pod_creates(),
                (std::map<std::string, int>{{"mnist-worker-0", 1}, {"mnist-worker-1", 1}}));
      EXPECT_THAT(cluster.api().complaints(), IsEmpty());
    }
  }
}

TEST(VolcanoTest, AScaledJobsGroupGrowsAndASuspendedJobHasNone) {
  SimCluster cluster(2);
  cluster.RestartWith(kVolcano);
  cluster.CreateJob({.workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.EditSpec({{"roles", {{"worker", {{"replicas", 4}}}}}});
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("pods").size() == 4; },
                               seconds(60)));
  EXPECT_EQ((*cluster.api().Find("podgroups", "mnist"))["spec"]["minMember"], 4);
  cluster.EditSpec({{"suspend", true}});
  ASSERT_TRUE(cluster.RunUntilState("Suspended"));
  EXPECT_TRUE(cluster.RunUntil(
      [&] {
        return cluster.api().Names("podgroups").empty() && cluster.api().Names("pods").empty();
      },
      seconds(60)));
  cluster.EditSpec({{"suspend", false}});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.api().Names("podgroups").size(), 1u);
}

TEST(VolcanoTest, AGroupOfSomebodyElseIsToldAndLeftAsItIs) {
  SimCluster cluster(3);
  cluster.RestartWith(kVolcano);
  const json theirs = cluster.api().Put(
      "podgroups", {{"metadata", {{"name", "mnist"}}}, {"spec", {{"minMember", 1}}}});
  cluster.CreateJob({.workers = 2});
  cluster.RunFor(seconds(120));
  EXPECT_THAT(cluster.api().Names("pods"), IsEmpty());
  EXPECT_THAT(cluster.Status()["message"].dump(), HasSubstr("does not belong to this job"));
  EXPECT_THAT(Reasons(cluster), testing::Contains("NameConflict"));
  EXPECT_EQ((*cluster.api().Find("podgroups", "mnist"))["spec"], theirs["spec"]);
  cluster.api().Remove("podgroups", "mnist");
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
}

TEST(VolcanoTest, WhereItIsNotInstalledTheJobSaysSoAndBeginsWhenItIs) {
  SimCluster cluster(4);
  cluster.api().faults().absent = "podgroups";
  cluster.RestartWith(kVolcano);
  cluster.CreateJob({.workers = 2});
  cluster.RunFor(seconds(60));
  EXPECT_THAT(cluster.api().Names("pods"), IsEmpty());
  EXPECT_THAT(cluster.Status()["message"].dump(), HasSubstr("create PodGroup default/mnist for "
                                                            "Volcano"));
  cluster.api().faults().absent = "";
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
}

TEST(GangRequiredTest, AJobIsHeldUntilTheOperatorHasAGangScheduler) {
  SimCluster cluster(5);
  cluster.CreateJob({.workers = 2});
  cluster.EditSpec({{"schedulingPolicy", {{"gang", "Required"}}}});
  cluster.RunFor(seconds(60));
  EXPECT_THAT(cluster.api().Names("services"), IsEmpty());
  EXPECT_THAT(cluster.api().Names("pods"), IsEmpty());
  EXPECT_THAT(cluster.Status()["conditions"].dump(), HasSubstr("NoGangScheduler"));
  EXPECT_LE(cluster.api().writes(), 1);
  cluster.RestartWith(kVolcano);
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
}

class KueueTest : public testing::Test {
 protected:
  void SetUp() override { cluster_.RestartWith(kKueue); }

  void Create(SimCluster::Roles roles) {
    cluster_.CreateJob(roles);
    cluster_.EditSpec({{"schedulingPolicy", {{"queue", "q"}}}});
  }
  // As Kueue does it to all pods of a group when it needs their room.
  void Evict(const std::string& pod) {
    json dying = *cluster_.api().Find("pods", pod);
    dying["metadata"]["deletionTimestamp"] =
        FormatRfc3339(cluster_.executor().clock().WallNow());
    dying["status"]["phase"] = "Failed";
    cluster_.api().Put("pods", dying);
  }
  int NumberOf(const std::string& pod) {
    const json* found = cluster_.api().Find("pods", pod);
    if (found == nullptr) return 0;
    return std::stoi(found->at("metadata").at("labels").at("taas.dev/pod-number")
                         .get<std::string>());
  }

  SimCluster cluster_{6};
};

TEST_F(KueueTest, AnEvictedGroupIsLetGoAndMadeAgainUnderTheSameNames) {
  Create({.workers = 2});
  ASSERT_TRUE(cluster_.RunUntilState("Running")) << cluster_.Job().dump(1);
  Evict("mnist-worker-0");
  Evict("mnist-worker-1");
  EXPECT_TRUE(cluster_.RunUntil(
      [&] { return NumberOf("mnist-worker-0") == 2 && NumberOf("mnist-worker-1") == 2; },
      seconds(60)));
  EXPECT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.Status().value("restarts", json()) == json{{"preempted", 2}}; },
      seconds(60)))
      << cluster_.Job().dump(1);
  EXPECT_THAT(cluster_.api().complaints(), IsEmpty());
}

TEST_F(KueueTest, AJobThatIsDeletedLeavesNoPodBehind) {
  Create({.workers = 2});
  ASSERT_TRUE(cluster_.RunUntilState("Running"));
  cluster_.api().DeleteJob("trainingjobs", "mnist");
  EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.api().Names("pods").empty(); }, seconds(60)));
}

// Symptom: pods whose job went while the operator was down stayed for ever.
TEST_F(KueueTest, NorDoesOneThatWasDeletedWhileTheOperatorWasDown) {
  Create({.workers = 2});
  ASSERT_TRUE(cluster_.RunUntilState("Running"));
  cluster_.api().faults().hold_watches = true;
  cluster_.api().DeleteJob("trainingjobs", "mnist");
  cluster_.RunFor(seconds(5));
  EXPECT_EQ(cluster_.api().Names("pods").size(), 2u);
  cluster_.api().faults().hold_watches = false;
  cluster_.RestartWith(kKueue);
  EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.api().Names("pods").empty(); }, seconds(60)));
}

TEST_F(KueueTest, TheEndOfTheJobIsToldToKueueOnOnePodAndTheOthersGo) {
  cluster_.set_script(ChiefEnds);
  Create({.chiefs = 1, .ps = 1});
  ASSERT_TRUE(cluster_.RunUntilState("Succeeded")) << cluster_.Job().dump(1);
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.api().Names("pods").size() == 1; },
                                seconds(60)));
  const json& chief = *cluster_.api().Find("pods", "mnist-chief-0");
  EXPECT_EQ(chief["metadata"]["annotations"]["kueue.x-k8s.io/retriable-in-group"], "false");
  cluster_.RunFor(seconds(30));  // The last counts of the status.
  const int writes = cluster_.api().writes();
  cluster_.RunFor(seconds(600));
  EXPECT_EQ(cluster_.api().writes(), writes) << "a finished job costs writes";
  EXPECT_THAT(cluster_.api().complaints(), IsEmpty());
}

}  // namespace
}  // namespace taas
