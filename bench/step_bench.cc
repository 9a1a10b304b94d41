// A training step of one process beside the matrix products in it, which bound it from below, and
// the updates of the optimizers beside the memory that they move.
//
// All are timed in turns in one run, so that all see the same machine; the tables hold medians over
// the rounds and, in brackets, the spread from the fastest to the slowest round.
//
//   bazel run -c opt //bench:step_bench [-- THREADS]
//   bazel run -c opt //bench:step_bench -- products 100    (of 784-100-10 alone: one number, in µs)

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/dataset.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/kernels/cpu/gemm.h"
#include "trainer/loops/loops.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

constexpr int kRounds = 15;
constexpr int kStepsPerRound = 40;  // Some tens of milliseconds: far above the clock's grain.
constexpr int64_t kBatch = 100;
constexpr int64_t kFeatures = 784;
constexpr int64_t kClasses = 10;
constexpr int64_t kImages = 10'000;  // More than any cache holds.

struct Timing {
  double median_us = 0;
  double fastest_us = 0;
  double slowest_us = 0;
};

Timing Summarise(std::vector<double> rounds) {
  std::ranges::sort(rounds);
  return {rounds[rounds.size() / 2], rounds.front(), rounds.back()};
}

template <typename Step>
double MicrosecondsPerStep(const Clock& clock, const Step& step) {
  const Clock::Time start = clock.Now();
  for (int i = 0; i < kStepsPerRound; ++i) step();
  const std::chrono::duration<double, std::micro> spent = clock.Now() - start;
  return spent.count() / kStepsPerRound;
}

// The products of one step of 784-hidden-10: forward, and backward without the gradient of the
// data.
class Products {
 public:
  Products(int64_t hidden, int threads) {
    Add({kBatch, hidden, kFeatures, false, false, threads});
    Add({kBatch, kClasses, hidden, false, false, threads});
    Add({hidden, kClasses, kBatch, true, false, threads});
    Add({kBatch, hidden, kClasses, false, true, threads});
    Add({kFeatures, hidden, kBatch, true, false, threads});
  }

  void Run() {
    for (Product& product : products_) {
      const absl::Status status =
          Gemm(product.shape, product.a.data(), product.b.data(), product.out.data());
      CHECK(status.ok()) << status.ToString();
    }
  }

  double flops() const {
    double flops = 0;
    for (const Product& product : products_) {
      const GemmShape& s = product.shape;
      flops += 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    }
    return flops;
  }

 private:
  struct Product {
    GemmShape shape;
    std::vector<float> a, b, out;
  };

  void Add(const GemmShape& s) {
    products_.push_back({s, std::vector<float>(static_cast<size_t>(s.m * s.k), 0.5f),
                         std::vector<float>(static_cast<size_t>(s.k * s.n), 0.5f),
                         std::vector<float>(static_cast<size_t>(s.m * s.n))});
  }

  std::vector<Product> products_;
};

std::unique_ptr<Session> MakeSession(int64_t hidden, double l2, int threads) {
  const auto model =
      BuildModel({.name = "mlp", .hidden = {hidden}, .data = {kFeatures, kClasses}, .l2 = l2});
  CHECK(model.ok()) << model.status().ToString();
  auto session = Session::Compile(
      CpuRuntime(), model->graph, {.batch = kBatch, .loss = model->loss, .threads = threads});
  CHECK(session.ok()) << session.status().ToString();
  CHECK((*session)->InitializeVariables(/*seed=*/1).ok()) << "initialize";
  return *std::move(session);
}

// Images of any content: bytes as in MNIST.
Dataset MakeImages() {
  std::vector<uint8_t> pixels(static_cast<size_t>(kImages * kFeatures));
  std::vector<int32_t> labels(static_cast<size_t>(kImages));
  uint32_t state = 1;
  for (uint8_t& pixel : pixels) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<uint8_t>(state >> 24);
  }
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % kClasses);
  auto images = Dataset::FromPixels("images", std::move(pixels), kFeatures, std::move(labels),
                                    static_cast<int32_t>(kClasses));
  CHECK(images.ok()) << images.status().ToString();
  return *std::move(images);
}

// The batches of a training, one after the other.
class Batches {
 public:
  explicit Batches(const Dataset& images)
      : images_(images),
        plan_({.seed = 1, .examples = images.examples(), .batch_size = kBatch}),
        indices_(static_cast<size_t>(kBatch)) {}

  void Fill(Session* session) {
    plan_.Indices(next_++, indices_);
    GatherRows(images_, indices_,
               {.features = session->FloatInput("features"),
                .labels = session->Int32Input("labels")});
  }

 private:
  const Dataset& images_;
  const BatchPlan plan_;
  std::vector<int64_t> indices_;
  int64_t next_ = 0;
};

// An optimizer with its slots.
class Update {
 public:
  Update(const OptimizerOptions& options, const Session& session) {
    auto optimizer = Optimizer::Make(options);
    CHECK(optimizer.ok()) << optimizer.status().ToString();
    optimizer_ = *std::move(optimizer);
    const size_t slots = optimizer_->slots().size();
    for (const VariableInfo& variable : session.variables()) {
      slots_.emplace_back(slots, std::vector<float>(variable.count));
      bytes_ += static_cast<double>((3 + 2 * slots) * variable.bytes);
    }
  }

  void Apply(Session* session) {
    ++step_;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::span<float> variable = session->variable(i).host();
      const std::vector<std::span<const float>> in(slots_[i].begin(), slots_[i].end());
      const std::vector<std::span<float>> out(slots_[i].begin(), slots_[i].end());
      optimizer_->Apply({.gradient = session->gradient(i).host(),
                         .in = variable,
                         .out = variable,
                         .slots_in = in,
                         .slots_out = out,
                         .step = step_});
    }
  }

  // Of one update: the gradient is read, variables and slots are read and written.
  double bytes() const { return bytes_; }

 private:
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::vector<std::vector<float>>> slots_;  // By variable and slot.
  double bytes_ = 0;
  int64_t step_ = 0;
};

std::string Text(const Timing& timing) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f (%.0f–%.0f)", timing.median_us, timing.fastest_us,
                timing.slowest_us);
  return text;
}

struct Network {
  const char* name;
  int64_t hidden;
  double l2;
};

void MeasureStep(const Network& network, const Dataset& images, int threads) {
  const RealClock clock;
  const std::unique_ptr<Session> session = MakeSession(network.hidden, network.l2, threads);
  Products products(network.hidden, threads);
  Batches batches(images);
  Update sgd({.learning_rate = {.start = 0.01}}, *session);
  const auto compute = [&] {
    const absl::Status status = session->Run(RunKind::kTrain);
    CHECK(status.ok()) << status.ToString();
  };
  batches.Fill(session.get());
  std::vector<double> gemms, runs, steps;
  for (int round = 0; round <= kRounds; ++round) {
    const double gemm = MicrosecondsPerStep(clock, [&] { products.Run(); });
    const double run = MicrosecondsPerStep(clock, compute);
    const double step = MicrosecondsPerStep(clock, [&] {
      batches.Fill(session.get());
      compute();
      sgd.Apply(session.get());
    });
    if (round == 0) continue;  // Warms up.
    gemms.push_back(gemm);
    runs.push_back(run);
    steps.push_back(step);
  }
  const Timing gemm = Summarise(gemms), run = Summarise(runs), step = Summarise(steps);
  std::printf("| %s | %s | %.1f | %s | %s | %.0f | %.0f %% | %.0f %% |\n", network.name,
              Text(gemm).c_str(), products.flops() / gemm.median_us / 1e3, Text(run).c_str(),
              Text(step).c_str(), 1e6 * kBatch / step.median_us,
              100 * gemm.median_us / run.median_us, 100 * gemm.median_us / step.median_us);
}

void MeasureUpdate(const char* name, const OptimizerOptions& options, int64_t hidden) {
  const RealClock clock;
  const std::unique_ptr<Session> session = MakeSession(hidden, /*l2=*/0, /*threads=*/1);
  Update update(options, *session);
  std::vector<double> rounds;
  for (int round = 0; round <= kRounds; ++round) {
    const double spent = MicrosecondsPerStep(clock, [&] { update.Apply(session.get()); });
    if (round > 0) rounds.push_back(spent);
  }
  const Timing timing = Summarise(rounds);
  std::printf("| %s | 784-%lld-10 | %s | %.0f |\n", name, static_cast<long long>(hidden),
              Text(timing).c_str(), update.bytes() / timing.median_us / 1e3);
}

void PrintProducts(int64_t hidden) {
  Products products(hidden, /*threads=*/1);
  const RealClock clock;
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    rounds.push_back(MicrosecondsPerStep(clock, [&] { products.Run(); }));
  }
  std::printf("%.1f\n", Summarise(std::move(rounds)).median_us);
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "products") {
    taas::PrintProducts(std::atoll(argv[2]));
    return 0;
  }
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) {
    std::fprintf(stderr, "usage: step_bench [THREADS] | step_bench products HIDDEN\n");
    return 2;
  }
  std::printf("One process, %d thread(s), batch 100, loops for %s.\n\n", threads,
              taas::BestLoops().target);
  std::printf(
      "| network | products only, µs | GFLOP/s | loss and gradients, µs | with data and update, µs "
      "| examples/s | bound / gradients | bound / step |\n|---|---|---|---|---|---|---|---|\n");
  const taas::Dataset images = taas::MakeImages();
  for (const taas::Network& network : {taas::Network{"784-100-10", 100, 0},
                                       taas::Network{"784-100-10 with L2", 100, 0.01},
                                       taas::Network{"784-500-10", 500, 0}}) {
    taas::MeasureStep(network, images, threads);
  }
  std::printf("\n| update | network | µs | GB/s read and written |\n|---|---|---|---|\n");
  for (const int64_t hidden : {100, 500}) {
    const taas::LearningRate rate{.start = 1e-6};
    taas::MeasureUpdate("sgd", {.name = "sgd", .learning_rate = rate}, hidden);
    taas::MeasureUpdate("momentum", {.name = "momentum", .learning_rate = rate}, hidden);
    taas::MeasureUpdate("adam", {.name = "adam", .learning_rate = rate}, hidden);
    taas::MeasureUpdate("adam with average",
                        {.name = "adam", .learning_rate = rate, .average_decay = 0.99}, hidden);
  }
  return 0;
}
