// Ranks as threads of one process, with tasks of their own, that train one model together.

#include "trainer/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/batches/untrained_batches.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/failing_device.h"
#include "trainer/testing/far_device.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

using collective::Meeting;

constexpr char kAdam[] = R"("optimizer": {"name": "adam", "learningRate": 0.01})";
constexpr int kCores = 1;
const RingOptions kNarrow{.rows = {.wire = collective::Wire::kBFloat16}};

// Which epochs there are: one begins when all seats that it needs are waiting, and so on.
class Director {
 public:
  // Of whom each epoch is, by the places of ranks in a test; the last ends with the training.
  explicit Director(std::vector<std::vector<int>> plan) : plan_(std::move(plan)) {}

  // Nothing if this rank is in none that is to come.
  std::optional<Epoch> Next(int place, const Seat& seat) {
    std::unique_lock lock(mutex_);
    waiting_[place] = seat;
    changed_.notify_all();
    Try();
    changed_.wait(lock, [&] { return epochs_.contains(place) || !Awaits(place); });
    const auto found = epochs_.find(place);
    if (found == epochs_.end()) return std::nullopt;
    const Epoch epoch = found->second;
    epochs_.erase(found);
    return epoch;
  }

 private:
  bool Awaits(int place) const {
    return std::any_of(plan_.begin() + static_cast<ptrdiff_t>(begun_), plan_.end(),
                       [&](const auto& of) { return std::ranges::count(of, place) > 0; });
  }
  void Try() {
    if (begun_ == plan_.size()) return;
    std::vector<Seat> seats;
    for (const int place : plan_[begun_]) {
      if (!waiting_.contains(place)) return;
      seats.push_back(waiting_[place]);
    }
    const std::vector<Epoch> formed = FormEpoch(static_cast<uint32_t>(begun_ + 1), seats);
    for (size_t i = 0; i < formed.size(); ++i) {
      epochs_[plan_[begun_][i]] = formed[i];
      waiting_.erase(plan_[begun_][i]);
    }
    ++begun_;
    changed_.notify_all();
  }

  const std::vector<std::vector<int>> plan_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, Seat> waiting_;
  std::map<int, Epoch> epochs_;
  size_t begun_ = 0;
};

class Rank {
 public:
  Rank(const TrainerConfig& config, const Runtime& runtime, const RingOptions& options = {})
      : config_(config),
        meeting_({.job = "uid/1", .patience = std::chrono::seconds(60)}),
        task_(ModelTask::Make(runtime, files_, config).value()),
        optimizer_(Optimizer::Parse(config.optimizer).value()),
        listener_(comm::Listener::Open({.host = "127.0.0.1"},
                                       [this](comm::Channel& channel) { meeting_.Serve(channel); })
                      .value()),
        ring_(meeting_, task_->session(), kCores, options) {
    EXPECT_THAT(task_->session().InitializeVariables(config.seed), IsOk());
    update_ = ModelUpdate::Make(*optimizer_, task_->session()).value();
  }

  Seat seat() const {
    return {"127.0.0.1:" + std::to_string(listener_->port()), standing_};
  }

  // Epoch after epoch until all steps are made; `before_step` ends the epoch where it says so.
  void Train(Director& director, int place,
             const std::function<bool(int64_t step)>& before_step = [](int64_t) { return true; }) {
    while (const std::optional<Epoch> epoch = director.Next(place, seat())) {
      EXPECT_THAT(ring_.Enter(*epoch), IsOk());
      standing_ = epoch->start;
      batches_ = UntrainedBatches(standing_.committed);
      while (standing_.step < config_.max_steps) {
        if (!before_step(standing_.step + 1)) {
          ring_.Abort(epoch->number);
        }
        if (!Step().ok()) break;
      }
    }
  }

  absl::Status Step() {
    RETURN_IF_ERROR(ring_.BeginStep(standing_.step + 1));
    for (int i = 0; i < ring_.ranks(); ++i) (void)batches_.Next();
    const int64_t own = batches_.taken()[static_cast<size_t>(ring_.rank())];
    update_->Prepare(standing_.step + 1);
    const absl::StatusOr<float> loss = task_->ComputeGradients(std::span(&own, 1));
    EXPECT_THAT(loss.status(), IsOk());
    const absl::StatusOr<float> mean = ring_.Mean(*loss);
    if (!mean.ok()) {
      batches_.Return(batches_.taken().size());
      return mean.status();
    }
    EXPECT_THAT(update_->Apply(), IsOk());
    batches_.Commit(batches_.taken().size());
    ++standing_.step;
    standing_.committed = batches_.committed();
    losses_.push_back(*mean);
    return absl::OkStatus();
  }

  Ring& ring() { return ring_; }
  Session& session() { return task_->session(); }
  Tensors values() { return Copies(VariablesOf(task_->session())); }
  Tensors moments() {
    std::vector<TensorRef> moments;
    for (size_t i = 0; i < task_->session().variables().size(); ++i) {
      if (task_->session().variables()[i].decay) moments.push_back(task_->session().variable(i));
    }
    return Copies(moments);
  }
  void StandAt(const Standing& standing) { standing_ = standing; }
  Tensors evaluated() { return Copies(update_->Evaluated()); }
  const std::vector<float>& losses() const { return losses_; }
  const Standing& standing() const { return standing_; }

 private:
  const TrainerConfig config_;
  PosixFileSystem files_;
  Meeting meeting_;
  std::unique_ptr<ModelTask> task_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ModelUpdate> update_;
  Ring ring_;
  Standing standing_;
  UntrainedBatches batches_;
  std::vector<float> losses_;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

class RingTest : public LocalTraining {
 protected:
  Ranks MakeRanks(int ranks, const TrainerConfig& config, const RingOptions& options = {}) {
    Ranks made;
    for (int i = 0; i < ranks; ++i) {
      made.push_back(std::make_unique<Rank>(config, runtime_(), options));
    }
    return made;
  }

  // Each in a thread; `ends` says which rank ends an epoch before which step.
  static void TrainAll(Ranks& ranks, std::vector<std::vector<int>> plan,
                       const std::function<bool(int place, int64_t step)>& goes_on =
                           [](int, int64_t) { return true; }) {
    Director director(std::move(plan));
    std::vector<std::thread> threads;
    for (int place = 0; place < static_cast<int>(ranks.size()); ++place) {
      threads.emplace_back([&, place] {
        ranks[static_cast<size_t>(place)]->Train(
            director, place, [&, place](int64_t step) { return goes_on(place, step); });
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static TrainerConfig Config(const std::string& more, int64_t steps) {
    TrainerConfig config = MakeConfig(more);
    config.max_steps = steps;
    config.batch_size = 6;
    return config;
  }
};

void ExpectNear(const Tensors& some, const Tensors& others, double tolerance) {
  ASSERT_EQ(some.size(), others.size());
  for (size_t i = 0; i < some.size(); ++i) {
    for (size_t k = 0; k < some[i].size(); ++k) {
      ASSERT_NEAR(some[i][k], others[i][k], tolerance) << "variable " << i << "[" << k << "]";
    }
  }
}

TEST_F(RingTest, RanksEqualTowersAndHaveTheSameBits) {
  for (const int count : {1, 2, 4}) {
    for (const std::string& update :
         {std::string(kAdam),
          std::string(R"("optimizer": {"name": "momentum", "learningRate": 0.05},
                         "movingAverage": {"decay": 0.99})")}) {
      SCOPED_TRACE(std::to_string(count) + " ranks, " + update);
      TrainerConfig config = Config(update, 100);
      Ranks ranks = MakeRanks(count, config);
      std::vector<int> all;
      for (int i = 0; i < count; ++i) all.push_back(i);
      TrainAll(ranks, {all});
      config.strategy = StrategyType::kTowers;
      config.towers = count;
      const Outcome towers = Train(config);
      ASSERT_THAT(towers.status, IsOk());
      for (const auto& rank : ranks) {
        EXPECT_EQ(rank->values(), ranks[0]->values());
        EXPECT_EQ(rank->losses(), ranks[0]->losses());
        EXPECT_EQ(rank->standing().committed, CommittedSet(100 * count, {}));
      }
      ExpectNear(ranks[0]->values(), towers.values, 1e-5);
      ExpectNear(ranks[0]->evaluated(), towers.evaluated, 1e-5);
    }
  }
}

// A table of 80 KB, which goes by rows, beside one of 20, which goes whole.
constexpr char kClicks[] = R"("model": {"name": "wideDeep", "hidden": [8], "wide": ["ad", "hour"],
        "deep": [{"column": "age"}, {"column": "ad", "units": 4}]},
    "data": {"format": "generated",
        "generated": {"pattern": "clicks", "examples": 2000, "testExamples": 8},
        "columns": [{"name": "age", "type": "numeric",
                     "normalise": {"scale": 0.05, "offset": -2.5}},
                    {"name": "hour", "type": "identity", "buckets": 24},
                    {"name": "ad", "type": "hashed", "buckets": 5000}]})";

// Of each variable, beside its length.
void ExpectRelativelyNear(const Tensors& some, const Tensors& others, double tolerance) {
  ASSERT_EQ(some.size(), others.size());
  for (size_t i = 0; i < some.size(); ++i) {
    double difference = 0, length = 0;
    for (size_t k = 0; k < some[i].size(); ++k) {
      difference += std::pow(static_cast<double>(some[i][k]) - others[i][k], 2);
      length += std::pow(static_cast<double>(others[i][k]), 2);
    }
    EXPECT_LE(std::sqrt(difference), tolerance * std::sqrt(length)) << "variable " << i;
  }
}

TEST_F(RingTest, ModelsWithTablesThatGoByRowsComeToTheWeightsOfOneProcess) {
  std::string csv = "label,a,b,c\n";
  for (int i = 0; i < 500; ++i) {
    csv += std::to_string(i % 3) + "," + std::to_string(i * 37 % 6'000) + "," +
           std::to_string(i % 3 * 50 + i % 7) + "," + std::to_string(i * i % 6'000) + "\n";
  }
  const std::string path = NewDir() + "/ids.csv";
  ASSERT_THAT(files_.WriteAtomically(path, csv), IsOk());
  const std::string ids =
      R"("model": {"name": "layers", "layers": [
            {"type": "embedding", "rows": 6000, "units": 4},
            {"type": "dense", "units": 8, "activation": "relu"}]},
         "data": {"format": "csv", "classes": 3, "csv": {"labelColumn": "label"},
                  "train": {"files": [")" + path + R"("]}})";
  for (const std::string& model : {std::string(kClicks), ids}) {
    for (const std::string name : {"sgd", "adam"}) {
      for (const int count : {2, 3}) {
        SCOPED_TRACE(model + name + ", " + std::to_string(count) + " ranks");
        auto config = ParseTrainerConfig(
            R"({"seed": 3, "batchSize": 16, "maxSteps": 100, "optimizer": {"name": ")" + name +
            R"(", "learningRate": 0.02}, )" + model + "}");
        ASSERT_THAT(config, IsOk());
        Ranks ranks = MakeRanks(count, *config);
        std::vector<int> all;
        for (int i = 0; i < count; ++i) all.push_back(i);
        TrainAll(ranks, {all});
        config->strategy = StrategyType::kTowers;
        config->towers = count;
        const Outcome towers = Train(*config);
        ASSERT_THAT(towers.status, IsOk());
        for (const auto& rank : ranks) {
          EXPECT_EQ(rank->values(), ranks[0]->values());
          EXPECT_EQ(rank->losses(), ranks[0]->losses());
        }
        ExpectRelativelyNear(ranks[0]->values(), towers.values, 1e-5);
        // The large table alone is more.
        EXPECT_LT(ranks[0]->ring().times().bytes, 80'000);
      }
    }
  }
}

// Of two numbers the sum does not depend on their order. Lists of all rows of several tables were
// one vector that grew while the session used it.
TEST_F(RingTest, TwoRanksComeToTheSameBitsByRowsAsByWholeTables) {
  const auto config = ParseTrainerConfig(R"({"batchSize": 16, "maxSteps": 30, "optimizer":
      {"name": "adagrad", "learningRate": 0.1}, )" + std::string(kClicks) + "}");
  ASSERT_THAT(config, IsOk());
  Tensors values;
  for (const size_t saved_min : {size_t{0}, kRowsSavedMin, size_t{1} << 40}) {
    Ranks ranks = MakeRanks(2, *config, {.rows = {.saved_min = saved_min}});
    TrainAll(ranks, {{0, 1}});
    if (values.empty()) values = ranks[0]->values();
    EXPECT_EQ(ranks[0]->values(), values) << saved_min;
    EXPECT_EQ(ranks[1]->values(), values) << saved_min;
  }
}

// On a device whose memory the host does not see as well.
TEST_F(RingTest, InBFloat16RanksHaveTheSameBitsAndLearnAsMuch) {
  const auto config = ParseTrainerConfig(R"({"batchSize": 16, "maxSteps": 60, )" +
                                         std::string(kAdam) + ", " + kClicks + "}");
  ASSERT_THAT(config, IsOk());
  Ranks wide = MakeRanks(3, *config), narrow = MakeRanks(3, *config, kNarrow);
  TrainAll(wide, {{0, 1, 2}});
  TrainAll(narrow, {{0, 1, 2}});
  for (const auto& rank : narrow) {
    EXPECT_EQ(rank->values(), narrow[0]->values());
    EXPECT_EQ(rank->losses(), narrow[0]->losses());
  }
  EXPECT_NE(narrow[0]->values(), wide[0]->values());
  EXPECT_NEAR(narrow[0]->losses().back(), wide[0]->losses().back(), 0.01);
  runtime_ = FarRuntime;
  TrainerConfig few = *config;
  few.max_steps = 5;
  Ranks far = MakeRanks(2, few, kNarrow);
  TrainAll(far, {{0, 1}});
  runtime_ = CpuRuntime;
  Ranks near = MakeRanks(2, few, kNarrow);
  TrainAll(near, {{0, 1}});
  EXPECT_EQ(far[1]->values(), near[1]->values());
}

// Which batch is whose, what is lost with a rank, and what others go on with.
TEST_F(RingTest, AfterALossTheCurveIsThatOfFewerRanksFromThatStepOn) {
  const TrainerConfig config = Config(kAdam, 30);
  // Rank 2 is lost in step 11, before it has given its part.
  Ranks lost = MakeRanks(3, config);
  TrainAll(lost, {{0, 1, 2}, {0, 1}},
           [](int place, int64_t step) { return place != 2 || step != 11; });
  // All three leave after step 10, and two go on.
  Ranks left = MakeRanks(3, config);
  std::mutex mutex;
  TrainAll(left, {{0, 1, 2}, {0, 1}}, [&, ended = std::map<int, bool>()](
                                          int place, int64_t step) mutable {
    std::lock_guard lock(mutex);
    return step != 11 || std::exchange(ended[place], true);
  });
  EXPECT_EQ(lost[0]->values(), left[0]->values());
  EXPECT_EQ(lost[0]->values(), lost[1]->values());
  EXPECT_EQ(lost[0]->losses(), left[0]->losses());
  EXPECT_EQ(lost[2]->standing().step, 10);
  // Three batches in each of ten steps, two in each of twenty.
  EXPECT_EQ(lost[0]->standing().committed, CommittedSet(30 + 40, {}));
}

TEST_F(RingTest, OneThatJoinsIsGivenTheModelWithSlotsAndAverages) {
  const TrainerConfig config =
      Config(std::string(kAdam) + R"(, "movingAverage": {"decay": 0.9})", 20);
  Ranks ranks = MakeRanks(3, config);
  // Rank 2 comes at step 8, of which the others learn by rank 0.
  std::mutex mutex;
  TrainAll(ranks, {{0, 1}, {0, 1, 2}}, [&, ended = false](int place, int64_t step) mutable {
    std::lock_guard lock(mutex);
    return place != 0 || step != 8 || std::exchange(ended, true);
  });
  for (const size_t place : {1U, 2U}) {
    EXPECT_EQ(ranks[place]->values(), ranks[0]->values());
    EXPECT_EQ(ranks[place]->evaluated(), ranks[0]->evaluated());
    EXPECT_EQ(ranks[place]->standing(), ranks[0]->standing());
  }
  EXPECT_EQ(ranks[0]->standing().committed, CommittedSet(2 * 7 + 3 * 13, {}));
}

// Whoever was one step ahead is lost while it gives: the model that the others had is what is left.
TEST_F(RingTest, AModelThatIsGivenInPartOnlyLeavesTheOwnOneAsItWas) {
  const TrainerConfig own = Config(kAdam, 20);
  // Another model, which lacks what is given last: it is gone then, as far as the other can see.
  TrainerConfig more = Config(R"("optimizer": {"name": "sgd", "learningRate": 0.1})", 20);
  more.seed = own.seed + 1;
  for (const bool all : {false, true}) {
    if (all) more.optimizer = own.optimizer;
    Rank receiver(own, runtime_());
    auto root = std::make_unique<Rank>(more, runtime_());
    root->StandAt({4, {}});
    receiver.StandAt({3, {}});
    const std::vector<Epoch> epochs = FormEpoch(1, {receiver.seat(), root->seat()});
    ASSERT_EQ(epochs[0].root, 1);
    const Tensors before = receiver.values();
    std::thread gives([&] {
      EXPECT_THAT(root->ring().Enter(epochs[1]), IsOk());
      if (!all) root.reset();
    });
    EXPECT_EQ(receiver.ring().Enter(epochs[0]).ok(), all);
    gives.join();
    EXPECT_EQ(receiver.values() == before, !all);
    if (all) {
      EXPECT_EQ(receiver.values(), root->values());
    }
  }
}

TrainerConfig WithMoments() {
  const auto config = ParseTrainerConfig(R"({"seed": 3, "batchSize": 16, "maxSteps": 1,
      "model": {"name": "layers", "layers": [
        {"type": "dense", "units": 8, "activation": "relu"},
        {"type": "batchNorm", "decay": 0.9}]},
      "optimizer": {"name": "sgd", "learningRate": 0.1},
      "data": {"format": "generated", "generated":
        {"examples": 200, "testExamples": 50, "features": 20, "classes": 4}}})");
  EXPECT_THAT(config, IsOk());
  return *config;
}

// In one step of two ranks they move by the mean of what they move by for each batch alone.
TEST_F(RingTest, MomentsOfBatchNormalizationFollowTheBatchesOfAllRanks) {
  const TrainerConfig config = WithMoments();
  Tensors alone[2];
  for (int batch = 0; batch < 2; ++batch) {
    Ranks one = MakeRanks(1, config);
    one[0]->StandAt({kUntrained, CommittedSet(batch, {})});
    TrainAll(one, {{0}});
    alone[batch] = one[0]->moments();
  }
  ASSERT_NE(alone[0], alone[1]);
  Ranks two = MakeRanks(2, config);
  TrainAll(two, {{0, 1}});
  const Tensors found = two[0]->moments();
  EXPECT_EQ(found, two[1]->moments());
  ASSERT_FALSE(found.empty());
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t k = 0; k < found[i].size(); ++k) {
      EXPECT_NEAR(found[i][k], (alone[0][i][k] + alone[1][i][k]) / 2, 1e-6);
    }
  }
}

// It was taken for the end of the epoch, which was formed anew with the same rank, without end.
TEST_F(RingTest, WhatFailsOfTheDeviceIsTheRanksOwnAndWhatFailsOfAnEpochIsNot) {
  const TrainerConfig config = WithMoments();
  FailingDevice device;
  Rank rank(config, {{&device}, CpuRuntime().kernels});
  const Epoch epoch = FormEpoch(1, {rank.seat()})[0];
  ASSERT_THAT(rank.ring().Enter(epoch), IsOk());
  ASSERT_THAT(rank.ring().BeginStep(1), IsOk());
  const std::vector<VariableInfo>& variables = rank.session().variables();
  const auto moment = std::ranges::find_if(
      variables, [](const VariableInfo& variable) { return variable.decay.has_value(); });
  device.fails_reading =
      rank.session().variable(static_cast<size_t>(moment - variables.begin())).data();
  const absl::StatusOr<float> failed = rank.ring().Mean(0.5f);
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kUnavailable,
                               testing::HasSubstr("does not answer")));
  EXPECT_EQ(rank.ring().own_error(), failed.status());
  device.fails_reading = nullptr;
  rank.ring().Abort(2);
  EXPECT_FALSE(rank.ring().Enter(FormEpoch(2, {rank.seat()})[0]).ok());
  EXPECT_THAT(rank.ring().own_error(), IsOk());
}

TEST_F(RingTest, ADeviceWhoseMemoryTheHostDoesNotSeeComesToTheSameBits) {
  const auto clicks = ParseTrainerConfig(R"({"batchSize": 16, "maxSteps": 8, )" +
                                         std::string(kAdam) + ", " + kClicks + "}");
  ASSERT_THAT(clicks, IsOk());
  for (const TrainerConfig& config : {Config(kAdam, 20), *clicks}) {
    runtime_ = CpuRuntime;
    Ranks near = MakeRanks(3, config);
    TrainAll(near, {{0, 1, 2}});
    runtime_ = FarRuntime;
    Ranks far = MakeRanks(3, config);
    TrainAll(far, {{0, 1, 2}});
    EXPECT_EQ(far[2]->values(), near[2]->values());
    EXPECT_EQ(far[2]->losses(), near[2]->losses());
  }
}

}  // namespace
}  // namespace taas
