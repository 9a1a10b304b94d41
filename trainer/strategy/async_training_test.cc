// A graph that no named model uses, trained through two parameter servers by a chief and two
// workers, all in this process over loopback.

#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/replica/member.h"
#include "trainer/testing/job_in_threads.h"

namespace taas {
namespace {

constexpr int64_t kSteps = 2000;
constexpr int64_t kBatch = 16;

// With a variable that no gradient reaches: the moving average of the loss.
UnusualGraph WithLossAverage() {
  UnusualGraph unusual = BuildUnusualGraph();
  Graph& graph = unusual.graph;
  const Value average = graph.Variable("loss_average", Shape(), Initializer::Zeros(), false);
  const absl::StatusOr<Value> loss = graph.Find(unusual.loss);
  EXPECT_THAT(loss, IsOk());
  graph.AddUpdate(graph.Add("MovingAverage", "", {average, *loss}, {{"decay", 0.9}}));
  return unusual;
}

class UnusualTask : public TrainingTask {
 public:
  UnusualTask() {
    auto session = Session::Compile(CpuRuntime(), unusual_.graph,
                                    {.batch = kBatch, .loss = unusual_.loss});
    EXPECT_THAT(session, IsOk());
    session_ = *std::move(session);
  }
  Session& session() override { return *session_; }
  absl::Status FillBatch(int64_t batch) override {
    FillUnusualBatch(static_cast<uint64_t>(batch), session_.get());
    return absl::OkStatus();
  }
  // The mean loss over batches that were not trained.
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override {
    loss_average = variables.back().host()[0];
    auto session = Session::Compile(
        CpuRuntime(), unusual_.graph, {.batch = kBatch, .loss = unusual_.loss, .trainable = false});
    if (!session.ok()) return session.status();
    for (size_t i = 0; i < variables.size(); ++i) {
      EXPECT_THAT((*session)->UseVariable(i, variables[i]), IsOk());
    }
    double loss = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      FillUnusualBatch(1'000'000 + seed, session->get());
      const absl::Status status = (*session)->Run(RunKind::kForward);
      if (!status.ok()) return status;
      loss += (*session)->loss() / 20;
    }
    return std::optional<Evaluation>(Evaluation{.loss = loss, .examples = 20 * kBatch});
  }

  float loss_average = 0;  // As it was evaluated.

 private:
  const UnusualGraph unusual_ = WithLossAverage();
  std::unique_ptr<Session> session_;
};

TrainerConfig Config() {
  TrainerConfig config;
  // Five times the rate learns faster, but not from gradients that are four steps old: how old they
  // are is the machine's. With this one, ten steps are none the worse.
  config.optimizer = R"({"name":"sgd","learningRate":0.01})";
  config.batch_size = kBatch;
  config.max_steps = kSteps;
  return config;
}

class AsyncTrainingTest : public testing::Test {
 protected:
  // A whole job in threads, of which every step is made once.
  Evaluation Train(UnusualTask& task, const TrainerConfig& config, SnapshotStore* store) {
    JobInThreads job({.config = config,
                      .workers = 2,
                      .make_task = [] { return std::make_unique<UnusualTask>(); }},
                     task, store);
    job.StartServers();
    for (int i = 0; i < 2; ++i) job.StartWorker(i, Observer());
    job.StartChief(Observer());
    EXPECT_THAT(job.Finish(), IsOk());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(job.stats(i).step, kSteps);
      EXPECT_GT(job.stats(i).bytes, 0);
    }
    // Moved, not trained.
    EXPECT_GT(task.loss_average, 0);
    EXPECT_EQ(steps_.size(), static_cast<size_t>(kSteps));
    EXPECT_EQ(*steps_.begin(), 1);
    EXPECT_EQ(*steps_.rbegin(), kSteps);
    return *job.board().snapshot().evaluation;
  }

  // Notes the step of every push of every replica.
  ReplicaObserver Observer() {
    ReplicaObserver observer;
    observer.on_step = [this](const StepResult& step) {
      std::lock_guard lock(mutex_);
      EXPECT_TRUE(steps_.insert(step.step).second) << "step " << step.step << " was given twice";
    };
    return observer;
  }

  RealClock clock_;
  std::mutex mutex_;
  std::set<int64_t> steps_;
};

TEST_F(AsyncTrainingTest, UnusualGraphIsTrainedThroughTwoShardsAndEveryStepIsMadeOnce) {
  UnusualTask task;
  EXPECT_THAT(task.session().InitializeVariables(Config().seed), IsOk());
  const auto before = task.Evaluate(VariablesOf(task.session()));
  ASSERT_THAT(before, IsOk());

  const Evaluation after = Train(task, Config(), nullptr);
  EXPECT_LT(after.loss, 0.1 * (*before)->loss);
  EXPECT_EQ(after.step, kSteps);
}

// Two of three replicas compute at a time then, and through two servers.
TEST_F(AsyncTrainingTest, WithABoundBelowTheOtherReplicasEveryStepIsMadeOnceToo) {
  TrainerConfig config = Config();
  config.max_staleness = 1;
  UnusualTask task;
  EXPECT_EQ(Train(task, config, nullptr).step, kSteps);
}

TEST_F(AsyncTrainingTest, DiskThatFailsOnceCostsACheckpointAndNoStep) {
  UnusualTask task;
  TrainerConfig config = Config();
  config.checkpoint_steps = kSteps / 4;
  PosixFileSystem disk;
  FaultFileSystem files(disk);
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/disk-fails-once";
  const auto store = SnapshotStore::Open(
      files, clock_,
      {.dir = dir, .uid = "uid", .shape = ShapeOf(task.session(), config.seed, kBatch)});
  ASSERT_THAT(store, IsOk());
  // The first reads the empty directory at the start, this one is part of the first checkpoint.
  files.FailAt(3, FaultFileSystem::Kind::kOnce);
  Train(task, config, store->get());
  EXPECT_GT(files.operations(), 3);
  Snapshot last;
  EXPECT_EQ(*(*store)->Load(&last), true);
  EXPECT_EQ(last.step, kSteps);
}

TEST_F(AsyncTrainingTest, ReplicaWithAnotherConfigurationIsRefusedWithASentence) {
  UnusualTask task;
  JobInThreads job({.config = Config(), .workers = 2}, task);
  StatusBoard board({});
  const StopFlag stop;
  Member::Options options = job.MemberOptions({"worker", 1});
  options.config_hash = "another";
  Member member(clock_, options, board, stop);
  EXPECT_THAT(member.Start(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       testing::HasSubstr("need the same TAAS_TRAINER")));
}

}  // namespace
}  // namespace taas
