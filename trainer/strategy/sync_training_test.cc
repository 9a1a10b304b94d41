// Synchronous training through two parameter servers by replicas in this process over loopback:
// the same as one process with a larger batch, with slow, dead and late replicas.

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/cut/snapshot.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/ps/ledger_check.h"
#include "trainer/replica/replica_loop.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/job_in_threads.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatch = 6;
constexpr int64_t kSteps = 40;

// `more` are further fields of spec.trainer.
TrainerConfig Config(const std::string& more, int64_t batch = kBatch) {
  auto config = ParseTrainerConfig(R"({
      "model": {"name": "mlp", "hidden": [64, 5]}, "seed": 3, "batchSize": )" +
                                   std::to_string(batch) + R"(, "maxSteps": )" +
                                   std::to_string(kSteps) + R"(,
      "data": {"format": "generated", "generated":
        {"examples": 100, "testExamples": 60, "features": 65, "classes": 4}})" + more + "}");
  EXPECT_THAT(config, IsOk());
  return *config;
}

std::string NewDir() {
  std::string name = testing::TempDir() + "sync_XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

// A job with two parameter servers, and what it leaves behind.
class SyncJob {
 public:
  SyncJob(const TrainerConfig& config, int workers)
      : config_(config),
        task_(MakeTask()),
        store_(OpenStore()),
        job_({.config = config, .workers = workers, .make_task = [this] { return MakeTask(); }},
             *task_, store_.get()) {}

  // Parameter servers and the chief's own training, with what a test wants to see of it.
  void StartChief(const ReplicaObserver& observer = {}) {
    job_.StartServers();
    job_.StartChief(observer);
  }
  // Ends in the middle of the job when `stop` says so.
  void StartWorker(int index, const ReplicaObserver& observer = {},
                   const StopFlag* stop = nullptr) {
    job_.StartWorker(index, observer, stop);
  }
  absl::Status Finish() { return job_.Finish(); }
  Snapshot Last() {
    Snapshot last;
    EXPECT_EQ(*store_->Load(&last), true);
    return last;
  }
  void ExpectEveryBatchOnce(int aggregate) {
    EXPECT_THAT(ps::CheckLedgers({job_.records(0), job_.records(1)},
                                 {.steps = config_.max_steps, .aggregate = aggregate}),
                IsOk());
  }
  // By step, the batches of it.
  std::vector<std::vector<int64_t>> Steps() {
    std::vector<std::vector<int64_t>> steps;
    for (const ps::LedgerRecord& record : job_.records(0)) {
      if (record.kind != ps::LedgerRecord::Kind::kCommit) continue;
      steps.emplace_back();
      for (const ps::PushId& push : record.pushes) steps.back().push_back(push.batch);
    }
    return steps;
  }
  int64_t PushesOf(uint32_t rank) {
    int64_t count = 0;
    for (const ps::LedgerRecord& record : job_.records(0)) {
      for (const ps::PushId& push : record.pushes) count += push.pusher.rank == rank;
    }
    return count;
  }

 private:
  std::unique_ptr<ModelTask> MakeTask() {
    auto task = ModelTask::Make(CpuRuntime(), files_, config_);
    EXPECT_THAT(task, IsOk());
    return *std::move(task);
  }
  std::unique_ptr<SnapshotStore> OpenStore() {
    if (config_.checkpoint_dir.empty()) return nullptr;
    auto store = SnapshotStore::Open(files_, clock_,
                                     {.dir = config_.checkpoint_dir,
                                      .uid = "uid",
                                      .shape = *ShapeOf(task_->session(), config_)});
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }

  const TrainerConfig config_;
  RealClock clock_;
  PosixFileSystem files_;
  const std::unique_ptr<ModelTask> task_;
  const std::unique_ptr<SnapshotStore> store_;
  JobInThreads job_;
};

// One process with a batch of `batch`.
Snapshot TrainAlone(const TrainerConfig& config) {
  RealClock clock;
  PosixFileSystem files;
  auto task = ModelTask::Make(CpuRuntime(), files, config);
  EXPECT_THAT(task, IsOk());
  auto store = SnapshotStore::Open(
      files, clock,
      {.dir = config.checkpoint_dir, .uid = "uid", .shape = *ShapeOf((*task)->session(), config)});
  EXPECT_THAT(store, IsOk());
  StatusBoard board({});
  StopFlag stop;
  StepLog log(clock, {.every = 1000});
  EXPECT_THAT(RunLocal(config, **task, store->get(), log, {clock, board, stop}), IsOk());
  Snapshot last;
  EXPECT_EQ(*(*store)->Load(&last), true);
  return last;
}

void ExpectNear(const Snapshot::Tensors& got, const Snapshot::Tensors& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (size_t j = 0; j < got[i].size(); ++j) {
      // Sums of a batch in another order: a few units of the last place per step.
      ASSERT_NEAR(got[i][j], want[i][j], 2e-4 + 2e-3 * std::abs(want[i][j])) << i << ", " << j;
    }
  }
}

// A gate at which a replica waits with a gradient in its hands.
class Gate {
 public:
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// Whose first gradients wait for each other: from the first step on there are all of them, so that
// each step is the next batches. One that is alone for a while makes the others' too.
class Company {
 public:
  explicit Company(int replicas) : missing_(replicas) {
    observer_.on_gradient = [this](int64_t) {
      if (--missing_ == 0) all_.Open();
      all_.Pass();
    };
  }
  const ReplicaObserver& observer() const { return observer_; }

 private:
  std::atomic<int> missing_;
  Gate all_;
  ReplicaObserver observer_;
};

struct Case {
  const char* name;
  const char* fields;
};

class EveryOptimizerTest : public testing::TestWithParam<Case> {};

TEST_P(EveryOptimizerTest, ThreeReplicasInStepEqualOneProcessWithThreeTimesTheBatch) {
  const std::string fields = std::string(", ") + GetParam().fields;
  TrainerConfig config =
      Config(fields + R"(, "strategy": {"type": "ParameterServer", "mode": "Sync"})");
  config.checkpoint_dir = NewDir();
  SyncJob job(config, 2);
  Company three(3);
  job.StartChief(three.observer());
  job.StartWorker(0, three.observer());
  job.StartWorker(1, three.observer());
  ASSERT_THAT(job.Finish(), IsOk());
  job.ExpectEveryBatchOnce(3);
  const Snapshot got = job.Last();
  EXPECT_EQ(got.step, kSteps);
  EXPECT_EQ(got.committed, CommittedSet(3 * kSteps, {}));

  TrainerConfig alone = Config(fields + R"(, "strategy": {"type": "Local"})", 3 * kBatch);
  alone.checkpoint_dir = NewDir();
  const Snapshot want = TrainAlone(alone);
  ExpectNear(got.values, want.values);
  ASSERT_EQ(got.slots.size(), want.slots.size());
  for (size_t slot = 0; slot < got.slots.size(); ++slot) {
    ExpectNear(got.slots[slot], want.slots[slot]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, EveryOptimizerTest,
    testing::Values(
        Case{"Sgd", R"("optimizer": {"name": "sgd", "learningRate": 0.1})"},
        Case{"Momentum", R"("optimizer": {"name": "momentum", "learningRate": 0.05})"},
        Case{"Adam", R"("optimizer": {"name": "adam", "learningRate": 0.002})"},
        Case{"NesterovClippedInNoStep",
             R"("optimizer": {"name": "momentum", "learningRate": 0.05, "nesterov": true,
                "clip": {"globalNorm": 1000}, "lossScale": 8})"},
        Case{"AdamW",
             R"("optimizer": {"name": "adamw", "learningRate": 0.002, "weightDecay": 0.1})"},
        Case{"Adagrad", R"("optimizer": {"name": "adagrad", "learningRate": 0.05})"},
        Case{"RmsProp",
             R"("optimizer": {"name": "rmsprop", "learningRate": 0.002, "momentum": 0.5,
                "decay": {"type": "cosine", "steps": 20}})"},
        Case{"Ftrl", R"("optimizer": {"name": "ftrl", "learningRate": 0.1, "l2": 0.01})"},
        Case{"DecayL2AndAverages",
             R"("optimizer": {"name": "momentum", "learningRate": 0.05, "decay":
                {"steps": 10, "rate": 0.9}}, "regularization": {"l2": 0.004},
                "movingAverage": {"decay": 0.95})"}),
    [](const auto& info) { return std::string(info.param.name); });

// 0.05 of two replicas is 0.1: the parameter servers know how many gradients make an update.
TEST(SyncTrainingTest, RateGrowsWithTheReplicasWhereToldSo) {
  const auto train = [](const std::string& optimizer) {
    TrainerConfig config = Config(optimizer + R"(, "strategy": {"mode": "Sync"})");
    config.checkpoint_dir = NewDir();
    SyncJob job(config, 1);
    Company two(2);
    job.StartChief(two.observer());
    job.StartWorker(0, two.observer());
    EXPECT_THAT(job.Finish(), IsOk());
    return job.Last();
  };
  const Snapshot scaled = train(
      R"(, "optimizer": {"name": "sgd", "learningRate": 0.05, "scaleByWorkers": true})");
  const Snapshot large = train(R"(, "optimizer": {"name": "sgd", "learningRate": 0.1})");
  ExpectNear(scaled.values, large.values);
}

TEST(SyncTrainingTest, ReplicasClipTheirGradients) {
  TrainerConfig config = Config(
      R"(, "strategy": {"mode": "Sync"},
         "optimizer": {"name": "sgd", "learningRate": 1, "clip": {"value": 0.0001}})");
  config.checkpoint_dir = NewDir();
  PosixFileSystem files;
  auto task = ModelTask::Make(CpuRuntime(), files, config);
  ASSERT_THAT(task, IsOk());
  EXPECT_THAT((*task)->session().InitializeVariables(config.seed), IsOk());
  const Snapshot before = *InitialSnapshot((*task)->session());
  SyncJob job(config, 1);
  job.StartChief({});
  job.StartWorker(0, {});
  ASSERT_THAT(job.Finish(), IsOk());
  const Snapshot after = job.Last();
  EXPECT_NE(after.values, before.values);
  for (size_t i = 0; i < after.values.size(); ++i) {
    for (size_t k = 0; k < after.values[i].size(); ++k) {
      const double moved = double{after.values[i][k]} - double{before.values[i][k]};
      ASSERT_LE(std::abs(moved), kSteps * 0.0001 + 1e-6) << i << ", " << k;
    }
  }
}

TEST(SyncTrainingTest, QuietStepsAreTheNextBatchesInOrder) {
  SyncJob job(Config(R"(, "strategy": {"mode": "Sync"})"), 1);
  Company two(2);
  job.StartChief(two.observer());
  job.StartWorker(0, two.observer());
  ASSERT_THAT(job.Finish(), IsOk());
  job.ExpectEveryBatchOnce(2);
  int64_t outside = 0;
  const auto steps = job.Steps();
  for (int64_t step = 0; step < kSteps; ++step) {
    outside += steps[static_cast<size_t>(step)] != std::vector<int64_t>{2 * step, 2 * step + 1};
  }
  EXPECT_EQ(outside, 0);
}

TEST(SyncTrainingTest, StepsDoNotWaitForASlowReplicaWithABackupAndItIsToldThatItWasLate) {
  SyncJob job(Config(R"(, "strategy": {"mode": "Sync", "backupWorkers": 1})"), 2);
  Gate gate;
  std::atomic<int> late{0};
  std::atomic<int64_t> held_until{0};
  Gate slow_there;
  ReplicaObserver quick;
  quick.on_gradient = [&](int64_t) { slow_there.Pass(); };
  // The steps of one may be all those in between: both gradients of a step may be the other's.
  quick.on_step = [&](const StepResult& step) {
    if (step.step < kSteps / 2) return;
    int64_t nobody = 0;
    held_until.compare_exchange_strong(nobody, step.step);
    gate.Open();
  };
  // Holds its first gradient until half of the steps are made without it.
  ReplicaObserver slow;
  slow.on_gradient = [&](int64_t) {
    slow_there.Open();
    gate.Pass();
  };
  slow.on_late = [&](int64_t, const StepResult& step) {
    ++late;
    EXPECT_GT(step.step, 0);
    EXPECT_GT(step.loss, 0);
  };
  job.StartWorker(0, slow);
  job.StartChief(quick);
  job.StartWorker(1, quick);
  ASSERT_THAT(job.Finish(), IsOk());
  EXPECT_GE(held_until, kSteps / 2);
  EXPECT_GE(late, 1);
  job.ExpectEveryBatchOnce(2);
}

TEST(SyncTrainingTest, ReplicaThatGoesInTheMiddleOfAStepDoesNotHoldTheOthersUp) {
  SyncJob job(Config(R"(, "strategy": {"mode": "Sync"})"), 2);
  StopFlag gone;
  ReplicaObserver leaver;
  std::atomic<int> gradients{0};
  Gate leaver_there;
  leaver.on_gradient = [&](int64_t) {
    leaver_there.Open();
    if (++gradients == 5) gone.Stop();
  };
  // Or the steps would be over before it is there.
  ReplicaObserver chief;
  chief.on_gradient = [&](int64_t) { leaver_there.Pass(); };
  job.StartChief(chief);
  job.StartWorker(0);
  job.StartWorker(1, leaver, &gone);
  ASSERT_THAT(job.Finish(), IsOk());
  EXPECT_EQ(gradients, 5);
  job.ExpectEveryBatchOnce(3);
}

TEST(SyncTrainingTest, OneReplicaFillsTheStepsAloneAndOneThatComesLaterJoinsThem) {
  SyncJob job(Config(R"(, "strategy": {"mode": "Sync", "replicasToAggregate": 3})"), 1);
  Gate joined;
  ReplicaObserver newcomer;
  newcomer.on_gradient = [&](int64_t) { joined.Open(); };
  ReplicaObserver chief;
  chief.on_step = [&](const StepResult& step) {
    if (step.step == 5) job.StartWorker(0, newcomer);
    // Or the steps would be over before it is there.
    if (step.step == kSteps / 2) joined.Pass();
  };
  job.StartChief(chief);
  ASSERT_THAT(job.Finish(), IsOk());
  job.ExpectEveryBatchOnce(3);
  EXPECT_GE(job.PushesOf(1), 1);
  EXPECT_EQ(job.PushesOf(0) + job.PushesOf(1), 3 * kSteps);
}

TEST(SyncTrainingTest, MoreBackupsThanReplicasAreRefused) {
  SyncJob job(Config(R"(, "strategy": {"mode": "Sync", "backupWorkers": 2})"), 1);
  EXPECT_THAT(job.Finish(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("backupWorkers")));
}

TEST(SyncTrainingTest, CheckpointOfAnotherOptimizerIsRefusedAndOneOfItsOwnIsResumed) {
  const std::string sync = R"(, "strategy": {"mode": "Sync"})";
  const std::string momentum = R"(, "optimizer": {"name": "momentum", "learningRate": 0.05})";
  const std::string dir = NewDir();
  TrainerConfig whole = Config(sync + momentum);
  whole.checkpoint_dir = NewDir();
  TrainerConfig half = whole;
  half.checkpoint_dir = dir;
  half.max_steps = kSteps / 2;
  TrainerConfig rest = whole;
  rest.checkpoint_dir = dir;
  TrainerConfig adam = Config(sync + R"(, "optimizer": {"name": "adam", "learningRate": 0.05})");
  adam.checkpoint_dir = dir;
  for (const TrainerConfig& config : {whole, half, rest}) {
    SyncJob job(config, 1);
    Gate both;
    ReplicaObserver chief;
    chief.on_gradient = [&](int64_t) { both.Pass(); };
    ReplicaObserver worker;
    worker.on_gradient = [&](int64_t) { both.Open(); };
    job.StartChief(chief);
    job.StartWorker(0, worker);
    ASSERT_THAT(job.Finish(), IsOk());
    EXPECT_EQ(job.Last().step, config.max_steps);
  }
  RealClock clock;
  PosixFileSystem files;
  const auto task = ModelTask::Make(CpuRuntime(), files, whole);
  ASSERT_THAT(task, IsOk());
  const auto load = [&](const TrainerConfig& config, Snapshot* snapshot) {
    auto store = SnapshotStore::Open(
        files, clock,
        {.dir = config.checkpoint_dir, .uid = "uid",
         .shape = *ShapeOf((*task)->session(), config)});
    EXPECT_THAT(store, IsOk());
    return (*store)->Load(snapshot);
  };
  Snapshot once;
  Snapshot resumed;
  ASSERT_THAT(load(whole, &once), IsOk());
  ASSERT_THAT(load(rest, &resumed), IsOk());
  ExpectNear(resumed.values, once.values);
  ExpectNear(resumed.slots[0], once.slots[0]);
  Snapshot refused;
  EXPECT_THAT(load(adam, &refused),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("was made with optimizer momentum, the job has adam")));
}

}  // namespace
}  // namespace taas
