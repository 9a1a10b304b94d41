// Convolutions by the cuDNN that stands for NVIDIA's: which of its engines is taken, what a plan
// runs and when, where plans are kept, and what becomes of errors.

#include "trainer/cuda/conv_plan.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/kernels/cuda/convolution.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Code = absl::StatusCode;
using Floats = std::vector<float>;

// Two images of 4 by 5 with 3 channels, 2 filters of 3 by 3, padded all around.
constexpr ConvShape kShape{.count = 2,
                           .in = 3,
                           .out = 2,
                           .image = {4, 5},
                           .filter = {3, 3},
                           .output = {4, 5},
                           .before = {1, 1},
                           .after = {1, 1}};
constexpr ConvPart kParts[] = {ConvPart::kOutputs, ConvPart::kImagesGrad, ConvPart::kFiltersGrad};

ConvShape With(ConvPart part, bool tf32 = false) {
  ConvShape shape = kShape;
  shape.part = part;
  shape.tf32 = tf32;
  return shape;
}
// As many places, though there are fewer zeros behind than in front.
ConvShape Uneven(ConvPart part) {
  ConvShape shape = With(part);
  shape.image = {4, 6};
  shape.after = {1, 0};
  return shape;
}

TEST(ConvShapeTest, StridesAreThoseOfTensorsWhoseChannelsAreNeighbours) {
  const CudnnConvShapes shapes = ShapesOf(kShape);
  EXPECT_EQ(shapes.images.dimensions, (std::array<int64_t, 4>{2, 3, 4, 5}));
  EXPECT_EQ(shapes.images.strides, (std::array<int64_t, 4>{60, 1, 15, 3}));
  EXPECT_EQ(shapes.filters.dimensions, (std::array<int64_t, 4>{2, 3, 3, 3}));
  EXPECT_EQ(shapes.filters.strides, (std::array<int64_t, 4>{27, 1, 9, 3}));
  EXPECT_EQ(shapes.outputs.dimensions, (std::array<int64_t, 4>{2, 2, 4, 5}));
  EXPECT_EQ(shapes.outputs.strides, (std::array<int64_t, 4>{40, 1, 10, 2}));
}

// A plan is kept under it.
TEST(ConvShapeTest, NoTwoShapesHaveOneText) {
  std::set<std::string> texts;
  int shapes = 0;
  const auto add = [&](const ConvShape& shape) {
    texts.insert(TextOf(shape));
    ++shapes;
  };
  for (const ConvPart part : kParts) add(With(part));
  add(With(ConvPart::kOutputs, /*tf32=*/true));
  const auto change = [&](auto field) {
    ConvShape shape = kShape;
    field(shape) += 10;
    add(shape);
  };
  change([](ConvShape& it) -> int64_t& { return it.count; });
  change([](ConvShape& it) -> int64_t& { return it.in; });
  change([](ConvShape& it) -> int64_t& { return it.out; });
  for (const size_t axis : {0, 1}) {
    change([=](ConvShape& it) -> int64_t& { return it.image[axis]; });
    change([=](ConvShape& it) -> int64_t& { return it.filter[axis]; });
    change([=](ConvShape& it) -> int64_t& { return it.output[axis]; });
    change([=](ConvShape& it) -> int64_t& { return it.stride[axis]; });
    change([=](ConvShape& it) -> int64_t& { return it.before[axis]; });
    change([=](ConvShape& it) -> int64_t& { return it.after[axis]; });
  }
  EXPECT_THAT(texts, SizeIs(shapes));
}

TEST(EngineTest, ItsNotesDecide) {
  const auto why = [](std::vector<int> notes, bool tf32) {
    return std::string(WhyNotWith(notes, tf32));
  };
  for (const bool tf32 : {false, true}) {
    EXPECT_EQ(why({}, tf32), "");
    EXPECT_EQ(why({kCudnnFft}, tf32), "");
    EXPECT_EQ(why({kCudnnWinograd}, tf32), "");
    EXPECT_EQ(why({kCudnnTensorCore}, tf32), tf32 ? "" : "tensor cores");
    EXPECT_EQ(why({kCudnnFft, kCudnnNotDeterministic}, tf32), "not deterministic");
    EXPECT_EQ(why({kCudnnDownConvertsInputs}, tf32), "rounds inputs");
    EXPECT_EQ(why({kCudnnReducedPrecisionSums}, tf32), "sums of less than float32");
    for (const int tile : {kCudnnWinograd4x4, kCudnnWinograd6x6, kCudnnWinograd13x13}) {
      EXPECT_EQ(why({kCudnnWinograd, tile}, tf32), "large Winograd tiles");
    }
  }
}

// The engine of a plan, as the fake's text has it (fake_cudnn_engines.cc).
int EngineOf(const CudnnConvPlan& plan) {
  const auto text = plan.Json();
  EXPECT_THAT(text, IsOk());
  std::istringstream words(text.ok() ? text->substr(10) : "");
  int version = 0, engine = 0;
  words >> version >> engine;
  return engine;
}

// With a GPU, and lines of the log in a file.
class ConvPlanTest : public testing::Test {
 protected:
  ConvPlanTest() : log_(testing::TempDir() + "/conv_plan.log") {
    std::filesystem::remove(log_);
    SetLogFile(log_);
    for (const char* const function :
         {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendFinalize", "cudnnBackendExecute",
          "cudnnFinalizePlan", "cudnnFinalizeHeuristics", "cudnnPlanJson", "library"}) {
      gpu_->FailAt(function, 0, 0);
    }
  }

  // What stays of an error is that of the process.
  ~ConvPlanTest() override { gpu_->FailAt("library", 0, 0); }

  std::string Log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Reopen(const std::string& folder = "", const std::string& more = "",
              const std::string& library = fake::kCudnn) {
    gpu_.reset();
    gpu_ = std::make_unique<fake::FakeGpu>(std::string(fake::kH100) + more, 1,
                                           NcclCollective::Options{.library = fake::kNccl},
                                           CudnnPlans::Options{.library = library,
                                                              .folder = folder});
  }
  CudaDevice& device() { return gpu_->device(); }
  const CudnnConvPlan* PlanFor(const ConvShape& shape) {
    return static_cast<const CudnnConvPlan*>(device().PlanConvolution(shape));
  }
  Buffer Memory(size_t floats, float value) {
    absl::StatusOr<Buffer> buffer = device().Allocate(floats * sizeof(float),
                                                      MemoryKind::kDevice);
    EXPECT_THAT(buffer, IsOk());
    const Floats values(floats, value);
    EXPECT_THAT(device().Copy(buffer->data(), values.data(), floats * sizeof(float)), IsOk());
    return *std::move(buffer);
  }
  Floats Read(const Buffer& buffer, size_t floats) {
    Floats values(floats);
    EXPECT_THAT(device().Copy(values.data(), buffer.data(), floats * sizeof(float)), IsOk());
    return values;
  }

  const std::string log_;
  std::unique_ptr<fake::FakeGpu> gpu_ = std::make_unique<fake::FakeGpu>();
};

// Of the fake's engines 1 refuses, 2 is not deterministic, 3 wants too much workspace, 5 and 6
// round; 4 has tensor cores, 7 is plain, 8 is proposed in mode B.
TEST_F(ConvPlanTest, TheFirstEngineThatFitsIsTaken) {
  for (const ConvPart part : kParts) {
    const std::tuple<ConvShape, int> wanted[] = {
        {With(part), 7}, {With(part, /*tf32=*/true), 4}, {Uneven(part), 8}};
    for (const auto& [shape, engine] : wanted) {
      const CudnnConvPlan* const plan = PlanFor(shape);
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(EngineOf(*plan), engine);
    }
  }
}

TEST_F(ConvPlanTest, AShapeWithoutAPlanIsToldOnceAndWhy) {
  ConvShape shape = With(ConvPart::kOutputs);
  shape.stride = {1, 2};
  shape.output = {4, 3};
  EXPECT_EQ(PlanFor(shape), nullptr);
  EXPECT_EQ(PlanFor(shape), nullptr);
  EXPECT_THAT(Log(), AllOf(HasSubstr("a convolution is computed by patches and cuBLASLt"),
                           HasSubstr("no engine of cuDNN 9.28.1 fits: none is proposed"),
                           HasSubstr("stride 1,2")));
  EXPECT_EQ(gpu_->Calls("cudnnFinalizeHeuristics"), 2) << "both, and not again";
}

TEST_F(ConvPlanTest, WhatRulesEnginesOutIsCounted) {
  // The third of those that may be finalized is the plain one, of which the test says that it may
  // not; then comes that of mode B.
  ASSERT_THAT(device().Enter(), IsOk());
  const auto cudnn = Cudnn::Load(fake::kCudnn);
  ASSERT_THAT(cudnn, IsOk());
  gpu_->FailAt("cudnnFinalizePlan", 3, kCudnnInternal);
  const auto plan = CudnnConvPlan::Make(**cudnn, kShape);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(EngineOf(**plan), 8);
  gpu_->FailAt("cudnnFinalizePlan", 1, kCudnnInternal);
  EXPECT_THAT(CudnnConvPlan::Make(**cudnn, Uneven(ConvPart::kOutputs)),
              StatusIs(Code::kUnimplemented,
                       AllOf(HasSubstr("no engine of cuDNN 9.28.1 fits: cuDNN 9.28.1: finalize a "
                                       "plan: CUDNN_STATUS_OF_ANOTHER_KIND (cudnnStatus_t 4000)"),
                             HasSubstr("as a test wants it"), EndsWith(" (1)"))));
  // All that mode A has, but for the last, and nothing in mode B.
  gpu_->FailAt("cudnnFinalizePlan", 3, kCudnnInternal);
  gpu_->FailAt("cudnnFinalizeHeuristics", 2, kCudnnInternal);
  EXPECT_THAT(CudnnConvPlan::Make(**cudnn, kShape),
              StatusIs(Code::kUnimplemented,
                       AllOf(HasSubstr("not deterministic (1)"),
                             HasSubstr("tensor cores (2)"), HasSubstr("large Winograd tiles (1)"),
                             HasSubstr("wants 1.1 TB of workspace (1)"),
                             HasSubstr("finalize heuristics"),
                             HasSubstr("(cudnnStatus_t 3000): engine 1 (1)"))));
}

TEST_F(ConvPlanTest, EachShapeIsPlannedOnceAndItsWorkspaceIsKnown) {
  const CudnnConvPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const int finalized = gpu_->Calls("cudnnFinalizePlan");
  EXPECT_EQ(PlanFor(kShape), plan);
  EXPECT_EQ(gpu_->Calls("cudnnFinalizePlan"), finalized);
  EXPECT_EQ(plan->workspace_bytes(), 136u);
  EXPECT_THAT(Log(), AllOf(HasSubstr("convolutions are computed by cuDNN"),
                           HasSubstr("version=9.28.1"), HasSubstr("libcudnn.so.9")));
}

// All of it: images and filters of ones, whose sums count what of a filter lies in the image.
TEST_F(ConvPlanTest, ItRunsLateWithThePointersThatWereCaptured) {
  const CudnnConvPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Buffer filters = Memory(2 * 27, 1), workspace = Memory(plan->workspace_bytes() / 4, 0);
  const Buffer images = Memory(120, 1), outputs = Memory(80, 5), elsewhere = Memory(80, 5);
  ConvTensors tensors{.images = images.data(),
                      .filters = filters.data(),
                      .outputs = outputs.data(),
                      .workspace = workspace.data()};
  CudaStream stream(device());
  const int made = gpu_->Calls("cudnnFinalizePlan"), allocated = gpu_->Calls("cuMemAlloc");
  auto program = stream.Capture([&] { return stream.Convolve(*plan, tensors); });
  ASSERT_THAT(program, IsOk());
  tensors.outputs = elsewhere.data();
  EXPECT_THAT(Read(outputs, 80), Each(5.0f)) << "a capture computes nothing";
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_THAT((*program)->Launch(stream), IsOk());
    EXPECT_THAT(stream.Synchronize(), IsOk());
  }
  const Floats sums = Read(outputs, 80);
  EXPECT_EQ(sums[0], 12) << "a corner: four places of three channels";
  EXPECT_EQ(sums[(1 * 5 + 1) * 2], 27) << "within";
  EXPECT_THAT(Read(elsewhere, 80), Each(5.0f));
  EXPECT_EQ(gpu_->Calls("cudnnFinalizePlan"), made);
  EXPECT_EQ(gpu_->Calls("cuMemAlloc"), allocated);
}

TEST_F(ConvPlanTest, APlanThatIsMadeInACaptureIsNoneAndTheCaptureIsVoid) {
  ASSERT_NE(PlanFor(kShape), nullptr);
  CudaStream stream(device());
  EXPECT_THAT(stream.Capture([&] {
                EXPECT_EQ(PlanFor(With(ConvPart::kImagesGrad)), nullptr);
                return absl::OkStatus();
              }),
              Not(IsOk()));
  EXPECT_THAT(Log(), HasSubstr("in a capture"));
}

TEST_F(ConvPlanTest, PointersThatAreNotAlignedAreRefused) {
  const CudnnConvPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Buffer all = Memory(1'000, 1);
  CudaStream stream(device());
  std::byte* const at = all.data();
  EXPECT_THAT(stream.Convolve(*plan, {.images = at + 4,
                                      .filters = at + 1'024,
                                      .outputs = at + 2'048,
                                      .workspace = at + 3'072}),
              StatusIs(Code::kUnavailable, AllOf(HasSubstr("convolve"), HasSubstr("2003"))));
}

TEST_F(ConvPlanTest, WhatAPlanRunsMustLieOnTheDevice) {
  const CudnnConvPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Buffer all = Memory(1'000, 1);
  CudaStream stream(device());
  std::byte* const at = all.data();
  EXPECT_THAT(stream.Convolve(*plan, {.images = at,
                                      .filters = at + 1'024,
                                      .outputs = at + 2'048,
                                      .workspace = at + 4'000 - 128}),
              IsOk());
  EXPECT_THAT(stream.Synchronize(), StatusIs(Code::kUnavailable)) << "8 bytes beyond the end";
  EXPECT_EQ(gpu_->Calls("library"), 1);
}

TEST_F(ConvPlanTest, AnErrorOfALaunchIsTheCallers) {
  const CudnnConvPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Buffer all = Memory(2'000, 1);
  CudaStream stream(device());
  std::byte* const at = all.data();
  const ConvTensors tensors{
      .images = at, .filters = at + 1'024, .outputs = at + 2'048, .workspace = at + 4'096};
  gpu_->FailAt("cudnnBackendExecute", 1, kCudnnExecutionFailed);
  EXPECT_THAT(stream.Convolve(*plan, tensors),
              StatusIs(Code::kUnavailable,
                       AllOf(HasSubstr("cuDNN 9.28.1: convolve"), HasSubstr("as a test wants"))));
  EXPECT_THAT(stream.Convolve(*plan, tensors), IsOk());
  EXPECT_THAT(stream.Synchronize(), IsOk());
}

// Each call that making a plan consists of, and that of the handle.
TEST_F(ConvPlanTest, WhereverACallFailsThereIsAPlanOrNoneAndNothingIsLeft) {
  ASSERT_THAT(device().Enter(), IsOk());
  for (const char* const function :
       {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
        "cudnnBackendGetAttribute", "cudnnBackendFinalize", "cudnnFinalizeHeuristics"}) {
    int without = 0;
    for (int nth = 1;; ++nth) {
      gpu_->FailAt(function, nth, kCudnnInternal);
      {
        const auto cudnn = Cudnn::Load(fake::kCudnn);
        without += !cudnn.ok() || !CudnnConvPlan::Make(**cudnn, kShape).ok();
      }
      const bool failed = gpu_->Calls(function) >= nth;
      EXPECT_EQ(gpu_->left().descriptors, 0u) << function << " " << nth;
      EXPECT_EQ(gpu_->left().handles, 0u) << function << " " << nth;
      if (!failed) break;
    }
    // What fails at one engine leaves the next, and one mode the other.
    const bool may_go_on = std::string(function) == "cudnnFinalizeHeuristics" ||
                           std::string(function) == "cudnnBackendGetAttribute";
    EXPECT_EQ(without == 0, may_go_on) << function;
    gpu_->FailAt(function, 0, 0);
  }
}

TEST_F(ConvPlanTest, WithoutTheLibraryNothingIsPlannedAndTheLogSaysSoOnce) {
  Reopen("", "", fake::kNoCudnn);
  EXPECT_EQ(PlanFor(kShape), nullptr);
  EXPECT_EQ(PlanFor(With(ConvPart::kImagesGrad)), nullptr);
  const std::string log = Log();
  EXPECT_THAT(log, AllOf(HasSubstr("convolutions are computed by patches and cuBLASLt"),
                         HasSubstr("no cuDNN here: ./none/libcudnn.so.9")));
  EXPECT_EQ(log.find("by patches"), log.rfind("by patches"));
}

TEST_F(ConvPlanTest, ADeviceThatIsLostIsClosedAllTheSame) {
  ASSERT_NE(PlanFor(kShape), nullptr);
  gpu_->FailAt("cuCtxSetCurrent", 1, kCuEccUncorrectable);
  EXPECT_EQ(PlanFor(With(ConvPart::kImagesGrad)), nullptr);
  gpu_->FailAt("library", 1, kCuEccUncorrectable);
  const Buffer all = Memory(2'000, 1);
  CudaStream stream(device());
  std::byte* const at = all.data();
  EXPECT_THAT(stream.Convolve(*PlanFor(kShape), {.images = at,
                                                 .filters = at + 1'024,
                                                 .outputs = at + 2'048,
                                                 .workspace = at + 4'096}),
              IsOk());
  EXPECT_THAT(stream.Synchronize(), StatusIs(Code::kUnavailable));
}

class KeptPlansTest : public ConvPlanTest {
 protected:
  KeptPlansTest() : folder_(testing::TempDir() + "/kept_plans") {
    std::filesystem::remove_all(folder_);
    Reopen(folder_);
    for (const ConvPart part : kParts) EXPECT_NE(PlanFor(With(part)), nullptr);
    EXPECT_THAT(Paths(), SizeIs(3));
  }
  std::vector<std::filesystem::path> Paths() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      paths.push_back(entry.path());
    }
    return paths;
  }
  // Of a process that plans the three parts.
  int Searches() {
    gpu_->FailAt("cudnnFinalizeHeuristics", 0, 0);
    for (const ConvPart part : kParts) {
      const CudnnConvPlan* const plan = PlanFor(With(part));
      EXPECT_NE(plan, nullptr);
      if (plan == nullptr) continue;
      EXPECT_EQ(EngineOf(*plan), 7);
    }
    return gpu_->Calls("cudnnFinalizeHeuristics");
  }
  const std::string folder_;
};

TEST_F(KeptPlansTest, TheNextProcessSearchesForNone) {
  Reopen(folder_);
  EXPECT_EQ(Searches(), 0);
  EXPECT_EQ(PlanFor(kShape)->workspace_bytes(), 136u);
}

TEST_F(KeptPlansTest, AnotherReleaseOrDeviceHasPlansOfItsOwn) {
  Reopen(folder_, "cudnn 92900\n");
  EXPECT_EQ(Searches(), 3);
  EXPECT_THAT(Paths(), SizeIs(6));
  gpu_.reset();
  gpu_ = std::make_unique<fake::FakeGpu>(
      "device 8 0 42949672960 108 1 NVIDIA A100\n", 1,
      NcclCollective::Options{.library = fake::kNccl},
      CudnnPlans::Options{.library = fake::kCudnn, .folder = folder_});
  EXPECT_EQ(Searches(), 3);
  EXPECT_THAT(Paths(), SizeIs(9));
}

TEST_F(KeptPlansTest, DamagedFilesAreMadeAnew) {
  for (const auto& path : Paths()) std::ofstream(path, std::ios::app) << "x";
  Reopen(folder_);
  EXPECT_EQ(Searches(), 3);
  EXPECT_THAT(Log(), HasSubstr("a plan that was kept is not used; it is made anew"));
  Reopen(folder_);
  EXPECT_EQ(Searches(), 0);
}

TEST_F(KeptPlansTest, OneThatCudnnRefusesIsMadeAnew) {
  Reopen(folder_);
  gpu_->FailAt("cudnnFinalizePlan", 1, kCudnnSerializationMismatch);
  EXPECT_EQ(Searches(), 1);
  EXPECT_THAT(Log(), AllOf(HasSubstr("cuDNN refuses a plan that was kept; it is made anew"),
                           HasSubstr("cudnnStatus_t 1003")));
}

TEST_F(KeptPlansTest, AFolderThatCannotBeWrittenOrAPlanWithoutTextIsNoError) {
  Reopen("/dev/null/plans");
  EXPECT_EQ(Searches(), 3);
  EXPECT_THAT(Log(), HasSubstr("a plan cannot be kept; the next process makes it anew"));
  std::filesystem::remove_all(folder_);
  Reopen(folder_);
  gpu_->FailAt("cudnnPlanJson", 1, kCudnnNotSupported);
  EXPECT_NE(PlanFor(kShape), nullptr);
  EXPECT_THAT(Log(), HasSubstr("a plan cannot be kept"));
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace taas::cuda
