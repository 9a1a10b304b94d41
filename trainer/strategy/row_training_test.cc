// A model with embeddings, trained by gradients that list rows and by whole gradients: in one
// process, by towers, and through two parameter servers in both modes. The bits are the same.

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/replica/replica_loop.h"
#include "trainer/task/model_update.h"
#include "trainer/task/towers.h"

namespace taas {
namespace {

constexpr int64_t kRows = 1201, kWidth = 7, kIds = 3, kBatch = 8, kSteps = 60;
constexpr size_t kShards = 2;

// Scores a list of ids; the table is large beside what a batch looks up, and cut between the
// parameter servers.
Graph ScoreGraph() {
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({Shape::kBatch, kIds})});
  const Value targets = graph.Input("targets", {DType::kFloat32, Shape({Shape::kBatch, 1})});
  const Value table = graph.Variable("table", Shape({kRows, kWidth}),
                                     Initializer::TruncatedNormal(0.3));
  const Value x = graph.Add("Reshape", "", {graph.Add("Embedding", "", {table, ids})},
                            {{"shape", std::vector<int64_t>{Shape::kBatch, kIds * kWidth}}});
  const Value weights = graph.Variable("weights", Shape({kIds * kWidth, 1}),
                                       Initializer::TruncatedNormal(0.3));
  graph.Add("MeanSquaredError", "loss", {graph.Add("MatMul", "", {x, weights}), targets});
  return graph;
}

void FillScores(int64_t batch, Session* session) {
  SeededRandom random(static_cast<uint64_t>(batch));
  for (int64_t& id : session->Int64Input("ids")) id = static_cast<int64_t>(random.Below(kRows));
  for (float& target : session->FloatInput("targets")) {
    target = static_cast<float>(2 * random.Unit() - 1);
  }
}

class ScoreTask : public TrainingTask {
 public:
  explicit ScoreTask(bool list_rows) {
    auto session = Session::Compile(
        CpuRuntime(), ScoreGraph(), {.batch = kBatch, .loss = "loss", .list_rows = list_rows});
    CHECK(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
    CHECK(session_->InitializeVariables(/*seed=*/3).ok()) << "initialize";
    CHECK(session_->gradient_rows(0).has_value() == list_rows) << "the table's rows";
  }
  Session& session() override { return *session_; }
  absl::Status FillBatch(int64_t batch) override {
    FillScores(batch, session_.get());
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>&) override {
    return std::optional<Evaluation>();
  }

 private:
  std::unique_ptr<Session> session_;
};

using Values = std::vector<std::vector<float>>;

Values ValuesOf(Session& session) {
  Values values;
  for (const std::span<float> span : HostSpans(VariablesOf(session))) {
    values.emplace_back(span.begin(), span.end());
  }
  return values;
}

std::string OptimizerJson(const std::string& name) {
  return R"({"name":")" + name + R"(","learningRate":0.1})";
}

// Parameter servers, as the chief makes them, and the whole of their values.
class Servers {
 public:
  Servers(const std::string& optimizer, int aggregate, Session& model) {
    for (size_t i = 0; i < kShards; ++i) {
      listeners_.push_back(*comm::Listener::Open(
          {.host = "127.0.0.1"}, [this, i](comm::Channel& channel) { shards_[i].Serve(channel); }));
      addresses_.push_back("127.0.0.1:" + std::to_string(listeners_.back()->port()));
    }
    layout_ = ps::SplitByBytes(SizesOf(model), kShards);
    CHECK(layout_.shards[1][0].variable == 0) << "the table is not cut";
    const auto rule = Optimizer::Parse(OptimizerJson(optimizer));
    CHECK(rule.ok()) << rule.status().ToString();
    std::vector<Snapshot::Tensors> slots =
        InitialSlots(**rule, model.variables(), InitialSnapshot(model)->values);
    ps::ModelSpans spans{HostSpans(VariablesOf(model)), {}};
    for (Snapshot::Tensors& slot : slots) {
      spans.slots.emplace_back(slot.begin(), slot.end());
    }
    for (size_t i = 0; i < kShards; ++i) {
      auto control = ps::ShardControl::Connect(addresses_[i], {});
      CHECK(control.ok()) << control.status().ToString();
      const absl::Status status = (*control)->Configure({.generation = 1,
                                                         .shard = static_cast<int>(i),
                                                         .shards = addresses_,
                                                         .pieces = layout_.shards[i],
                                                         .optimizer = OptimizerJson(optimizer),
                                                         .max_steps = kSteps,
                                                         .aggregate = aggregate},
                                                        spans);
      CHECK(status.ok()) << status.ToString();
    }
  }
  ~Servers() {
    for (ps::Shard& shard : shards_) shard.Close();
    listeners_.clear();
  }

  const std::vector<std::string>& addresses() const { return addresses_; }
  int64_t step() const { return shards_[0].stats().step; }
  void PullInto(Session& session) {
    ps::Exchange reader({{9, 1, 1}, 1, addresses_, layout_}, HostSpans(VariablesOf(session)),
                        HostSpans(GradientsOf(session)));
    EXPECT_THAT(reader.Pull([] { return true; }), IsOk());
  }

 private:
  ps::Shard shards_[kShards];
  std::vector<std::unique_ptr<comm::Listener>> listeners_;
  std::vector<std::string> addresses_;
  ps::Layout layout_;
};

// Lends all batches to one replica, or has the parameter servers give them.
class TestSource : public WorkSource {
 public:
  TestSource(const Servers& servers, uint32_t rank, bool sync)
      : servers_(servers), pusher_{rank, 1, rank + 100}, sync_(sync) {}

  absl::StatusOr<Work> Next() override {
    if (servers_.step() >= kSteps) return Work{.done = true};
    Work work{.generation = 1,
              .shards = servers_.addresses(),
              .pusher = pusher_,
              .from_shards = sync_};
    for (int64_t batch = 0; batch < kSteps && !sync_; ++batch) work.batches.push_back(batch);
    return work;
  }
  bool StillCurrent(int64_t, const Pusher&) override { return servers_.step() < kSteps; }

 private:
  const Servers& servers_;
  const Pusher pusher_;
  const bool sync_;
};

Values TrainAlone(const std::string& optimizer, bool list_rows) {
  ScoreTask task(list_rows);
  const auto rule = Optimizer::Parse(OptimizerJson(optimizer));
  CHECK(rule.ok()) << rule.status().ToString();
  auto update = ModelUpdate::Make(**rule, task.session());
  CHECK(update.ok()) << update.status().ToString();
  for (int64_t step = 1; step <= kSteps; ++step) {
    const int64_t batch = step - 1;
    (*update)->Prepare(step);
    EXPECT_THAT(task.ComputeGradients(std::span(&batch, 1)), IsOk());
    EXPECT_THAT((*update)->Apply(), IsOk());
  }
  return ValuesOf(task.session());
}

Values TrainByTowers(const std::string& optimizer, bool list_rows) {
  auto towers = Towers::Compile(
      CpuRuntime(), ScoreGraph(), {.batch = kBatch, .loss = "loss", .list_rows = list_rows}, 3);
  CHECK(towers.ok()) << towers.status().ToString();
  Session& first = (*towers)->first();
  CHECK(first.InitializeVariables(/*seed=*/3).ok()) << "initialize";
  const auto rule = Optimizer::Parse(OptimizerJson(optimizer));
  CHECK(rule.ok()) << rule.status().ToString();
  auto update = ModelUpdate::Make(**rule, first);
  CHECK(update.ok()) << update.status().ToString();
  for (int64_t step = 1; step <= kSteps; ++step) {
    (*update)->Prepare(step);
    EXPECT_THAT((*towers)->Run([&](int tower, Session& session) {
                  FillScores(3 * step + tower, &session);
                  return absl::OkStatus();
                }),
                IsOk());
    if (list_rows) {
      EXPECT_GT(first.gradient_rows(0)->ids.size(), static_cast<size_t>(2 * kBatch * kIds));
    }
    EXPECT_THAT((*update)->Apply(), IsOk());
  }
  return ValuesOf(first);
}

// By replicas of which each that `lists` is true for pushes rows.
Values TrainByServers(const std::string& optimizer, bool sync, const std::vector<bool>& lists) {
  ScoreTask model(/*list_rows=*/true);
  Servers servers(optimizer, sync ? static_cast<int>(lists.size()) : 0, model.session());
  std::vector<std::thread> threads;
  // From the first step on all are there, so that each step is the next batches.
  std::latch all(static_cast<std::ptrdiff_t>(lists.size()));
  for (uint32_t rank = 0; rank < lists.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ScoreTask task(lists[rank]);
      TestSource source(servers, rank, sync);
      ReplicaObserver observer;
      observer.on_gradient = [&, first = true](int64_t) mutable {
        if (std::exchange(first, false)) all.arrive_and_wait();
      };
      EXPECT_THAT(RunReplica(source, task, observer), IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(servers.step(), kSteps);
  servers.PullInto(model.session());
  return ValuesOf(model.session());
}

class RowTrainingTest : public testing::TestWithParam<const char*> {};

TEST_P(RowTrainingTest, OneProcess) {
  const Values whole = TrainAlone(GetParam(), false);
  EXPECT_EQ(TrainAlone(GetParam(), true), whole);
  EXPECT_NE(ValuesOf(ScoreTask(true).session()), whole);
}

TEST_P(RowTrainingTest, Towers) {
  EXPECT_EQ(TrainByTowers(GetParam(), true), TrainByTowers(GetParam(), false));
}

TEST_P(RowTrainingTest, AsynchronousThroughTwoParameterServers) {
  const Values whole = TrainByServers(GetParam(), /*sync=*/false, {false});
  EXPECT_EQ(TrainByServers(GetParam(), /*sync=*/false, {true}), whole);
  EXPECT_EQ(TrainAlone(GetParam(), true), whole);
}

// The order in which replicas take batches is the network's; the sum of a step is in that of the
// batches.
TEST_P(RowTrainingTest, SynchronousThroughTwoParameterServers) {
  const Values whole = TrainByServers(GetParam(), /*sync=*/true, {false, false, false});
  EXPECT_EQ(TrainByServers(GetParam(), /*sync=*/true, {true, true, true}), whole);
  EXPECT_EQ(TrainByServers(GetParam(), /*sync=*/true, {true, false, true}), whole);
}

INSTANTIATE_TEST_SUITE_P(Rules, RowTrainingTest,
                         testing::Values("sgd", "adagrad", "ftrl", "momentum", "adam"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace taas
