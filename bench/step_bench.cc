// A training step of one process beside the matrix products in it, which bound it from below.
//
// Both are timed in turns in one run, so that both see the same machine; the table holds medians
// over the rounds and, in brackets, the spread from the fastest to the slowest round.
//
//   bazel run -c opt //bench:step_bench [-- THREADS]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/gemm.h"
#include "trainer/kernels/cpu/loops.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

constexpr int kRounds = 15;
constexpr int kStepsPerRound = 40;  // Some tens of milliseconds: far above the clock's grain.
constexpr int64_t kBatch = 100;
constexpr int64_t kFeatures = 784;
constexpr int64_t kClasses = 10;

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

std::unique_ptr<Session> MakeSession(int64_t hidden, int threads) {
  const auto model =
      BuildModel({.name = "mlp", .hidden = {hidden}, .data = {kFeatures, kClasses}});
  CHECK(model.ok()) << model.status().ToString();
  auto session = Session::Compile(
      model->graph, {.batch = kBatch, .loss = model->loss, .threads = threads});
  CHECK(session.ok()) << session.status().ToString();
  (*session)->InitializeVariables(/*seed=*/1);
  uint32_t state = 1;  // Any data will do; pixels between 0 and 1.
  for (float& value : (*session)->FloatInput(model->features)) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f;
  }
  int32_t label = 0;
  for (int32_t& value : (*session)->Int32Input(model->labels)) value = label++ % kClasses;
  return *std::move(session);
}

void Measure(int64_t hidden, int threads) {
  const RealClock clock;
  const std::unique_ptr<Session> session = MakeSession(hidden, threads);
  const auto optimizer = Optimizer::Make({.learning_rate = {.start = 0.01}});
  CHECK(optimizer.ok()) << optimizer.status().ToString();
  Products products(hidden, threads);
  const auto compute = [&] {
    const absl::Status status = session->Run(RunKind::kTrain);
    CHECK(status.ok()) << status.ToString();
  };
  const auto update = [&] {
    for (size_t i = 0; i < session->variables().size(); ++i) {
      const std::span<float> variable = session->variable(i);
      (*optimizer)->Apply(
          {.gradient = session->gradient(i), .in = variable, .out = variable, .step = 1});
    }
  };
  std::vector<double> gemms, runs, steps;
  for (int round = 0; round <= kRounds; ++round) {
    const double gemm = MicrosecondsPerStep(clock, [&] { products.Run(); });
    const double run = MicrosecondsPerStep(clock, compute);
    const double step = MicrosecondsPerStep(clock, [&] { compute(), update(); });
    if (round == 0) continue;  // Warms up.
    gemms.push_back(gemm);
    runs.push_back(run);
    steps.push_back(step);
  }
  const Timing gemm = Summarise(gemms), run = Summarise(runs), step = Summarise(steps);
  std::printf("| 784-%lld-10 | %.0f (%.0f–%.0f) | %.1f | %.0f (%.0f–%.0f) | %.0f (%.0f–%.0f) "
              "| %.0f | %.0f %% | %.0f %% |\n",
              static_cast<long long>(hidden), gemm.median_us, gemm.fastest_us, gemm.slowest_us,
              products.flops() / gemm.median_us / 1e3, run.median_us, run.fastest_us,
              run.slowest_us, step.median_us, step.fastest_us, step.slowest_us,
              1e6 * kBatch / step.median_us, 100 * gemm.median_us / run.median_us,
              100 * gemm.median_us / step.median_us);
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) {
    std::fprintf(stderr, "usage: step_bench [THREADS]\n");
    return 2;
  }
  std::printf("One process, %d thread(s), batch 100, loops for %s.\n\n", threads,
              taas::BestLoops().target);
  std::printf(
      "| network | products only, µs | GFLOP/s | loss and gradients, µs | with update, µs "
      "| examples/s | bound / gradients | bound / step |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  taas::Measure(/*hidden=*/100, threads);
  taas::Measure(/*hidden=*/500, threads);
  return 0;
}
