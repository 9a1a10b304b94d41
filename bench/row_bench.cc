// A training step of a model whose table has a million rows, of which a batch looks up three
// thousand: by the whole gradient and by the rows listed, in turns in one run; alone, and with a
// parameter server; and the bytes that such a step sends to parameter servers.
//
// A step is: ids are drawn, loss and gradients are computed, the variables are updated; or the
// gradient is pushed and the new values have come. The parameter server is in this process, on a
// thread of its own, and reached as on one machine.
//
//   bazel run -c opt //bench:row_bench [-- ROWS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "trainer/comm/listener.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/loops/loops.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/row_payload.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/task/model_update.h"
#include "trainer/task/training_task.h"

namespace taas {
namespace {

constexpr int kRounds = 15;
constexpr int kWarmUp = 2;
// Of one variant in one round: far above the clock's grain.
constexpr std::chrono::milliseconds kRoundTime{60};
constexpr int64_t kWidth = 16;
constexpr int64_t kBatch = 100;
constexpr int64_t kIds = 30;  // Of an example.
constexpr int64_t kUnits = 64;

// The ids' rows side by side, two dense layers, a score.
Graph ScoreGraph(int64_t rows) {
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({Shape::kBatch, kIds})});
  const Value targets = graph.Input("targets", {DType::kFloat32, Shape({Shape::kBatch, 1})});
  const Value table =
      graph.Variable("table", Shape({rows, kWidth}), Initializer::Uniform(-0.1, 0.1));
  Value x = graph.Add("Reshape", "", {graph.Add("Embedding", "", {table, ids})},
                      {{"shape", std::vector<int64_t>{Shape::kBatch, kIds * kWidth}}});
  const auto dense = [&](const char* name, int64_t in, int64_t out) {
    const Value weights = graph.Variable(name, Shape({in, out}), Initializer::Uniform(-0.1, 0.1));
    x = graph.Add("MatMul", "", {x, weights});
  };
  dense("hidden", kIds * kWidth, kUnits);
  x = graph.Add("Relu", "", {x});
  dense("output", kUnits, 1);
  graph.Add("MeanSquaredError", "loss", {x, targets});
  return graph;
}

class Trained {
 public:
  Trained(const Graph& graph, const std::string& optimizer, bool list_rows) {
    auto session = Session::Compile(
        CpuRuntime(), graph, {.batch = kBatch, .loss = "loss", .list_rows = list_rows});
    CHECK(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
    CHECK(session_->InitializeVariables(/*seed=*/1).ok()) << "initialize";
    auto rule = Optimizer::Make({.name = optimizer, .learning_rate = {.start = 0.01}});
    CHECK(rule.ok()) << rule.status().ToString();
    rule_ = *std::move(rule);
    auto update = ModelUpdate::Make(*rule_, *session_);
    CHECK(update.ok()) << update.status().ToString();
    update_ = *std::move(update);
  }

  void Compute() {
    const uint64_t rows = static_cast<uint64_t>(session_->variables()[0].shape.dim(0));
    for (int64_t& id : session_->Int64Input("ids")) id = static_cast<int64_t>(random_.Below(rows));
    const absl::Status status = session_->Run(RunKind::kTrain);
    CHECK(status.ok()) << status.ToString();
  }
  void Step() {
    update_->Prepare(++step_);
    Compute();
    const absl::Status updated = update_->Apply();
    CHECK(updated.ok()) << updated.ToString();
  }
  Session& session() { return *session_; }

 private:
  std::unique_ptr<Session> session_;
  std::unique_ptr<Optimizer> rule_;
  std::unique_ptr<ModelUpdate> update_;
  SeededRandom random_{7};
  int64_t step_ = 0;
};

// A replica and its parameter server.
class Served {
 public:
  Served(const Graph& graph, bool list_rows)
      : trained_(graph, "sgd", list_rows),
        listener_(*comm::Listener::Open(
            {.host = "127.0.0.1"}, [this](comm::Channel& channel) { shard_.Serve(channel); })) {
    const std::string address = "127.0.0.1:" + std::to_string(listener_->port());
    const ps::Layout layout = ps::SplitByBytes(SizesOf(trained_.session()), 1);
    auto control = ps::ShardControl::Connect(address, {});
    CHECK(control.ok()) << control.status().ToString();
    const absl::Status status =
        (*control)->Configure({.generation = 1,
                               .shards = {address},
                               .pieces = layout.shards[0],
                               .optimizer = R"({"name":"sgd","learningRate":0.01})",
                               .max_steps = 1'000'000'000},
                              {HostSpans(VariablesOf(trained_.session())), {}});
    CHECK(status.ok()) << status.ToString();
    exchange_ = std::make_unique<ps::Exchange>(
        ps::Exchange::Options{{0, 1, 1}, 1, {address}, layout},
        HostSpans(VariablesOf(trained_.session())), HostSpans(GradientsOf(trained_.session())));
    const auto pulled = exchange_->Pull([] { return true; });
    CHECK(pulled.ok()) << pulled.status().ToString();
  }
  ~Served() {
    shard_.Close();
    listener_.reset();
  }

  void Step() {
    trained_.Compute();
    const auto pushed = exchange_->Push(static_cast<uint64_t>(step_ + 1), step_, step_,
                                        [] { return true; }, GradientRowsOf(trained_.session()));
    CHECK(pushed.ok() && pushed->applied) << pushed.status().ToString();
    ++step_;
  }

 private:
  Trained trained_;
  ps::Shard shard_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ps::Exchange> exchange_;
  int64_t step_ = 0;
};

template <typename Steps>
double MicrosecondsPerStep(const Clock& clock, Steps& trained) {
  const Clock::Time start = clock.Now();
  int steps = 0;
  do {
    trained.Step();
    ++steps;
  } while (clock.Now() - start < kRoundTime);
  return std::chrono::duration<double, std::micro>(clock.Now() - start).count() / steps;
}

double Median(std::vector<double> rounds) {
  std::ranges::sort(rounds);
  return rounds[rounds.size() / 2];
}

std::string Text(std::vector<double> rounds) {
  const auto [fastest, slowest] = std::ranges::minmax(rounds);
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f (%.0f–%.0f)", Median(std::move(rounds)), fastest,
                slowest);
  return text;
}

template <typename Steps>
void MeasureSteps(const std::string& name, Steps& whole, Steps& rows) {
  const RealClock clock;
  std::vector<double> whole_rounds, row_rounds, ratios;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    const double by_whole = MicrosecondsPerStep(clock, whole);
    const double by_rows = MicrosecondsPerStep(clock, rows);
    if (round < kWarmUp) continue;
    whole_rounds.push_back(by_whole);
    row_rounds.push_back(by_rows);
    ratios.push_back(by_whole / by_rows);
  }
  std::printf("| %s | %s | %s | %.1f |\n", name.c_str(), Text(whole_rounds).c_str(),
              Text(row_rounds).c_str(), Median(ratios));
}

void CountBytes(const Graph& graph) {
  Trained trained(graph, "sgd", /*list_rows=*/true);
  trained.Step();
  Session& session = trained.session();
  const auto rows = GradientRowsOf(session);
  const std::vector<std::span<float>> spans = HostSpans(GradientsOf(session));
  const std::vector<std::span<const float>> gradients(spans.begin(), spans.end());
  for (const int shards : {1, 2, 4}) {
    const ps::Layout layout = ps::SplitByBytes(SizesOf(session), shards);
    uint64_t whole = 0, sent = 0;
    for (int shard = 0; shard < shards; ++shard) {
      ps::RowPayload push;
      push.Pack(layout.shards[static_cast<size_t>(shard)], gradients, rows);
      const uint64_t all = static_cast<uint64_t>(layout.elements(shard)) * sizeof(float);
      whole += all;
      sent += push.saves() ? push.bytes() : all;
    }
    std::printf("| %d | %llu | %llu | %.0f |\n", shards, static_cast<unsigned long long>(whole),
                static_cast<unsigned long long>(sent),
                static_cast<double>(whole) / static_cast<double>(sent));
  }
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  if (rows < 1) {
    std::fprintf(stderr, "usage: row_bench [ROWS]\n");
    return 2;
  }
  const taas::Graph graph = taas::ScoreGraph(rows);
  std::printf("A table of %lld x %lld, batch %lld of %lld ids, one thread, loops for %s.\n\n",
              static_cast<long long>(rows), static_cast<long long>(taas::kWidth),
              static_cast<long long>(taas::kBatch), static_cast<long long>(taas::kIds),
              taas::BestLoops().target);
  std::printf("| optimizer | whole gradient, µs a step | rows, µs a step | whole / rows |\n"
              "|---|---|---|---|\n");
  for (const char* optimizer : {"sgd", "adagrad", "ftrl", "momentum", "adam"}) {
    taas::Trained whole(graph, optimizer, /*list_rows=*/false);
    taas::Trained rows(graph, optimizer, /*list_rows=*/true);
    taas::MeasureSteps(optimizer, whole, rows);
  }
  {
    taas::Served whole(graph, /*list_rows=*/false), rows(graph, /*list_rows=*/true);
    taas::MeasureSteps("sgd, by a parameter server", whole, rows);
  }
  std::printf("\n| parameter servers | bytes of a whole push | of a push of rows | whole / rows |\n"
              "|---|---|---|---|\n");
  taas::CountBytes(graph);
  return 0;
}
