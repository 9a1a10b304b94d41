#include "localkube/node/schedule.h"

#include <limits>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

NodeState TwoGpus(const std::string& name = "local") {
  return {.name = name,
          .labels = {{"kubernetes.io/hostname", name}},
          .taints = {},
          .allocatable = {.cpu_milli = 2000, .memory_bytes = 1 << 30, .gpus = 2}};
}

PodToPlace Wants(const std::string& key, int64_t gpus) {
  PodToPlace pod;
  pod.key = key;
  pod.requests.gpus = gpus;
  return pod;
}

PodToPlace ReadSpec(const std::string& spec) {
  return ReadPodToPlace(Json::parse(R"({"metadata":{"name":"p","namespace":"n"},"spec":)" + spec +
                                    "}"));
}

std::map<std::string, std::string> NodesOf(const std::vector<Placement>& placements) {
  std::map<std::string, std::string> out;
  for (const Placement& placement : placements) out[placement.key] = placement.node;
  return out;
}

std::string RefusalOf(const std::vector<NodeState>& nodes, const PodToPlace& pod) {
  return Schedule(nodes, {pod})[0].message;
}

TEST(ScheduleTest, PodsThatFitAreTakenInOrderOfCreation) {
  PodToPlace late = Wants("a", 2);
  late.created = "2026-01-01T00:00:02Z";
  PodToPlace early = Wants("b", 1);
  early.created = "2026-01-01T00:00:01Z";
  PodToPlace small = Wants("c", 1);
  small.created = "2026-01-01T00:00:03Z";
  const auto placements = Schedule({TwoGpus()}, {late, early, small});
  ASSERT_EQ(placements.size(), 3u);
  EXPECT_EQ(placements[0].key, "b");
  EXPECT_EQ(placements[0].node, "local");
  EXPECT_EQ(placements[1].node, "");
  EXPECT_EQ(placements[1].message, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  EXPECT_EQ(placements[2].node, "local") << "a pod that does not fit holds up nobody";
}

TEST(ScheduleTest, PodsThatRunHoldTheirResourcesAndThoseThatEndedDoNot) {
  PodToPlace runs = Wants("runs", 1);
  runs.node = "local";
  PodToPlace ended = Wants("ended", 1);
  ended.node = "local";
  ended.holds = false;
  EXPECT_EQ(Schedule({TwoGpus()}, {runs, ended, Wants("x", 2)})[0].node, "");
  EXPECT_EQ(Schedule({TwoGpus()}, {runs, ended, Wants("x", 1)})[0].node, "local");
}

TEST(ScheduleTest, APodWithoutRequestsFitsAFullNodeUntilItHasTooManyPods) {
  NodeState node = TwoGpus();
  node.allocatable = {};
  EXPECT_EQ(Schedule({node}, {Wants("x", 0)})[0].node, "local");
  node.pods_max = 1;
  const auto placements = Schedule({node}, {Wants("x", 0), Wants("y", 0)});
  EXPECT_EQ(placements[1].message, "0/1 nodes are available: 1 Too many pods.");
}

TEST(ScheduleTest, PodsSpreadOverNodesAndFillTheLastSlots) {
  const std::vector<NodeState> nodes = {TwoGpus("a"), TwoGpus("b")};
  const auto placements =
      Schedule(nodes, {Wants("1", 1), Wants("2", 1), Wants("3", 1), Wants("4", 1), Wants("5", 1)});
  EXPECT_THAT(NodesOf(placements), ElementsAre(Pair("1", "a"), Pair("2", "b"), Pair("3", "a"),
                                               Pair("4", "b"), Pair("5", "")));
  EXPECT_EQ(placements[4].message, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
}

TEST(ScheduleTest, PodsWithoutRequestsSpreadToo) {
  EXPECT_THAT(NodesOf(Schedule({TwoGpus("a"), TwoGpus("b")}, {Wants("1", 0), Wants("2", 0)})),
              ElementsAre(Pair("1", "a"), Pair("2", "b")));
}

TEST(ScheduleTest, EachNodeThatRefusesIsCountedUnderItsFirstSortOfReason) {
  std::vector<NodeState> nodes = {TwoGpus("a"), TwoGpus("b"), TwoGpus("c"), TwoGpus("d")};
  nodes[0].unschedulable = true;
  nodes[1].taints = {{"gpu", "broken", "NoSchedule"}};
  nodes[2].allocatable.cpu_milli = 100;
  PodToPlace pod = Wants("p", 3);
  pod.requests.cpu_milli = 500;
  EXPECT_EQ(RefusalOf(nodes, pod),
            "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint "
            "{gpu: broken}, 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu. It asks "
            "for 3 nvidia.com/gpu, and no node has more than 2.");
  EXPECT_EQ(RefusalOf({}, pod), "no nodes available to schedule pods");
}

TEST(ScheduleTest, RequestsAreSummedOverContainersAndLimitsStandInForThem) {
  const PodToPlace out = ReadSpec(R"({"containers":[
      {"resources":{"requests":{"cpu":"500m","memory":"64Mi"}}},
      {"resources":{"limits":{"cpu":1,"nvidia.com/gpu":"1"}}}],
      "initContainers":[{"resources":{"requests":{"memory":"1Gi","cpu":1}}}]})");
  EXPECT_EQ(out.key, "n/p");
  EXPECT_EQ(out.requests.cpu_milli, 1500);
  EXPECT_EQ(out.requests.memory_bytes, 1 << 30) << "an init container needs more than the rest";
  EXPECT_EQ(out.requests.gpus, 1);
  EXPECT_TRUE(out.holds);
}

TEST(ScheduleTest, ANodeThatThePodAvoidsIsRefusedInKubeSchedulersWords) {
  EXPECT_EQ(RefusalOf({TwoGpus()}, ReadSpec(R"({"affinity":{
      "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[
      {"key":"kubernetes.io/hostname","operator":"NotIn","values":["local"]}]}]}}}})")),
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
}

TEST(ScheduleTest, APreferredNodeIsTakenEvenIfItIsFuller) {
  PodToPlace pod = ReadSpec(R"({"affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{
      "matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]}}]}}})");
  PodToPlace other = Wants("other", 1);
  other.node = "b";
  EXPECT_EQ(Schedule({TwoGpus("a"), TwoGpus("b")}, {other, pod})[0].node, "b");
}

TEST(ScheduleTest, ANodeObjectSaysWhatTheNodeHas) {
  const NodeState node = ReadNodeState(Json::parse(R"({"metadata":{"name":"n","labels":{"a":"b"}},
      "spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoExecute"}]},
      "status":{"allocatable":{"cpu":"1500m","memory":"1Ki","nvidia.com/gpu":"3","pods":"7"}}})"));
  EXPECT_EQ(node.name, "n");
  EXPECT_THAT(node.labels, ElementsAre(Pair("a", "b")));
  EXPECT_TRUE(node.unschedulable);
  ASSERT_EQ(node.taints.size(), 1u);
  EXPECT_EQ(node.taints[0].effect, "NoExecute");
  EXPECT_EQ(node.allocatable.cpu_milli, 1500);
  EXPECT_EQ(node.allocatable.memory_bytes, 1024);
  EXPECT_EQ(node.allocatable.gpus, 3);
  EXPECT_EQ(node.pods_max, 7);
}

// 1Pi, 2E and 1e30 were read as nothing: such a pod went on any node.
TEST(ScheduleTest, APodThatAsksForMoreThanThereIsAnywhereWaits) {
  for (const char* memory : {"1Pi", "2E", "1Ei", "1e30", "1e1000000", "4611686018427387904Ki"}) {
    PodToPlace pod = ReadSpec(R"({"containers":[{"resources":{"requests":{"memory":")" +
                              std::string(memory) + R"("}}},
        {"resources":{"requests":{"memory":"1e30"}}}]})");
    EXPECT_THAT(RefusalOf({TwoGpus()}, pod),
                StartsWith("0/1 nodes are available: 1 Insufficient memory. It asks for "))
        << memory;
    pod.node = "local";
    EXPECT_EQ(Schedule({TwoGpus()}, {pod, pod, Wants("small", 0)})[0].node, "local")
        << "what asks for nothing fits a node that is too full";
  }
}

// Symptom: "Insufficient cpu", of a pod that no machine of this size could ever take.
TEST(ScheduleTest, OfWhatNoNodeHasItIsSaidHowMuchThatIs) {
  PodToPlace pod = Wants("p", 0);
  pod.requests.cpu_milli = 2'500;
  pod.requests.memory_bytes = int64_t{3} << 30;
  EXPECT_EQ(RefusalOf({TwoGpus("a"), TwoGpus("b")}, pod),
            "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory. It asks for 2.5 "
            "cpu, and no node has more than 2. It asks for 3072 MiB memory, and no node has more "
            "than 1024 MiB.");
}

// Symptom: "It asks for 1024 MiB memory, and no node has more than 1024 MiB".
TEST(ScheduleTest, WhatIsMissingIsSaidAlsoWhereItIsLessThanAMebibyte) {
  PodToPlace pod = Wants("p", 0);
  pod.requests.memory_bytes = (int64_t{1} << 30) + 1;
  EXPECT_EQ(RefusalOf({TwoGpus("a")}, pod),
            "0/1 nodes are available: 1 Insufficient memory. It asks for 1073741825 bytes memory, "
            "and no node has more than 1073741824 bytes.");
}

TEST(AmountTest, IsReadAsTextOrNumberInAllFormsOfKubernetes) {
  const auto milli = [](const Json& value) { return AmountMilli({{"x", value}}, "x"); };
  EXPECT_EQ(milli("500m"), 500);
  EXPECT_EQ(milli("64Mi"), 64'000ll << 20);
  EXPECT_EQ(milli("5M"), 5'000'000'000);
  EXPECT_EQ(milli("1e3"), 1'000'000);
  EXPECT_EQ(milli("100n"), 1);
  EXPECT_EQ(milli(" 2 "), 2000);
  EXPECT_EQ(milli(2), 2000);
  EXPECT_EQ(milli(0.1), 100);
  EXPECT_EQ(milli(1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(milli("many"), 0);
  EXPECT_EQ(milli(nullptr), 0);
}

}  // namespace
}  // namespace taas::localkube
