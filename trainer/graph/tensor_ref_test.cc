#include "trainer/graph/tensor_ref.h"

#include <array>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using testing::ElementsAre;

Device& Near() { return *CpuRuntime().devices[0]; }

TensorRef Floats(Device& device, const Buffer& memory, size_t count) {
  return {device, memory.data(), DType::kFloat32, count};
}

TEST(TensorRefTest, IsReadAndWrittenWhereverItLies) {
  for (Device* const device : {&Near(), &FarDevice()}) {
    const auto memory = device->Allocate(4 * sizeof(float));
    ASSERT_THAT(memory, IsOk());
    const TensorRef tensor = Floats(*device, *memory, 4);
    EXPECT_EQ(tensor.host_sees(), device == &Near());
    ASSERT_THAT(tensor.Write(std::array{1.0f, 2.0f, 3.0f, 4.0f}), IsOk());
    ASSERT_THAT(tensor.Part(1, 2).Fill(9), IsOk());
    std::vector<float> read(4), room;
    ASSERT_THAT(tensor.Read(std::span(read)), IsOk());
    EXPECT_THAT(read, ElementsAre(1, 9, 9, 4));
    const auto seen = OnHost(tensor, &room);
    ASSERT_THAT(seen, IsOk());
    EXPECT_THAT(*seen, ElementsAre(1, 9, 9, 4));
    EXPECT_EQ(room.empty(), device == &Near()) << "a copy of what the host sees";
  }
}

TEST(TensorRefTest, CopiesFromHostAndFromAnyDevice) {
  std::vector<float> values = {1, 2, 3};
  const auto far = FarDevice().Allocate(3 * sizeof(float));
  const auto near = Near().Allocate(3 * sizeof(float));
  ASSERT_THAT(far, IsOk());
  ASSERT_THAT(near, IsOk());
  ASSERT_THAT(Floats(FarDevice(), *far, 3).CopyFrom(TensorRef(values)), IsOk());
  ASSERT_THAT(Floats(Near(), *near, 3).CopyFrom(Floats(FarDevice(), *far, 3)), IsOk());
  EXPECT_THAT(Floats(Near(), *near, 3).host(), ElementsAre(1, 2, 3));
}

TEST(TensorRefTest, OfNothingIsEmptyAndCopiesNothing) {
  EXPECT_TRUE(TensorRef().empty());
  EXPECT_THAT(TensorRef().Write(std::vector<float>()), IsOk());
}

TEST(TensorRefDeathTest, WhatIsNotItsOwnIsAMistake) {
  std::vector<float> values(3);
  const auto far = FarDevice().Allocate(3 * sizeof(float));
  ASSERT_THAT(far, IsOk());
  EXPECT_DEATH(Floats(FarDevice(), *far, 3).host(), "the host does not see memory of");
  EXPECT_DEATH(TensorRef(values).Write(std::array{1.0f}).IgnoreError(),
               "1 elements of float32 for a tensor of 3 of float32");
  EXPECT_DEATH(TensorRef(values).Write(std::array{1, 2, 3}).IgnoreError(), "of int32 for");
  EXPECT_DEATH(TensorRef(values).Part(2, 2), "elements 2 to 4 of a tensor of 3");
}

}  // namespace
}  // namespace taas
