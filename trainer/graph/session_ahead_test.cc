// How the inputs of a step reach a device that goes on by itself: beside the step before.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using testing::ElementsAre;

// The far device, which writes down what its streams are given.
class WrittenDevice : public Device {
 public:
  std::string_view type() const override { return far_.type(); }
  std::string name() const override { return far_.name(); }
  size_t alignment() const override { return far_.alignment(); }
  bool host_sees_memory() const override { return false; }
  bool prefers_programs() const override { return true; }
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    return far_.Allocate(bytes, kind);
  }
  std::unique_ptr<Stream> MakeStream() override {
    written.emplace_back();
    return std::make_unique<WrittenStream>(*this, written.size() - 1);
  }
  std::unique_ptr<Event> MakeEvent() override { return far_.MakeEvent(); }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    return far_.Copy(to, from, bytes);
  }

  // By stream, in the order in which they were made.
  std::vector<std::vector<std::string>> written;

 private:
  class WrittenStream : public Stream {
   public:
    WrittenStream(WrittenDevice& device, size_t number)
        : device_(device), number_(number), stream_(device.far_.MakeStream()) {}
    absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
      Write("kernel");
      return stream_->Launch(kernel, call);
    }
    absl::Status Copy(void* to, const void* from, size_t bytes) override {
      Write("copy");
      return stream_->Copy(to, from, bytes);
    }
    absl::Status Record(Event& event) override {
      Write("record");
      return stream_->Record(event);
    }
    absl::Status Wait(Event& event) override {
      Write("wait");
      return stream_->Wait(event);
    }
    absl::StatusOr<std::unique_ptr<Program>> Capture(
        absl::FunctionRef<absl::Status()> work) override {
      return stream_->Capture(work);
    }
    absl::Status Synchronize() override {
      Write("synchronize");
      return stream_->Synchronize();
    }

   private:
    // Of kernels that follow each other, one.
    void Write(const std::string& what) {
      std::vector<std::string>& all = device_.written[number_];
      if (what != "kernel" || all.empty() || all.back() != what) all.push_back(what);
    }

    WrittenDevice& device_;
    const size_t number_;
    const std::unique_ptr<Stream> stream_;
  };

  Device& far_ = FarDevice();
};

TEST(SessionAheadTest, InputsAreCopiedByAStreamOfTheirOwn) {
  Graph graph;
  const Value w = graph.Variable("w", Shape({3, 2}), Initializer::Constant(1));
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 3})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
  graph.Add("SparseSoftmaxCrossEntropy", "loss",
            {graph.Add("MatMul", "logits", {x, w}), labels});
  WrittenDevice device;
  auto made = Session::Compile({{&device}, CpuRuntime().kernels}, graph,
                               {.batch = 4, .loss = "loss"});
  ASSERT_THAT(made, IsOk());
  Session& session = **made;
  ASSERT_THAT(session.InitializeVariables(1), IsOk());
  ASSERT_EQ(session.steps_ahead(), 1u);
  // The first is run as it is, the second recorded.
  for (int step = 0; step < 3; ++step) {
    std::ranges::fill(session.FloatInput("x"), 1.0f);
    ASSERT_THAT(session.LaunchStep(), IsOk());
    if (step == 2) break;
    ASSERT_THAT(session.AwaitStep(), IsOk());
  }
  // Of inputs, and of the runs.
  ASSERT_EQ(device.written.size(), 2u);
  for (auto& of_stream : device.written) of_stream.clear();
  std::ranges::fill(session.FloatInput("x"), 2.0f);
  ASSERT_THAT(session.LaunchStep(), IsOk());
  EXPECT_THAT(device.written[0], ElementsAre("copy", "copy", "record"));
  // The block; both inputs; the step; its fault and its loss. Nobody waits on the host.
  EXPECT_THAT(device.written[1], ElementsAre("copy", "wait", "copy", "copy", "kernel", "copy",
                                             "copy", "record"));
  ASSERT_THAT(session.AwaitStep(), IsOk());
  ASSERT_THAT(session.AwaitStep(), IsOk());
  EXPECT_EQ(device.written[1].size(), 8u);
}

// A batch that lies ready in memory is copied from there; of two under way each from its own.
TEST(SessionAheadTest, EachStepReadsTheMemoryThatWasBoundForIt) {
  Graph graph;
  const Value w = graph.Variable("w", Shape({2, 1}), Initializer::Constant(1));
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
  graph.Add("ReduceSum", "loss", {graph.Add("MatMul", "product", {x, w})});
  auto made = Session::Compile(FarRuntime(), graph, {.batch = 1, .loss = "loss",
                                                     .binds_inputs = true});
  ASSERT_THAT(made, IsOk());
  Session& session = **made;
  ASSERT_THAT(session.InitializeVariables(1), IsOk());
  std::vector<std::vector<float>> batches(8);
  std::vector<float> losses;
  for (size_t step = 0; step < batches.size(); ++step) {
    batches[step].assign(2, static_cast<float>(step));
    session.BindInput("x", std::span<const float>(batches[step]));
    ASSERT_THAT(session.LaunchStep(), IsOk());
    if (step == 0) continue;
    ASSERT_THAT(session.AwaitStep(), IsOk());
    losses.push_back(session.loss());
  }
  ASSERT_THAT(session.AwaitStep(), IsOk());
  losses.push_back(session.loss());
  EXPECT_THAT(losses, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
}

}  // namespace
}  // namespace taas
