// A job by all-reduce in threads of this process, over loopback, as processes of pods are: a chief
// and workers that are killed, come late, and are replaced.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/cut/snapshot.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/replica/member.h"
#include "trainer/ring/rank_loop.h"
#include "trainer/ring/gradient_area.h"
#include "trainer/ring/ring.h"
#include "trainer/ring/ring_desk.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/job_in_threads.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

using collective::Meeting;

constexpr int64_t kSteps = 40;
constexpr int kCores = 1;
constexpr std::chrono::seconds kLong{60};

// One process of the job, in a thread.
class Process {
 public:
  explicit Process(const TrainerConfig& config)
      : config_(config),
        task_(MakeTask(files_, config, area_)),
        meeting_({.job = "uid/1", .patience = kLong, .lent = area_.lent()}),
        optimizer_(Optimizer::Parse(config.optimizer).value()),
        listener_(comm::Listener::Open({.host = "127.0.0.1"},
                                       [this](comm::Channel& channel) { meeting_.Serve(channel); })
                      .value()),
        ring_(std::in_place, meeting_, task_->session(), kCores) {
    EXPECT_THAT(task_->session().InitializeVariables(config.seed), IsOk());
    update_ = ModelUpdate::Make(*optimizer_, task_->session()).value();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  Ring& ring() { return *ring_; }
  // What the kernel does for a process that is gone.
  void CloseConnections() {
    ring_.reset();
    listener_.reset();
  }

  // `goes_on` is asked after each step; a process for which it says no is gone at once.
  absl::Status Train(EpochSource& source, Standing start,
                     const std::function<bool(int64_t step)>& goes_on,
                     std::function<absl::Status(const Standing&)> at_end) {
    RankLoop loop(source, *ring_, *task_, *update_,
                  {.max_steps = config_.max_steps,
                   .hooks = {.start = [start] { return start; },
                             .after_step =
                                 [&](const Standing& standing, float loss) {
                                   standing_ = standing;
                                   losses_.push_back(loss);
                                   return goes_on(standing.step)
                                              ? absl::OkStatus()
                                              : absl::CancelledError("killed");
                                 },
                             .at_end = std::move(at_end)}});
    const absl::Status status = loop.Run();
    values_ = Copies(VariablesOf(task_->session()));
    return status;
  }
  void Take(const Snapshot& snapshot) {
    EXPECT_THAT(Restore(snapshot, task_->session()), IsOk());
  }
  // What was trained, with all that the optimizer keeps.
  Snapshot Last() {
    Snapshot last{.values = values_, .committed = standing_.committed, .step = standing_.step};
    ModelState& model = task_->session().model();
    for (size_t slot = 0; slot < model.slots(); ++slot) {
      std::vector<TensorRef> of_slot;
      for (size_t i = 0; i < values_.size(); ++i) of_slot.push_back(model.slot(slot, i));
      last.slots.push_back(Copies(of_slot));
    }
    return last;
  }

  const Tensors& values() const { return values_; }
  const Standing& standing() const { return standing_; }
  const std::vector<float>& losses() const { return losses_; }

 private:
  static std::unique_ptr<ModelTask> MakeTask(FileSystem& files, const TrainerConfig& config,
                                             GradientArea& area) {
    ModelTask::Process process;
    process.gradient_memory = area.memory();
    return ModelTask::Make(CpuRuntime(), files, config, process).value();
  }

  const TrainerConfig config_;
  PosixFileSystem files_;
  GradientArea area_;
  std::unique_ptr<ModelTask> task_;
  Meeting meeting_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ModelUpdate> update_;
  std::optional<Ring> ring_;
  Standing standing_;
  Tensors values_;
  std::vector<float> losses_;
};

using GoesOn = std::function<bool(int64_t step)>;
const GoesOn kAlways = [](int64_t) { return true; };

class RingJobTest : public LocalTraining {
 protected:
  struct Size {
    int replicas = 3;  // That TF_CONFIG has, with the chief.
    size_t min = 3, max = 3;
  };
  void SetUp() override {
    config_ = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
    config_.max_steps = kSteps;
    config_.batch_size = 6;
    // Gradients of 200 KB, whose parts are read where they lie.
    config_.model = R"({"name": "mlp", "hidden": [700, 61]})";
  }
  ~RingJobTest() override { EXPECT_TRUE(threads_.empty()); }

  ClusterSpec Cluster() const {
    ClusterSpec cluster;
    cluster.addresses["chief"] = {"127.0.0.1:1"};
    for (int i = 1; i < size_.replicas; ++i) cluster.addresses["worker"].push_back("127.0.0.1:1");
    cluster.self = {"chief", 0};
    return cluster;
  }

  // On the port of the one before, if there was one.
  void StartChief(const GoesOn& goes_on = kAlways) {
    std::unique_lock lock(mutex_);
    const int64_t pod = ++chief_pod_;
    const int port = port_;
    threads_.emplace_back([this, goes_on, pod, port] { RunChief(goes_on, pod, port); });
    changed_.wait(lock, [&] { return chiefs_ == pod; });
  }

  void RunChief(const GoesOn& goes_on, int64_t pod, int port) {
    auto chief = std::make_unique<Process>(config_);
    Lead(*chief, goes_on, pod, port);
    chief->CloseConnections();
    std::lock_guard lock(mutex_);
    ended_.push_back(std::move(chief));
  }

  void Lead(Process& chief, const GoesOn& goes_on, int64_t pod, int port) {
    RingDesk desk(clock_, {.roster = {.cluster = Cluster(),
                                      .job = {"uid", 1},
                                      .config_hash = ConfigHash(config_),
                                      .data_identity = "",
                                      .self = {pod, random_.Next()}},
                           .address = chief.address(),
                           .min = size_.min,
                           .max = size_.max,
                           .on_over = [&](uint32_t epoch) { chief.ring().Abort(epoch); }});
    auto server = ChiefServer::Start("127.0.0.1", port, desk);
    ASSERT_THAT(server, IsOk());
    {
      std::lock_guard lock(mutex_);
      port_ = (*server)->port();
      chiefs_ = pod;
      changed_.notify_all();
    }
    if (before_) chief.Take(*before_);
    const Standing start = before_ ? Standing{before_->step, before_->committed}
                                   : Standing{.step = kUntrained};
    const absl::Status status = chief.Train(desk, start, goes_on,
                                             [&](const Standing& standing) {
                                               desk.Finish(standing.step);
                                               return absl::OkStatus();
                                             });
    if (status.ok()) {
      EXPECT_TRUE(desk.AwaitFarewell(kLong));
    }
    desk.Close();
    server->reset();
  }

  void StartWorker(int index, const GoesOn& goes_on = kAlways, int64_t pod = 1) {
    std::lock_guard lock(mutex_);
    threads_.emplace_back([this, index, goes_on, pod] { RunWorker(index, goes_on, pod); });
  }

  void RunWorker(int index, const GoesOn& goes_on, int64_t pod) {
    auto worker = std::make_unique<Process>(config_);
    StatusBoard board({});
    StopFlag stop;
    {
      Member member(clock_,
                    {.chief_name = "chief-0",
                     .chief_address = "127.0.0.1:" + std::to_string(port()),
                     .job = {"uid", 1},
                     .self = {"worker", index},
                     .incarnation = {pod, random_.Next()},
                     .rank = 1 + index,
                     .config_hash = ConfigHash(config_),
                     .data_identity = "",
                     .bulk_address = worker->address(),
                     .on_over = [&](uint32_t epoch) { worker->ring().Abort(epoch); }},
                    board, stop);
      ASSERT_THAT(member.Start(), IsOk());
      const absl::Status status =
          worker->Train(member, Standing(), goes_on,
                        [](const Standing&) { return absl::OkStatus(); });
      if (status.ok()) member.Leave();
    }
    worker->CloseConnections();
    std::lock_guard lock(mutex_);
    ended_.push_back(std::move(worker));
  }

  void JoinAll() {
    // Some are started by others.
    for (;;) {
      std::vector<std::thread> threads;
      {
        std::lock_guard lock(mutex_);
        threads.swap(threads_);
      }
      if (threads.empty()) break;
      for (std::thread& thread : threads) thread.join();
    }
  }

  // All that have made the last step, which have the same model.
  Process& Finish() {
    JoinAll();
    Process* last = nullptr;
    for (const auto& process : ended_) {
      if (process->standing().step != config_.max_steps) continue;
      if (last != nullptr) {
        EXPECT_EQ(process->values(), last->values());
      }
      last = process.get();
      ++at_the_end_;
    }
    EXPECT_NE(last, nullptr);
    return *last;
  }

  int port() {
    std::lock_guard lock(mutex_);
    return port_;
  }

  Size size_;
  TrainerConfig config_;
  std::optional<Snapshot> before_;  // What the chief finds.
  std::mutex mutex_;
  std::condition_variable changed_;
  int port_ = 0;
  int64_t chief_pod_ = 0, chiefs_ = 0;
  SystemRandom random_;
  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<Process>> ended_;
  int at_the_end_ = 0;
};

TEST_F(RingJobTest, ItTrainsAsTowersDo) {
  StartChief();
  StartWorker(0);
  StartWorker(1);
  const Process& last = Finish();
  EXPECT_EQ(at_the_end_, 3);
  EXPECT_EQ(last.standing().committed, CommittedSet(3 * kSteps, {}));
  config_.strategy = StrategyType::kTowers;
  config_.towers = 3;
  const Outcome towers = Train(config_);
  for (size_t i = 0; i < towers.values.size(); ++i) {
    for (size_t k = 0; k < towers.values[i].size(); ++k) {
      ASSERT_NEAR(last.values()[i][k], towers.values[i][k], 1e-5);
    }
  }
}

TEST_F(RingJobTest, AWorkerThatIsKilledIsLeftOutWhereTheJobIsElastic) {
  size_ = {.replicas = 3, .min = 2, .max = 3};
  StartChief();
  StartWorker(0);
  StartWorker(1, [](int64_t step) { return step < 10; });
  const Process& last = Finish();
  EXPECT_EQ(at_the_end_, 2);
  // What it was lost with is part of the model, and nothing else of it: ten steps of three.
  EXPECT_EQ(last.standing().committed, CommittedSet(3 * 10 + 2 * (kSteps - 10), {}));
}

// A job that had three ranks for ten steps and two from then on has, on its chief, these losses and
// this model.
std::tuple<std::vector<float>, Tensors, CommittedSet> Curve(const Process& process) {
  return {process.losses(), process.values(), process.standing().committed};
}

TEST_F(RingJobTest, AfterALossTheCurveIsThatOfAJobThatHadFewerRanksFromThatStepOn) {
  size_ = {.replicas = 3, .min = 2, .max = 3};
  StartChief();
  StartWorker(0);
  StartWorker(1, [](int64_t step) { return step < 10; });
  Finish();
  const auto chief = [&] {
    return std::ranges::max_element(ended_, {}, [](const auto& process) {
             return process->losses().size();
           })->get();
  };
  const auto [lost_losses, lost_values, lost_committed] = Curve(*chief());

  // Two jobs instead: one of three ranks that ends after ten steps, one of two that goes on.
  ended_.clear();
  port_ = 0;
  config_.max_steps = 10;
  size_ = {.replicas = 3, .min = 3, .max = 3};
  StartChief();
  StartWorker(0);
  StartWorker(1);
  Process& first = Finish();
  std::vector<float> losses = first.losses();
  before_ = first.Last();
  ended_.clear();
  port_ = 0;
  config_.max_steps = kSteps;
  size_ = {.replicas = 2, .min = 2, .max = 2};
  StartChief();
  StartWorker(0);
  Process& second = Finish();
  losses.insert(losses.end(), second.losses().begin(), second.losses().end());
  EXPECT_EQ(losses, lost_losses);
  EXPECT_EQ(second.values(), lost_values);
  EXPECT_EQ(second.standing().committed, lost_committed);
}

// How far `some` are from `others`, through how large these are.
double Distance(const Tensors& some, const Tensors& others) {
  double apart = 0, size = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    for (size_t k = 0; k < others[i].size(); ++k) {
      apart += std::pow(some[i][k] - others[i][k], 2);
      size += std::pow(others[i][k], 2);
    }
  }
  return std::sqrt(apart / size);
}

TEST_F(RingJobTest, ItLearnsWhatParameterServersAndOneProcessDo) {
  const std::string more =
      R"("maxSteps": 100, "optimizer": {"name": "momentum",
                              "learningRate": 0.05})";
  config_ = MakeConfig(more + R"(, "batchSize": 6, "strategy": {"type": "AllReduce"})");
  StartChief();
  StartWorker(0);
  StartWorker(1);
  const Tensors by_ring = Finish().values();

  const TrainerConfig local =
      MakeConfig(more + R"(, "batchSize": 18, "strategy": {"type": "Local"})");
  const Outcome alone = Train(local);
  ASSERT_THAT(alone.status, IsOk());

  const TrainerConfig servers = MakeConfig(
      R"("maxSteps": 100, "optimizer": {"name": "momentum", "learningRate": 0.05},
         "checkpoint": {"dir": ")" + NewDir() +
      R"("}, "batchSize": 6, "strategy": {"type": "ParameterServer", "mode": "Sync",
                                          "replicasToAggregate": 3})");
  const auto make_task = [&] { return ModelTask::Make(CpuRuntime(), files_, servers).value(); };
  const auto task = make_task();
  const auto store = OpenStore(servers, task->session());
  // The chief alone computes all three gradients of a step: of several replicas one that is not let
  // onto a processor has its batch in a later step, since others take the next meanwhile.
  JobInThreads job({.config = servers, .workers = 0, .make_task = make_task}, *task, store.get());
  job.StartServers();
  job.StartChief();
  ASSERT_THAT(job.Finish(), IsOk());
  Snapshot by_servers;
  ASSERT_EQ(*store->Load(&by_servers), true);

  EXPECT_LT(Distance(by_ring, alone.values), 1e-5);
  EXPECT_LT(Distance(by_servers.values, alone.values), 1e-5);
  EXPECT_LT(Distance(by_ring, by_servers.values), 1e-5);
}

TEST_F(RingJobTest, ItsPlaceIsWaitedForWhereTheNumberIsFixed) {
  StartChief();
  StartWorker(0);
  StartWorker(1, [this](int64_t step) {
    if (step == 10) StartWorker(1, kAlways, /*pod=*/2);
    return step < 10;
  });
  const Process& last = Finish();
  EXPECT_EQ(at_the_end_, 3);
  EXPECT_EQ(last.standing().committed, CommittedSet(3 * kSteps, {}));
}

TEST_F(RingJobTest, OneThatComesLaterTrainsWithTheOthersFromThenOn) {
  size_ = {.replicas = 2, .min = 2, .max = 3};
  config_.max_steps = 1'000'000;
  std::atomic<int64_t> end = config_.max_steps;
  const auto until_end = [&](int64_t step) { return step < end; };
  StartChief(until_end);
  StartWorker(0, [&](int64_t step) {
    if (step == 5) {
      // All end ten steps after it has made its first.
      StartWorker(1, [&](int64_t made) {
        int64_t none = config_.max_steps;
        end.compare_exchange_strong(none, made + 10);
        return made < end;
      });
    }
    return step < end;
  });
  JoinAll();
  ASSERT_EQ(ended_.size(), 3U);
  for (const auto& process : ended_) {
    EXPECT_EQ(process->standing(), ended_[0]->standing());
    EXPECT_EQ(process->values(), ended_[0]->values());
  }
  // Eleven steps at least were of three.
  EXPECT_GE(ended_[0]->standing().committed.watermark(), 2 * end + 11);
}

TEST_F(RingJobTest, AChiefThatIsKilledIsFollowedByOneThatTakesTheModelFromTheOthers) {
  StartChief([](int64_t step) { return step < 12; });
  StartWorker(0);
  StartWorker(1);
  // Its successor has no checkpoint.
  std::thread operator_thread([this] {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (!ended_.empty()) break;
      }
      std::this_thread::yield();
    }
    StartChief();
  });
  operator_thread.join();
  const Process& last = Finish();
  EXPECT_EQ(at_the_end_, 3);
  EXPECT_EQ(last.standing().committed, CommittedSet(3 * kSteps, {}));
  // A worker has made each step once.
  for (const auto& process : ended_) {
    EXPECT_LE(process->losses().size(), static_cast<size_t>(kSteps));
  }
}

}  // namespace
}  // namespace taas
