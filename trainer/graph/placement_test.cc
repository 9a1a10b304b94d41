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
  class NoDevice : public Device {
   public:
    explicit NoDevice(std::string_view type) : type_(type) {}
    std::string_view type() const override { return type_; }
    std::string name() const override { return std::string(type_) + " of this test"; }
    size_t alignment() const override { return 64; }
    bool host_sees_memory() const override { return true; }
    absl::StatusOr<Buffer> Allocate(size_t, MemoryKind) override {
      return absl::UnimplementedError("");
    }
    std::unique_ptr<Stream> MakeStream() override { return nullptr; }
    std::unique_ptr<Event> MakeEvent() override { return nullptr; }

   private:
    const std::string_view type_;
  };

  PlacementTest() {
    kernels_.Add("Relu", "CPU", DType::kFloat32,
                 [](const KernelSpec&) -> absl::StatusOr<Kernel> { return Kernel{}; });
  }

  static Node Relu(std::string device) {
    return {.name = "hidden/relu", .op = "Relu", .inputs = {{0, 0}}, .device = std::move(device)};
  }
  absl::StatusOr<DeviceName> Place(const Node& node, bool soft = false) const {
    return PlaceNode(node, DType::kFloat32,
                     {.job = "worker", .task = 1, .soft = soft, .runtime = runtime_});
  }
  std::string Placed(std::string device, bool soft = false) const {
    const auto place = Place(Relu(std::move(device)), soft);
    return place.ok() ? place->ToString() : place.status().ToString();
  }

  NoDevice cpu_{"CPU"};
  KernelRegistry kernels_;
  const Runtime runtime_ = Runtime{{&cpu_}, kernels_}.Virtual(2);
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
                         AllOf(HasSubstr("place hidden/relu (Relu)"),
                               HasSubstr("/job:ps/task:0, which is another process"),
                               HasSubstr("strategy AllReduce trains a copy of it on each task"),
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

TEST_F(PlacementTest, SoftPlacementTakesTheSessionsDeviceAndSaysSo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Placed("/job:worker/task:1/device:GPU:3", /*soft=*/true),
            "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(Placed("/device:CPU:7", /*soft=*/true), "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(PlaceNode(Relu("/gpu:0"), DType::kFloat32,
                      {.device = "/cpu:1", .soft = true, .runtime = runtime_})
                ->ToString(),
            "/job:localhost/replica:0/task:0/device:CPU:1");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("place hidden/relu (Relu) on the session's device instead"),
                         HasSubstr("/device:CPU:7"), HasSubstr("device:GPU:3")));
}

TEST_F(PlacementTest, AnOpWithoutAnyKernelIsRefusedAlsoWhenSoft) {
  Node node = Relu("");
  node.op = "Warp";
  EXPECT_THAT(Place(node, /*soft=*/true),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no kernel of Warp")));
}

TEST_F(PlacementTest, AnyTypeOfDeviceThatHasKernelsWillDo) {
  NoDevice first("GPU"), second("GPU");
  KernelRegistry kernels;
  kernels.Add("Relu", "GPU", DType::kFloat32,
              [](const KernelSpec&) -> absl::StatusOr<Kernel> { return Kernel{}; });
  const Runtime gpus{{&first, &second}, kernels};
  const auto placed = [&](const std::string& device, bool soft) {
    const auto place = PlaceNode(Relu(device), DType::kFloat32, {.soft = soft, .runtime = gpus});
    return place.ok() ? place->ToString() : std::string(place.status().message());
  };
  EXPECT_EQ(placed("", false), "/job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_EQ(placed("/gpu:1", false), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(placed("/device:CPU:0", true), "/job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_THAT(placed("/device:CPU:0", false),
              AllOf(HasSubstr("there is no CPU"), HasSubstr("device:GPU:1")));
}

// As TensorFlow's log_device_placement begins.
TEST_F(PlacementTest, TheMappingNamesTheHardwareOfEachDevice) {
  EXPECT_EQ((Placement{.job = "worker", .task = 1, .runtime = runtime_}.DeviceMapping()),
            "Device mapping:\n"
            "/job:worker/replica:0/task:1/device:CPU:0 -> device: 0, name: CPU of this test\n"
            "/job:worker/replica:0/task:1/device:CPU:1 -> device: 1, name: CPU of this test\n");
}

TEST_F(PlacementTest, LeavesNeedNoKernel) {
  EXPECT_THAT(PlaceNode({.name = "x", .op = "Input", .device = "/device:CPU:1"}, std::nullopt,
                        {.runtime = runtime_}),
              IsOk());
}

}  // namespace
}  // namespace taas
