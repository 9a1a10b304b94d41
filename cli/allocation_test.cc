#include "cli/allocation.h"

#include <map>
#include <optional>
#include <string>

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
  EXPECT_EQ(ParseMilli("12345678n"), 13) << "upwards, as kubectl has it";
  EXPECT_EQ(ParseMilli("2500u"), 3);
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
             .asked = {1500, 1 << 20, 2}, .used = {}};
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
            "CPU(TOTAL)   CPU(HELD)   CPU(USED)   MEM(TOTAL)   MEM(HELD)   MEM(USED)   PODS\n"
            "n1          Ready,SchedulingDisabled   H200       4            2           "
            "8            1500m       -           16Gi         1.0Mi       -           1\n"
            "(cluster)   0/1 Ready                  -          4            2           "
            "8            1500m       -           16Gi         1.0Mi       -           1\n");
}

TEST(MeasuredTest, APodsUsageIsTheSumOfItsContainersAndANodesItsOwn) {
  const auto pod = ReadMetricsObject(
      R"({"metadata":{"name":"p","namespace":"ns"},
          "containers":[{"name":"a","usage":{"cpu":"250000000n","memory":"1024Ki"}},
                        {"name":"b","usage":{"cpu":"1m","memory":"1Mi"}}]})");
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->ns, "ns");
  EXPECT_EQ(pod->used, (Measured{251, 2 << 20}));
  const auto node =
      ReadMetricsObject(R"({"metadata":{"name":"n1"},"usage":{"cpu":"2","memory":"0"}})");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->used, (Measured{2000, 0}));
  EXPECT_FALSE(ReadMetricsObject("{}").has_value());
}

TEST(MeasuredTest, TablesShowWhatIsMeasuredAndADashWhereNothingIs) {
  auto nodes = OneNode();
  nodes["n1"].used = {500, 1 << 20};
  nodes["n2"] = nodes["n1"];
  nodes["n2"].name = "n2";
  nodes["n2"].used.reset();
  const std::string table = NodeTable(nodes);
  EXPECT_NE(table.find("500m        16Gi         0           1.0Mi "), std::string::npos) << table;
  EXPECT_NE(table.find("-           16Gi         0           -  "), std::string::npos) << table;
  // The cluster's sum is that of the nodes that are measured.
  EXPECT_NE(table.find("500m        32Gi         0           1.0Mi "), std::string::npos) << table;
  PodUse pod{.ns = "", .name = "p", .node = "n1", .state = "Running", .job_uid = "", .replica = "",
             .asked = {}, .used = Measured{7, 3 << 20}};
  EXPECT_EQ(PodTable({pod}),
            "POD   REPLICA   STATE     NODE   GPUS   CPU   MEMORY   CPU(USED)   MEM(USED)\n"
            "p     -         Running   n1     0      0     0        7m          3.0Mi\n");
}

}  // namespace
}  // namespace taas
