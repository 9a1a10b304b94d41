#include "trainer/graph/device_name.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

TEST(DeviceNameTest, NothingSaidIsTheFirstOfAnyType) {
  const absl::StatusOr<DeviceName> device = DeviceName::Parse("");
  ASSERT_THAT(device, IsOk());
  EXPECT_EQ(device->type, "");
  EXPECT_EQ(device->index, 0);
}

TEST(DeviceNameTest, FullNameIsTakenApart) {
  const absl::StatusOr<DeviceName> device =
      DeviceName::Parse("/job:worker/replica:0/task:3/device:gpu:1");
  ASSERT_THAT(device, IsOk());
  EXPECT_EQ(device->job, "worker");
  EXPECT_EQ(device->task, 3);
  EXPECT_EQ(device->type, "GPU");
  EXPECT_EQ(device->index, 1);
}

TEST(DeviceNameTest, OldSpellingIsUnderstood) {
  const absl::StatusOr<DeviceName> device = DeviceName::Parse("/gpu:2");
  ASSERT_THAT(device, IsOk());
  EXPECT_EQ(device->type, "GPU");
  EXPECT_EQ(device->index, 2);
}

TEST(DeviceNameTest, TextHasThePartsThatAreSaid) {
  for (const char* text : {"/job:worker/replica:0/task:3/device:GPU:1", "/device:CPU:0",
                           "/job:ps/device:CPU:2", "/job:ps/replica:0/task:1"}) {
    const absl::StatusOr<DeviceName> device = DeviceName::Parse(text);
    ASSERT_THAT(device, IsOk());
    EXPECT_EQ(device->ToString(), text);
  }
}

TEST(DeviceNameTest, NonsenseIsRefusedWithTheText) {
  for (const char* text : {"cpu", "/", "/device:GPU", "/device:GPU:x", "/task:-1", "/gpu:0/",
                           "/device::0", "/job:"}) {
    EXPECT_THAT(DeviceName::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
  }
}

}  // namespace
}  // namespace taas
