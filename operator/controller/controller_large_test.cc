// Jobs so large that the list of their replicas is kept in a ConfigMap.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr SimCluster::Roles kRoles{.chiefs = 1, .workers = 200};

int RunningIn(const SimCluster& cluster) {
  const std::string ready = cluster.Status().value("ready", "0/0");
  return std::stoi(ready.substr(0, ready.find('/')));
}

bool AllRun(SimCluster& cluster) {
  return cluster.RunUntil([&] { return RunningIn(cluster) == 201; }, seconds(60));
}

// A kubelet here starts nothing whose ConfigMap is not there.
TEST(ControllerLargeTest, PodsFindTheListOfReplicasThatTheyReferTo) {
  SimCluster cluster(1);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster)) << cluster.Status().dump(1);
  const auto maps = cluster.api().Names("configmaps");
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_THAT(cluster.api().Find("configmaps", maps[0])->dump(), HasSubstr("mnist-worker-199"));
  cluster.api().DeleteJob("trainingjobs", "mnist");
  cluster.RunFor(seconds(60));
  EXPECT_THAT(cluster.api().Names("configmaps"), IsEmpty());
}

TEST(ControllerLargeTest, AnOperatorThatStartsAgainGoesOnWithTheConfigMapThatIsThere) {
  SimCluster cluster(2);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster));
  const auto maps = cluster.api().Names("configmaps");
  const auto uid = (*cluster.api().Find("configmaps", maps[0]))["metadata"]["uid"];
  cluster.CrashOperator();
  cluster.api().Remove("pods", "mnist-worker-7");
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.api().pod_creates().at("mnist-worker-7") == 2; }, seconds(60)))
      << cluster.Status().dump(1);
  EXPECT_EQ(cluster.api().Names("configmaps"), maps);
  EXPECT_EQ((*cluster.api().Find("configmaps", maps[0]))["metadata"]["uid"], uid);
}

// As of a template with hundreds of thousands of elements, where others keep the server busy.
TEST(ControllerLargeTest, AJobThatTheServerTakesLongToWriteIsGivenTheTime) {
  SimCluster cluster(7);
  cluster.api().faults().job_patch_takes = seconds(30);
  cluster.CreateJob({.workers = 1});
  SimCluster::Json job = cluster.Job();
  job["metadata"]["annotations"]["example.org/notes"] = std::string(1 << 20, 'x');
  cluster.api().Put("trainingjobs", job);
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Status().dump(1);
}

// Soon after it was made, too: while the operator is still sure of it, and nothing else happens to
// the job that would let it look again.
class LostConfigMapTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(ControllerLargeTest, LostConfigMapTest, testing::Values(0, 30));

TEST_P(LostConfigMapTest, IsMadeAgainForPodsThatLackIt) {
  SimCluster cluster(3);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster));
  const auto maps = cluster.api().Names("configmaps");
  cluster.RunFor(seconds(GetParam()));
  cluster.api().Remove("configmaps", maps[0]);
  cluster.api().Remove("pods", "mnist-worker-7");
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("configmaps") == maps; },
                               seconds(60)))
      << cluster.Status().dump(1);
  EXPECT_TRUE(AllRun(cluster)) << cluster.Status().dump(1);
}

// A node says the same of a ConfigMap of the user's.
TEST(ControllerLargeTest, WhatAPodLacksOfTheUsersIsNotAskedFor) {
  SimCluster cluster(6);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster));
  SimCluster::Json pod = *cluster.api().Find("pods", "mnist-worker-7");
  pod["status"] = {{"phase", "Pending"}};
  pod["spec"]["containers"][0]["env"].push_back(
      {{"name", "A"}, {"valueFrom", {{"configMapKeyRef", {{"name", "users"}, {"key", "a"}}}}}});
  cluster.api().Put("pods", std::move(pod));
  cluster.RunFor(seconds(5));
  EXPECT_THAT(cluster.Status().value("message", ""), HasSubstr("\"users\" not found"));
  const int before = cluster.api().writes();
  cluster.RunFor(seconds(300));
  EXPECT_EQ(cluster.api().writes(), before);
}

// Symptom: an admission rule answers before the server looks whether the name is taken, so that
// after a restart no pod of the job came back.
TEST(ControllerLargeTest, AListThatPodsRunWithIsNotMadeAgainByTheNextOperator) {
  SimCluster cluster(7);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster));
  cluster.api().faults().refuse_post_of = "configmaps";
  cluster.CrashOperator();
  cluster.api().Remove("pods", "mnist-worker-7");
  EXPECT_TRUE(cluster.RunUntil(
      [&] { return cluster.api().pod_creates().at("mnist-worker-7") == 2; }, seconds(60)))
      << cluster.Status().dump(1);
}

TEST(ControllerLargeTest, EachSizeHasItsListAndAPodWhoseListIsGoneIsMadeAnew) {
  SimCluster cluster(8);
  cluster.CreateJob({.chiefs = 1, .workers = 20});
  const auto runs = [&](int pods) {
    return cluster.RunUntil([&] { return RunningIn(cluster) == pods; }, seconds(60));
  };
  ASSERT_TRUE(runs(21));
  EXPECT_THAT(cluster.api().Names("configmaps"), IsEmpty());
  const auto scale = [&](int workers) {
    cluster.EditSpec({{"roles", {{"worker", {{"replicas", workers}}}}}});
  };
  scale(200);
  ASSERT_TRUE(runs(201)) << cluster.Status().dump(1);
  ASSERT_THAT(cluster.api().Names("configmaps"), SizeIs(1));
  const std::string first = cluster.api().Names("configmaps")[0];
  scale(201);
  ASSERT_TRUE(runs(202)) << cluster.Status().dump(1);
  ASSERT_THAT(cluster.api().Names("configmaps"), SizeIs(2));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-7"), 1);
  // A node starts one of the first size again, and its list is gone.
  cluster.api().Remove("configmaps", first);
  SimCluster::Json pod = *cluster.api().Find("pods", "mnist-worker-150");
  pod["status"] = {{"phase", "Pending"}};
  cluster.api().Put("pods", std::move(pod));
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.api().pod_creates().at("mnist-worker-150") == 2; }, seconds(60)))
      << cluster.Status().dump(1);
  EXPECT_TRUE(runs(202)) << cluster.Status().dump(1);
  EXPECT_THAT(cluster.api().Names("configmaps"), SizeIs(1));
}

TEST(ControllerLargeTest, ATfJobWithAServicePerReplicaHasItsListFirst) {
  SimCluster cluster(9);
  cluster.CreateTfJob({.chiefs = 1, .workers = 250});
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.api().Names("services").empty(); },
                               seconds(60)));
  EXPECT_THAT(cluster.api().Names("configmaps"), SizeIs(1));
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.api().pod_creates().size() == 251; },
                               seconds(60)));
}

TEST(ControllerLargeTest, AReplyThatWasLostCostsNoPod) {
  for (int write = 1; write <= 6; ++write) {
    SimCluster cluster(4);
    cluster.api().faults().lose_reply_of_write = write;
    cluster.CreateJob(kRoles);
    ASSERT_TRUE(AllRun(cluster)) << write << cluster.Status().dump(1);
    EXPECT_THAT(cluster.api().Names("configmaps"), SizeIs(1)) << write;
    for (const auto& [pod, creates] : cluster.api().pod_creates()) EXPECT_EQ(creates, 1) << pod;
  }
}

TEST(ControllerLargeTest, AMissingRightToMakeItStandsInTheMessage) {
  SimCluster cluster(5);
  cluster.api().faults().refuse_post_of = "configmaps";
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(cluster.RunUntil(
      [&] {
        return cluster.Status().value("message", "").find("create ConfigMap") != std::string::npos;
      },
      seconds(60)))
      << cluster.Status().dump(1);
  EXPECT_THAT(cluster.api().Names("pods"), IsEmpty());
  cluster.api().faults().refuse_post_of = "";
  EXPECT_TRUE(AllRun(cluster)) << cluster.Status().dump(1);
}

}  // namespace
}  // namespace taas
