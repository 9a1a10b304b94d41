// Attention by the cuDNN that stands for NVIDIA's: that the graphs which are put together compute
// it and its gradients, which engine is taken, when they run, where plans are kept, and what
// becomes of errors.

#include "trainer/cuda/attention_plan.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/kernels/cuda/fused_attention.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Code = absl::StatusCode;
using Floats = std::vector<float>;

constexpr AttentionShape kShape{.examples = 2, .steps = 7, .heads = 3, .head = 8};
constexpr AttentionPart kParts[] = {AttentionPart::kOutputs, AttentionPart::kGradients};

AttentionShape With(AttentionPart part, bool causal = true) {
  AttentionShape shape = kShape;
  shape.part = part;
  shape.causal = causal;
  return shape;
}

TEST(AttentionShapeTest, HeadsAreColumnsOfOneTensor) {
  const CudnnAttentionShapes shapes = ShapesOf(kShape);
  EXPECT_EQ(shapes.of_qkv.dimensions, (std::array<int64_t, 4>{2, 3, 7, 8}));
  EXPECT_EQ(shapes.of_qkv.strides, (std::array<int64_t, 4>{7 * 72, 8, 72, 1}));
  EXPECT_EQ(shapes.of_y.strides, (std::array<int64_t, 4>{7 * 24, 8, 24, 1}));
  EXPECT_EQ(shapes.scores.dimensions, (std::array<int64_t, 4>{2, 3, 7, 7}));
  EXPECT_EQ(shapes.scores.strides, (std::array<int64_t, 4>{147, 49, 7, 1}));
  EXPECT_EQ(shapes.rows.dimensions, (std::array<int64_t, 4>{2, 3, 7, 1}));
  EXPECT_EQ(shapes.rows.strides, (std::array<int64_t, 4>{21, 7, 1, 1}));
}

// A plan is kept under it.
TEST(AttentionShapeTest, NoTwoShapesHaveOneText) {
  std::vector<AttentionShape> shapes(6, kShape);
  shapes[0].part = AttentionPart::kGradients;
  shapes[1].causal = false;
  shapes[2].examples = 12;
  shapes[3].steps = 17;
  shapes[4].heads = 13;
  shapes[5].head = 18;
  shapes.push_back(kShape);
  std::set<std::string> texts;
  for (const AttentionShape& shape : shapes) texts.insert(TextOf(shape));
  EXPECT_THAT(texts, SizeIs(shapes.size()));
}

// The nearest of bfloat16.
uint16_t Narrow(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float Widen(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

struct Attention {
  Floats y, log_sums, dqkv;
};

// In the definition's own words, by doubles.
Attention Reference(const AttentionShape& of, const Floats& qkv, const Floats& dy) {
  const int64_t width = of.width(), steps = of.steps;
  Attention result{Floats(dy.size()), Floats(static_cast<size_t>(of.examples * of.heads * steps)),
                   Floats(qkv.size())};
  const auto at = [&](int64_t n, int64_t step, int64_t which, int64_t head) {
    return static_cast<size_t>(((n * steps + step) * 3 + which) * width + head * of.head);
  };
  const auto dot = [&](const Floats& a, size_t i, const Floats& b, size_t j) {
    double sum = 0;
    for (int64_t k = 0; k < of.head; ++k, ++i, ++j) sum += double{a[i]} * b[j];
    return sum;
  };
  const auto add = [&](Floats& to, size_t i, double factor, const Floats& from, size_t j) {
    for (int64_t k = 0; k < of.head; ++k, ++i, ++j) to[i] += static_cast<float>(factor * from[j]);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(of.head));
  for (int64_t row = 0; row < of.examples * of.heads * steps; ++row) {
    const int64_t n = row / (of.heads * steps), head = row / steps % of.heads, step = row % steps;
    const int64_t seen = of.causal ? step + 1 : steps;
    const auto y = static_cast<size_t>((n * steps + step) * width + head * of.head);
    const size_t q = at(n, step, 0, head);
    std::vector<double> p;
    double sum = 0;
    for (int64_t key = 0; key < seen; ++key) {
      p.push_back(std::exp(scale * dot(qkv, q, qkv, at(n, key, 1, head))));
      sum += p.back();
    }
    result.log_sums[static_cast<size_t>(row)] = static_cast<float>(std::log(sum));
    for (int64_t key = 0; key < seen; ++key) {
      p[static_cast<size_t>(key)] /= sum;
      add(result.y, y, p[static_cast<size_t>(key)], qkv, at(n, key, 2, head));
    }
    const double mean = dot(dy, y, result.y, y);
    for (int64_t key = 0; key < seen; ++key) {
      const double share = p[static_cast<size_t>(key)];
      const double ds = share * (dot(dy, y, qkv, at(n, key, 2, head)) - mean) * scale;
      add(result.dqkv, q, ds, qkv, at(n, key, 1, head));
      add(result.dqkv, at(n, key, 1, head), ds, qkv, q);
      add(result.dqkv, at(n, key, 2, head), share, dy, y);
    }
  }
  return result;
}

// The engine of a plan, as the fake's text has it (fake_cudnn_work.h).
int EngineOf(const CudnnAttentionPlan& plan) {
  const auto text = plan.Json();
  EXPECT_THAT(text, IsOk());
  std::istringstream words(text.ok() ? text->substr(10) : "");
  int version = 0, engine = 0;
  words >> version >> engine;
  return engine;
}

// With a GPU, and lines of the log in a file.
class AttentionPlanTest : public testing::Test {
 protected:
  AttentionPlanTest() : log_(testing::TempDir() + "/attention_plan.log") {
    std::filesystem::remove(log_);
    SetLogFile(log_);
    Forget();
  }
  ~AttentionPlanTest() override { Forget(); }

  // What stays of an error is that of the process.
  void Forget() const {
    for (const char* const function :
         {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendFinalize", "cudnnBackendExecute",
          "cudnnFinalizePlan", "cudnnFinalizeHeuristics", "library"}) {
      gpu_->FailAt(function, 0, 0);
    }
  }
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
  const CudnnAttentionPlan* PlanFor(const AttentionShape& shape) {
    return static_cast<const CudnnAttentionPlan*>(device().PlanAttention(shape));
  }
  template <typename T>
  Buffer Memory(const std::vector<T>& values) {
    absl::StatusOr<Buffer> buffer = device().Allocate(values.size() * sizeof(T),
                                                      MemoryKind::kDevice);
    EXPECT_THAT(buffer, IsOk());
    EXPECT_THAT(device().Copy(buffer->data(), values.data(), values.size() * sizeof(T)), IsOk());
    return *std::move(buffer);
  }
  Buffer Workspace(const AttentionPlan& plan) {
    return Memory(std::vector<char>(plan.workspace_bytes()));
  }
  template <typename T>
  std::vector<T> Read(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    EXPECT_THAT(device().Copy(values.data(), buffer.data(), values.size() * sizeof(T)), IsOk());
    return values;
  }

  const std::string log_;
  std::unique_ptr<fake::FakeGpu> gpu_ = std::make_unique<fake::FakeGpu>();
};

// Numbers of bfloat16, and as floats.
struct Numbers {
  std::vector<uint16_t> narrow;
  Floats wide;

  Numbers(int64_t count, uint64_t seed) {
    SeededRandom random(seed);
    for (int64_t i = 0; i < count; ++i) {
      narrow.push_back(Narrow(static_cast<float>(random.Unit() * 4 - 2)));
      wide.push_back(Widen(narrow.back()));
    }
  }
};

void ExpectNear(const Floats& got, const Floats& wanted, double tolerance, const char* what) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], tolerance) << what << ", number " << i;
  }
}

Floats Widened(const std::vector<uint16_t>& of) {
  Floats wide;
  for (const uint16_t value : of) wide.push_back(Widen(value));
  return wide;
}

TEST_F(AttentionPlanTest, TheGraphsComputeAttentionAndItsGradients) {
  for (const bool causal : {true, false}) {
    const AttentionShape of = With(AttentionPart::kOutputs, causal);
    const int64_t rows = of.examples * of.steps;
    const Numbers qkv(rows * 3 * of.width(), 1), dy(rows * of.width(), 2);
    const Attention wanted = Reference(of, qkv.wide, dy.wide);
    const CudnnAttentionPlan* const forward = PlanFor(of);
    const CudnnAttentionPlan* const backward = PlanFor(With(AttentionPart::kGradients, causal));
    ASSERT_NE(forward, nullptr) << Log();
    ASSERT_NE(backward, nullptr) << Log();
    const Buffer in = Memory(qkv.narrow), y = Memory(std::vector<uint16_t>(dy.wide.size()));
    const Buffer log_sums = Memory(Floats(wanted.log_sums.size())), dout = Memory(dy.narrow);
    const Buffer dqkv = Memory(std::vector<uint16_t>(qkv.wide.size()));
    const Buffer little = Workspace(*forward), workspace = Workspace(*backward);
    CudaStream stream(device());
    AttentionTensors tensors{.qkv = in.data(),
                             .y = y.data(),
                             .log_sums = log_sums.data(),
                             .dy = dout.data(),
                             .dqkv = dqkv.data(),
                             .workspace = little.data()};
    EXPECT_THAT(stream.Attend(*forward, tensors), IsOk());
    tensors.workspace = workspace.data();
    EXPECT_THAT(stream.Attend(*backward, tensors), IsOk());
    EXPECT_THAT(stream.Synchronize(), IsOk());
    // Bits of bfloat16 are 2⁻⁸ of numbers of 2, and some are added.
    ExpectNear(Widened(Read<uint16_t>(y)), wanted.y, 0.02, "y");
    ExpectNear(Read<float>(log_sums), wanted.log_sums, 1e-5, "log sums");
    ExpectNear(Widened(Read<uint16_t>(dqkv)), wanted.dqkv, 0.04, "dqkv");
  }
}

// Of the fake's engines 1 refuses, 2 is not deterministic, 3 wants too much workspace, 5 rounds.
TEST_F(AttentionPlanTest, TheFirstEngineThatFitsIsTakenOnce) {
  for (const AttentionPart part : kParts) {
    const CudnnAttentionPlan* const plan = PlanFor(With(part));
    ASSERT_NE(plan, nullptr);
    EXPECT_EQ(EngineOf(*plan), 7);
    const int finalized = gpu_->Calls("cudnnFinalizePlan");
    EXPECT_EQ(PlanFor(With(part)), plan);
    EXPECT_EQ(gpu_->Calls("cudnnFinalizePlan"), finalized);
  }
  EXPECT_THAT(Log(), AllOf(HasSubstr("attentions are computed by cuDNN"),
                           HasSubstr("version=9.28.1"), HasSubstr("libcudnn.so.9"),
                           Not(HasSubstr("convolution"))));
}

// What the engine wants, and backwards a float for each query in front of it.
TEST_F(AttentionPlanTest, ItsWorkspaceIsKnown) {
  EXPECT_EQ(PlanFor(With(AttentionPart::kOutputs))->workspace_bytes(), 128u);
  EXPECT_EQ(PlanFor(With(AttentionPart::kGradients))->workspace_bytes(),
            256u + 2 * 2 * 3 * 7 * 7);
}

TEST_F(AttentionPlanTest, WhatCannotBePlannedIsToldAndWhy) {
  AttentionShape shape = kShape;
  shape.head = 5;
  EXPECT_EQ(PlanFor(shape), nullptr);
  EXPECT_EQ(PlanFor(shape), nullptr);
  EXPECT_THAT(Log(), AllOf(HasSubstr("an attention is computed by cuBLASLt and softmax"),
                           HasSubstr("outputs: 2 × 7 steps × 3 heads of 5, causal, bfloat16"),
                           HasSubstr("heads are multiples of 8 numbers there, of at most 128")));
  shape.head = 136;
  EXPECT_EQ(PlanFor(shape), nullptr);
  EXPECT_EQ(gpu_->Calls("cudnnFinalizeHeuristics"), 0);
  Reopen("", "cudnn 92000\n");
  EXPECT_EQ(PlanFor(kShape), nullptr);
  EXPECT_THAT(Log(), HasSubstr("cuDNN 9.20.0 is too old for it: 9.21.0 or later is needed"));
}

// cuDNN has an engine there, which does not say that it adds up in any order.
TEST_F(AttentionPlanTest, GradientsOfLaterGpusAreNotPlanned) {
  gpu_.reset();
  gpu_ = std::make_unique<fake::FakeGpu>("device 10 0 85899345920 148 1 NVIDIA B200\n");
  EXPECT_NE(PlanFor(kShape), nullptr);
  EXPECT_EQ(PlanFor(With(AttentionPart::kGradients)), nullptr);
  EXPECT_THAT(Log(), HasSubstr("on a GPU of compute capability 10.0 its gradients may not be the "
                               "same twice"));
}

TEST_F(AttentionPlanTest, AGraphThatNoEngineComputesIsNone) {
  ASSERT_THAT(device().Enter(), IsOk());
  const auto cudnn = Cudnn::Load(fake::kCudnn);
  ASSERT_THAT(cudnn, IsOk());
  for (const AttentionPart part : kParts) {
    gpu_->FailAt("cudnnFinalizePlan", 3, kCudnnInternal);
    gpu_->FailAt("cudnnFinalizeHeuristics", 2, kCudnnInternal);
    EXPECT_THAT(CudnnAttentionPlan::Make(**cudnn, With(part)),
                StatusIs(Code::kUnimplemented,
                         AllOf(HasSubstr("no engine of cuDNN 9.28.1 fits"),
                               HasSubstr("not deterministic (1)"), HasSubstr("rounds inputs (1)"),
                               HasSubstr("wants 1.1 TB of workspace (1)"),
                               HasSubstr("as a test wants it"))));
  }
}

TEST_F(AttentionPlanTest, ItRunsLateWithThePointersThatWereCaptured) {
  const CudnnAttentionPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Numbers qkv(2 * 7 * 72, 1);
  const std::vector<uint16_t> none(2 * 7 * 24);
  const Buffer in = Memory(qkv.narrow), y = Memory(none), elsewhere = Memory(none);
  const Buffer log_sums = Memory(Floats(42)), workspace = Workspace(*plan);
  AttentionTensors tensors{.qkv = in.data(),
                           .y = y.data(),
                           .log_sums = log_sums.data(),
                           .workspace = workspace.data()};
  CudaStream stream(device());
  const int made = gpu_->Calls("cudnnFinalizePlan"), allocated = gpu_->Calls("cuMemAlloc");
  auto program = stream.Capture([&] { return stream.Attend(*plan, tensors); });
  ASSERT_THAT(program, IsOk());
  tensors.y = elsewhere.data();
  EXPECT_EQ(Read<uint16_t>(y), none) << "a capture computes nothing";
  EXPECT_THAT((*program)->Launch(stream), IsOk());
  EXPECT_THAT(stream.Synchronize(), IsOk());
  // A first query sees its own value.
  const std::vector<uint16_t> got = Read<uint16_t>(y);
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(got[i], qkv.narrow[48 + i]);
  EXPECT_EQ(Read<uint16_t>(elsewhere), none);
  EXPECT_EQ(gpu_->Calls("cudnnFinalizePlan"), made);
  EXPECT_EQ(gpu_->Calls("cuMemAlloc"), allocated);
}

TEST_F(AttentionPlanTest, PointersThatAreNotAlignedAreRefused) {
  const CudnnAttentionPlan* const plan = PlanFor(kShape);
  ASSERT_NE(plan, nullptr);
  const Buffer all = Memory(Floats(4'000));
  CudaStream stream(device());
  std::byte* const at = all.data();
  EXPECT_THAT(stream.Attend(*plan, {.qkv = at + 8,
                                    .y = at + 4'096,
                                    .log_sums = at + 8'192,
                                    .workspace = at + 9'216}),
              StatusIs(Code::kUnavailable, AllOf(HasSubstr("attend"), HasSubstr("2003"))));
}

// Each call that making a plan consists of.
TEST_F(AttentionPlanTest, WhereverACallFailsThereIsAPlanOrNoneAndNothingIsLeft) {
  ASSERT_THAT(device().Enter(), IsOk());
  const auto cudnn = Cudnn::Load(fake::kCudnn);
  ASSERT_THAT(cudnn, IsOk());
  for (const AttentionPart part : kParts) {
    for (const char* const function :
         {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute", "cudnnBackendGetAttribute",
          "cudnnBackendFinalize"}) {
      const size_t before = gpu_->left().descriptors;
      int without = 0;
      for (int nth = 1;; ++nth) {
        gpu_->FailAt(function, nth, kCudnnInternal);
        without += !CudnnAttentionPlan::Make(**cudnn, With(part)).ok();
        EXPECT_EQ(gpu_->left().descriptors, before) << function << " " << nth;
        if (gpu_->Calls(function) < nth) break;
      }
      // What fails at one engine leaves the next.
      EXPECT_EQ(without == 0, std::string(function) == "cudnnBackendGetAttribute") << function;
      gpu_->FailAt(function, 0, 0);
    }
  }
}

TEST_F(AttentionPlanTest, WithoutTheLibraryNothingIsPlannedAndTheLogSaysSoOnce) {
  Reopen("", "", fake::kNoCudnn);
  EXPECT_EQ(PlanFor(kShape), nullptr);
  EXPECT_EQ(PlanFor(With(AttentionPart::kGradients)), nullptr);
  const std::string log = Log();
  EXPECT_THAT(log, AllOf(HasSubstr("attentions are computed by cuBLASLt and softmax"),
                         HasSubstr("no cuDNN here: ./none/libcudnn.so.9")));
  EXPECT_EQ(log.find("by cuBLASLt"), log.rfind("by cuBLASLt"));
}

TEST_F(AttentionPlanTest, TheNextProcessReadsPlansThatWereKept) {
  const std::string folder = testing::TempDir() + "/kept_attentions";
  std::filesystem::remove_all(folder);
  for (const int searches : {2, 0}) {
    Reopen(folder);
    gpu_->FailAt("cudnnFinalizeHeuristics", 0, 0);
    for (const AttentionPart part : kParts) {
      const CudnnAttentionPlan* const plan = PlanFor(With(part));
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(EngineOf(*plan), 7);
    }
    EXPECT_EQ(gpu_->Calls("cudnnFinalizeHeuristics"), searches);
  }
  EXPECT_EQ(PlanFor(With(AttentionPart::kGradients))->workspace_bytes(),
            256u + 2 * 2 * 3 * 7 * 7);
}

}  // namespace
}  // namespace taas::cuda
