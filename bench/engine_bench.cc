// What the engine's choices cost and gain: merged ops beside the ops alone, ops beside each other,
// a trace beside none. Training steps, without data and update.
//
// The last table says where a step's time goes, by kind of op: what merging Relu into the batch
// normalization before it could save at most is the share of the Relus.
//
// All variants of a row are timed in turns in one run, so that all see the same machine; a cell
// holds the median over the rounds and, in brackets, the fastest and the slowest.
//
//   bazel run //bench:engine_bench

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "third_party/json.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_trace.h"
#include "trainer/graph/testing/image_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

constexpr int kRounds = 15;
// Of one variant in one round: far above the clock's grain.
constexpr std::chrono::milliseconds kRoundTime{40};

struct Network {
  std::string name;
  Graph graph;
  std::string loss;
  int64_t batch = 1;
};

struct Variant {
  std::string name;
  std::function<void(SessionOptions*)> set;
};

// sigmoid(x + b) · tanh(y + c) + 0.5 · x: the middle of a gated cell, in a tensor that no cache
// holds.
Network Gates() {
  Network network{.name = "gates of 1024 x 1024", .loss = "loss", .batch = 1};
  Graph& graph = network.graph;
  const Shape shape({1024, 1024}), row({1024});
  const Value x = graph.Variable("x", shape, Initializer::Uniform(-1, 1));
  const Value y = graph.Variable("y", shape, Initializer::Uniform(-1, 1));
  const Value b = graph.Variable("b", row, Initializer::Uniform(-1, 1), false);
  const Value c = graph.Variable("c", row, Initializer::Uniform(-1, 1), false);
  const Value gate = graph.Add("Sigmoid", "", {graph.Add("BiasAdd", "", {x, b})});
  const Value content = graph.Add("Tanh", "", {graph.Add("BiasAdd", "", {y, c})});
  const Value kept = graph.Add("Mul", "", {gate, content});
  const Value sum =
      graph.Add("Add", "", {kept, graph.Add("Scale", "", {x}, {{"factor", 0.5}})});
  graph.Add("ReduceMean", "loss", {graph.Add("Relu", "", {sum})});
  return network;
}

Network Residual(const ImageGraphShape& shape, int64_t batch) {
  ImageGraph images = BuildImageGraph(shape);
  return {.name = "residual " + std::to_string(shape.size) + "x" + std::to_string(shape.size) +
                  "x" + std::to_string(shape.channels) + ", " + std::to_string(shape.blocks) +
                  " blocks, batch " + std::to_string(batch),
          .graph = std::move(images.graph),
          .loss = images.loss,
          .batch = batch};
}

// Four towers of three layers that meet in one sum.
Network Branches() {
  Network network{.name = "4 branches of 3 layers of 256", .loss = "loss", .batch = 64};
  Graph& graph = network.graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 256})});
  std::vector<Value> ends;
  for (int branch = 0; branch < 4; ++branch) {
    Value y = x;
    for (int layer = 0; layer < 3; ++layer) {
      const std::string name = std::to_string(branch) + "/" + std::to_string(layer);
      const Value w = graph.Variable(name, Shape({256, 256}), Initializer::TruncatedNormal(0.06));
      y = graph.Add("Tanh", "", {graph.Add("MatMul", "", {y, w})});
    }
    ends.push_back(y);
  }
  graph.Add("ReduceMean", "loss", {graph.Add("AddN", "", ends)});
  return network;
}

void Fill(Session* session) {
  CHECK(session->InitializeVariables(/*seed=*/1).ok()) << "initialize";
  if (session->HasInput("images")) FillImageBatch(1, session);
}

double MicrosecondsPerStep(const Clock& clock, Session* session) {
  const Clock::Time start = clock.Now();
  int steps = 0;
  do {
    const absl::Status status = session->Run(RunKind::kTrain);
    CHECK(status.ok()) << status.ToString();
    ++steps;
  } while (clock.Now() - start < kRoundTime);
  return std::chrono::duration<double, std::micro>(clock.Now() - start).count() / steps;
}

std::string Text(std::vector<double> rounds) {
  std::ranges::sort(rounds);
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f (%.0f–%.0f)", rounds[rounds.size() / 2],
                rounds.front(), rounds.back());
  return text;
}

void Measure(const Network& network, const std::vector<Variant>& variants) {
  const RealClock clock;
  std::vector<std::unique_ptr<Session>> sessions;
  for (const Variant& variant : variants) {
    SessionOptions options{.batch = network.batch, .loss = network.loss};
    variant.set(&options);
    auto session = Session::Compile(CpuRuntime(), network.graph, options);
    CHECK(session.ok()) << session.status().ToString();
    Fill(session->get());
    sessions.push_back(*std::move(session));
  }
  std::vector<std::vector<double>> rounds(variants.size());
  for (int round = 0; round <= kRounds; ++round) {
    for (size_t i = 0; i < variants.size(); ++i) {
      const double spent = MicrosecondsPerStep(clock, sessions[i].get());
      if (round > 0) rounds[i].push_back(spent);  // The first warms up.
    }
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    int ops = 0;
    for (const OpInfo& op : sessions[i]->ops(RunKind::kTrain)) ops += op.runs ? 1 : 0;
    std::printf("| %s | %s | %d | %.1f | %.2f | %s |\n", network.name.c_str(),
                variants[i].name.c_str(), ops, sessions[i]->cost(RunKind::kTrain).bytes / 1e6,
                static_cast<double>(sessions[i]->memory().arena_bytes) / 1e6,
                Text(rounds[i]).c_str());
  }
}

// Of each kind of op, the share of the time of all.
void PrintShares(const Network& network) {
  constexpr int kSteps = 60;
  const RealClock clock;
  StepTrace trace(clock, {.first = 3, .last = kSteps});
  auto session = Session::Compile(
      CpuRuntime(), network.graph, {.batch = network.batch, .loss = network.loss, .trace = &trace});
  CHECK(session.ok()) << session.status().ToString();
  Fill(session->get());
  for (int step = 0; step < kSteps; ++step) CHECK((*session)->Run(RunKind::kTrain).ok()) << "run";
  std::map<std::string, double> spent;
  double all = 0;
  const nlohmann::json file = nlohmann::json::parse(trace.Json());
  for (const auto& event : file["traceEvents"]) {
    if (event.value("cat", "") != "op") continue;
    spent[event["args"]["op"].get<std::string>()] += event["dur"].get<double>();
    all += event["dur"].get<double>();
  }
  for (const auto& [op, time] : spent) {
    if (time < all / 1000) continue;
    std::printf("| %s | %s | %.1f %% |\n", network.name.c_str(), op.c_str(), 100 * time / all);
  }
}

}  // namespace
}  // namespace taas

int main() {
  using taas::SessionOptions;
  using taas::Variant;
  const taas::RealClock clock;
  // Longer than the run, so that every step is recorded.
  taas::StepTrace trace(clock, {.first = 1, .last = 1'000'000});
  const std::vector<Variant> fusion = {
      {"ops alone", [](SessionOptions* options) { options->fuse = false; }},
      {"merged", [](SessionOptions*) {}}};
  const std::vector<Variant> threads = {
      {"one at a time", [](SessionOptions*) {}},
      {"2 beside each other", [](SessionOptions* options) { options->inter_op_threads = 2; }},
      {"2 threads in each", [](SessionOptions* options) { options->threads = 2; }},
      {"2 in each, deterministic", [](SessionOptions* options) {
         options->threads = 2;
         options->deterministic = true;
       }}};
  const std::vector<Variant> traces = {
      {"no trace", [](SessionOptions*) {}},
      {"traced", [&trace](SessionOptions* options) { options->trace = &trace; }}};
  const taas::Network small = taas::Residual({.size = 16, .channels = 16, .blocks = 3}, 32);
  const taas::Network large = taas::Residual({.size = 32, .channels = 64, .blocks = 2}, 16);
  std::printf("Loops for %s.\n\n| network | variant | ops | MB read and written | arena, MB | µs a "
              "step |\n|---|---|---|---|---|---|\n",
              taas::BestLoops().target);
  taas::Measure(taas::Gates(), fusion);
  taas::Measure(small, fusion);
  taas::Measure(large, fusion);
  taas::Measure(taas::Branches(), threads);
  taas::Measure(small, threads);
  taas::Measure(taas::Branches(), traces);
  std::printf("\n| network | op | share of the step |\n|---|---|---|\n");
  taas::PrintShares(small);
  taas::PrintShares(large);
  return 0;
}
