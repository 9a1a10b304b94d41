// A CudaDevice on the driver that stands for NVIDIA's: what it launches runs late, memory is closed
// to the host, captures keep their arguments.

#include "trainer/cuda/cuda_device.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/graph/step_runner.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using fake::FakeCudaLeft;
using fake::FakeGpu;
using Code = absl::StatusCode;
using Floats = std::vector<float>;

constexpr size_t kCount = 1'000, kBytes = kCount * sizeof(float);

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest() : device_(gpu_.device()) {
    for (const char* const function :
         {"cuMemAlloc", "cuLaunchKernel", "cuStreamCreate", "kernel", "copy", "cuGraphLaunch"}) {
      gpu_.FailAt(function, 0, 0);
    }
  }
  Buffer Memory(MemoryKind kind = MemoryKind::kDevice) {
    absl::StatusOr<Buffer> buffer = device_.Allocate(kBytes, kind);
    EXPECT_THAT(buffer, IsOk());
    return *std::move(buffer);
  }
  Floats Read(const Buffer& buffer) {
    Floats values(kCount);
    EXPECT_THAT(device_.Copy(values.data(), buffer.data(), kBytes), IsOk());
    return values;
  }
  // buffer *= factor.
  absl::Status Scale(Stream& stream, const Buffer& buffer, float factor) {
    const Kernel kernel{.run = [&, factor](const KernelCall& call) {
      return Launch(call, kScaleKernel, ForElements(kCount),
                    {.x = call.in(0), .y = call.out(), .count = kCount, .factor = factor});
    }};
    const void* const in = buffer.data();
    void* const out = buffer.data();
    return stream.Launch(kernel, {.inputs = {&in, 1}, .outputs = {&out, 1}, .stream = &stream});
  }
  void Fill(const Buffer& buffer, float value) {
    EXPECT_THAT(device_.Copy(buffer.data(), Floats(kCount, value).data(), kBytes), IsOk());
  }

  FakeGpu gpu_;
  CudaDevice& device_;
};

TEST_F(CudaDeviceTest, IsTheGpuThatTheDriverDescribes) {
  EXPECT_EQ(device_.type(), "GPU");
  EXPECT_EQ(device_.name(), "NVIDIA H100 80GB HBM3");
  EXPECT_FALSE(device_.host_sees_memory());
}

TEST_F(CudaDeviceTest, MemoryIsZeroAlignedAndGoesWithItsBuffer) {
  {
    const Buffer buffer = Memory();
    const Buffer pinned = Memory(MemoryKind::kPinned);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % device_.alignment(), 0u);
    EXPECT_THAT(Read(buffer), Each(0.0f));
    EXPECT_EQ(*reinterpret_cast<const float*>(pinned.data()), 0.0f);
    EXPECT_EQ(gpu_.left().buffers, 1u);
    EXPECT_EQ(gpu_.left().pinned, 1u);
  }
  // One stream is kept for copies.
  EXPECT_EQ(gpu_.left(), (FakeCudaLeft{.buffers = 0, .pinned = 0, .streams = 1, .events = 0,
                                       .graphs = 0, .libraries = 1, .contexts = 1}));
}

TEST_F(CudaDeviceTest, TheHostCannotTouchIt) {
  const Buffer buffer = Memory();
  EXPECT_DEATH(std::fprintf(stderr, "%f", *reinterpret_cast<const double*>(buffer.data())), "");
}

TEST_F(CudaDeviceTest, AStreamRunsInItsOrderAndLate) {
  const Buffer buffer = Memory();
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  Fill(buffer, 1);
  EXPECT_THAT(Scale(*stream, buffer, 3), IsOk());
  EXPECT_EQ(gpu_.Calls("kernel"), 0);
  Floats values(kCount, 5);
  EXPECT_THAT(stream->Copy(values.data(), buffer.data(), kBytes), IsOk());
  EXPECT_THAT(Scale(*stream, buffer, 2), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  EXPECT_THAT(values, Each(3.0f));
  EXPECT_THAT(Read(buffer), Each(6.0f));
}

TEST_F(CudaDeviceTest, AnEventOrdersTwoStreams) {
  for (int round = 0; round < 20; ++round) {
    const Buffer buffer = Memory();
    Fill(buffer, 1);
    const std::unique_ptr<Stream> first = device_.MakeStream(), second = device_.MakeStream();
    const std::unique_ptr<Event> event = device_.MakeEvent();
    EXPECT_THAT(event->Synchronize(), IsOk());  // Of no stream: passed.
    Floats values(kCount);
    EXPECT_THAT(Scale(*first, buffer, 4), IsOk());
    EXPECT_THAT(first->Record(*event), IsOk());
    EXPECT_THAT(second->Wait(*event), IsOk());
    EXPECT_THAT(second->Copy(values.data(), buffer.data(), kBytes), IsOk());
    EXPECT_THAT(second->Synchronize(), IsOk());
    EXPECT_THAT(values, Each(4.0f));
    EXPECT_THAT(event->Synchronize(), IsOk());
  }
}

TEST_F(CudaDeviceTest, AProgramIsWhatWasCapturedAsOftenAsItIsLaunched) {
  const Buffer buffer = Memory();
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  const std::unique_ptr<Event> event = device_.MakeEvent();
  Fill(buffer, 1);
  float factor = 2;
  const auto program = stream->Capture([&]() -> absl::Status {
    EXPECT_THAT(Scale(*stream, buffer, factor), IsOk());
    EXPECT_THAT(stream->Record(*event), IsOk());
    return Scale(*stream, buffer, factor);
  });
  ASSERT_THAT(program, IsOk());
  EXPECT_THAT(Read(buffer), Each(1.0f)) << "a capture runs nothing";
  factor = 100;
  for (int launch = 0; launch < 3; ++launch) EXPECT_THAT((*program)->Launch(*stream), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  EXPECT_THAT(event->Synchronize(), IsOk());
  EXPECT_THAT(Read(buffer), Each(64.0f));
}

// What is made ready at a first launch must not be made ready while it is captured.
TEST_F(CudaDeviceTest, AStepIsRunOnceBeforeItIsCaptured) {
  const Buffer buffer = Memory();
  Fill(buffer, 1);
  const std::vector<RunnableStep> steps = {
      {.kernel = {.run =
                      [](const KernelCall& call) {
                        return cuda::Launch(call, kScaleKernel, ForElements(kCount),
                                            {.x = call.in(0), .y = call.out(), .count = kCount,
                                             .factor = 3});
                      }},
       .inputs = {buffer.data()},
       .outputs = {buffer.data()}}};
  StepRunner runner(device_, steps, {}, /*threads=*/1);
  const int captured = gpu_.Calls("cuStreamBeginCapture");
  for (const int captures : {0, 1, 1}) {
    EXPECT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
    EXPECT_EQ(gpu_.Calls("cuStreamBeginCapture") - captured, captures);
  }
  EXPECT_THAT(Read(buffer), Each(27.0f));
}

TEST_F(CudaDeviceTest, MultipliesInAStreamAndInAProgram) {
  const Buffer a = Memory(), b = Memory(), c = Memory(), workspace = Memory();
  Floats left(kCount), right(kCount);
  std::iota(left.begin(), left.end(), 1.0f);
  std::iota(right.begin(), right.end(), 2.0f);
  EXPECT_THAT(device_.Copy(a.data(), left.data(), kBytes), IsOk());
  EXPECT_THAT(device_.Copy(b.data(), right.data(), kBytes), IsOk());
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  // [1 2 3; 4 5 6] by the columns [2 3 4] and [5 6 7], added twice.
  const Product product{.m = 2,
                        .n = 2,
                        .k = 3,
                        .transpose_b = true,
                        .adds = true,
                        .a = reinterpret_cast<const float*>(a.data()),
                        .b = reinterpret_cast<const float*>(b.data()),
                        .c = reinterpret_cast<float*>(c.data()),
                        .workspace = workspace.data(),
                        .workspace_bytes = kBytes};
  const auto program = stream->Capture(
      [&] { return static_cast<GpuStream&>(*stream).Multiply(product); });
  ASSERT_THAT(program, IsOk());
  EXPECT_THAT((*program)->Launch(*stream), IsOk());
  EXPECT_THAT((*program)->Launch(*stream), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  const Floats got = Read(c);
  EXPECT_THAT(Floats(got.begin(), got.begin() + 5), ElementsAre(40, 76, 94, 184, 0));
}

// 1 + 2^-9 has ten bits, 1 + 2^-12 thirteen: the precisions keep both, one, none.
TEST_F(CudaDeviceTest, MultipliesInThePrecisionThatIsAsked) {
  const Buffer a = Memory(), b = Memory(), c = Memory(), workspace = Memory();
  Floats factors(kCount, 1.0f);
  EXPECT_THAT(device_.Copy(b.data(), factors.data(), kBytes), IsOk());
  factors[0] = 1 + std::ldexp(1.0f, -9);
  factors[1] = 1 + std::ldexp(1.0f, -12);
  EXPECT_THAT(device_.Copy(a.data(), factors.data(), kBytes), IsOk());
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  for (const auto& [precision, first, second] :
       {std::tuple(Precision::kFloat32, factors[0], factors[1]),
        std::tuple(Precision::kTf32, factors[0], 1.0f),
        std::tuple(Precision::kBFloat16, 1.0f, 1.0f)}) {
    EXPECT_THAT(static_cast<GpuStream&>(*stream).Multiply(
                    {.m = 2,
                     .n = 1,
                     .k = 1,
                     .precision = precision,
                     .a = reinterpret_cast<const float*>(a.data()),
                     .b = reinterpret_cast<const float*>(b.data()),
                     .c = reinterpret_cast<float*>(c.data()),
                     .workspace = workspace.data(),
                     .workspace_bytes = kBytes}),
                IsOk());
    EXPECT_THAT(stream->Synchronize(), IsOk());
    EXPECT_EQ(Read(c)[0], first) << NameOf(precision);
    EXPECT_EQ(Read(c)[1], second) << NameOf(precision);
  }
}

// As heads lie in attention: two products at a time, of columns of wider matrices.
TEST_F(CudaDeviceTest, MultipliesColumnsOfWiderMatrices) {
  const Buffer a = Memory(), b = Memory(), c = Memory(), workspace = Memory();
  Floats left(kCount), right(kCount);
  std::iota(left.begin(), left.end(), 1.0f);
  std::iota(right.begin(), right.end(), 2.0f);
  Fill(c, 9);
  EXPECT_THAT(device_.Copy(a.data(), left.data(), kBytes), IsOk());
  EXPECT_THAT(device_.Copy(b.data(), right.data(), kBytes), IsOk());
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  // [1 6; 2 7] by [2 3; 9 10] and [3 8; 4 9] by [4 5; 11 12], into rows of five.
  Product product{.m = 2,
                  .n = 2,
                  .k = 2,
                  .transpose_a = true,
                  .a_row = 5,
                  .b_row = 7,
                  .c_row = 5,
                  .batch = 2,
                  .a_apart = 2,
                  .b_apart = 2,
                  .c_apart = 2,
                  .a = reinterpret_cast<const float*>(a.data()),
                  .b = reinterpret_cast<const float*>(b.data()),
                  .c = reinterpret_cast<float*>(c.data()),
                  .workspace = workspace.data(),
                  .workspace_bytes = kBytes};
  EXPECT_THAT(static_cast<GpuStream&>(*stream).Multiply(product), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  Floats got = Read(c);
  EXPECT_THAT(Floats(got.begin(), got.begin() + 10),
              ElementsAre(56, 63, 100, 111, 9, 67, 76, 115, 128, 9));
  // The same product of dense matrices is another one: [1 3; 2 4] and [3 5; 4 6].
  product.a_row = 0;
  EXPECT_THAT(static_cast<GpuStream&>(*stream).Multiply(product), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  got = Read(c);
  EXPECT_THAT(Floats(got.begin(), got.begin() + 5), ElementsAre(29, 33, 67, 75, 9));
}

// The library's description of a product has the address of the bias, and all products of a shape
// have one description.
TEST_F(CudaDeviceTest, EachProductOfAProgramHasABiasOfItsOwn) {
  const Buffer a = Memory(), b = Memory(), workspace = Memory();
  const Buffer biases[] = {Memory(), Memory()}, sums[] = {Memory(), Memory()};
  const auto floats = [](const Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); };
  Fill(a, 1);
  Fill(b, 2);
  Fill(biases[0], 10);
  Fill(biases[1], 20);
  Product product{.m = 2,
                  .n = 3,
                  .k = 4,
                  .epilogue = Epilogue::kBias,
                  .a = floats(a),
                  .b = floats(b),
                  .workspace = workspace.data(),
                  .workspace_bytes = kBytes};
  EXPECT_TRUE(device_.CanMultiply(product));
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  const auto launch = [&](size_t which) {
    product.vector = floats(biases[which]);
    product.c = floats(sums[which]);
    return static_cast<GpuStream&>(*stream).Multiply(product);
  };
  const auto program = stream->Capture([&]() -> absl::Status {
    RETURN_IF_ERROR(launch(0));
    return launch(1);
  });
  ASSERT_THAT(program, IsOk());
  for (int run = 0; run < 2; ++run) EXPECT_THAT((*program)->Launch(*stream), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  for (const size_t which : {0, 1}) {
    const Floats got = Read(sums[which]);
    EXPECT_THAT(Floats(got.begin(), got.begin() + 6), Each(which == 0 ? 18.0f : 28.0f));
    EXPECT_EQ(got[6], 0);
  }
  // It was planned for tensors that are aligned.
  product.vector = floats(biases[0]) + 1;
  EXPECT_THAT(static_cast<GpuStream&>(*stream).Multiply(product),
              StatusIs(Code::kInvalidArgument, HasSubstr("2 × 4 by 4 × 3 with a bias: a tensor "
                                                         "begins at no multiple of 16 bytes")));
}

TEST_F(CudaDeviceTest, AProductWithoutAWayForItsBiasIsKnownBeforeItIsLaunched) {
  const FakeGpu other(fake::kH100 + std::string("epilogues 0\n"));
  for (const Epilogue epilogue : {Epilogue::kBias, Epilogue::kBiasGrad}) {
    const Product product{.m = 2, .n = 3, .k = 4, .epilogue = epilogue};
    for (int time = 0; time < 2; ++time) EXPECT_FALSE(other.device().CanMultiply(product));
  }
}

TEST_F(CudaDeviceTest, WithoutCublasLtThereIsNoDevice) {
  EXPECT_THAT(CudaDevice::Open(gpu_.driver(), gpu_.kernels(), 0, "./none/libcublasLt.so.13"),
              StatusIs(Code::kNotFound, HasSubstr("no cuBLASLt here")));
}

TEST_F(CudaDeviceTest, WhatACaptureForbidsEndsItAndNotTheStream) {
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  const Buffer buffer = Memory();
  const std::vector<std::function<absl::Status()>> forbidden = {
      [&] { return stream->Synchronize(); },
      [&] { return device_.Allocate(kBytes, MemoryKind::kDevice).status(); }};
  for (const auto& call : forbidden) {
    EXPECT_THAT(stream->Capture([&] {
                  EXPECT_THAT(call(), StatusIs(Code::kFailedPrecondition));
                  return absl::OkStatus();
                }),
                StatusIs(Code::kFailedPrecondition, HasSubstr("end a capture")));
  }
  EXPECT_THAT(stream->Capture([&] { return absl::AbortedError("enough"); }),
              StatusIs(Code::kAborted, "enough"));
  EXPECT_EQ(gpu_.left().graphs, 0u);
  Fill(buffer, 1);
  EXPECT_THAT(Scale(*stream, buffer, 3), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
  EXPECT_THAT(Read(buffer), Each(3.0f));
}

TEST_F(CudaDeviceTest, MemoryThatThereIsNotIsToldWithWhatIsFree) {
  EXPECT_THAT(device_.Allocate(size_t{200} << 30, MemoryKind::kDevice),
              StatusIs(Code::kResourceExhausted,
                       HasSubstr("no memory for 215 GB on GPU 0 (NVIDIA H100 80GB HBM3): 85.9 GB "
                                 "of 85.9 GB are free")));
}

TEST_F(CudaDeviceTest, ADeviceThatIsLostStaysSo) {
  const Buffer buffer = Memory();
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  gpu_.FailAt("kernel", 1, kCuEccUncorrectable);
  EXPECT_THAT(Scale(*stream, buffer, 2), IsOk());
  const absl::Status lost = stream->Synchronize();
  EXPECT_THAT(lost, StatusIs(Code::kUnavailable, HasSubstr("NVIDIA driver: wait for a stream: ")));
  EXPECT_TRUE(IsMachineFault(lost));
  EXPECT_THAT(Scale(*stream, buffer, 2), StatusIs(Code::kUnavailable, HasSubstr("ScaleKernel")));
  EXPECT_THAT(device_.Allocate(kBytes, MemoryKind::kDevice), StatusIs(Code::kUnavailable));
  gpu_.FailAt("kernel", 0, 0);
}

// cuBLASLt says of such a device only that it failed.
TEST_F(CudaDeviceTest, ALibraryThatFailsOnALostDeviceIsTheMachinesFault) {
  const Buffer buffer = Memory();
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  for (const int lost : {kCuEccUncorrectable, kCuContained, kCuNvlinkUncorrectable}) {
    gpu_.FailAt("kernel", 1, lost);
    EXPECT_THAT(Scale(*stream, buffer, 2), IsOk());
    EXPECT_FALSE(stream->Synchronize().ok());
    const absl::Status multiplied = static_cast<GpuStream&>(*stream).Multiply(
        {.m = 1,
         .n = 1,
         .k = 1,
         .a = reinterpret_cast<const float*>(buffer.data()),
         .b = reinterpret_cast<const float*>(buffer.data()),
         .c = reinterpret_cast<float*>(buffer.data())});
    EXPECT_FALSE(multiplied.ok());
    EXPECT_TRUE(IsMachineFault(Await(*stream, multiplied))) << multiplied;
    gpu_.FailAt("kernel", 0, 0);
  }
}

TEST_F(CudaDeviceTest, AStreamThatCouldNotBeMadeSaysSo) {
  gpu_.FailAt("cuStreamCreate", 1, kCuOutOfMemory);
  const std::unique_ptr<Stream> stream = device_.MakeStream();
  const Buffer buffer = Memory();
  EXPECT_THAT(Scale(*stream, buffer, 2),
              StatusIs(Code::kResourceExhausted, HasSubstr("make a stream")));
  EXPECT_THAT(stream->Synchronize(), StatusIs(Code::kResourceExhausted));
}

TEST_F(CudaDeviceTest, MoreGpusThanThereAreAreRefused) {
  EXPECT_THAT(CudaRuntime::Open(2, {.driver = "./trainer/cuda/fake/libcuda.so.1"}),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("2 GPUs are wanted: this process sees 1 (taas-trainer devices")));
  EXPECT_THAT(CudaRuntime::Open(1, {.driver = "./none/libcuda.so.1"}),
              StatusIs(Code::kNotFound, HasSubstr("a GPU is wanted: no NVIDIA driver here")));
  EXPECT_TRUE(IsMachineFault(CudaRuntime::Open(1, {.driver = "./none/libcuda.so.1"}).status()));
}

// Of another one, whose memory no other sees.
class TwoDevicesTest : public CudaDeviceTest {
 protected:
  TwoDevicesTest() {
    const FakeGpu two(std::string(fake::kH100) + fake::kH100);
    auto opened = CudaDevice::Open(gpu_.driver(), gpu_.kernels(), 1,
                                   "./trainer/cuda/fake/libcublasLt.so.13");
    EXPECT_THAT(opened, IsOk());
    other_ = *std::move(opened);
    there_ = *other_->Allocate(kBytes, MemoryKind::kDevice);
    stream_ = other_->MakeStream();
  }
  std::unique_ptr<CudaDevice> other_;
  Buffer there_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(TwoDevicesTest, EachComputesInMemoryOfItsOwnAndCopiesGoBetweenThem) {
  const Buffer here = Memory();
  Fill(here, 2);
  EXPECT_THAT(stream_->Copy(there_.data(), here.data(), kBytes), IsOk());
  EXPECT_THAT(Scale(*stream_, there_, 3), IsOk());
  EXPECT_THAT(stream_->Synchronize(), IsOk());
  EXPECT_THAT(Read(there_), Each(6.0f));
  EXPECT_THAT(Read(here), Each(2.0f));
}

TEST_F(TwoDevicesTest, AKernelCannotTouchMemoryOfTheOther) {
  const Buffer here = Memory();
  EXPECT_DEATH(static_cast<void>(Await(*stream_, Scale(*stream_, here, 3))), "");
}

TEST_F(TwoDevicesTest, WhatIsLostIsOnlyTheOneDevice) {
  const Buffer here = Memory();
  Fill(here, 1);
  gpu_.FailAt("kernel@1", 1, kCuEccUncorrectable);
  EXPECT_THAT(Scale(*stream_, there_, 2), IsOk());
  EXPECT_THAT(stream_->Synchronize(), StatusIs(Code::kUnavailable));
  EXPECT_THAT(Read(here), Each(1.0f));
  gpu_.FailAt("kernel@1", 0, 0);
}

TEST_F(TwoDevicesTest, AStreamOfOneWaitsForAnEventOfTheOther) {
  for (int round = 0; round < 20; ++round) {
    const Buffer here = Memory();
    Fill(here, 5);
    const std::unique_ptr<Stream> stream = device_.MakeStream();
    const std::unique_ptr<Event> event = device_.MakeEvent();
    EXPECT_THAT(Scale(*stream, here, 2), IsOk());
    EXPECT_THAT(stream->Record(*event), IsOk());
    EXPECT_THAT(stream_->Wait(*event), IsOk());
    EXPECT_THAT(stream_->Copy(there_.data(), here.data(), kBytes), IsOk());
    EXPECT_THAT(stream_->Synchronize(), IsOk());
    EXPECT_THAT(Read(there_), Each(10.0f));
    EXPECT_THAT(stream_->Record(*event), StatusIs(Code::kFailedPrecondition));
  }
}

TEST_F(CudaDeviceTest, AGpuThatIsTooOldOrNotThereIsRefused) {
  const FakeGpu two(std::string(fake::kH100) + "device 7 5 16000000000 40 0 Tesla T4\n");
  EXPECT_THAT(CudaDevice::Open(two.driver(), two.kernels(), 1).status(),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("GPU 1 (Tesla T4) cannot be used: compute capability 7.5")));
  EXPECT_THAT(CudaDevice::Open(two.driver(), two.kernels(), 2).status(),
              StatusIs(Code::kFailedPrecondition, HasSubstr("device 2")));
}

}  // namespace
}  // namespace taas::cuda
