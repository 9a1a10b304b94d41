// Who computes what in synchronous training, over connections that break in the middle of a step.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

using comm::Channel;
using comm::FrameHead;
using comm::FrameType;
using ::testing::HasSubstr;

constexpr int64_t kElements = 10;
// For an answer that must come; only a failing test waits so long.
constexpr std::chrono::milliseconds kPatience{20'000};

// One shard whose steps are of two gradients, and replicas that speak to it by bare connections.
class ShardTurnsTest : public testing::Test {
 protected:
  ShardTurnsTest() : ShardTurnsTest(/*aggregate=*/2) {}
  explicit ShardTurnsTest(int aggregate, std::optional<int64_t> max_staleness = std::nullopt)
      : listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](Channel& channel) {
                                          shard_.Serve(channel);
                                          ++ended_;
                                        })),
        address_("127.0.0.1:" + std::to_string(listener_->port())) {
    control_ = *ShardControl::Connect(address_, {});
    EXPECT_THAT(control_->Configure({.generation = 1,
                                     .shards = {address_},
                                     .pieces = SplitByBytes({{kElements, 1}}, 1).shards[0],
                                     .optimizer = R"({"name":"sgd","learningRate":1.0})",
                                     .max_steps = 10,
                                     .aggregate = aggregate,
                                     .max_staleness = max_staleness},
                                    {{values_}, {}}),
                IsOk());
  }
  ~ShardTurnsTest() override {
    shard_.Close();
    listener_.reset();
  }

  std::unique_ptr<Channel> Connect() {
    auto channel = *Channel::Connect(address_, {});
    channel->LimitSilence(kPatience);
    EXPECT_THAT(channel->Send({.type = FrameType::kHello}), IsOk());
    return channel;
  }
  static void SendPush(Channel& channel, const StagedPush& push) {
    const std::vector<float> gradient(kElements, -1.0f);
    const comm::ConstBlock block{gradient.data(), gradient.size() * sizeof(float)};
    EXPECT_THAT(channel.Send(HeadOf(FrameType::kPush, push, 1), std::span(&block, 1)), IsOk());
  }
  static ValuesInfo Receive(Channel& channel) {
    const auto head = channel.ReceiveHead();
    EXPECT_THAT(head, IsOk());
    if (!head.ok()) return {};
    EXPECT_EQ(head->type, FrameType::kValues);
    EXPECT_THAT(channel.Discard(head->payload_bytes), IsOk());
    return ValuesInfoOf(*head);
  }
  // The batch that `pusher` gets by a pull.
  static std::optional<int64_t> Pull(Channel& channel, const Pusher& pusher) {
    FrameHead head = HeadOf(FrameType::kPull, {{pusher, 0, 0}, 0}, 1);
    EXPECT_THAT(channel.Send(head), IsOk());
    return Receive(channel).batch;
  }
  void Break(std::unique_ptr<Channel> channel) {
    const int before = ended_;
    channel.reset();
    while (ended_ == before) std::this_thread::yield();
  }

  std::vector<float> values_ = std::vector<float>(kElements);
  Shard shard_;
  std::atomic<int> ended_{0};  // Connections that the shard serves no more.
  std::unique_ptr<comm::Listener> listener_;
  const std::string address_;
  std::unique_ptr<ShardControl> control_;
  const Pusher one_{0, 1, 7};
  const Pusher two_{1, 1, 8};
};

// The others waited for a batch of a dead worker until the chief gave the worker up.
TEST_F(ShardTurnsTest, BatchGivenWithTheAnswerToAPushSentAgainGoesBackWhenThatConnectionEnds) {
  auto first = Connect();
  const auto other = Connect();
  ASSERT_EQ(Pull(*first, one_), 0);
  ASSERT_EQ(Pull(*other, two_), 1);
  SendPush(*first, {{one_, 1, 0}, 0});
  SendPush(*other, {{two_, 1, 1}, 0});
  ASSERT_EQ(Receive(*other).batch, 3);
  // The step is made; its answer to the first replica is lost.
  Break(std::move(first));
  auto again = Connect();
  SendPush(*again, {{one_, 1, 0}, 0});
  const ValuesInfo answer = Receive(*again);
  EXPECT_EQ(answer.push_step, 1);
  EXPECT_EQ(answer.batch, 2);
  Break(std::move(again));
  SendPush(*other, {{two_, 2, 3}, 1});
  const ValuesInfo banked = Receive(*other);
  EXPECT_TRUE(banked.banked);
  EXPECT_EQ(banked.batch, 2);
}

// The thread of a connection that had broken took turns for its replica, which had gone.
TEST_F(ShardTurnsTest, ConnectionThatWaitsForAStepEndsWhenItsReplicaComesByAnother) {
  const auto first = Connect();
  const auto other = Connect();
  ASSERT_EQ(Pull(*first, one_), 0);
  ASSERT_EQ(Pull(*other, two_), 1);
  SendPush(*first, {{one_, 1, 0}, 0});
  const auto again = Connect();
  SendPush(*again, {{one_, 1, 0}, 0});
  // That one ends which the shard read first.
  const std::vector<const Channel*> both = {first.get(), again.get()};
  const std::vector<bool> ends = comm::WaitReadable(both, kPatience);
  ASSERT_NE(ends[0], ends[1]);
  EXPECT_THAT((ends[0] ? *first : *again).ReceiveHead(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the peer closed")));
  SendPush(*other, {{two_, 1, 1}, 0});
  EXPECT_EQ(Receive(*other).batch, 3);
  const ValuesInfo answer = Receive(ends[0] ? *again : *first);
  EXPECT_EQ(answer.push_step, 1);
  EXPECT_EQ(answer.batch, 2);
}

// One shard that applies no gradient more than one update old.
class BoundedShardTest : public ShardTurnsTest {
 protected:
  BoundedShardTest() : ShardTurnsTest(/*aggregate=*/1, /*max_staleness=*/1) {}
};

TEST_F(BoundedShardTest, AFastReplicasUpdateWaitsForTheSlowOnes) {
  const auto slow = Connect();
  const auto fast = Connect();
  ASSERT_EQ(Pull(*slow, one_), 0);
  ASSERT_EQ(Pull(*fast, two_), 1);
  SendPush(*fast, {{two_, 1, 1}, 0});
  const ValuesInfo first = Receive(*fast);
  EXPECT_EQ(first.push_step, 1);
  EXPECT_EQ(first.batch, 2);
  EXPECT_EQ(first.oldest, 1);
  SendPush(*fast, {{two_, 2, 2}, 1});
  SendPush(*slow, {{one_, 1, 0}, 0});
  EXPECT_EQ(Receive(*slow).push_step, 2);
  EXPECT_EQ(Receive(*fast).push_step, 3);
}

TEST_F(BoundedShardTest, WhoHasGoneHoldsUpNobody) {
  auto slow = Connect();
  const auto fast = Connect();
  ASSERT_EQ(Pull(*slow, one_), 0);
  ASSERT_EQ(Pull(*fast, two_), 1);
  SendPush(*fast, {{two_, 1, 1}, 0});
  EXPECT_EQ(Receive(*fast).push_step, 1);
  SendPush(*fast, {{two_, 2, 2}, 1});
  Break(std::move(slow));
  const ValuesInfo second = Receive(*fast);
  EXPECT_EQ(second.push_step, 2);
  EXPECT_EQ(second.batch, 0) << "the batch of the one that has gone";
}

TEST_F(BoundedShardTest, AGradientOfValuesThatAreTooOldIsDroppedAndComputedAnew) {
  auto first = Connect();
  const auto other = Connect();
  ASSERT_EQ(Pull(*first, one_), 0);
  Break(std::move(first));
  ASSERT_EQ(Pull(*other, two_), 0);
  SendPush(*other, {{two_, 1, 0}, 0});
  ASSERT_EQ(Receive(*other).batch, 1);
  SendPush(*other, {{two_, 2, 1}, 1});
  ASSERT_EQ(Receive(*other).batch, 2);
  // Only its connection was lost. It comes with what it had computed.
  const auto again = Connect();
  SendPush(*again, {{one_, 1, 0}, 0});
  const ValuesInfo answer = Receive(*again);
  EXPECT_TRUE(answer.dropped);
  EXPECT_EQ(answer.values_step, 2);
  EXPECT_EQ(answer.batch, 3);
  EXPECT_EQ(answer.oldest, 2);
}

}  // namespace
}  // namespace taas::ps
