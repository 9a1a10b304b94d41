#include "trainer/graph/placement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PlacementTest : public testing::Test {
 protected:
  PlacementTest() {
    kernels_.Add("Relu", "CPU", DType::kFloat32,
                 [](const KernelSpec&) -> absl::StatusOr<Kernel> { return Kernel{}; });
  }

  static Node Relu(std::string device) {
    return {.name = "hidden/relu", .op = "Relu", .inputs = {{0, 0}}, .device = std::move(device)};
  }
  absl::StatusOr<DeviceName> Place(const Node& node, bool soft = false) const {
    return PlaceNode(node, DType::kFloat32,
                     {.job = "worker", .task = 1, .cpu_devices = 2, .soft = soft,
                      .kernels = kernels_});
  }
  std::string Placed(std::string device, bool soft = false) const {
    const auto place = Place(Relu(std::move(device)), soft);
    return place.ok() ? place->ToString() : place.status().ToString();
  }

  KernelRegistry kernels_;
};

TEST_F(PlacementTest, WhatIsNotSaidIsThisProcess) {
  EXPECT_EQ(Placed(""), "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(Placed("/device:CPU:1"), "/job:worker/replica:0/task:1/device:CPU:1");
  EXPECT_EQ(Placed("/job:worker"), "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(Placed("/cpu:1"), "/job:worker/replica:0/task:1/device:CPU:1");
}

TEST_F(PlacementTest, ADeviceThatIsNotThereIsRefusedWithWhatThereIs) {
  for (const bool soft : {false, true}) {
    SCOPED_TRACE(soft);
    EXPECT_THAT(Place(Relu("/job:ps/task:0"), soft),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("place hidden/relu (Relu)"), HasSubstr("/job:ps/task:0"),
                               HasSubstr("another process"),
                               HasSubstr("/job:worker/replica:0/task:1/device:CPU:0, "
                                         "/job:worker/replica:0/task:1/device:CPU:1"))));
  }
  EXPECT_THAT(Place(Relu("/device:GPU:0")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("hidden/relu"), HasSubstr("/device:GPU:0"),
                             HasSubstr("device:CPU:1"))));
  EXPECT_THAT(Place(Relu("/device:CPU:2")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/device:CPU:2")));
}

TEST_F(PlacementTest, SoftPlacementTakesTheFirstCpuAndSaysSo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Placed("/job:worker/task:1/device:GPU:3", /*soft=*/true),
            "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(Placed("/device:CPU:7", /*soft=*/true), "/job:worker/replica:0/task:1/device:CPU:0");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("place hidden/relu (Relu) on the CPU instead"),
                         HasSubstr("/device:CPU:7"), HasSubstr("device:GPU:3")));
}

TEST_F(PlacementTest, AnOpWithoutAnyKernelIsRefusedAlsoWhenSoft) {
  Node node = Relu("");
  node.op = "Warp";
  EXPECT_THAT(Place(node, /*soft=*/true),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no kernel of Warp")));
}

TEST_F(PlacementTest, LeavesNeedNoKernel) {
  EXPECT_THAT(PlaceNode({.name = "x", .op = "Input", .device = "/device:CPU:1"}, std::nullopt,
                        {.cpu_devices = 2, .kernels = kernels_}),
              IsOk());
}

}  // namespace
}  // namespace taas
