// Pushes in bfloat16 between an exchange and a shard: what is sent to whom, what is added, and what
// is refused.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/noting_shard.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

using comm::Channel;
using comm::ConstBlock;
using comm::FrameHead;
using comm::FrameType;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr size_t kWeights = 30'001, kMoments = 7;
constexpr float kDecay = 0.5F;

bool Always() { return true; }

Layout LayoutOf() {
  return SplitByBytes({{static_cast<int64_t>(kWeights), 1},
                       {static_cast<int64_t>(kMoments), 1, kDecay}}, 1);
}

struct Replica {
  std::vector<float> weights = std::vector<float>(kWeights);
  std::vector<float> moments = std::vector<float>(kMoments);
  std::vector<float> gradient, added = std::vector<float>(kMoments, 1.001F);
  std::unique_ptr<Exchange> exchange;

  Replica(const std::string& address, uint32_t rank, bool narrow, float from = 0) {
    for (size_t i = 0; i < kWeights; ++i) gradient.push_back(from - static_cast<float>(i % 200));
    exchange = std::make_unique<Exchange>(
        Exchange::Options{.pusher = {rank, 1, rank + 7},
                          .generation = 1,
                          .shards = {address},
                          .layout = LayoutOf(),
                          .narrow = narrow},
        std::vector<std::span<float>>{weights, moments},
        std::vector<std::span<float>>{gradient, added});
  }
};

TEST(NarrowPushTest, AShardThatTakesItGetsHalfTheBytesAndOneOfAnEarlierBuildAll) {
  for (const bool takes_narrow : {true, false}) {
    for (const bool narrow : {true, false}) {
      NotingShard shard(ValuesInfo{.takes_narrow = takes_narrow}, kWeights + kMoments);
      Replica replica(shard.address(), 0, narrow);
      ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
      ASSERT_THAT(replica.exchange->Push(1, 0, 0, Always), IsOk());
      const std::vector<FrameHead> frames = shard.frames();
      ASSERT_EQ(frames.size(), 2U);
      EXPECT_EQ(frames[1].type, FrameType::kPush);
      const bool half = takes_narrow && narrow;
      EXPECT_EQ(frames[1].payload_bytes, kWeights * (half ? 2 : 4) + kMoments * 4);
      EXPECT_EQ(frames[1].flags & comm::kFlagNarrow, half ? comm::kFlagNarrow : 0);
    }
  }
}

class NarrowShardTest : public testing::Test {
 protected:
  NarrowShardTest()
      : listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](Channel& channel) { shard_.Serve(channel); })),
        control_(*ShardControl::Connect(address(), {})) {
    std::vector<float> weights(kWeights), moments(kMoments);
    EXPECT_THAT(control_->Configure({.generation = 1,
                                     .shards = {address()},
                                     .pieces = LayoutOf().shards[0],
                                     .optimizer = R"({"name":"sgd","learningRate":1.0})",
                                     .max_steps = 1000},
                                    {{weights, moments}, {}}),
                IsOk());
  }
  ~NarrowShardTest() override {
    shard_.Close();
    listener_.reset();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }

  Shard shard_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ShardControl> control_;
};

// Whole numbers below 256 are bfloat16's; what is added to moments is not, and is not rounded.
TEST_F(NarrowShardTest, WhatBFloat16HoldsIsAddedExactlyAndMomentsAreNotRounded) {
  Replica narrow(address(), 0, true), wide(address(), 1, false);
  float moment = 0;
  for (int64_t step = 0; step < 6; step += 2) {
    for (Replica* const replica : {&narrow, &wide}) {
      if (step == 0) {
        ASSERT_THAT(replica->exchange->Pull(Always), IsOk());
      }
      const int64_t batch = step + (replica == &wide ? 1 : 0);
      const auto result =
          replica->exchange->Push(static_cast<uint64_t>(step) + 1, batch, step, Always);
      ASSERT_THAT(result, IsOk());
      EXPECT_TRUE(result->applied);
      moment = kDecay * moment + 1.001F;
      EXPECT_EQ(replica->moments[kMoments - 1], moment);
      for (size_t i = 0; i < kWeights; ++i) {
        ASSERT_EQ(replica->weights[i], static_cast<float>(batch + 1) * static_cast<float>(i % 200));
      }
    }
  }
}

TEST_F(NarrowShardTest, WhatItDoesNotHoldIsRoundedOnce) {
  Replica replica(address(), 0, true, /*from=*/0.3F);
  ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
  ASSERT_THAT(replica.exchange->Push(1, 0, 0, Always), IsOk());
  for (size_t i = 0; i < kWeights; ++i) {
    ASSERT_EQ(replica.weights[i], -FromBFloat16(RoundToBFloat16(replica.gradient[i]))) << i;
  }
}

TEST_F(NarrowShardTest, OneOfAnotherSizeIsRefusedWithBoth) {
  const auto channel = *Channel::Connect(address(), {});
  ASSERT_THAT(channel->Send({.type = FrameType::kHello}), IsOk());
  FrameHead head = HeadOf(FrameType::kPush, {{{3, 1, 9}, 1, 100}, 0}, 1);
  head.flags |= comm::kFlagNarrow;
  // As many as without the flag.
  const std::vector<float> gradient(kWeights + kMoments);
  const ConstBlock block{gradient.data(), gradient.size() * sizeof(float)};
  ASSERT_THAT(channel->Send(head, std::span(&block, 1)), IsOk());
  const auto answer = channel->ReceiveHead();
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->type, FrameType::kRefused);
  EXPECT_THAT(*channel->ReceiveText(answer->payload_bytes),
              AllOf(HasSubstr("a gradient of 120032 bytes"), HasSubstr("a shard of 60030")));
}

}  // namespace
}  // namespace taas::ps
