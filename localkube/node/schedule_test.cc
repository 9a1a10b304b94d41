#include "localkube/node/schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

NodeCapacity TwoGpus() {
  return {.name = "local",
          .labels = {{"kubernetes.io/hostname", "local"}},
          .allocatable = {.cpu_milli = 2000, .memory_bytes = 1 << 30, .gpus = 2}};
}

PodToPlace Wants(const std::string& key, int64_t gpus) {
  PodToPlace pod;
  pod.key = key;
  pod.requests.gpus = gpus;
  return pod;
}

TEST(ScheduleTest, PodsThatFitAreTakenInOrderOfCreation) {
  PodToPlace late = Wants("a", 2);
  late.created = "2026-01-01T00:00:02Z";
  PodToPlace early = Wants("b", 1);
  early.created = "2026-01-01T00:00:01Z";
  PodToPlace small = Wants("c", 1);
  small.created = "2026-01-01T00:00:03Z";
  const auto placements = Schedule(TwoGpus(), {late, early, small});
  ASSERT_EQ(placements.size(), 3u);
  EXPECT_TRUE(placements[0].fits);
  EXPECT_EQ(placements[0].key, "b");
  EXPECT_FALSE(placements[1].fits);
  EXPECT_EQ(placements[1].message, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  EXPECT_TRUE(placements[2].fits) << "a pod that does not fit holds up nobody";
}

TEST(ScheduleTest, PodsThatRunHoldTheirResourcesAndThoseThatEndedDoNot) {
  PodToPlace runs = Wants("runs", 1);
  runs.node = "local";
  PodToPlace ended = Wants("ended", 1);
  ended.node = "local";
  ended.holds = false;
  EXPECT_FALSE(Schedule(TwoGpus(), {runs, ended, Wants("x", 2)})[0].fits);
  EXPECT_TRUE(Schedule(TwoGpus(), {runs, ended, Wants("x", 1)})[0].fits);
}

TEST(ScheduleTest, APodWithoutRequestsFitsAFullNode) {
  NodeCapacity node = TwoGpus();
  node.allocatable = {};
  EXPECT_TRUE(Schedule(node, {Wants("x", 0)})[0].fits);
}

TEST(ScheduleTest, RequestsAreSummedOverContainersAndLimitsStandInForThem) {
  const Json pod = Json::parse(R"({"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[
      {"resources":{"requests":{"cpu":"500m","memory":"64Mi"}}},
      {"resources":{"limits":{"cpu":1,"nvidia.com/gpu":"1"}}}]}})");
  const PodToPlace out = ReadPodToPlace(pod, TwoGpus());
  EXPECT_EQ(out.key, "n/p");
  EXPECT_EQ(out.requests.cpu_milli, 1500);
  EXPECT_EQ(out.requests.memory_bytes, 64 << 20);
  EXPECT_EQ(out.requests.gpus, 1);
  EXPECT_TRUE(out.holds);
}

TEST(ScheduleTest, ANodeThatThePodAvoidsIsRefusedInKubeSchedulersWords) {
  const Json pod = Json::parse(R"({"metadata":{"name":"p","namespace":"n"},"spec":{"affinity":{
      "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[
      {"key":"kubernetes.io/hostname","operator":"NotIn","values":["local"]}]}]}}}}})");
  const auto placements = Schedule(TwoGpus(), {ReadPodToPlace(pod, TwoGpus())});
  EXPECT_EQ(placements[0].message,
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
}

TEST(ScheduleTest, ANodeSelectorMustMatch) {
  Json pod = Json::parse(R"({"spec":{"nodeSelector":{"kubernetes.io/hostname":"local"}}})");
  EXPECT_EQ(ReadPodToPlace(pod, TwoGpus()).refusal, "");
  pod["spec"]["nodeSelector"]["disk"] = "ssd";
  EXPECT_NE(ReadPodToPlace(pod, TwoGpus()).refusal, "");
}

TEST(QuantityTest, EveryFormOfKubernetesIsRead) {
  EXPECT_EQ(QuantityMilli("500m"), 500);
  EXPECT_EQ(QuantityMilli("2"), 2000);
  EXPECT_EQ(QuantityMilli("1.5"), 1500);
  EXPECT_EQ(QuantityMilli("1e3"), 1'000'000);
  EXPECT_EQ(QuantityMilli("64Mi"), 64'000ll << 20);
  EXPECT_EQ(QuantityMilli("5M"), 5'000'000'000);
  EXPECT_EQ(QuantityMilli("many"), 0);
  EXPECT_EQ(QuantityMilli("5X"), 0);
}

}  // namespace
}  // namespace taas::localkube
