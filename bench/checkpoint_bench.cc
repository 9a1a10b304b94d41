// What a checkpoint adds to steps of training in one process (strategy Local), for a model of 1 GB:
// an mlp of 8192 - 16384 - 7168 units, plain gradient descent, a checkpoint each ten steps.
//
// Quiet are steps with no copy and no write beside them. Printed: the median of the quiet steps,
// the longest of those that follow a cut directly (in which the model is copied), the longest of
// all that have a checkpoint beside them, and by how much they are longer; how long a step was
// held up is in the lines of the checkpoints (stepHeldMs).
//
//   bazel run -c opt //bench:checkpoint_bench [-- DIR [BATCH [STEPS]]]    (default /tmp 4 60)

#include <fcntl.h>
#include <time.h>
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

constexpr int kEvery = 10;
// A step that takes so many times the median is shown by itself.
constexpr double kLongStep = 1.2;

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

// Of the calling thread. Where it grows less than the time of the clock, the thread waited for a
// processor: other work of the machine is part of the figure.
double ProcessorMilliseconds() {
  timespec time{};
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) << "clock_gettime";
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Step {
  double milliseconds;
  double processor;
  bool writing;  // A checkpoint's temporary directory was there before or after it.
};

double Longest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

void Report(const std::vector<Step>& taken) {
  std::vector<double> quiet, beside, after_cut, quiet_processor, beside_processor;
  for (size_t i = 1; i < taken.size(); ++i) {  // The first warms up.
    const bool first_after_cut = i % kEvery == 0;
    if (first_after_cut) after_cut.push_back(taken[i].milliseconds);
    const bool loud = taken[i].writing || first_after_cut;
    (loud ? beside : quiet).push_back(taken[i].milliseconds);
    (loud ? beside_processor : quiet_processor).push_back(taken[i].processor);
  }
  const double median = Median(quiet);
  for (size_t i = 1; i < taken.size(); ++i) {
    if (taken[i].milliseconds < kLongStep * median) continue;
    std::printf("long step %zu: %.1f ms, processor %.1f ms%s\n", i + 1, taken[i].milliseconds,
                taken[i].processor, taken[i].writing ? ", beside a write" : "");
  }
  std::printf("quiet steps          %3zu: median %8.1f ms, longest %8.1f ms\n", quiet.size(),
              median, Longest(quiet));
  const auto print = [&](const char* what, const std::vector<double>& steps) {
    std::printf("%s  %3zu: median %8.1f ms, longest %8.1f ms, longer by %.1f ms\n", what,
                steps.size(), Median(steps), Longest(steps), Longest(steps) - median);
  };
  print("first after a cut  ", after_cut);
  print("beside a checkpoint", beside);
  std::printf("processor time: quiet median %.1f ms; beside median %.1f ms, longest %.1f ms\n",
              Median(quiet_processor), Median(beside_processor), Longest(beside_processor));
}

int Run(const std::string& base, int batch, int steps) {
  const std::string dir = base + "/checkpoint_bench";
  PosixFileSystem files;
  const RealClock clock;
  CHECK(files.RemoveAll(dir).ok());
  const TrainerConfig config = Config(dir, batch, steps);
  auto task = ModelTask::Make(files, config);
  CHECK(task.ok()) << task.status();
  const auto shape = ShapeOf((*task)->session(), config);
  CHECK(shape.ok()) << shape.status();
  double bytes = 0;
  for (const VariableInfo& variable : (*task)->session().variables()) {
    bytes += static_cast<double>(variable.bytes);
  }
  auto store = SnapshotStore::Open(files, clock,
                                   {.dir = dir, .uid = "bench", .keep = 1, .shape = *shape});
  CHECK(store.ok()) << store.status();

  std::vector<Step> taken;
  Clock::Time before = clock.Now();
  double processor_before = ProcessorMilliseconds();
  bool was_writing = false;
  const auto writing = [&] {
    for (const std::string& name : files.List(dir).value_or(std::vector<std::string>())) {
      if (name.starts_with(".tmp-")) return true;
    }
    return false;
  };
  StatusBoard board({.max_steps = steps});
  StopFlag stop;
  const int null = open("/dev/null", O_WRONLY);
  StepLog log(clock, {.batch_size = batch,
                      .max_steps = steps,
                      .fd = null,
                      .also = [&](int64_t, double, double) {
                        const Clock::Time now = clock.Now();
                        const bool is_writing = writing();
                        const double processor = ProcessorMilliseconds();
                        taken.push_back({Milliseconds(now - before), processor - processor_before,
                                         was_writing || is_writing});
                        was_writing = is_writing;
                        before = clock.Now();
                        processor_before = ProcessorMilliseconds();
                      }});
  const absl::Status status = RunLocal(clock, config, **task, store->get(), board, log, stop);
  CHECK(status.ok()) << status;
  close(null);

  std::printf("model %.3f GB, batch %d, %zu steps\n", bytes / 1e9, batch, taken.size());
  Report(taken);
  CHECK(files.RemoveAll(dir).ok());
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  setenv("OMP_NUM_THREADS", "1", 0);
  return taas::Run(argc > 1 ? argv[1] : "/tmp", argc > 2 ? std::atoi(argv[2]) : 4,
                   argc > 3 ? std::atoi(argv[3]) : 60);
}
