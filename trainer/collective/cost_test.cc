#include "trainer/collective/cost.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/plan.h"

namespace taas::collective {
namespace {

constexpr Way kWays[] = {Way::kRing, Way::kStar, Way::kDirect};
// What a wire carries at a time: a frame of Ethernet, so that ways of one rank share its wire.
constexpr size_t kFrame = 1460;

// Ranks with a wire out and a wire in each, in virtual time: the exchanges are the real ones.
class Wires {
 public:
  Wires(Way way, int ranks, size_t elements, size_t chunk, const LinkCost& link)
      : link_(link), ranks_(static_cast<size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      exchanges_.emplace_back(PlanAllReduce(way, {ranks, rank}, elements, chunk));
      values_.emplace_back(elements, 1.0F);
    }
    out_.resize(ranks_);
    in_free_.resize(ranks_);
    come_.assign(ranks_, std::vector<std::deque<std::byte>>(ranks_));
    for (size_t i = 0; i < ranks_; ++i) exchanges_[i].Begin({.epoch = 1}, values_[i]);
  }

  // Seconds until every rank has the sum.
  double Run() {
    for (size_t rank = 0; rank < ranks_; ++rank) SendFrom(rank);
    while (!events_.empty()) {
      const auto first = events_.begin();
      now_ = first->first;
      const auto what = std::move(first->second);
      events_.erase(first);
      what();
    }
    for (size_t i = 0; i < ranks_; ++i) {
      EXPECT_TRUE(exchanges_[i].done());
      const auto sum = static_cast<float>(ranks_);
      EXPECT_TRUE(std::ranges::all_of(values_[i], [&](float value) { return value == sum; }));
    }
    return now_;
  }

 private:
  struct Out {
    bool busy = false;
    size_t next = 0;  // Peers send in turn.
  };

  void At(double when, std::function<void()> what) { events_.emplace(when, std::move(what)); }

  void SendFrom(size_t rank) {
    if (out_[rank].busy) return;
    for (size_t tried = 0; tried < ranks_; ++tried) {
      const size_t peer = out_[rank].next;
      out_[rank].next = (peer + 1) % ranks_;
      if (peer == rank) continue;
      const auto ready = exchanges_[rank].ToSend(static_cast<int>(peer));
      if (ready.empty()) continue;
      const auto frame = ready.first(std::min(kFrame, ready.size()));
      std::vector<std::byte> bytes(frame.begin(), frame.end());
      exchanges_[rank].Sent(static_cast<int>(peer), bytes.size());
      const double took = static_cast<double>(bytes.size()) * link_.byte_s;
      out_[rank].busy = true;
      At(now_ + took, [this, rank] {
        out_[rank].busy = false;
        SendFrom(rank);
      });
      // Its first byte arrives a latency after it has left, and the wire in may be busy then.
      At(now_ + link_.latency_s, [this, rank, peer, took, bytes = std::move(bytes)] {
        in_free_[peer] = std::max(in_free_[peer], now_) + took;
        At(in_free_[peer], [this, rank, peer, bytes] { Arrive(rank, peer, bytes); });
      });
      return;
    }
  }

  void Arrive(size_t from, size_t at, const std::vector<std::byte>& bytes) {
    come_[at][from].insert(come_[at][from].end(), bytes.begin(), bytes.end());
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t peer = 0; peer < ranks_; ++peer) {
        const auto into = exchanges_[at].ToReceive(static_cast<int>(peer));
        auto& queue = come_[at][peer];
        const size_t count = std::min(into.size(), queue.size());
        if (count == 0) continue;
        std::copy_n(queue.begin(), count, into.begin());
        queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(count));
        EXPECT_TRUE(exchanges_[at].Received(static_cast<int>(peer), count).ok());
        moved = true;
      }
    }
    SendFrom(at);
  }

  const LinkCost link_;
  const size_t ranks_;
  double now_ = 0;
  std::multimap<double, std::function<void()>> events_;
  std::deque<Exchange> exchanges_;
  std::vector<std::vector<float>> values_;
  std::vector<Out> out_;
  std::vector<double> in_free_;
  std::vector<std::vector<std::deque<std::byte>>> come_;  // By who has it and who sent it.
};

// Latency counts, both count, bytes count.
constexpr LinkCost kLinks[] = {{.latency_s = 5e-3, .byte_s = 1e-9},
                               {.latency_s = 1e-3, .byte_s = 1e-7},
                               {.latency_s = 1e-5, .byte_s = 1e-7}};

TEST(CostTest, IsWhatOurExchangesTakeOverSuchWires) {
  constexpr size_t kElements = 48 << 10, kChunk = 4 << 10;
  for (const LinkCost& link : kLinks) {
    for (const Way way : kWays) {
      for (const int ranks : {2, 3, 4, 8}) {
        const double took = Wires(way, ranks, kElements, kChunk, link).Run();
        const Summed summed{ranks, kElements * sizeof(float), kChunk * sizeof(float)};
        EXPECT_NEAR(took / SecondsOf(way, summed, link), 1, 0.1)
            << NameOf(way) << " of " << ranks << " ranks, " << link.latency_s << " s and "
            << link.byte_s << " s a byte";
      }
    }
  }
}

TEST(CostTest, PassingPartsOnInChunksIsInIt) {
  constexpr size_t kElements = 64 << 10;
  const LinkCost link{.latency_s = 1e-4, .byte_s = 1e-7};
  const size_t bytes = kElements * sizeof(float);
  for (const Way way : {Way::kRing, Way::kStar}) {
    for (const size_t chunk : {size_t{2} << 10, kElements}) {
      const double took = Wires(way, 4, kElements, chunk, link).Run();
      const Summed summed{4, bytes, chunk * sizeof(float)};
      EXPECT_NEAR(took / SecondsOf(way, summed, link), 1, 0.05) << NameOf(way) << " " << chunk;
    }
  }
}

TEST(CostTest, AMessageCountsAsOftenAsOneWaitsForTheOther) {
  const LinkCost link{.message_s = 1};
  const Summed summed{.ranks = 8, .bytes = 1 << 20};
  EXPECT_EQ(SecondsOf(Way::kRing, summed, link), 14);
  EXPECT_EQ(SecondsOf(Way::kStar, summed, link), 2);
  EXPECT_EQ(SecondsOf(Way::kDirect, summed, link), 1);
}

TEST(CostTest, OneRankWaitsForNobody) {
  for (const Way way : kWays) {
    EXPECT_EQ(SecondsOf(way, {.ranks = 1, .bytes = 1 << 20}, kLinks[0]), 0);
  }
}

TEST(CostTest, FewNumbersGoDirectlyAndManyAroundTheRing) {
  const LinkCost ethernet{.latency_s = 50e-6, .byte_s = 8 / 10e9};
  for (const int ranks : {4, 8, 64}) {
    EXPECT_EQ(QuickestWay({.ranks = ranks, .bytes = 16 << 10}, ethernet), Way::kDirect) << ranks;
    EXPECT_EQ(QuickestWay({.ranks = ranks, .bytes = 64 << 20}, ethernet), Way::kRing) << ranks;
  }
  // A part of two ranks comes back while the other goes out: as many bytes as directly.
  EXPECT_EQ(QuickestWay({.ranks = 2, .bytes = 16 << 10}, ethernet), Way::kDirect);
  EXPECT_EQ(QuickestWay({.ranks = 2, .bytes = 64 << 20}, ethernet), Way::kRing);
}

// Up to 4,096 numbers a rank sends to each (trainer/ring/ring_core.h).
TEST(CostTest, WhatRanksSendDirectlyIsQuickerThatWayWhereALatencyIsWorth8KiB) {
  const double byte_s = 1e-9;
  const LinkCost link{.latency_s = 8'192 * byte_s, .byte_s = byte_s};
  for (const int ranks : {2, 3, 4, 8, 64, 1000}) {
    EXPECT_EQ(QuickestWay({.ranks = ranks, .bytes = 4'096 * sizeof(float)}, link), Way::kDirect)
        << ranks;
  }
}

}  // namespace
}  // namespace taas::collective
