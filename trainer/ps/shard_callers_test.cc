// Who may call a parameter server, and what becomes of it when a caller goes while it waits.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

using comm::Channel;
using comm::FrameHead;
using comm::FrameType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kSgd[] = R"({"name":"sgd","learningRate":1.0})";
// 40 kB: between processes of one machine by shared memory.
constexpr int64_t kElements = 10'000;
constexpr int64_t kBytes = kElements * static_cast<int64_t>(sizeof(float));

bool Always() { return true; }

class ShardCallersTest : public testing::Test {
 protected:
  explicit ShardCallersTest(Shard::Options options = {.look_every = 5ms})
      : shard_(std::move(options)),
        listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](Channel& channel) {
                                          shard_.Serve(channel);
                                          ++ended_;
                                        })),
        address_("127.0.0.1:" + std::to_string(listener_->port())),
        control_(*ShardControl::Connect(address_, {})) {}
  ~ShardCallersTest() override {
    shard_.Close();
    listener_.reset();
  }

  ShardConfig Config(int64_t generation = 1) const {
    return {.generation = generation,
            .shards = {address_},
            .pieces = layout_.shards[0],
            .optimizer = kSgd,
            .max_steps = 1'000'000};
  }
  absl::Status Configure(const ShardConfig& config) {
    return control_->Configure(config, {{values_}, {}});
  }
  std::unique_ptr<Exchange> Replica(const Pusher& pusher, int64_t generation = 1) {
    return std::make_unique<Exchange>(
        Exchange::Options{pusher, generation, {address_}, layout_, ""},
        std::vector<std::span<float>>{values_}, std::vector<std::span<float>>{gradients_});
  }
  std::unique_ptr<Channel> Connect() const {
    auto channel = *Channel::Connect(address_, {});
    EXPECT_THAT(channel->Send({.type = FrameType::kHello}), IsOk());
    return channel;
  }
  void SendPush(Channel& channel, const StagedPush& push) const {
    const comm::ConstBlock block{gradients_.data(), gradients_.size() * sizeof(float)};
    EXPECT_THAT(channel.Send(HeadOf(FrameType::kPush, push, 1), std::span(&block, 1)), IsOk());
  }
  void Await(const std::function<bool()>& so) {
    while (!so()) std::this_thread::yield();
  }

  std::vector<float> values_ = std::vector<float>(kElements);
  std::vector<float> gradients_ = std::vector<float>(kElements, -1.0f);
  Shard shard_;
  std::atomic<int> ended_{0};  // Connections that the shard serves no more.
  std::unique_ptr<comm::Listener> listener_;
  const std::string address_;
  const Layout layout_ = SplitByBytes({{kElements, 10}}, 1);
  std::unique_ptr<ShardControl> control_;
  const Pusher one_{0, 1, 7};
  const Pusher two_{1, 1, 8};
};

// Symptom: after a stranger's pushes a parameter server had a thousand threads and connections that
// nobody was at the other end of, for ever, and refused replicas.
TEST_F(ShardCallersTest, CallerThatGoesWhileItWaitsIsLetGo) {
  // Of two shards; nothing is ever decided, since the other is not there.
  ShardConfig config = Config();
  config.shards = {address_, "127.0.0.1:1"};
  ASSERT_THAT(Configure(config), IsOk());
  for (uint32_t i = 0; i < 20; ++i) {
    const auto channel = Connect();
    SendPush(*channel, {{{i, 1, i}, 1, i}, 0});
    // And something more, so that there is something to be read when it has gone.
    if (i % 2 == 0) {
      EXPECT_THAT(channel->Send({.type = FrameType::kAsk}), IsOk());
    }
    Await([&] { return shard_.stats().staged > static_cast<int64_t>(i); });
  }
  Await([&] { return ended_ == 20; });
}

TEST_F(ShardCallersTest, CallerThatGoesWhileItWaitsForACutOrAStepIsLetGo) {
  ASSERT_THAT(Configure(Config()), IsOk());
  const auto cut = Connect();
  ASSERT_THAT(cut->Send({.type = FrameType::kReadCut, .generation = 1, .step = 9}), IsOk());
  const auto step = Connect();
  wire::WaitStepRequest request;
  request.set_step(9);
  request.set_hold_ms(5'000);
  ASSERT_THAT(step->Send({.type = FrameType::kWaitStep, .generation = 1},
                         request.SerializeAsString()),
              IsOk());
  cut->Shutdown();
  step->Shutdown();
  Await([&] { return ended_ == 2; });
}

// Symptom: pushes of replicas that no chief had ever heard of were kept and waited for.
TEST_F(ShardCallersTest, PushesOfThoseWhomTheChiefHasNamedAreTakenAndOfNobodyElse) {
  ShardConfig config = Config();
  config.named = {one_};
  ASSERT_THAT(Configure(config), IsOk());
  EXPECT_THAT(Replica(one_)->Push(1, 0, 0, Always), IsOk());
  const auto unknown = StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("the chief does not know this process"));
  EXPECT_THAT(Replica(two_)->Push(1, 1, 1, Always), unknown);
  EXPECT_THAT(Replica(two_)->Pull(Always), unknown);
  // Another start in the same place is another process.
  EXPECT_THAT(Replica({0, 1, 9})->Push(1, 1, 1, Always), unknown);
  ASSERT_THAT(control_->Name({one_, two_}), IsOk());
  EXPECT_THAT(Replica(two_)->Push(1, 1, 1, Always), IsOk());
  ASSERT_THAT(control_->Name({two_}), IsOk());
  EXPECT_THAT(Replica(one_)->Push(2, 2, 2, Always), unknown);
  EXPECT_EQ(shard_.stats().step, 2);
}

TEST_F(ShardCallersTest, ChiefOfAnEarlierBuildNamesNobodyAndAnybodyMayPush) {
  ASSERT_THAT(Configure(Config()), IsOk());
  EXPECT_THAT(Replica(one_)->Push(1, 0, 0, Always), IsOk());
  EXPECT_THAT(Replica(two_)->Push(1, 1, 0, Always), IsOk());
}

// Symptom: the batches that a killed worker had were lent to others after ten seconds only, though
// its connection broke at once.
TEST_F(ShardCallersTest, TheChiefHearsWhoseConnectionHasBrokenUntilItComesAgain) {
  ShardConfig config = Config();
  config.named = {one_, two_};
  ASSERT_THAT(Configure(config), IsOk());
  auto first = Replica(one_);
  const auto second = Replica(two_);
  ASSERT_THAT(first->Push(1, 0, 0, Always), IsOk());
  ASSERT_THAT(second->Push(1, 1, 0, Always), IsOk());
  EXPECT_THAT(control_->WaitStep(2, 0ms)->gone, IsEmpty());
  first.reset();
  Await([&] { return ended_ == 1; });
  EXPECT_THAT(control_->WaitStep(2, 0ms)->gone, ElementsAre(one_));
  first = Replica(one_);
  ASSERT_THAT(first->Push(2, 2, 0, Always), IsOk());
  EXPECT_THAT(control_->WaitStep(2, 0ms)->gone, IsEmpty());
  first.reset();
  Await([&] { return ended_ == 2; });
  ASSERT_THAT(control_->Name({two_}), IsOk());
  EXPECT_THAT(control_->WaitStep(2, 0ms)->gone, IsEmpty());
}

// Symptom: of two chiefs that lived, without a checkpoint directory, the one that had been replaced
// took the parameter servers back by a higher generation.
TEST_F(ShardCallersTest, ChiefOfAnEarlierPodThanTheLastIsRefused) {
  ShardConfig config = Config(1);
  config.chief_pod = 1;
  ASSERT_THAT(Configure(config), IsOk());
  config = Config(2);
  config.chief_pod = 2;
  ASSERT_THAT(Configure(config), IsOk());
  config = Config(9);
  config.chief_pod = 1;
  EXPECT_THAT(Configure(config),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("pod 2 of the chief has taken the place of pod 1")));
  EXPECT_EQ(shard_.stats().generation, 2);
  // The same pod, as after a restart of its container, and a chief of an earlier build.
  config = Config(10);
  config.chief_pod = 2;
  EXPECT_THAT(Configure(config), IsOk());
  EXPECT_THAT(Configure(Config(11)), IsOk());
}

// Symptom: a parameter server leaked a gradient for each one that lay in shared memory and was kept
// for its step, some 100 MB/s.
TEST_F(ShardCallersTest, GradientsThatAreKeptForTheirStepUseMemoryOfEarlierOnes) {
  ShardConfig config = Config();
  config.aggregate = 2;
  ASSERT_THAT(Configure(config), IsOk());
  // Alone it gives both gradients of each step, and the first is kept.
  const auto replica = Replica(one_);
  auto result = replica->Pull(Always);
  int64_t banked = 0;
  for (uint64_t i = 1; i <= 100; ++i) {
    ASSERT_THAT(result, IsOk());
    ASSERT_TRUE(result->batch.has_value());
    result = replica->Push(i, *result->batch, result->values_step, Always);
    banked += result.ok() && result->banked ? 1 : 0;
  }
  EXPECT_EQ(banked, 50);
  EXPECT_EQ(shard_.stats().step, 50);
  EXPECT_EQ(shard_.stats().staged, 0);
  EXPECT_EQ(shard_.stats().staged_bytes, 0);
  EXPECT_LE(shard_.stats().spare_bytes, 2 * kBytes);
  EXPECT_EQ(shard_.stats().versions, 2);
}

class BusyShardTest : public ShardCallersTest {
 protected:
  BusyShardTest() : ShardCallersTest({.tell_every = 0ms}) {}
};

// Symptom: a parameter server of some 20 GB never began: while it made its buffers it sent no byte,
// and the chief took it for dead after 15 s, again and again.
TEST_F(BusyShardTest, ChiefHearsThatAShardIsBeingMade) {
  const auto channel = Connect();
  bool told = false;
  for (int64_t generation = 1; !told; ++generation) {
    wire::ConfigureRequest request;
    request.set_generation(generation);
    request.add_shards(address_);
    request.set_optimizer(kSgd);
    request.set_hears_busy(true);
    request.add_pieces()->set_count(1 << 20);
    const std::string text = request.SerializeAsString();
    const uint64_t length = text.size();
    const std::vector<float> values(1 << 20);
    const comm::ConstBlock payload[] = {{&length, sizeof(length)},
                                        {text.data(), text.size()},
                                        {values.data(), values.size() * sizeof(float)}};
    ASSERT_THAT(channel->Send({.type = FrameType::kConfigure}, payload), IsOk());
    auto head = channel->ReceiveHead();
    for (; head.ok() && head->type == FrameType::kBusy; head = channel->ReceiveHead()) {
      told = true;
    }
    ASSERT_THAT(head, IsOk());
    ASSERT_EQ(head->type, FrameType::kState);
    ASSERT_THAT(channel->Discard(head->payload_bytes), IsOk());
    channel->ForgetShared();
  }
  // And whoever calls as the chief does need not know.
  for (int64_t generation = 1'000'000; generation < 1'000'010; ++generation) {
    EXPECT_THAT(Configure(Config(generation)), IsOk());
  }
}

}  // namespace
}  // namespace taas::ps
