// What a checkpoint adds to steps of training in one process (strategy Local), for a model of 1 GB:
// an mlp of 8192 - 16384 - 7168 units, plain gradient descent, a checkpoint each 25 steps.
//
// Rounds without checkpoints and with them, in turn. Of each are printed the median and the longest
// step, without the first, which warms up; and by how much the median and the longest step are
// longer with checkpoints. At the end the medians of these over the rounds. How long a step was
// held up by the copy of the model is in the lines of the checkpoints (stepHeldMs).
//
//   bazel run -c opt //bench:checkpoint_bench [-- DIR [BATCH [STEPS [ROUNDS]]]]  (/tmp 4 60 5)

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
#include "trainer/strategy/local_strategy.h"
#include "trainer/strategy/model_task.h"

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

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The milliseconds of each step but the first.
std::vector<double> Train(const std::string& base, int batch, int steps, bool checkpoints) {
  const std::string dir = base + "/checkpoint_bench";
  PosixFileSystem files;
  const RealClock clock;
  CHECK(files.RemoveAll(dir).ok());
  const TrainerConfig config = Config(dir, batch, steps);
  auto task = ModelTask::Make(files, config);
  CHECK(task.ok()) << task.status();
  const auto shape = ShapeOf((*task)->session(), config);
  CHECK(shape.ok()) << shape.status();
  auto store = SnapshotStore::Open(files, clock,
                                   {.dir = dir, .uid = "bench", .keep = 1, .shape = *shape});
  CHECK(store.ok()) << store.status();
  std::vector<double> taken;
  Clock::Time before = clock.Now();
  StatusBoard board({.max_steps = steps});
  StopFlag stop;
  const int null = open("/dev/null", O_WRONLY);
  StepLog log(clock, {.batch_size = batch,
                      .max_steps = steps,
                      .fd = null,
                      .also = [&](int64_t, double, double) {
                        const Clock::Time now = clock.Now();
                        taken.push_back(Milliseconds(now - before));
                        before = now;
                      }});
  const absl::Status status =
      RunLocal(clock, config, **task, checkpoints ? store->get() : nullptr, board, log, stop);
  CHECK(status.ok()) << status;
  close(null);
  CHECK(files.RemoveAll(dir).ok());
  taken.erase(taken.begin());
  return taken;
}

void Run(const std::string& base, int batch, int steps, int rounds) {
  std::vector<double> medians, longest;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> without = Train(base, batch, steps, /*checkpoints=*/false);
    const std::vector<double> with = Train(base, batch, steps, /*checkpoints=*/true);
    medians.push_back(Median(with) - Median(without));
    longest.push_back(std::ranges::max(with) - std::ranges::max(without));
    std::printf("steps without: median %.1f ms, longest %.1f ms; with: %.1f ms, %.1f ms; more: "
                "%.1f ms, %.1f ms\n",
                Median(without), std::ranges::max(without), Median(with), std::ranges::max(with),
                medians.back(), longest.back());
    std::fflush(stdout);
  }
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
  taas::Run(argc > 1 ? argv[1] : "/tmp", number(2, 4), number(3, 60), number(4, 5));
  return 0;
}
