// Pushes of rows between an exchange and a shard: what is sent, and what is refused.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"
#include "trainer/comm/payload_pages.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/noting_shard.h"
#include "trainer/ps/row_payload.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

using comm::Channel;
using comm::ConstBlock;
using comm::FrameHead;
using comm::FrameType;
using ::testing::HasSubstr;

constexpr size_t kRows = 8'000, kWidth = 4, kElements = kRows * kWidth;

// The step of the values of who has none.
constexpr int64_t kNone = -1;

bool Always() { return true; }

std::string AddressOf(const comm::Listener& listener) {
  return "127.0.0.1:" + std::to_string(listener.port());
}

// A table whose gradient is -1 in rows 2 and 7999, and a replica that pushes it.
struct Replica {
  std::vector<float> values = std::vector<float>(kElements);
  std::vector<float> gradient = std::vector<float>(kElements);
  std::vector<int32_t> ids = {2, kRows - 1};
  std::unique_ptr<Exchange> exchange;

  Replica(const std::string& address, Pusher pusher) {
    for (const int32_t id : ids) {
      std::fill_n(gradient.begin() + static_cast<size_t>(id) * kWidth, kWidth, -1.0f);
    }
    exchange = std::make_unique<Exchange>(
        Exchange::Options{pusher, 1, {address}, SplitByBytes({{kElements, kRows}}, 1)},
        std::vector<std::span<float>>{values}, std::vector<std::span<float>>{gradient});
  }
  absl::StatusOr<Exchange::Result> Push(uint64_t sequence, int64_t batch) {
    const std::optional<GradientRows> rows[] = {GradientRows{.width = kWidth, .ids = ids}};
    return exchange->Push(sequence, batch, batch, Always, rows);
  }
};

TEST(ExchangeRowsTest, AShardThatTakesRowsGetsThemAndOneOfAnEarlierBuildDoesNot) {
  for (const bool takes_rows : {true, false}) {
    NotingShard shard(ValuesInfo{.takes_rows = takes_rows}, kElements);
    Replica replica(shard.address(), {0, 1, 7});
    ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
    ASSERT_THAT(replica.Push(1, 0), IsOk());
    const std::vector<FrameHead> frames = shard.frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[1].type, takes_rows ? FrameType::kPushRows : FrameType::kPush);
    // A step, a head, two ids and two rows, or the whole table.
    EXPECT_EQ(frames[1].payload_bytes,
              takes_rows ? 8 + 8 + 2 * 4 + 2 * kWidth * 4 : kElements * sizeof(float));
    EXPECT_EQ(frames[1].sequence, 1u);
  }
}

// Half of an answer leaves variables of two steps: the next answer must not build on them.
TEST(ExchangeRowsTest, AfterAnAnswerThatBreaksOffEverythingIsAskedFor) {
  std::mutex mutex;
  std::vector<int64_t> have;
  const auto listener = comm::Listener::Open({.host = "127.0.0.1"}, [&](Channel& channel) {
    const std::vector<float> values(kElements);
    const ConstBlock block{values.data(), kElements * sizeof(float)};
    for (;;) {
      const auto head = channel.ReceiveHead();
      if (!head.ok()) return;
      if (head->type == FrameType::kPushRows) {
        int64_t step = 0;
        const comm::Block first{&step, sizeof(step)};
        EXPECT_THAT(channel.ReceiveInto(std::span(&first, 1)), IsOk());
        EXPECT_THAT(channel.Discard(head->payload_bytes - sizeof(step)), IsOk());
        const std::lock_guard lock(mutex);
        have.push_back(step);
        FrameHead broken = HeadOf(ValuesInfo{.values_step = 6, .rows = true}, 1);
        broken.payload_bytes = 36;
        if (have.size() == 1) {
          EXPECT_THAT(channel.SendAtOnce(broken), IsOk());
          return;
        }
      } else if (!channel.Discard(head->payload_bytes).ok()) {
        return;
      }
      if (head->type == FrameType::kHello) continue;
      const FrameHead answer = HeadOf(ValuesInfo{.values_step = 5}, 1);
      if (!channel.Send(answer, std::span(&block, 1)).ok()) return;
    }
  });
  ASSERT_THAT(listener, IsOk());
  Replica replica(AddressOf(**listener), {0, 1, 7});
  ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
  ASSERT_THAT(replica.Push(1, 0), IsOk());
  ASSERT_THAT(replica.Push(2, 1), IsOk());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(have, testing::ElementsAre(5, kNone, 5));
}

class ShardRowsTest : public testing::Test {
 protected:
  ShardRowsTest()
      : listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](Channel& channel) { shard_.Serve(channel); })),
        control_(*ShardControl::Connect(AddressOf(*listener_), {})) {
    std::vector<float> values(kElements);
    EXPECT_THAT(control_->Configure({.generation = 1,
                                     .shards = {AddressOf(*listener_)},
                                     .pieces = SplitByBytes({{kElements, kRows}}, 1).shards[0],
                                     .optimizer = R"({"name":"sgd","learningRate":1.0})",
                                     .max_steps = 1000},
                                    {{values}, {}}),
                IsOk());
  }
  ~ShardRowsTest() override {
    shard_.Close();
    listener_.reset();
  }

  Shard shard_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<ShardControl> control_;
};

TEST_F(ShardRowsTest, RowsAreAppliedOnceAndNothingElseIsTouched) {
  for (int i = 0; i < 3; ++i) {
    // A new exchange has new connections, as after a break; identity and sequence are the same.
    Replica replica(AddressOf(*listener_), {0, 1, 7});
    ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
    const auto result = replica.Push(1, 0);
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->step, 1);
    for (size_t at = 0; at < kElements; ++at) {
      const size_t row = at / kWidth;
      ASSERT_EQ(replica.values[at], row == 2 || row == kRows - 1 ? 1.0f : 0.0f) << at;
    }
  }
}

TEST_F(ShardRowsTest, ReplicasWithAndWithoutRowsMakeOneModel) {
  Replica rows(AddressOf(*listener_), {0, 1, 7}), whole(AddressOf(*listener_), {1, 1, 8});
  ASSERT_THAT(rows.exchange->Pull(Always), IsOk());
  for (int64_t step = 0; step < 6; step += 2) {
    const uint64_t sequence = static_cast<uint64_t>(step) + 1;
    ASSERT_THAT(rows.Push(sequence, step), IsOk());
    ASSERT_THAT(whole.exchange->Push(sequence, step + 1, step, Always), IsOk());
  }
  EXPECT_EQ(whole.values[2 * kWidth], 6.0f);
  EXPECT_EQ(whole.values[3 * kWidth], 0.0f);
}

// What a push of row 1 is answered with, by a sender that has the values of `have`.
struct Answer {
  ValuesInfo info;
  uint64_t bytes = 0;
};
Answer PushAndReceive(Channel& channel, uint64_t sequence, int64_t have) {
  const RowHead head{1, kWidth};
  const int32_t id = 1;
  const std::vector<float> row(kWidth, -1.0f);
  const ConstBlock payload[] = {{&have, sizeof(have)},
                                {&head, sizeof(head)},
                                {&id, sizeof(id)},
                                {row.data(), kWidth * sizeof(float)}};
  const StagedPush push{{{3, 1, 9}, sequence, 100 + static_cast<int64_t>(sequence)}, 0};
  EXPECT_THAT(channel.Send(HeadOf(FrameType::kPushRows, push, 1), payload), IsOk());
  const auto answer = channel.ReceiveHead();
  EXPECT_THAT(answer, IsOk());
  if (!answer.ok()) return {};
  EXPECT_EQ(answer->type, FrameType::kValues);
  EXPECT_THAT(channel.Discard(answer->payload_bytes), IsOk());
  return {ValuesInfoOf(*answer), answer->payload_bytes};
}

TEST_F(ShardRowsTest, TheAnswerIsTheRowsThatChangedSinceTheSendersValues) {
  const auto channel = *Channel::Connect(AddressOf(*listener_), {});
  ASSERT_THAT(channel->Send({.type = FrameType::kHello}), IsOk());
  const auto bytes_of = [](uint64_t rows) { return 8 + rows * (4 + 4 * kWidth); };
  const Answer first = PushAndReceive(*channel, 1, /*have=*/0);
  EXPECT_TRUE(first.info.rows);
  EXPECT_EQ(first.bytes, bytes_of(1));
  // Whoever has no values, or those of a step that is none, gets all.
  for (const int64_t have : {kNone, int64_t{100}}) {
    const Answer all = PushAndReceive(*channel, have == kNone ? 2 : 3, have);
    EXPECT_FALSE(all.info.rows);
    EXPECT_EQ(all.bytes, kElements * sizeof(float));
  }
  // Sent again, its sender still lacks what was lost.
  EXPECT_EQ(PushAndReceive(*channel, 3, 2).bytes, bytes_of(1));
  EXPECT_EQ(PushAndReceive(*channel, 3, 3).bytes, bytes_of(0));
  Replica other(AddressOf(*listener_), {0, 1, 7});
  ASSERT_THAT(other.exchange->Pull(Always), IsOk());
  ASSERT_THAT(other.Push(1, 0), IsOk());
  // Rows 1, 2 and 7999.
  EXPECT_EQ(PushAndReceive(*channel, 4, 3).bytes, bytes_of(3));
  // A whole gradient leaves no row as it was.
  ASSERT_THAT(other.exchange->Push(2, 1, 0, Always), IsOk());
  EXPECT_EQ(PushAndReceive(*channel, 5, 5).bytes, kElements * sizeof(float));
  EXPECT_EQ(PushAndReceive(*channel, 6, 7).bytes, bytes_of(1));
}

TEST_F(ShardRowsTest, RowsOfOthersReachAReplicaThatPushesRows) {
  Replica one(AddressOf(*listener_), {0, 1, 7}), two(AddressOf(*listener_), {1, 1, 8});
  two.ids = {5};
  std::fill_n(two.gradient.begin() + 5 * kWidth, kWidth, -1.0f);
  ASSERT_THAT(one.exchange->Pull(Always), IsOk());
  ASSERT_THAT(two.exchange->Pull(Always), IsOk());
  for (int64_t i = 0; i < 5; ++i) {
    const uint64_t sequence = static_cast<uint64_t>(i) + 1;
    ASSERT_THAT(one.Push(sequence, 2 * i), IsOk());
    ASSERT_THAT(two.Push(sequence, 2 * i + 1), IsOk());
  }
  Replica reader(AddressOf(*listener_), {9, 1, 1});
  ASSERT_THAT(reader.exchange->Pull(Always), IsOk());
  EXPECT_EQ(reader.values[5 * kWidth], 5.0f);
  EXPECT_EQ(two.values, reader.values);
}

// Symptom: over 100,000 steps a chief grew by 10 MB and a worker by 2: whenever a parameter server
// first answered from another of its buffers, that stayed in the memory of who read it, too.
TEST_F(ShardRowsTest, WhatIsReadSeldomStaysInTheMemoryOfTheParameterServerOnly) {
  std::vector<float> values(kElements);
  const Layout layout = SplitByBytes({{kElements, kRows}}, 1);
  size_t before = comm::PayloadPages();
  const auto cut = control_->Cut();
  ASSERT_THAT(cut, IsOk());
  ASSERT_THAT(control_->ReadCut(cut->step, layout.shards[0], {{values}, {}}), IsOk());
  ASSERT_THAT(control_->ReleaseCut(), IsOk());
  EXPECT_EQ(comm::PayloadPages(), before);
  Replica rows(AddressOf(*listener_), {0, 1, 7}), whole(AddressOf(*listener_), {1, 1, 8});
  ASSERT_THAT(rows.exchange->Pull(Always), IsOk());
  // A gradient that is whole leaves no row as it was: what follows is answered with everything.
  ASSERT_THAT(whole.exchange->Push(1, 0, 0, Always), IsOk());
  before = comm::PayloadPages();
  ASSERT_THAT(rows.Push(1, 1), IsOk());
  EXPECT_LT(comm::PayloadPages(), before);
  EXPECT_EQ(rows.values[2 * kWidth], 2.0f);
}

// A sender must not write outside of the model, nor keep others from training.
TEST_F(ShardRowsTest, DamagedPushIsRefusedAndItsConnectionGoesOn) {
  const auto channel = *Channel::Connect(AddressOf(*listener_), {});
  ASSERT_THAT(channel->Send({.type = FrameType::kHello}), IsOk());
  const std::vector<float> values(kElements);
  const auto refusal = [&](const RowHead& head, const std::vector<int32_t>& ids,
                           size_t floats) -> std::string {
    const ConstBlock payload[] = {{&kNone, sizeof(kNone)},
                                  {&head, sizeof(head)},
                                  {ids.data(), ids.size() * sizeof(int32_t)},
                                  {values.data(), floats * sizeof(float)}};
    const StagedPush push{{{0, 1, 7}, 1, 0}, 0};
    EXPECT_THAT(channel->Send(HeadOf(FrameType::kPushRows, push, 1), payload), IsOk());
    const auto answer = channel->ReceiveHead();
    EXPECT_THAT(answer, IsOk());
    if (!answer.ok()) return "";
    EXPECT_EQ(answer->type, FrameType::kRefused);
    EXPECT_EQ(answer->refusal, static_cast<uint32_t>(comm::Refusal::kInvalid));
    return channel->ReceiveText(answer->payload_bytes).value_or("");
  };
  EXPECT_THAT(refusal({2, kWidth}, {1, kRows}, 2 * kWidth),
              HasSubstr("piece 0 has 8000 rows here, the payload has row 8000"));
  EXPECT_THAT(refusal({2, kWidth}, {5, 5}, 2 * kWidth), HasSubstr("do not ascend"));
  EXPECT_THAT(refusal({2, kWidth}, {1, 5}, kWidth), HasSubstr("has 32 bytes, not 48"));
  EXPECT_THAT(refusal({2, 3}, {1, 5}, 6), HasSubstr("the payload has 2 rows of 3"));
  // By shared memory too, and more than the model has.
  EXPECT_THAT(refusal({2, kWidth}, {1, 5}, kElements), HasSubstr("bytes, not 48"));
  const StagedPush push{{{0, 1, 7}, 1, 0}, 0};
  ASSERT_THAT(channel->Send(HeadOf(FrameType::kPushRows, push, 1), "four"), IsOk());
  const auto answer = channel->ReceiveHead();
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(channel->ReceiveText(answer->payload_bytes).value_or(""),
              HasSubstr("without the step of its values"));
  EXPECT_EQ(shard_.stats().step, 0);
  Replica replica(AddressOf(*listener_), {0, 1, 7});
  ASSERT_THAT(replica.exchange->Pull(Always), IsOk());
  EXPECT_THAT(replica.Push(1, 0), IsOk());
  EXPECT_EQ(shard_.stats().step, 1);
}

}  // namespace
}  // namespace taas::ps
