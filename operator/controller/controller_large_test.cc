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

// The user's own: a request in ten seconds tries out whether it is ours that is missing.
TEST(ControllerLargeTest, WhatAPodLacksOfTheUsersIsNotAskedForWithoutEnd) {
  SimCluster cluster(6);
  cluster.CreateJob(kRoles);
  ASSERT_TRUE(AllRun(cluster));
  SimCluster::Json pod = *cluster.api().Find("pods", "mnist-worker-7");
  pod["status"] = {{"phase", "Pending"},
                   {"containerStatuses",
                    {{{"name", "trainer"},
                      {"state", {{"waiting", {{"reason", "CreateContainerConfigError"}}}}}}}}};
  pod["spec"]["containers"][0]["env"].push_back(
      {{"name", "A"}, {"valueFrom", {{"configMapKeyRef", {{"name", "users"}, {"key", "a"}}}}}});
  cluster.api().Put("pods", std::move(pod));
  cluster.RunFor(seconds(5));
  const int before = cluster.api().writes();
  cluster.RunFor(seconds(300));
  EXPECT_GE(cluster.api().writes() - before, 25);
  EXPECT_LE(cluster.api().writes() - before, 35);
}

TEST(ControllerLargeTest, AReplyThatWasLostCostsNoPod) {
  for (int write = 1; write <= 6; ++write) {
    SimCluster cluster(4);
    cluster.api().faults().lose_reply_of_write = write;
    cluster.CreateJob(kRoles);
    ASSERT_TRUE(AllRun(cluster)) << write << cluster.Status().dump(1);
    EXPECT_THAT(cluster.api().Names("configmaps"), SizeIs(1)) << write;
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
