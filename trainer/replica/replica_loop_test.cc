// A replica's loop over parameter servers that only answer.

#include "trainer/replica/replica_loop.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/wire.h"

namespace taas {
namespace {

using testing::HasSubstr;

// Two variables, one for each of two parameter servers. Its inputs are numbers, or they are none.
class LinearTask : public TrainingTask {
 public:
  explicit LinearTask(float input) : input_(input) {
    Graph graph;
    const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
    const Value targets = graph.Input("targets", {DType::kFloat32, Shape({Shape::kBatch, 1})});
    const Value first = graph.Variable("first", Shape({2, 2}), Initializer::TruncatedNormal(0.3));
    const Value second = graph.Variable("second", Shape({2, 1}), Initializer::TruncatedNormal(0.3));
    const Value y = graph.Add("MatMul", "", {graph.Add("MatMul", "", {x, first}), second});
    graph.Add("MeanSquaredError", "loss", {y, targets});
    auto session = Session::Compile(CpuRuntime(), graph, {.batch = 1, .loss = "loss"});
    CHECK(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
  }
  Session& session() override { return *session_; }
  absl::Status FillBatch(int64_t) override {
    for (float& value : session_->FloatInput("x")) value = input_;
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>&) override {
    return std::optional<Evaluation>();
  }

 private:
  const float input_;
  std::unique_ptr<Session> session_;
};

// A parameter server whose values, as many as that, are those of `step`.
std::unique_ptr<comm::Listener> ServeValuesOf(int64_t step, size_t elements) {
  return *comm::Listener::Open({.host = "127.0.0.1"}, [=](comm::Channel& channel) {
    const std::vector<float> values(elements);
    const comm::ConstBlock block{values.data(), elements * sizeof(float)};
    for (;;) {
      const auto head = channel.ReceiveHead();
      if (!head.ok() || !channel.Discard(head->payload_bytes).ok()) return;
      if (head->type == comm::FrameType::kHello) continue;
      const comm::FrameHead answer =
          ps::HeadOf(ps::ValuesInfo{.values_step = step}, head->generation);
      if (!channel.Send(answer, std::span(&block, 1)).ok()) return;
    }
  });
}

// Lends one batch.
class OneBatch : public WorkSource {
 public:
  explicit OneBatch(Work work) : work_(std::move(work)) {}
  absl::StatusOr<Work> Next() override { return work_; }
  bool StillCurrent(int64_t, const Pusher&) override { return true; }

 private:
  const Work work_;
};

// Symptom: "Model diverged … at step 0", whatever the step, where two parameter servers had
// answered with values of different steps, as they do most of the time in asynchronous training.
TEST(ReplicaLoopTest, AModelThatDivergesNamesTheStepAfterTheNewestValues) {
  const std::vector<std::vector<int64_t>> answered = {{41, 42}, {42, 41}, {42, 42}};
  for (const std::vector<int64_t>& steps : answered) {
    LinearTask task(NAN);
    const ps::Layout layout = ps::SplitByBytes(SizesOf(task.session()), 2);
    std::vector<std::unique_ptr<comm::Listener>> servers;
    Work work{.generation = 1, .job = "uid/1", .batches = {7}};
    for (size_t shard = 0; shard < steps.size(); ++shard) {
      ASSERT_EQ(layout.shards[shard].size(), 1u) << "each has one of the variables";
      servers.push_back(ServeValuesOf(
          steps[shard], static_cast<size_t>(layout.shards[shard][0].count)));
      work.shards.push_back("127.0.0.1:" + std::to_string(servers.back()->port()));
    }
    OneBatch source(std::move(work));
    EXPECT_THAT(RunReplica(source, task, {}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("Model diverged with loss = NaN at step 43, in batch 7")));
  }
}

}  // namespace
}  // namespace taas
