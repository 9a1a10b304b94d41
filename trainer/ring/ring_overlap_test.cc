// Gradients that are exchanged in buckets while others are computed: ranks as threads of one
// process, which train a small model of a table and dense layers.

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/collective/meeting.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/ring.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Values = std::vector<std::vector<float>>;

constexpr int64_t kRows = 1'700, kWidth = 3, kIds = 4, kFeatures = 9, kHidden = 500, kBatch = 6;
// Each gradient is a bucket.
const RingOptions kSmall{.buckets = {.elements_min = 1, .beside_min = 0},
                             .rows = {.saved_min = 0}};
// The table goes whole always, and all else in one bucket.
const RingOptions kWhole{.rows = {.saved_min = 1'000'000'000}};
constexpr int kCores = 1;
constexpr std::chrono::seconds kLong{60};
// Below what a small test may take, so that it says what has not come.
constexpr std::chrono::seconds kPatience{30};

// Differentiation goes backwards, so the table's gradient is there before those of the layers.
Graph TwoBranches() {
  Graph graph;
  const Value features =
      graph.Input("features", {DType::kFloat32, Shape({Shape::kBatch, kFeatures})});
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({Shape::kBatch, kIds})});
  const Value targets = graph.Input("targets", {DType::kFloat32, Shape({Shape::kBatch, 1})});
  const auto weights = [&](const std::string& name, int64_t rows, int64_t columns) {
    return graph.Variable(name, Shape({rows, columns}), Initializer::TruncatedNormal(0.3));
  };
  const Value hidden = graph.Add(
      "Relu", "", {graph.Add("MatMul", "", {features, weights("first", kFeatures, kHidden)})});
  const Value deep = graph.Add("MatMul", "", {hidden, weights("second", kHidden, 1)});
  const Value looked_up = graph.Add("Embedding", "", {weights("table", kRows, kWidth), ids});
  const Value flat = graph.Add("Reshape", "", {looked_up},
                               {{"shape", std::vector<int64_t>{Shape::kBatch, kIds * kWidth}}});
  const Value wide = graph.Add("MatMul", "", {flat, weights("wide", kIds * kWidth, 1)});
  graph.Add("MeanSquaredError", "loss", {graph.Add("AddN", "", {deep, wide}), targets});
  return graph;
}

class Rank {
 public:
  explicit Rank(const RingOptions& options, const Runtime& runtime = CpuRuntime())
      : meeting_({.job = "uid/1", .patience = kLong}),
        session_(Session::Compile(runtime, TwoBranches(), {.batch = kBatch, .loss = "loss"})
                     .value()),
        optimizer_(Optimizer::Parse(R"({"name": "momentum", "learningRate": 0.05})").value()),
        listener_(comm::Listener::Open({.host = "127.0.0.1"},
                                       [this](comm::Channel& channel) { meeting_.Serve(channel); })
                      .value()),
        ring_(std::make_unique<Ring>(meeting_, *session_, kCores, options)) {
    EXPECT_THAT(session_->InitializeVariables(/*seed=*/3), IsOk());
    update_ = ModelUpdate::Make(*optimizer_, *session_).value();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  Ring& ring() { return *ring_; }
  Session& session() { return *session_; }

  float Compute(int64_t step, int64_t batch) {
    EXPECT_THAT(ring_->BeginStep(step), IsOk());
    SeededRandom random(static_cast<uint64_t>(batch));
    for (float& x : session_->FloatInput("features")) x = static_cast<float>(random.Unit());
    for (int64_t& id : session_->Int64Input("ids")) id = static_cast<int64_t>(random.Below(kRows));
    for (float& y : session_->FloatInput("targets")) y = static_cast<float>(random.Unit());
    if (batch == bad_batch) {
      session_->FloatInput("targets")[0] = std::numeric_limits<float>::quiet_NaN();
    }
    update_->Prepare(step);
    EXPECT_THAT(session_->Run(RunKind::kTrain), IsOk());
    return session_->loss();
  }
  // False: the epoch is over. `before_mean` comes between the run and the rest of the exchange.
  bool Step(int64_t step, int64_t batch,
            const std::function<void()>& before_mean = [] {}) {
    const float own = Compute(step, batch);
    before_mean();
    const absl::StatusOr<float> mean = ring_->Mean(own);
    EXPECT_THAT(ring_->own_error(), IsOk());
    if (!mean.ok()) return false;
    losses.push_back(*mean);
    if (!std::isfinite(*mean)) return false;
    EXPECT_THAT(update_->Apply(), IsOk());
    return true;
  }

  // As a process that ends.
  void Leave() { ring_.reset(); }

  Values values() const {
    Values values;
    for (size_t i = 0; i < session_->variables().size(); ++i) {
      const TensorRef tensor = session_->variable(i);
      EXPECT_THAT(tensor.Read(std::span(values.emplace_back(tensor.count()))), IsOk());
    }
    return values;
  }

  int64_t bad_batch = -1;
  std::vector<float> losses;

 private:
  collective::Meeting meeting_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<Ring> ring_;
  std::unique_ptr<ModelUpdate> update_;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

Ranks MakeRanks(int count, const RingOptions& options, const Runtime& runtime = CpuRuntime()) {
  Ranks ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(std::make_unique<Rank>(options, runtime));
  return ranks;
}

// Of the first `count`, who all stand at `step`.
std::vector<Epoch> EpochsOf(const Ranks& ranks, size_t count, uint32_t number, int64_t step) {
  std::vector<Seat> seats;
  for (size_t i = 0; i < count; ++i) seats.push_back({ranks[i]->address(), {.step = step}});
  return FormEpoch(number, seats);
}

// `what` of the first `count` at once, each in its epoch.
void InEpoch(const Ranks& ranks, size_t count, uint32_t number, int64_t step,
             const std::function<void(Rank& rank, int place)>& what) {
  const std::vector<Epoch> epochs = EpochsOf(ranks, count, number, step);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_THAT(ranks[i]->ring().Enter(epochs[i]), IsOk());
      what(*ranks[i], static_cast<int>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All buckets that can be are exchanged, and the step is not.
void AwaitBuckets(const Ring& ring) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (ring.exchanged_beside() + 1 < ring.buckets() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_EQ(ring.exchanged_beside(), ring.buckets() - 1);
}

void TrainSteps(const Ranks& ranks, int64_t steps) {
  const auto count = static_cast<int64_t>(ranks.size());
  InEpoch(ranks, ranks.size(), 1, 0, [&](Rank& rank, int place) {
    for (int64_t step = 1; step <= steps; ++step) {
      ASSERT_TRUE(rank.Step(step, step * count + place));
    }
  });
}

// Its rows are, but they go in no bucket.
TEST(RingOverlapTest, TheTablesGradientLiesBehindThoseOfTheLayers) {
  Rank rank(kSmall);
  const std::vector<OrderedGradient> order = rank.session().gradient_order();
  const size_t last = order.back().variable;
  EXPECT_EQ(rank.session().variables()[last].name, "table");
  EXPECT_TRUE(rank.session().gradient_rows(last).has_value());
  EXPECT_EQ(rank.ring().buckets(), order.size() - 1);
}

TEST(RingOverlapTest, BucketsAreExchangedBeforeTheLossesAndWhatTheyTakeIsHidden) {
  const Ranks ranks = MakeRanks(3, kSmall);
  std::atomic<int> have_seen = 0;
  InEpoch(ranks, 3, 1, 0, [&](Rank& rank, int place) {
    EXPECT_TRUE(rank.Step(1, place, [&] {
      AwaitBuckets(rank.ring());
      // Nobody says its loss before all have seen this.
      ++have_seen;
      while (have_seen < 3) std::this_thread::yield();
    }));
    const StepTimes& times = rank.ring().times();
    EXPECT_GT(times.hidden, Clock::Duration(0));
    EXPECT_GT(times.exchange, Clock::Duration(0));
    EXPECT_GE(times.wait, Clock::Duration(0));
    // A rank sends 2(n-1)/n of what is trained, and of the table some rows.
    EXPECT_GT(times.bytes, kFeatures * kHidden * 4);
    EXPECT_LT(times.bytes, (kRows * kWidth + kFeatures * kHidden) * 4);
  });
}

// Of two numbers the sum does not depend on their order.
TEST(RingOverlapTest, TwoRanksComeToTheSameBitsWithManyBucketsAsWithOne) {
  const Ranks one = MakeRanks(2, kWhole);
  ASSERT_EQ(one[0]->ring().buckets(), 1U);
  TrainSteps(one, 40);
  const Ranks many = MakeRanks(2, kSmall);
  ASSERT_EQ(many[0]->ring().buckets(), 3U);
  TrainSteps(many, 40);
  EXPECT_EQ(many[0]->values(), one[0]->values());
  EXPECT_EQ(many[1]->values(), one[0]->values());
  EXPECT_EQ(many[0]->losses, one[0]->losses);
  EXPECT_EQ(one[0]->ring().times().hidden, Clock::Duration(0));
  EXPECT_LT(many[0]->ring().times().bytes + kRows * kWidth * 3, one[0]->ring().times().bytes);
}

TEST(RingOverlapTest, AllRanksHaveTheSameBitsAndAgainTheSame) {
  for (const int count : {1, 3, 5}) {
    const Ranks ranks = MakeRanks(count, kSmall);
    TrainSteps(ranks, 10);
    const Ranks again = MakeRanks(count, kSmall);
    TrainSteps(again, 10);
    for (const auto& rank : ranks) {
      EXPECT_EQ(rank->values(), again[0]->values()) << count;
      EXPECT_EQ(rank->losses, again[0]->losses) << count;
    }
  }
}

// Its tensors are aligned otherwise, so that other parts go around: of two numbers the sum is the
// same all the same.
TEST(RingOverlapTest, ADeviceWhoseMemoryTheHostDoesNotSeeComesToTheSameBits) {
  const Ranks near = MakeRanks(2, kSmall);
  TrainSteps(near, 10);
  const Ranks far = MakeRanks(2, kSmall, FarRuntime());
  ASSERT_EQ(far[0]->ring().buckets(), near[0]->ring().buckets());
  TrainSteps(far, 10);
  EXPECT_EQ(far[1]->values(), near[1]->values());
  EXPECT_EQ(far[0]->ring().times().hidden, Clock::Duration(0));
}

// The rows of others stayed in a table after a step that came to nothing, and were part of the
// next one.
void ExpectNoTraceOfAStepThatEndsBetweenBuckets(const RingOptions& options) {
  constexpr int64_t kBefore = 4, kAfter = 6;
  const auto train = [&](bool loses_between) {
    Ranks ranks = MakeRanks(3, options);
    std::atomic<int> between = 0;
    InEpoch(ranks, 3, 1, 0, [&](Rank& rank, int place) {
      for (int64_t step = 1; step <= kBefore; ++step) {
        ASSERT_TRUE(rank.Step(step, 3 * step + place));
      }
      if (!loses_between) return;
      EXPECT_FALSE(rank.Step(kBefore + 1, 100 + place, [&] {
        AwaitBuckets(rank.ring());
        ++between;
        while (between < 3) std::this_thread::yield();
        if (place == 2) rank.ring().Abort(1);
      }));
    });
    // Two of them go on.
    InEpoch(ranks, 2, 2, kBefore, [&](Rank& rank, int place) {
      for (int64_t step = kBefore + 1; step <= kBefore + kAfter; ++step) {
        ASSERT_TRUE(rank.Step(step, 200 + 2 * step + place));
      }
    });
    return ranks;
  };
  const Ranks lost = train(true);
  const Ranks left = train(false);
  EXPECT_EQ(lost[0]->values(), left[0]->values());
  EXPECT_EQ(lost[1]->values(), left[0]->values());
  EXPECT_EQ(lost[0]->losses, left[0]->losses);
}

TEST(RingOverlapTest, AStepThatEndsBetweenBucketsLeavesNoTrace) {
  ExpectNoTraceOfAStepThatEndsBetweenBuckets(kSmall);
  ExpectNoTraceOfAStepThatEndsBetweenBuckets(
      {.buckets = kSmall.buckets, .rows = kWhole.rows});
}

TEST(RingOverlapTest, ALossThatIsNoNumberIsSeenByAllBeforeAVariableChanges) {
  const Ranks ranks = MakeRanks(2, kSmall);
  for (const auto& rank : ranks) rank->bad_batch = 5;
  const Values before = ranks[0]->values();
  InEpoch(ranks, 2, 1, 0, [&](Rank& rank, int place) {
    EXPECT_FALSE(rank.Step(1, 4 + place));
    ASSERT_EQ(rank.losses.size(), 1U);
    EXPECT_TRUE(std::isnan(rank.losses[0]));
  });
  EXPECT_EQ(ranks[0]->values(), before);
  EXPECT_EQ(ranks[1]->values(), before);
}

// A step that nobody ends: its task has failed. The others are not left waiting.
TEST(RingOverlapTest, ARankThatGoesInAStepEndsTheEpoch) {
  const Ranks ranks = MakeRanks(2, kSmall);
  InEpoch(ranks, 2, 1, 0, [&](Rank& rank, int place) {
    if (place == 0) {
      EXPECT_FALSE(rank.Step(1, 0));
    } else {
      rank.Compute(1, 1);
      rank.Leave();
    }
  });
}

TEST(RingOverlapTest, ARankOfOtherBucketsIsRefusedWithBothAndThatIsItsOwnError) {
  Ranks ranks = MakeRanks(1, kSmall);
  ranks.push_back(std::make_unique<Rank>(kWhole));
  const Epoch epoch = EpochsOf(ranks, 2, 1, 0)[1];
  const absl::Status entered = ranks[1]->ring().Enter(epoch);
  EXPECT_THAT(entered, StatusIs(absl::StatusCode::kInvalidArgument,
                                AllOf(HasSubstr("rank 1 comes with buckets of "),
                                      HasSubstr("and here it is buckets of "),
                                      HasSubstr("rows of table"))));
  EXPECT_EQ(ranks[1]->ring().own_error(), entered);
}

TEST(RingOverlapTest, ARankThatSendsInAnotherPrecisionIsRefusedWithBoth) {
  RingOptions narrow = kSmall;
  narrow.rows.wire = collective::Wire::kBFloat16;
  Ranks ranks = MakeRanks(1, kSmall);
  ranks.push_back(std::make_unique<Rank>(narrow));
  EXPECT_THAT(ranks[1]->ring().Enter(EpochsOf(ranks, 2, 1, 0)[1]),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("sent in bfloat16, and here it is"),
                             HasSubstr("sent in float32: "))));
}

TEST(RingOverlapTest, InBFloat16AllRanksHaveTheSameBitsInHalfTheBytes) {
  RingOptions narrow = kSmall;
  narrow.rows.wire = collective::Wire::kBFloat16;
  const Ranks wide = MakeRanks(3, kSmall);
  TrainSteps(wide, 20);
  const Ranks ranks = MakeRanks(3, narrow);
  TrainSteps(ranks, 20);
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->values(), ranks[0]->values());
    EXPECT_EQ(rank->losses, ranks[0]->losses);
  }
  EXPECT_NE(ranks[0]->values(), wide[0]->values());
  EXPECT_NEAR(ranks[0]->losses.back(), wide[0]->losses.back(), 0.01 * wide[0]->losses.front());
  // Losses and ids are not rounded.
  const double bytes = static_cast<double>(ranks[0]->ring().times().bytes);
  EXPECT_NEAR(bytes, static_cast<double>(wide[0]->ring().times().bytes) / 2, 0.05 * bytes);
}

}  // namespace
}  // namespace taas
