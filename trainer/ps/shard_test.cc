#include "trainer/ps/shard.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard_client.h"

namespace taas::ps {
namespace {

using ::testing::HasSubstr;

constexpr char kSgdOne[] = R"({"name":"sgd","learningRate":1.0})";
constexpr int64_t kBatches = 200;
// Of a model for which any will do.
constexpr int64_t kElements = 1000;

bool Always() { return true; }

struct Server {
  std::unique_ptr<Shard> shard;
  std::unique_ptr<comm::Listener> listener;
  std::string address;

  explicit Server(Shard::Options options = {}) : shard(std::make_unique<Shard>(options)) {
    auto opened = comm::Listener::Open(
        {.host = "127.0.0.1"}, [this](comm::Channel& channel) { shard->Serve(channel); });
    if (!opened.ok()) std::abort();
    listener = *std::move(opened);
    address = "127.0.0.1:" + std::to_string(listener->port());
  }
  ~Server() {
    shard->Close();
    listener.reset();
  }
};

// A model of two variables on `count` real shards; a gradient of -1 makes every value count the
// updates.
struct Cluster {
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<std::string> addresses;
  Layout layout;
  const size_t a_size;
  std::vector<std::unique_ptr<ShardControl>> controls;

  explicit Cluster(int count, Shard::Options options = {}, int64_t a_elements = 64 * 300)
      : layout(SplitByBytes({{a_elements, 64}, {300, 300}}, count)),
        a_size(static_cast<size_t>(a_elements)) {
    for (int i = 0; i < count; ++i) {
      servers.push_back(std::make_unique<Server>(options));
      addresses.push_back(servers.back()->address);
    }
  }
  void Configure(int64_t generation, CommittedSet committed = {}) {
    std::vector<float> a(a_size, static_cast<float>(committed.size()));
    std::vector<float> b(300, static_cast<float>(committed.size()));
    controls.clear();
    for (size_t i = 0; i < servers.size(); ++i) {
      auto control = ShardControl::Connect(addresses[i], {});
      ASSERT_THAT(control, IsOk());
      ASSERT_THAT((*control)->Configure({.generation = generation,
                                         .shard = static_cast<int>(i),
                                         .shards = addresses,
                                         .pieces = layout.shards[i],
                                         .optimizer = kSgdOne,
                                         .committed = committed,
                                         .step = committed.size(),
                                         .max_steps = kBatches},
                                        {{a, b}, {}}),
                  IsOk());
      controls.push_back(*std::move(control));
    }
  }
};

struct Replica {
  std::vector<float> a;
  std::vector<float> b = std::vector<float>(300);
  std::vector<float> gradient_a;
  std::vector<float> gradient_b = std::vector<float>(300, -1.0f);
  std::unique_ptr<Exchange> exchange;

  Replica(const Cluster& cluster, Pusher pusher, int64_t generation)
      : a(cluster.a_size), gradient_a(cluster.a_size, -1.0f) {
    exchange = std::make_unique<Exchange>(
        Exchange::Options{pusher, generation, cluster.addresses, cluster.layout},
        std::vector<std::span<float>>{a, b}, std::vector<std::span<float>>{gradient_a, gradient_b});
  }
};

TEST(ShardTest, ReplicasPushConcurrentlyAndEachBatchCountsOnceOnEveryShard) {
  for (const int shards : {1, 2, 3}) {
    Cluster cluster(shards);
    cluster.Configure(1);
    std::atomic<int64_t> next{0};
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        Replica replica(cluster, {rank, 1, rank + 100}, 1);
        uint64_t sequence = 0;
        for (int64_t batch; (batch = next++) < kBatches;) {
          const auto result = replica.exchange->Push(++sequence, batch, 0, Always);
          ASSERT_THAT(result, IsOk());
          EXPECT_TRUE(result->applied);
          // The answer holds at least this push.
          EXPECT_GE(replica.a[0], static_cast<float>(result->step));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const auto state = cluster.controls[0]->WaitStep(kBatches, std::chrono::seconds(5));
    ASSERT_THAT(state, IsOk());
    EXPECT_EQ(state->step, kBatches);
    Replica reader(cluster, {9, 1, 1}, 1);
    ASSERT_THAT(reader.exchange->Pull(Always), IsOk());
    for (const float value : reader.a) ASSERT_EQ(value, static_cast<float>(kBatches));
    for (const float value : reader.b) ASSERT_EQ(value, static_cast<float>(kBatches));
  }
}

TEST(ShardTest, PushThatIsSentAgainCountsOnce) {
  Cluster cluster(2);
  cluster.Configure(1);
  for (int i = 0; i < 3; ++i) {
    // A new exchange has new connections, as after a break; identity and sequence are the same.
    Replica replica(cluster, {0, 1, 7}, 1);
    const auto result = replica.exchange->Push(1, 5, 0, Always);
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->step, 1);
    EXPECT_EQ(replica.a[0], 1.0f);
  }
}

TEST(ShardTest, BatchThatIsPartOfTheModelIsDroppedAndTheReplicaToldSo) {
  Cluster cluster(2);
  cluster.Configure(1, CommittedSet(3, {7}));
  Replica replica(cluster, {0, 1, 7}, 1);
  for (const int64_t batch : {0, 7}) {
    const auto result = replica.exchange->Push(static_cast<uint64_t>(batch) + 1, batch, 0, Always);
    ASSERT_THAT(result, IsOk());
    EXPECT_FALSE(result->applied);
    EXPECT_EQ(replica.b[299], 4.0f);
  }
}

TEST(ShardTest, PushOfAnotherGenerationIsRefused) {
  Cluster cluster(2);
  cluster.Configure(4);
  Replica late(cluster, {0, 1, 7}, 3);
  EXPECT_THAT(late.exchange->Push(1, 0, 0, Always), StatusIs(absl::StatusCode::kAborted));
  Replica current(cluster, {0, 1, 7}, 4);
  EXPECT_THAT(current.exchange->Push(1, 0, 0, Always), IsOk());
}

TEST(ShardTest, ReplicaThatWaitsForAShardIsReleasedByANewGeneration) {
  Cluster cluster(2);
  cluster.Configure(1);
  cluster.servers[1].reset();
  Replica replica(cluster, {0, 1, 7}, 1);
  std::atomic<bool> asked{false};
  std::thread waiting([&] {
    EXPECT_THAT(replica.exchange->Push(1, 0, 0,
                                       [&] {
                                         asked = true;
                                         return true;
                                       }),
                StatusIs(absl::StatusCode::kAborted, HasSubstr("generation")));
  });
  while (!asked) std::this_thread::yield();
  cluster.servers[1] = std::make_unique<Server>();
  cluster.addresses[1] = cluster.servers[1]->address;
  cluster.Configure(2);
  waiting.join();
}

// Symptom: of the last step of a short job nobody told the loss, now and then: its parameter server
// had closed before the thread was awake that answers. It is a race, so it is run often.
TEST(ShardTest, WhoMakesTheLastStepHearsOfItThoughTheShardCloses) {
  for (int round = 0; round < 300; ++round) {
    Cluster cluster(1);
    cluster.Configure(1);
    std::atomic<bool> closed{false};
    std::thread pushing([&] {
      Replica replica(cluster, {0, 1, 7}, 1);
      const auto result = replica.exchange->Push(1, 0, 0, [&] { return !closed; });
      ASSERT_THAT(result, IsOk()) << "round " << round;
      EXPECT_EQ(result->step, 1);
    });
    ASSERT_THAT(cluster.controls[0]->WaitStep(1, std::chrono::seconds(5)), IsOk());
    cluster.servers[0].reset();
    closed = true;
    pushing.join();
    if (HasFailure()) return;
  }
}

TEST(ShardTest, FencedReplicaIsRefusedAndItsSuccessorIsNot) {
  Cluster cluster(2);
  cluster.Configure(1);
  Replica first(cluster, {0, 1, 7}, 1);
  ASSERT_THAT(first.exchange->Push(1, 0, 0, Always), IsOk());
  const auto state = cluster.controls[0]->Fence({0, 1, 7});
  ASSERT_THAT(state, IsOk());
  EXPECT_TRUE(state->committed.Contains(0));
  EXPECT_THAT(first.exchange->Push(2, 1, 0, Always),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  Replica second(cluster, {0, 1, 8}, 1);
  EXPECT_THAT(second.exchange->Push(1, 1, 0, Always), IsOk());
}

TEST(ShardTest, CutIsOneStepOnAllShardsWhileTrainingGoesOn) {
  Cluster cluster(3);
  cluster.Configure(1);
  std::thread trainer([&] {
    Replica replica(cluster, {0, 1, 7}, 1);
    for (int64_t batch = 0; batch < kBatches; ++batch) {
      const auto sequence = static_cast<uint64_t>(batch) + 1;
      ASSERT_THAT(replica.exchange->Push(sequence, batch, 0, Always), IsOk());
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto state = cluster.controls[0]->Cut();
    ASSERT_THAT(state, IsOk());
    EXPECT_EQ(state->committed.size(), state->step);
    std::vector<float> a(64 * 300);
    std::vector<float> b(300);
    for (size_t shard = 0; shard < 3; ++shard) {
      ASSERT_THAT(cluster.controls[shard]->ReadCut(state->step, cluster.layout.shards[shard],
                                                   {{a, b}, {}}),
                  IsOk());
      ASSERT_THAT(cluster.controls[shard]->ReleaseCut(), IsOk());
    }
    for (const float value : a) ASSERT_EQ(value, static_cast<float>(state->step));
    for (const float value : b) ASSERT_EQ(value, static_cast<float>(state->step));
  }
  trainer.join();
}

// Of so many values that a thread copies them for the cut, which is asked for meanwhile. It copies
// the slots too and is slower than who reads the values only.
TEST(ShardTest, CutOfALargeShardIsReadWhenItsCopyIsMade) {
  Cluster cluster(1, {}, int64_t{32} << 18);
  std::vector<float> a(cluster.a_size), b(300);
  std::vector<float> slot_a(cluster.a_size), slot_b(300);
  const ModelSpans model = {{a, b}, {{slot_a, slot_b}, {slot_a, slot_b}}};
  auto connected = ShardControl::Connect(cluster.addresses[0], {});
  ASSERT_THAT(connected, IsOk());
  ShardControl& control = **connected;
  const std::vector<Piece>& pieces = cluster.layout.shards[0];
  ASSERT_THAT(control.Configure({.generation = 1,
                                 .shards = cluster.addresses,
                                 .pieces = pieces,
                                 .optimizer = R"({"name":"adam","learningRate":1.0})",
                                 .max_steps = kBatches},
                                model),
              IsOk());
  Replica replica(cluster, {0, 1, 7}, 1);
  for (int64_t batch = 0; batch < 4; ++batch) {
    ASSERT_THAT(replica.exchange->Push(static_cast<uint64_t>(batch) + 1, batch, 0, Always), IsOk());
    const auto state = control.Cut();
    ASSERT_THAT(state, IsOk());
    ASSERT_EQ(state->step, batch + 1);
    ASSERT_THAT(control.ReadCut(state->step, pieces, model), IsOk());
    ASSERT_TRUE(a == replica.a && b == replica.b) << "step " << state->step;
    ASSERT_THAT(control.ReleaseCut(), IsOk());
  }
}

TEST(ShardTest, OlderGenerationDoesNotReplaceANewerOne) {
  Cluster cluster(1);
  cluster.Configure(5);
  EXPECT_THAT(cluster.controls[0]->Configure({.generation = 4,
                                              .shards = cluster.addresses,
                                              .optimizer = kSgdOne},
                                             {}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("generation 5")));
}

// The chief compares generations to see whether it must begin a new one.
TEST(ShardTest, ShardThatGaveItsGenerationUpSaysThatItHasNone) {
  Cluster cluster(2);
  cluster.Configure(1, CommittedSet(3, {7}));
  EXPECT_EQ(*cluster.controls[0]->Generation(), 1);
  // A peer that has seen what was never said can not be brought up to date.
  const auto peer = comm::Channel::Connect(cluster.addresses[0], {});
  ASSERT_THAT(peer, IsOk());
  ASSERT_THAT((*peer)->Send({.type = comm::FrameType::kHello}), IsOk());
  ASSERT_THAT((*peer)->Send({.type = comm::FrameType::kPeerHello,
                             .generation = 1,
                             .rank = 1,
                             .sequence = 99}),
              IsOk());
  EXPECT_THAT((*peer)->ReceiveHead(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(*cluster.controls[0]->Generation(), 0);
  cluster.Configure(2);
  EXPECT_EQ(*cluster.controls[0]->Generation(), 2);
}

TEST(ShardTest, CutThatDoesNotComeInTimeIsAskedForAgain) {
  Cluster cluster(2, {.cut_patience = std::chrono::milliseconds(1)});
  cluster.Configure(1);
  std::vector<float> a(64 * 300);
  std::vector<float> b(300);
  EXPECT_THAT(cluster.controls[1]->ReadCut(5, cluster.layout.shards[1], {{a, b}, {}}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no cut at step 5")));
}

TEST(ShardTest, WaitForACutEndsWithItsGeneration) {
  Cluster cluster(2);
  cluster.Configure(1);
  auto waiting = std::move(cluster.controls[1]);
  std::thread reader([&] {
    std::vector<float> a(64 * 300);
    std::vector<float> b(300);
    EXPECT_THAT(waiting->ReadCut(5, cluster.layout.shards[1], {{a, b}, {}}),
                StatusIs(absl::StatusCode::kAborted, HasSubstr("generation")));
  });
  std::this_thread::yield();
  cluster.Configure(2);
  reader.join();
}

TEST(ShardTest, ChiefsThatConfigureAtOnceLeaveTheHighestGenerationInForce) {
  constexpr int64_t kThreads = 4;
  constexpr int64_t kGenerations = 200;
  Cluster cluster(2);
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> a(64 * 300);
      std::vector<float> b(300);
      const auto control = ShardControl::Connect(cluster.addresses[1], {});
      ASSERT_THAT(control, IsOk());
      for (int64_t generation = t + 1; generation <= kGenerations; generation += kThreads) {
        const absl::Status status = (*control)->Configure({.generation = generation,
                                                           .shard = 1,
                                                           .shards = cluster.addresses,
                                                           .pieces = cluster.layout.shards[1],
                                                           .optimizer = kSgdOne,
                                                           .max_steps = kBatches},
                                                          {{a, b}, {}});
        if (!status.ok()) {
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cluster.servers[1]->shard->stats().generation, kGenerations);
}

TEST(ShardControlTest, ShardThatAcceptsAndNeverAnswersIsTakenForGone) {
  const auto mute = comm::Listener::Open({.host = "127.0.0.1"}, [](comm::Channel& channel) {
    while (channel.ReceiveHead().ok()) continue;
  });
  ASSERT_THAT(mute, IsOk());
  const auto control =
      ShardControl::Connect("127.0.0.1:" + std::to_string((*mute)->port()),
                            {.silence_max = std::chrono::milliseconds(20)});
  ASSERT_THAT(control, IsOk());
  EXPECT_THAT((*control)->WaitStep(1, std::chrono::milliseconds(1)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no byte for 20 ms")));
}

// The chief's training could not end: it read from a parameter server that was stopped (SIGSTOP).
TEST(ExchangeTest, ShardThatFreezesInTheMiddleOfItsValuesDoesNotKeepItsReplicaForEver) {
  const auto frozen = comm::Listener::Open({.host = "127.0.0.1"}, [](comm::Channel& channel) {
    const auto hello = channel.ReceiveHead();
    if (!hello.ok() || !channel.ReceiveHead().ok()) return;
    // A head that announces values which never come.
    EXPECT_THAT(channel.SendAtOnce({.type = comm::FrameType::kValues,
                                    .generation = 1,
                                    .payload_bytes = kElements * sizeof(float)}),
                IsOk());
    EXPECT_FALSE(channel.ReceiveHead().ok());
  });
  ASSERT_THAT(frozen, IsOk());
  const std::string address = "127.0.0.1:" + std::to_string((*frozen)->port());
  std::vector<float> values(kElements);
  Exchange exchange({.pusher = {0, 1, 7},
                     .generation = 1,
                     .shards = {address},
                     .layout = SplitByBytes({{kElements, 1}}, 1),
                     .silence_max = std::chrono::milliseconds(20)},
                    {values}, {values});
  EXPECT_THAT(exchange.Pull([&] { return exchange.trouble().empty(); }),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("no byte for 20 ms")));
}

// A worker ended for good when the port of a parameter server that had gone was another process's.
TEST(ExchangeTest, SomethingElseAtAShardsAddressIsCalledAgainUntilTheShardIsThere) {
  Cluster cluster(1);
  cluster.Configure(1);
  // Answers nonsense three times, then hands the connection to the shard.
  std::atomic<int> calls{0};
  const auto address = comm::Listener::Open({.host = "127.0.0.1"}, [&](comm::Channel& channel) {
    const int call = ++calls;
    if (call > 3) return cluster.servers[0]->shard->Serve(channel);
    // HELLO and PUSH: with bytes that nobody reads the connection would break instead.
    for (int i = 0; i < 2; ++i) {
      const auto head = channel.ReceiveHead();
      ASSERT_THAT(head, IsOk());
      ASSERT_THAT(channel.Discard(head->payload_bytes), IsOk());
    }
    // An order, the values of another model, and a frame of a time to come.
    const comm::FrameType types[] = {comm::FrameType::kCut, comm::FrameType::kValues,
                                     static_cast<comm::FrameType>(99)};
    EXPECT_THAT(channel.Send({.type = types[call - 1]}), IsOk());
  });
  ASSERT_THAT(address, IsOk());
  cluster.addresses[0] = "127.0.0.1:" + std::to_string((*address)->port());
  Replica replica(cluster, {0, 1, 7}, 1);
  const auto result = replica.exchange->Push(1, 0, 0, Always);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->step, 1);
  EXPECT_EQ(replica.a[0], 1.0f);
  EXPECT_EQ(calls, 4);
}

TEST(ShardTest, GradientOfAnotherSizeIsRefused) {
  Cluster cluster(1);
  cluster.Configure(1);
  Replica replica(cluster, {0, 1, 7}, 1);
  const auto channel = comm::Channel::Connect(cluster.addresses[0], {});
  ASSERT_THAT(channel, IsOk());
  ASSERT_THAT((*channel)->Send({.type = comm::FrameType::kHello}), IsOk());
  ASSERT_THAT((*channel)->Send({.type = comm::FrameType::kPush, .generation = 1}, "four"), IsOk());
  const auto head = (*channel)->ReceiveHead();
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(head->type, comm::FrameType::kRefused);
}

}  // namespace
}  // namespace taas::ps
