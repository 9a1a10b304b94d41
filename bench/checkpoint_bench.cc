// What a checkpoint adds to steps of training in one process (strategy Local), for a model of 1 GB:
// an mlp of 8192 - 16384 - 7168 units, plain gradient descent, a checkpoint each 25 steps.
//
// Each round is a training whose steps are made alone, or beside its first checkpoint while that is
// being saved; the first step warms up and is left out, and at the second checkpoint it ends. Of
// both are printed the median and the longest, and by how much those beside a checkpoint are
// longer; at the end the medians of the rounds, and quantiles of all steps of all rounds, which say
// what the machine does to steps that nothing is beside. How long a step was held up by the copy of
// the model is in the lines of the checkpoints (stepHeldMs).
//
//   bazel run -c opt //bench:checkpoint_bench [-- DIR [BATCH [STEPS [ROUNDS]]]]  (/tmp 1 50 8)

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

constexpr int kEvery = 25;

TrainerConfig Config(const std::string& dir, int batch, int steps) {
  const auto config = ParseTrainerConfig(
      R"({"model": {"name": "mlp", "hidden": [16384, 7168]},
          "data": {"format": "generated",
                   "generated": {"examples": 64, "features": 8192, "classes": 10}},
          "strategy": {"type": "Local"}, "optimizer": {"name": "sgd", "learningRate": 0.0001},
          "checkpoint": {"keep": 1, "everySteps": )" + std::to_string(kEvery) +
      R"(, "dir": ")" + dir + R"("}, "batchSize": )" + std::to_string(batch) +
      R"(, "maxSteps": )" + std::to_string(steps) + R"(, "logSteps": 1000000})");
  CHECK(config.ok()) << config.status();
  return *config;
}

double Milliseconds(Clock::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Milliseconds of each.
struct Steps {
  std::vector<double> alone, beside;
};

// The value that `part` of the values are below.
double Quantile(std::vector<double> values, double part) {
  CHECK(!values.empty()) << "no step of this kind: more STEPS, please";
  std::ranges::sort(values);
  const auto place = static_cast<size_t>(part * static_cast<double>(values.size()));
  return values[std::min(place, values.size() - 1)];
}

double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

Steps Train(const std::string& base, int batch, int steps) {
  const std::string dir = base + "/checkpoint_bench";
  PosixFileSystem files;
  const RealClock clock;
  CHECK(files.RemoveAll(dir).ok());
  const TrainerConfig config = Config(dir, batch, steps);
  auto task = ModelTask::Make(CpuRuntime(), files, config);
  CHECK(task.ok()) << task.status();
  const auto shape = ShapeOf((*task)->session(), config);
  CHECK(shape.ok()) << shape.status();
  auto store = SnapshotStore::Open(files, clock,
                                   {.dir = dir, .uid = "bench", .keep = 1, .shape = *shape});
  CHECK(store.ok()) << store.status();
  Steps taken;
  Clock::Time before = clock.Now();
  StatusBoard board({.max_steps = steps});
  StopFlag stop;
  const int null = open("/dev/null", O_WRONLY);
  bool saved = false;  // As the step began.
  StepLog log(clock, {.batch_size = batch,
                      .max_steps = steps,
                      .fd = null,
                      .also = [&](int64_t step, double, double) {
                        const Clock::Time now = clock.Now();
                        const bool beside = step > kEvery && !saved;
                        if (step > 1) {
                          (beside ? taken.beside : taken.alone)
                              .push_back(Milliseconds(now - before));
                        }
                        before = now;
                        saved = access((dir + "/checkpoint").c_str(), F_OK) == 0;
                      }});
  const absl::Status status = RunLocal(config, **task, store->get(), log, {clock, board, stop});
  CHECK(status.ok()) << status;
  close(null);
  CHECK(files.RemoveAll(dir).ok());
  return taken;
}

void PrintQuantiles(const char* name, const std::vector<double>& steps) {
  std::printf("%zu steps %s: median %.1f ms, 90 %% below %.1f ms, 98 %% below %.1f ms, "
              "longest %.1f ms\n",
              steps.size(), name, Median(steps), Quantile(steps, 0.9), Quantile(steps, 0.98),
              std::ranges::max(steps));
}

void Run(const std::string& base, int batch, int steps, int rounds) {
  Steps all;
  std::vector<double> medians, longest;
  for (int round = 0; round < rounds; ++round) {
    const Steps of = Train(base, batch, steps);
    all.alone.insert(all.alone.end(), of.alone.begin(), of.alone.end());
    all.beside.insert(all.beside.end(), of.beside.begin(), of.beside.end());
    medians.push_back(Median(of.beside) - Median(of.alone));
    longest.push_back(std::ranges::max(of.beside) - std::ranges::max(of.alone));
    std::printf("steps alone: median %.1f ms, longest %.1f ms; beside a checkpoint: %.1f ms, "
                "%.1f ms; more: %.1f ms, %.1f ms\n",
                Median(of.alone), std::ranges::max(of.alone), Median(of.beside),
                std::ranges::max(of.beside), medians.back(), longest.back());
    std::fflush(stdout);
  }
  PrintQuantiles("alone", all.alone);
  PrintQuantiles("beside a checkpoint", all.beside);
  std::printf("median of %d rounds: a step more by %.1f ms, the longest by %.1f ms\n", rounds,
              Median(medians), Median(longest));
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  const auto number = [&](int place, int fallback) {
    return argc > place ? std::atoi(argv[place]) : fallback;
  };
  setenv("OMP_NUM_THREADS", "1", 0);
  taas::Run(argc > 1 ? argv[1] : "/tmp", number(2, 1), number(3, 50), number(4, 8));
  return 0;
}
