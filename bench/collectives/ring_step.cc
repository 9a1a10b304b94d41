// How long a step of an all-reduce takes: one line of JSON.
//
//   ring_step --ranks 2 --hidden 1024,1024 --batch 100 --steps 200 [--one-bucket]
//   ring_step --ranks 2 --table 1000000 --width 16 --batch 300 --steps 30 [--whole-tables]
//   ring_step --ranks 2 --config '{"model": …, "data": …, "batchSize": 100, …}'
//   ring_step … --namespaces /run/netns/a,/run/netns/b --hosts 10.0.0.1,10.0.0.2
//
// The ranks are processes of this machine that train an MLP on generated data, or Wide & Deep with
// a table of so many rows, of which each example looks one up, or what a trainer's configuration
// says. With --namespaces each is in a network namespace of its own (a file), so that they share no
// memory. The times are those of rank 0: the median of its steps, and of what a step's
// exchanges took, beside its computation (hidden) and after it; the bytes are what it sends in a
// step.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "trainer/batches/committed_set.h"
#include "trainer/batches/untrained_batches.h"
#include "trainer/collective/meeting.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/config/trainer_config.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ring/bucket_plan.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/gradient_area.h"
#include "trainer/ring/ring.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/links/enter_namespace.h"

namespace taas {
namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

// A run that does not go on is given up.
constexpr unsigned kLimitS = 600;
// Until caches are warm and memory has been touched.
constexpr int kWarmUpSteps = 10;
// More than any table saves.
constexpr size_t kNoRows = size_t{1} << 60;

struct Asked {
  int ranks = 2;
  int steps = 200;
  int64_t batch = 100;
  std::string hidden = "100";
  bool one_bucket = false;
  bool copies = false;  // Whatever the model's size.
  int64_t table = 0;        // Rows; 0: an MLP.
  int64_t width = 16;
  bool whole_tables = false;  // However few rows a batch looks up.
  std::string config;         // In the place of all that says what is trained.
  std::string hosts, namespaces;  // One for each rank; empty: all on the loopback.
};

std::string ConfigText(const Asked& asked) {
  if (!asked.config.empty()) return asked.config;
  const std::string mlp =
      R"({"model": {"name": "mlp", "hidden": [)" + asked.hidden +
      R"(]}, "data": {"format": "generated", "generated": {"examples": 2000, "testExamples": 100,
                      "features": 784, "classes": 10}})";
  const std::string wide_deep =
      R"({"model": {"name": "wideDeep", "hidden": [)" + asked.hidden + R"(], "wide": ["hour"],
                    "deep": [{"column": "place", "units": )" + std::to_string(asked.width) +
      R"(}]}, "data": {"format": "generated",
          "generated": {"pattern": "clicks", "examples": 200000, "testExamples": 100},
          "columns": [{"name": "hour", "type": "identity", "buckets": 24},
                      {"name": "place", "type": "crossed", "sources": ["site", "ad", "hour"],
                       "buckets": )" +
      std::to_string(asked.table) + "}]}";
  return (asked.table == 0 ? mlp : wide_deep) +
         R"(, "strategy": {"type": "AllReduce"}, "maxSteps": 100000000, "batchSize": )" +
         std::to_string(asked.batch) +
         R"(, "optimizer": {"name": "sgd", "learningRate": 0.01}})";
}

TrainerConfig Config(const Asked& asked) {
  const auto config = ParseTrainerConfig(ConfigText(asked));
  CHECK(config.ok()) << config.status().ToString();
  return *config;
}

// What a step took, in microseconds.
struct Took {
  double all = 0, wait = 0, exchange = 0, hidden = 0;
  uint64_t buckets = 0;
  int64_t bytes = 0;
};

void WriteTo(int pipe, const void* bytes, size_t count) {
  CHECK(write(pipe, bytes, count) == static_cast<ssize_t>(count)) << "nobody listens";
}
void ReadFrom(int pipe, void* bytes, size_t count) {
  CHECK(read(pipe, bytes, count) == static_cast<ssize_t>(count)) << "a rank has gone";
}

// Of a list with commas, or `otherwise` where it is empty.
std::string NameOf(const std::string& list, int rank, const std::string& otherwise) {
  if (list.empty()) return otherwise;
  const std::vector<std::string> names = absl::StrSplit(list, ',');
  CHECK(static_cast<size_t>(rank) < names.size()) << "one name for each rank: " << list;
  return names[static_cast<size_t>(rank)];
}

// One rank, from its first to its last step. Says its port, hears the ports of all, and then says
// what each step took.
void Train(const Asked& asked, int rank, int hear, int say) {
  const TrainerConfig config = Config(asked);
  if (!asked.namespaces.empty()) links::EnterNamespace(NameOf(asked.namespaces, rank, ""));
  const std::string loopback = "127.0.0.1";
  PosixFileSystem files;
  GradientArea area;
  ModelTask::Process process;
  if (!asked.copies) process.gradient_memory = area.memory();
  const auto task = ModelTask::Make(CpuRuntime(), files, config, process).value();
  collective::Meeting meeting({.job = "bench/1", .lent = area.lent()});
  const auto optimizer = Optimizer::Parse(config.optimizer).value();
  RingOptions options;
  if (asked.one_bucket) options.buckets.elements_min = std::numeric_limits<size_t>::max();
  if (asked.whole_tables) options.rows.saved_min = kNoRows;
  Ring ring(meeting, task->session(), static_cast<int>(std::thread::hardware_concurrency()),
            options);
  const auto listener =
      comm::Listener::Open({.host = NameOf(asked.hosts, rank, loopback)},
                           [&](comm::Channel& channel) { meeting.Serve(channel); })
          .value();
  CHECK(task->session().InitializeVariables(config.seed).ok()) << "a model";
  const auto update = ModelUpdate::Make(*optimizer, task->session()).value();

  const int own = listener->port();
  WriteTo(say, &own, sizeof(own));
  std::vector<Seat> seats;
  for (int i = 0; i < asked.ranks; ++i) {
    int port = 0;
    ReadFrom(hear, &port, sizeof(port));
    seats.push_back({NameOf(asked.hosts, i, loopback) + ":" + std::to_string(port),
                     {.step = kUntrained}});
  }
  CHECK(ring.Enter(FormEpoch(1, seats)[static_cast<size_t>(rank)]).ok()) << "the others";
  UntrainedBatches batches{CommittedSet()};
  for (int64_t step = 1; step <= kWarmUpSteps + asked.steps; ++step) {
    const auto begun = std::chrono::steady_clock::now();
    CHECK(ring.BeginStep(step).ok()) << "moments";
    for (int i = 0; i < asked.ranks; ++i) CHECK(batches.Next().ok()) << "a batch";
    update->Prepare(step);
    const auto loss = task->ComputeGradients(
        std::span(&batches.taken()[static_cast<size_t>(rank)], 1));
    CHECK(loss.ok()) << loss.status().ToString();
    CHECK(ring.Mean(*loss).ok()) << "the gradients of the others";
    CHECK(update->Apply().ok()) << "an update";
    batches.Commit(batches.taken().size());
    const Took took{Microseconds(std::chrono::steady_clock::now() - begun).count(),
                    Microseconds(ring.times().wait).count(),
                    Microseconds(ring.times().exchange).count(),
                    Microseconds(ring.times().hidden).count(), ring.buckets(),
                    ring.times().bytes};
    WriteTo(say, &took, sizeof(took));
  }
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Process {
  pid_t pid = 0;
  int hear = 0, say = 0;
};

// Forks, so it comes before any thread.
Process Start(const Asked& asked, int rank) {
  std::array<int, 2> to{}, from{};
  CHECK(pipe(to.data()) == 0 && pipe(from.data()) == 0) << "pipes";
  const pid_t pid = fork();
  CHECK(pid >= 0) << "a process";
  if (pid == 0) {
    alarm(kLimitS);
    Train(asked, rank, to[0], from[1]);
    _exit(0);
  }
  close(to[0]);
  close(from[1]);
  return {pid, from[0], to[1]};
}

void Run(const Asked& asked) {
  std::vector<Process> ranks;
  for (int rank = 0; rank < asked.ranks; ++rank) ranks.push_back(Start(asked, rank));
  std::vector<int> ports(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) ReadFrom(ranks[i].hear, &ports[i], sizeof(ports[i]));
  for (const Process& rank : ranks) WriteTo(rank.say, ports.data(), ports.size() * sizeof(int));
  std::vector<double> all, wait, exchange, hidden;
  Took took;
  for (int step = 0; step < kWarmUpSteps + asked.steps; ++step) {
    for (size_t i = ranks.size(); i-- > 0;) ReadFrom(ranks[i].hear, &took, sizeof(took));
    if (step < kWarmUpSteps) continue;
    all.push_back(took.all);
    wait.push_back(took.wait);
    exchange.push_back(took.exchange);
    hidden.push_back(took.hidden);
  }
  for (const Process& rank : ranks) waitpid(rank.pid, nullptr, 0);
  const nlohmann::json line = {{"ranks", asked.ranks},
                               {"config", ConfigText(asked)},
                               {"whole_tables", asked.whole_tables},
                               {"steps", asked.steps},
                               {"step_us", MedianOf(all)},
                               {"wait_us", MedianOf(wait)},
                               {"exchange_us", MedianOf(exchange)},
                               {"hidden_us", MedianOf(hidden)},
                               {"bytes", took.bytes},
                               {"buckets", took.buckets}};
  std::puts(line.dump().c_str());
}

int Main(int argc, char** argv) {
  Asked asked;
  CommandLine program({.name = "ring_step", .about = "How long a step of an all-reduce takes"});
  program.AddOption("--ranks", &asked.ranks, "processes").Between(1, 64);
  program.AddOption("--steps", &asked.steps, "that are measured").Positive();
  program.AddOption("--batch", &asked.batch, "examples of a rank in a step").Positive();
  program.AddOption("--hidden", &asked.hidden, "units of the MLP's hidden layers: 100,50");
  program.AddFlag("--one-bucket", &asked.one_bucket, "all gradients after the backward pass");
  program.AddFlag("--copies", &asked.copies, "gradients are not read where they lie");
  program.AddOption("--table", &asked.table, "rows of a table; 0: the model is an MLP")
      .Between(0, int64_t{1} << 30);
  program.AddOption("--width", &asked.width, "numbers of a row").Positive();
  program.AddFlag("--whole-tables", &asked.whole_tables, "all rows, whatever a batch looks up");
  program.AddOption("--config", &asked.config, "what is trained: a trainer's configuration, JSON");
  program.AddOption("--hosts", &asked.hosts, "addresses of the ranks: 10.0.0.1,10.0.0.2");
  program.AddOption("--namespaces", &asked.namespaces, "files of the network namespaces: a,b");
  if (const std::optional<int> exit_code = program.Parse(argc, argv)) return *exit_code;
  alarm(kLimitS);
  Run(asked);
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Main(argc, argv); }
