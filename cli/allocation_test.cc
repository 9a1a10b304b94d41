#include "cli/allocation.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

TEST(ParseMilliTest, QuantitiesOfKubernetes) {
  EXPECT_EQ(ParseMilli("500m"), 500);
  EXPECT_EQ(ParseMilli("2"), 2000);
  EXPECT_EQ(ParseMilli("0.5"), 500);
  EXPECT_EQ(ParseMilli("1Ki"), 1'024'000);
  EXPECT_EQ(ParseMilli("1e3"), 1'000'000);
  EXPECT_EQ(ParseMilli("1M"), 1'000'000'000);
  EXPECT_EQ(ParseMilli("2 Gi"), std::nullopt);
  EXPECT_EQ(ParseMilli("lots"), std::nullopt);
  EXPECT_EQ(ParseMilli("1e40"), std::nullopt);
}

std::map<std::string, NodeUse> OneNode() {
  const auto node = ReadNode(
      R"({"metadata":{"name":"n1","labels":{"nvidia.com/gpu.product":"H200"}},
          "spec":{"unschedulable":true},
          "status":{"allocatable":{"cpu":"8","memory":"16Gi","nvidia.com/gpu":"4"},
                    "conditions":[{"type":"Ready","status":"True"}]}})",
      kGpu);
  return {{"n1", *node}};
}

TEST(AllocationTest, ANodeSaysWhatItHas) {
  const NodeUse node = OneNode()["n1"];
  EXPECT_EQ(node.state, "Ready,SchedulingDisabled");
  EXPECT_EQ(node.gpu_type, "H200");
  EXPECT_EQ(node.total, (Amounts{8000, int64_t{16} << 30, 4}));
  EXPECT_FALSE(ReadNode("{}", kGpu).has_value());
}

TEST(AllocationTest, APodHoldsTheSumOfItsContainersOrItsLargestInitContainer) {
  const auto pod = ReadPodUse(
      R"({"metadata":{"name":"p","namespace":"ns",
            "labels":{"taas.dev/role":"worker","taas.dev/index":"3"},
            "ownerReferences":[{"uid":"u","controller":true}]},
          "spec":{"nodeName":"n1",
            "containers":[{"resources":{"requests":{"cpu":"1"},
                                        "limits":{"cpu":"2","memory":"1Gi"}}},
                          {"resources":{"limits":{"nvidia.com/gpu":1}}}],
            "initContainers":[{"resources":{"requests":{"cpu":"3"}}}]},
          "status":{"phase":"Running"}})",
      kGpu);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->asked, (Amounts{3000, int64_t{1} << 30, 1}));
  EXPECT_EQ(pod->replica, "worker-3");
  EXPECT_EQ(pod->job_uid, "u");
}

TEST(AllocationTest, PodsThatEndedOrHaveNoNodeHoldNothing) {
  auto nodes = OneNode();
  PodUse pod{.ns = "", .name = "p", .node = "n1", .state = "Running", .job_uid = "", .replica = "",
             .asked = {1500, 1 << 20, 2}};
  Charge(pod, &nodes);
  pod.ended = true;
  Charge(pod, &nodes);
  pod.ended = false;
  pod.node = "";
  Charge(pod, &nodes);
  EXPECT_EQ(nodes["n1"].held, (Amounts{1500, 1 << 20, 2}));
  EXPECT_EQ(nodes["n1"].pods, 1);
  EXPECT_EQ(NodeTable(nodes),
            "NODE        STATE                      GPU TYPE   GPU(TOTAL)   GPU(HELD)   "
            "CPU(TOTAL)   CPU(HELD)   MEM(TOTAL)   MEM(HELD)   PODS\n"
            "n1          Ready,SchedulingDisabled   H200       4            2           "
            "8            1500m       16Gi         1.0Mi       1\n"
            "(cluster)   0/1 Ready                  -          4            2           "
            "8            1500m       16Gi         1.0Mi       1\n");
}

}  // namespace
}  // namespace taas
