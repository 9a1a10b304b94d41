// Ranks of one process, whose bytes a network of queues carries in any pieces and any order between
// pairs. Sums are exact: the numbers are whole and so small that any order of additions gives the
// float that is predicted.

#include "trainer/collective/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "trainer/loops/bfloat16_loops.h"

namespace taas::collective {
namespace {

constexpr Way kWays[] = {Way::kRing, Way::kStar, Way::kDirect};
constexpr int kRanksMax = 9;
constexpr Turn kTurn{.epoch = 3, .step = 17, .vector = 1};

// Each rank has another one of `ranks` numbers in -1000 to 1000, and which has which differs from
// element to element.
float NumberOf(uint64_t seed, size_t element, int rank, int ranks) {
  const uint64_t shift = (seed + element * 7) % static_cast<uint64_t>(ranks);
  const uint64_t which = (static_cast<uint64_t>(rank) + shift) % static_cast<uint64_t>(ranks);
  std::mt19937_64 random(seed * 1'000'003 + element * 31 + which);
  return static_cast<float>(static_cast<int64_t>(random() % 2001) - 1000);
}

// A byte under way: where it lies with who has lent it, or itself.
struct UnderWay {
  std::byte read() const { return lies != nullptr ? *lies : byte; }

  std::byte byte;
  const std::byte* lies = nullptr;
};

// In every other world what may be lent is: it is read when it arrives.
struct World {
  World(Way way, int ranks, size_t elements, size_t chunk, uint64_t seed,
        Wire wire = Wire::kFloat32)
      : World(ranks, seed,
              [&](Place place) { return PlanAllReduce(way, place, elements, chunk); }, wire) {}

  World(int ranks, uint64_t seed, const std::function<Plan(Place)>& plan,
        Wire wire = Wire::kFloat32)
      : random(seed) {
    for (int rank = 0; rank < ranks; ++rank) {
      sides.push_back(std::make_unique<Exchange>(plan({ranks, rank}), wire));
      values.emplace_back(sides.back()->plan().elements);
    }
    lends = sides[0]->lends() && random() % 2 == 0;
    wires.resize(static_cast<size_t>(ranks * ranks));
    offered.resize(wires.size());
  }

  void Fill(uint64_t seed) {
    for (int rank = 0; rank < ranks(); ++rank) {
      auto& mine = values[static_cast<size_t>(rank)];
      for (size_t i = 0; i < mine.size(); ++i) mine[i] = NumberOf(seed, i, rank, ranks());
    }
  }

  int ranks() const { return static_cast<int>(sides.size()); }

  void Begin(const Turn& turn) {
    for (size_t rank = 0; rank < sides.size(); ++rank) sides[rank]->Begin(turn, values[rank]);
  }

  bool done() const {
    for (const auto& side : sides) {
      if (!side->done()) return false;
    }
    return true;
  }

  size_t Some(size_t most) { return 1 + random() % most; }

  // Moves some bytes between one pair, either onto the wire or from it.
  absl::Status Move(int from, int to) {
    const auto wire = static_cast<size_t>(from * ranks() + to);
    if (random() % 2 == 0) {
      Exchange& sender = *sides[static_cast<size_t>(from)];
      const std::span<const std::byte> bytes = sender.ToSend(to);
      if (bytes.empty()) return absl::OkStatus();
      // What was offered and has not gone is still what it was.
      std::vector<std::byte>& before = offered[wire];
      if (before.empty()) before.assign(bytes.begin(), bytes.end());
      EXPECT_EQ(before.size(), bytes.size());
      EXPECT_EQ(std::memcmp(before.data(), bytes.data(), bytes.size()), 0);
      const size_t count = Some(bytes.size());
      for (const std::byte& byte : bytes.first(count)) {
        wires[wire].push_back({byte, lends ? &byte : nullptr});
      }
      before.erase(before.begin(), before.begin() + static_cast<ptrdiff_t>(count));
      sender.Sent(to, count);
      return absl::OkStatus();
    }
    Exchange& receiver = *sides[static_cast<size_t>(to)];
    const std::span<std::byte> into = receiver.ToReceive(from);
    const size_t most = std::min(into.size(), wires[wire].size());
    if (most == 0) return absl::OkStatus();
    const bool uses = random() % 2 == 0;
    size_t count = Some(uses ? std::min(wires[wire].size(), most + 100) : most);
    if (uses) {
      // Anywhere: a number may begin at any byte, and the next part may follow.
      std::vector<std::byte> lies(sizeof(float) + count);
      const std::span<std::byte> there = std::span(lies).subspan(random() % sizeof(float), count);
      for (size_t i = 0; i < count; ++i) there[i] = wires[wire][i].read();
      const absl::StatusOr<size_t> used = receiver.Use(from, there);
      if (!used.ok()) return used.status();
      EXPECT_GE(*used, std::min(count, most));
      count = *used;
    } else {
      for (size_t i = 0; i < count; ++i) into[i] = wires[wire][i].read();
    }
    wires[wire].erase(wires[wire].begin(), wires[wire].begin() + static_cast<ptrdiff_t>(count));
    return uses ? absl::OkStatus() : receiver.Received(from, count);
  }

  // Until all are done; false if they never are.
  absl::Status Run() {
    constexpr int kMovesMax = 2'000'000;
    for (int i = 0; i < kMovesMax && !done(); ++i) {
      const int from = static_cast<int>(random() % sides.size());
      const int to = static_cast<int>(random() % sides.size());
      if (from == to) continue;
      const absl::Status moved = Move(from, to);
      if (!moved.ok()) return moved;
    }
    return done() ? absl::OkStatus() : absl::DeadlineExceededError("it hangs");
  }

  std::mt19937_64 random;
  std::vector<std::unique_ptr<Exchange>> sides;
  std::vector<std::vector<float>> values;
  bool lends = false;
  std::vector<std::deque<UnderWay>> wires;
  std::vector<std::vector<std::byte>> offered;
};

TEST(ExchangeTest, EveryRankHasTheExactSumWhateverTheWayTheSizeAndTheNetwork) {
  uint64_t seed = 0;
  for (const Way way : kWays) {
    for (int ranks = 2; ranks <= kRanksMax; ++ranks) {
      for (const size_t elements : {size_t{1}, size_t{2}, size_t{7}, size_t{64}, size_t{1001}}) {
        for (const size_t chunk : {size_t{3}, size_t{100}, size_t{5000}}) {
          SCOPED_TRACE(std::string(NameOf(way)) + ", " + std::to_string(ranks) + " ranks, " +
                       std::to_string(elements) + " elements, chunks of " +
                       std::to_string(chunk) + ", seed " + std::to_string(++seed));
          World world(way, ranks, elements, chunk, seed);
          world.Fill(seed);
          world.Begin(kTurn);
          ASSERT_EQ(world.Run(), absl::OkStatus());
          for (size_t i = 0; i < elements; ++i) {
            int64_t sum = 0;
            for (int rank = 0; rank < ranks; ++rank) {
              sum += static_cast<int64_t>(NumberOf(seed, i, rank, ranks));
            }
            for (const auto& values : world.values) ASSERT_EQ(values[i], static_cast<float>(sum));
          }
          for (const auto& wire : world.wires) EXPECT_TRUE(wire.empty());
        }
      }
    }
  }
}

TEST(ExchangeTest, EveryRankHasThePartsOfAllWhateverTheirSizes) {
  uint64_t seed = 0;
  for (int ranks = 2; ranks <= kRanksMax; ++ranks) {
    for (const size_t chunk : {size_t{3}, size_t{5000}}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, chunks of " + std::to_string(chunk));
      std::vector<size_t> sizes;
      for (int rank = 0; rank < ranks; ++rank) {
        sizes.push_back((static_cast<size_t>(rank) * 17 + seed) % 23);
      }
      World world(ranks, ++seed, [&](Place place) { return PlanGather(place, sizes, chunk); });
      std::vector<float> all;
      for (int rank = 0; rank < ranks; ++rank) {
        auto& mine = world.values[static_cast<size_t>(rank)];
        std::ranges::fill(mine, -1.0F);
        const size_t size = sizes[static_cast<size_t>(rank)];
        for (size_t i = 0; i < size; ++i) {
          const size_t at = all.size();
          all.push_back(NumberOf(seed, at, rank, ranks));
          mine[at] = all.back();
        }
      }
      world.Begin(kTurn);
      ASSERT_EQ(world.Run(), absl::OkStatus());
      for (const auto& values : world.values) EXPECT_EQ(values, all);
      for (const auto& wire : world.wires) EXPECT_TRUE(wire.empty());
    }
  }
}

// Whole numbers up to 256 are bfloat16's, so nothing is rounded.
TEST(ExchangeTest, SumsOfWhatBFloat16HoldsAreExactInHalfTheBytes) {
  uint64_t seed = 0;
  for (const Way way : kWays) {
    for (int ranks = 2; ranks <= kRanksMax; ++ranks) {
      for (const size_t elements : {size_t{1}, size_t{7}, size_t{1001}}) {
        for (const size_t chunk : {size_t{3}, size_t{5000}}) {
          SCOPED_TRACE(std::string(NameOf(way)) + ", " + std::to_string(ranks) + " ranks, " +
                       std::to_string(elements) + " elements, chunks of " +
                       std::to_string(chunk) + ", seed " + std::to_string(++seed));
          World world(way, ranks, elements, chunk, seed, Wire::kBFloat16);
          const World wide(way, ranks, elements, chunk, seed);
          std::vector<float> sums(elements);
          for (int rank = 0; rank < ranks; ++rank) {
            const auto at = static_cast<size_t>(rank);
            for (size_t i = 0; i < elements; ++i) {
              const auto number = static_cast<int64_t>(NumberOf(seed, i, rank, ranks));
              world.values[at][i] = static_cast<float>(number % 28);
              sums[i] += world.values[at][i];
            }
            EXPECT_EQ(2 * world.sides[at]->bytes_to_send(), wide.sides[at]->bytes_to_send());
          }
          world.Begin(kTurn);
          ASSERT_EQ(world.Run(), absl::OkStatus());
          for (const auto& values : world.values) ASSERT_EQ(values, sums);
          for (const auto& wire : world.wires) EXPECT_TRUE(wire.empty());
        }
      }
    }
  }
}

float Rounded(float x) { return FromBFloat16(RoundToBFloat16(x)); }

// Each hop rounds once, and what is spread is rounded where it was added, too.
TEST(ExchangeTest, InBFloat16AllRanksHaveTheSameBitsWithinAnErrorOfEachHop) {
  for (const Way way : kWays) {
    for (int ranks = 2; ranks <= kRanksMax; ++ranks) {
      std::vector<float> first;
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(std::string(NameOf(way)) + ", " + std::to_string(ranks) + " ranks");
        World world(way, ranks, 333, 16, seed, Wire::kBFloat16);
        std::mt19937_64 random(77);
        std::vector<double> sums(333), sizes(333);
        for (auto& values : world.values) {
          for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(static_cast<int64_t>(random() % 2'000'001) - 1'000'000) /
                        1'000'003;
            sums[i] += values[i];
            sizes[i] += std::abs(values[i]);
          }
        }
        world.Begin(kTurn);
        ASSERT_EQ(world.Run(), absl::OkStatus());
        if (first.empty()) first = world.values[0];
        for (const auto& values : world.values) EXPECT_EQ(values, first);
        // 2^-8 of what is rounded, which is at most the sum of all sizes, and float32's own.
        for (size_t i = 0; i < sums.size(); ++i) {
          ASSERT_NEAR(first[i], sums[i], (ranks / 256.0 + 1e-6) * sizes[i]) << i;
        }
      }
    }
  }
}

TEST(ExchangeTest, OfTwoRanksWhatIsRoundedIsKnown) {
  const float a = 1.00390625F * 3, b = 0.3F;
  ASSERT_NE(Rounded(a), a);
  for (const Way way : kWays) {
    World world(way, 2, 2, 16, 3, Wire::kBFloat16);
    world.values = {{a, a}, {b, b}};
    world.Begin(kTurn);
    ASSERT_EQ(world.Run(), absl::OkStatus());
    // Rank 1 adds the first of the ring, rank 0 the second, and all of the star.
    const float by_0 = Rounded(a + Rounded(b)), by_1 = Rounded(b + Rounded(a));
    std::vector<float> sums = {Rounded(a) + Rounded(b), Rounded(a) + Rounded(b)};
    if (way == Way::kStar) sums = {by_0, by_0};
    if (way == Way::kRing) sums = {by_1, by_0};
    EXPECT_EQ(world.values[0], sums) << NameOf(way);
    EXPECT_EQ(world.values[1], sums) << NameOf(way);
  }
}

TEST(ExchangeTest, RanksOfAnotherWireDoNotAdd) {
  const Plan zero = PlanAllReduce(Way::kRing, {2, 0}, 10);
  const Plan one = PlanAllReduce(Way::kRing, {2, 1}, 10);
  World world(2, 1, [&](Place place) { return place.rank == 0 ? zero : one; });
  world.sides[1] = std::make_unique<Exchange>(one, Wire::kBFloat16);
  world.Begin(kTurn);
  const absl::Status status = world.Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("of 40 bytes"), std::string::npos) << status;
  EXPECT_NE(status.message().find("of 20 bytes"), std::string::npos) << status;
}

TEST(ExchangeTest, AllRanksHaveTheSameBitsWhateverTheNetworkDoes) {
  for (const Way way : kWays) {
    std::vector<float> first;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      World world(way, 5, 333, 16, seed);
      std::mt19937 numbers(42);
      for (auto& values : world.values) {
        for (float& value : values) {
          value = std::normal_distribution<float>(0, 1e3F)(numbers) / 3;
        }
      }
      world.Begin(kTurn);
      ASSERT_EQ(world.Run(), absl::OkStatus());
      if (first.empty()) first = world.values[0];
      for (const auto& values : world.values) {
        EXPECT_EQ(std::memcmp(values.data(), first.data(), first.size() * sizeof(float)), 0)
            << NameOf(way) << ", seed " << seed;
      }
    }
  }
}

TEST(ExchangeTest, ABroadcastGivesThoseWhoReceiveWhatItsRootHasAndNobodyElse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    World world(5, seed, [](Place place) { return PlanBroadcast(place, 2, {0, 4}, 103, 10); });
    world.Fill(seed);
    const auto before = world.values;
    world.Begin(kTurn);
    ASSERT_EQ(world.Run(), absl::OkStatus());
    for (const size_t rank : {0U, 2U, 4U}) EXPECT_EQ(world.values[rank], before[2]);
    for (const size_t rank : {1U, 3U}) EXPECT_EQ(world.values[rank], before[rank]);
  }
}

TEST(ExchangeTest, OneExchangeServesStepAfterStep) {
  World world(Way::kRing, 3, 50, 8, 1);
  for (int64_t step = 1; step <= 3; ++step) {
    world.Fill(static_cast<uint64_t>(step));
    world.Begin({.epoch = 1, .step = step});
    ASSERT_EQ(world.Run(), absl::OkStatus());
    int64_t sum = 0;
    for (int rank = 0; rank < 3; ++rank) {
      sum += static_cast<int64_t>(NumberOf(static_cast<uint64_t>(step), 49, rank, 3));
    }
    EXPECT_EQ(world.values[2][49], static_cast<float>(sum));
  }
}

TEST(ExchangeTest, NothingIsExchangedOfNothingAndByOneRank) {
  for (const Way way : kWays) {
    Exchange nothing(PlanAllReduce(way, {4, 1}, 0));
    nothing.Begin(kTurn, {});
    EXPECT_TRUE(nothing.done());
    EXPECT_TRUE(nothing.peers().empty());

    std::vector<float> values{1, 2};
    Exchange alone(PlanAllReduce(way, {1, 0}, 2));
    alone.Begin(kTurn, values);
    EXPECT_TRUE(alone.done());
    EXPECT_EQ(values, (std::vector<float>{1, 2}));
  }
}

// Ranks 0 and 1 begin different exchanges; what rank 1 says of it, and whether its numbers changed.
std::string Disagree(const Turn& first, size_t elements, const Turn& second, size_t others) {
  Exchange zero(PlanAllReduce(Way::kRing, {2, 0}, elements));
  Exchange one(PlanAllReduce(Way::kRing, {2, 1}, others));
  std::vector<float> values(elements, 1), mine(others, 2);
  zero.Begin(first, values);
  one.Begin(second, mine);
  const std::span<const std::byte> head = zero.ToSend(1);
  EXPECT_EQ(head.size(), comm::kFrameHeadBytes);
  std::copy(head.begin(), head.end(), one.ToReceive(0).begin());
  const absl::Status status = one.Received(0, head.size());
  EXPECT_EQ(mine, std::vector<float>(others, 2));
  return std::string(status.message());
}

TEST(ExchangeTest, RanksThatDoNotAgreeSayWhatBothAreAt) {
  EXPECT_EQ(Disagree(kTurn, 4, kTurn, 4), "");
  EXPECT_EQ(Disagree({3, 17, 1}, 4, {3, 18, 1}, 4),
            "all-reduce with rank 0: it sends REDUCE of rank 0, epoch 3, step 17, vector 1 of 16 "
            "bytes; rank 1 is at epoch 3, step 18, vector 1 of 16 bytes: ranks must have the same "
            "program, model, batch size and precision");
  for (const Turn& other : {Turn{2, 17, 1}, Turn{3, 17, 0}}) {
    EXPECT_NE(Disagree(other, 4, kTurn, 4), "");
  }
  EXPECT_NE(Disagree(kTurn, 4, kTurn, 5), "");
}

TEST(ExchangeTest, BytesThatAreNoHeadAreRefused) {
  Exchange one(PlanAllReduce(Way::kRing, {2, 1}, 4));
  std::vector<float> values(4);
  one.Begin(kTurn, values);
  const std::span<std::byte> into = one.ToReceive(0);
  std::fill(into.begin(), into.end(), std::byte{0x47});
  const absl::Status status = one.Received(0, into.size());
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
}

TEST(ExchangeTest, ItSaysForWhomItWaits) {
  Exchange two(PlanAllReduce(Way::kStar, {3, 2}, 4));
  std::vector<float> values(4);
  EXPECT_EQ(two.waits_for(), std::nullopt);
  two.Begin(kTurn, values);
  EXPECT_EQ(two.waits_for(), 0);
}

}  // namespace
}  // namespace taas::collective
