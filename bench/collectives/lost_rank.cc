// How long the others stand still when a rank of an all-reduce is killed: one line of JSON.
//
//   lost_rank --ranks 4 --kills 20 --hidden 500
//   lost_rank --ranks 4 --kills 20 --silence-ms 600    it is frozen, and given up after that time
//
// A chief and workers are processes of this machine that train an MLP on generated data. A worker
// is killed (SIGKILL), or frozen (SIGSTOP), at a random moment of a step; what is lost is the time
// from there to the end of the next step of the others, less one step of theirs. Then another takes
// its place, and all train for a while.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/collective/meeting.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/config/trainer_config.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/replica/member.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/ring/rank_loop.h"
#include "trainer/ring/ring.h"
#include "trainer/ring/ring_desk.h"
#include "trainer/status/status_board.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"

namespace taas {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// Until a job that does not go on is given up.
constexpr unsigned kLimitS = 300;
// Steps of all ranks between two kills, and of those that are left: of these a step is measured.
constexpr int kStepsBetween = 20;

struct Asked {
  int ranks = 4;
  int kills = 20;
  int64_t hidden = 500;
  int64_t seed = 1;
  int64_t silence_ms = 0;  // 0: ranks are killed.
};

// What the chief says of each step; of none at first, with its port.
struct Said {
  int64_t step = 0;
  int64_t at_ns = 0;
  int ranks = 0;
  int port = 0;
};

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

TrainerConfig Config(const Asked& asked) {
  const auto config = ParseTrainerConfig(
      R"({"model": {"name": "mlp", "hidden": [)" + std::to_string(asked.hidden) + R"(]},
          "data": {"format": "generated", "generated": {"examples": 2000, "testExamples": 100,
                   "features": 784, "classes": 10}},
          "strategy": {"type": "AllReduce"}, "batchSize": 100, "maxSteps": 100000000,
          "optimizer": {"name": "sgd", "learningRate": 0.01}})");
  CHECK(config.ok()) << config.status().ToString();
  return *config;
}

// One rank, as trainer/cmd/ring_roles.cc has it.
class Rank {
 public:
  explicit Rank(const Asked& asked)
      : asked_(asked),
        config_(Config(asked)),
        meeting_({.job = "bench/1"}),
        task_(ModelTask::Make(CpuRuntime(), files_, config_).value()),
        optimizer_(Optimizer::Parse(config_.optimizer).value()),
        ring_(meeting_, task_->session(),
              static_cast<int>(std::thread::hardware_concurrency())),
        listener_(comm::Listener::Open({.host = "127.0.0.1"},
                                       [this](comm::Channel& channel) { meeting_.Serve(channel); })
                      .value()) {
    CHECK(task_->session().InitializeVariables(config_.seed).ok()) << "a model";
    update_ = ModelUpdate::Make(*optimizer_, task_->session()).value();
  }

  void Lead(int said) {
    ClusterSpec cluster;
    cluster.addresses["chief"] = {"127.0.0.1:1"};
    cluster.addresses["worker"].assign(static_cast<size_t>(asked_.ranks - 1), "127.0.0.1:1");
    cluster.self = {"chief", 0};
    RingDesk desk(clock_, {.roster = {.cluster = cluster,
                                      .job = {"bench", 1},
                                      .config_hash = ConfigHash(config_),
                                      .self = {1, random_.Next()},
                                      .silence = Silence()},
                           .address = Address(),
                           .min = static_cast<size_t>(asked_.ranks - 1),
                           .max = static_cast<size_t>(asked_.ranks),
                           .on_over = [this](uint32_t epoch) { ring_.Abort(epoch); }});
    const auto server = ChiefServer::Start("127.0.0.1", 0, desk);
    CHECK(server.ok()) << server.status().ToString();
    Say(said, {.port = (*server)->port()});
    Train(desk, {.step = kUntrained}, [this, said](int64_t step) {
      Say(said, {.step = step, .at_ns = NowNs(), .ranks = ring_.ranks()});
    });
  }

  void Follow(int port, int worker, int64_t pod) {
    StatusBoard board({});
    StopFlag stop;
    Member member(clock_,
                  {.chief_name = "chief-0",
                   .chief_address = "127.0.0.1:" + std::to_string(port),
                   .job = {"bench", 1},
                   .self = {"worker", worker},
                   .incarnation = {pod, random_.Next()},
                   .rank = 1 + worker,
                   .config_hash = ConfigHash(config_),
                   .bulk_address = Address(),
                   .silence = Silence(),
                   .on_over = [this](uint32_t epoch) { ring_.Abort(epoch); }},
                  board, stop);
    CHECK(member.Start().ok()) << "a chief";
    Train(member, {}, [](int64_t) {});
  }

 private:
  std::string Address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  Clock::Duration Silence() const {
    return asked_.silence_ms > 0 ? std::chrono::milliseconds(asked_.silence_ms) : kSilenceLimit;
  }
  static void Say(int pipe, const Said& said) {
    CHECK(write(pipe, &said, sizeof(said)) == sizeof(said)) << "nobody listens";
  }
  void Train(EpochSource& source, Standing start, const std::function<void(int64_t)>& on_step) {
    RankLoop loop(source, ring_, *task_, *update_,
                  {.max_steps = config_.max_steps,
                   .hooks = {.start = [start] { return start; },
                             .after_step = [&](const Standing& standing, float) {
                               on_step(standing.step);
                               return absl::OkStatus();
                             }}});
    const absl::Status status = loop.Run();
    CHECK(status.ok()) << status.ToString();
  }

  const Asked asked_;
  const TrainerConfig config_;
  RealClock clock_;
  SystemRandom random_;
  PosixFileSystem files_;
  collective::Meeting meeting_;
  std::unique_ptr<ModelTask> task_;
  std::unique_ptr<Optimizer> optimizer_;
  Ring ring_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ModelUpdate> update_;
};

// Starts and kills the processes; has no threads, so that it can fork.
class Bench {
 public:
  explicit Bench(const Asked& asked)
      : asked_(asked), random_(static_cast<uint64_t>(asked.seed)), pods_(Workers()),
        workers_(Workers()) {}
  ~Bench() {
    for (const pid_t worker : workers_) Kill(worker);
    Kill(chief_);
  }

  std::vector<double> Run() {
    int ends[2];
    CHECK(pipe(ends) == 0) << "a pipe";
    said_ = ends[0];
    chief_ = Start([this, ends] { Rank(asked_).Lead(ends[1]); });
    close(ends[1]);
    port_ = Next().port;
    for (size_t worker = 0; worker < Workers(); ++worker) StartWorker(worker);
    std::vector<double> lost;
    while (static_cast<int>(lost.size()) < asked_.kills) {
      for (int steps = 0; steps < kStepsBetween;) steps += Next().ranks == asked_.ranks ? 1 : 0;
      lost.push_back(LoseOne(random_.Below(Workers())));
    }
    return lost;
  }
  double step_ms() const { return step_ms_; }

 private:
  size_t Workers() const { return static_cast<size_t>(asked_.ranks - 1); }

  double LoseOne(size_t worker) {
    clock_.SleepUntil(clock_.Now() + std::chrono::microseconds(random_.Below(20'000)));
    const int64_t killed_ns = NowNs();
    kill(workers_[worker], asked_.silence_ms > 0 ? SIGSTOP : SIGKILL);
    std::vector<int64_t> ends;
    while (static_cast<int>(ends.size()) < kStepsBetween) {
      const Said said = Next();
      if (said.at_ns > killed_ns && said.ranks < asked_.ranks) ends.push_back(said.at_ns);
    }
    std::vector<int64_t> steps;
    for (size_t i = 1; i < ends.size(); ++i) steps.push_back(ends[i] - ends[i - 1]);
    std::ranges::nth_element(steps, steps.begin() + std::ssize(steps) / 2);
    const int64_t step = steps[steps.size() / 2];
    step_ms_ = Milliseconds(std::chrono::nanoseconds(step)).count();
    Kill(workers_[worker]);
    StartWorker(worker);
    return Milliseconds(std::chrono::nanoseconds(ends.front() - killed_ns - step)).count();
  }

  Said Next() {
    Said said;
    CHECK(read(said_, &said, sizeof(said)) == sizeof(said)) << "the chief has gone";
    return said;
  }
  template <typename Work>
  static pid_t Start(Work work) {
    const pid_t child = fork();
    CHECK(child >= 0) << "fork";
    if (child > 0) return child;
    alarm(kLimitS);
    SetLogLevel(LogLevel::kError);
    work();
    _exit(0);
  }
  void StartWorker(size_t worker) {
    const int64_t pod = ++pods_[worker];
    workers_[worker] = Start([this, worker, pod] {
      close(said_);
      Rank(asked_).Follow(port_, static_cast<int>(worker), pod);
    });
  }
  static void Kill(pid_t process) {
    if (process <= 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }

  const Asked asked_;
  RealClock clock_;
  SeededRandom random_;
  int said_ = -1;
  int port_ = 0;
  pid_t chief_ = 0;
  std::vector<int64_t> pods_;
  std::vector<pid_t> workers_;
  double step_ms_ = 0;
};

int Main(int argc, char** argv) {
  Asked asked;
  CommandLine program({.name = "lost_rank", .about = "What a killed rank costs the others"});
  program.AddOption("--ranks", &asked.ranks, "processes").Between(3, 64);
  program.AddOption("--kills", &asked.kills, "how many").Positive();
  program.AddOption("--hidden", &asked.hidden, "units of the MLP's hidden layer").Positive();
  program.AddOption("--seed", &asked.seed, "of whom is killed when");
  program.AddOption("--silence-ms", &asked.silence_ms,
                    "ranks are frozen, and given up after this time (default: they are killed)");
  if (const std::optional<int> exit_code = program.Parse(argc, argv)) return *exit_code;
  alarm(kLimitS);
  Bench bench(asked);
  std::vector<double> lost = bench.Run();
  std::ranges::sort(lost);
  const nlohmann::json line = {{"ranks", asked.ranks},
                               {"kills", asked.kills},
                               {"stepMs", bench.step_ms()},
                               {"p50ms", lost[lost.size() / 2]},
                               {"p90ms", lost[lost.size() * 9 / 10]},
                               {"maxMs", lost.back()}};
  std::printf("%s\n", line.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Main(argc, argv); }
