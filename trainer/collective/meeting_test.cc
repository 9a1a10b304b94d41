// Ranks of one process that meet over their listeners.

#include "trainer/collective/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/status_matchers.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/group.h"
#include "trainer/collective/plan.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"

namespace taas::collective {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kLong{60};
constexpr char kJob[] = "uid/1";

struct Rank {
  explicit Rank(std::chrono::milliseconds patience = kLong, const std::string& job = kJob)
      : meeting({.job = job, .patience = patience}) {
    auto opened = comm::Listener::Open(
        {.host = "127.0.0.1"}, [this](comm::Channel& channel) { meeting.Serve(channel); });
    EXPECT_THAT(opened.status(), IsOk());
    listener = *std::move(opened);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listener->port()); }

  Meeting meeting;
  std::unique_ptr<comm::Listener> listener;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

Ranks Make(int ranks, std::chrono::milliseconds patience = kLong) {
  Ranks made;
  for (int i = 0; i < ranks; ++i) made.push_back(std::make_unique<Rank>(patience));
  return made;
}

std::vector<std::string> AddressesOf(const Ranks& ranks) {
  std::vector<std::string> addresses;
  for (const auto& rank : ranks) addresses.push_back(rank->address());
  return addresses;
}

// Sums 1, 2, … over the ranks of `epoch`, each on a thread of its own, by the links they get.
void MeetAndSum(const Ranks& ranks, uint32_t epoch) {
  std::vector<std::thread> threads;
  const auto count = static_cast<int>(ranks.size());
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      auto links = ranks[static_cast<size_t>(rank)]->meeting.Meet(
          {.epoch = epoch, .rank = rank, .addresses = AddressesOf(ranks)});
      ASSERT_THAT(links.status(), IsOk());
      Group group({.place = {count, rank}, .links = *std::move(links)});
      for (const Way way : {Way::kRing, Way::kDirect}) {
        std::vector<float> values(100, static_cast<float>(rank + 1));
        Exchange exchange(PlanAllReduce(way, group.place(), values.size()));
        exchange.Begin({.epoch = epoch}, values);
        ASSERT_THAT(group.Run(exchange), IsOk());
        EXPECT_EQ(values, std::vector<float>(100, static_cast<float>(count * (count + 1) / 2)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(MeetingTest, AllRanksOfAnEpochAreConnectedWithEachOtherEpochAfterEpoch) {
  const Ranks ranks = Make(5);
  for (uint32_t epoch = 1; epoch <= 3; ++epoch) MeetAndSum(ranks, epoch);
}

TEST(MeetingTest, EachIsToldTheNotesOfAllOthersAndOnesOwn) {
  const Ranks ranks = Make(3);
  const std::vector<std::string> notes = {"+NCCL 2.28.9", "", "-a processor"};
  for (size_t rank = 0; rank < notes.size(); ++rank) {
    ranks[rank]->meeting.SetTerms("buckets of 9");
    ranks[rank]->meeting.SetNote(notes[rank]);
  }
  for (uint32_t epoch = 1; epoch <= 2; ++epoch) {
    MeetAndSum(ranks, epoch);
    for (const auto& rank : ranks) EXPECT_EQ(rank->meeting.notes(), notes);
  }
  ranks[1]->meeting.SetNote("+NCCL 2.27.3");
  MeetAndSum(ranks, 3);
  EXPECT_EQ(ranks[0]->meeting.notes()[1], "+NCCL 2.27.3");
  EXPECT_EQ(ranks[2]->meeting.notes()[1], "+NCCL 2.27.3");
}

TEST(MeetingTest, OneThatDoesNotComeIsNamed) {
  const Ranks ranks = Make(2, std::chrono::milliseconds(50));
  const auto links = ranks[0]->meeting.Meet(
      {.epoch = 7, .rank = 0, .addresses = AddressesOf(ranks)});
  EXPECT_THAT(links.status(), StatusIs(absl::StatusCode::kUnavailable,
                                       HasSubstr("epoch 7: rank 1 at " + ranks[1]->address() +
                                                 " has not called within 50 ms")));
}

TEST(MeetingTest, OneThatCannotBeCalledIsNamed) {
  Ranks ranks = Make(2);
  const std::vector<std::string> addresses = AddressesOf(ranks);
  ranks[0].reset();
  const auto links = ranks[1]->meeting.Meet({.epoch = 1, .rank = 1, .addresses = addresses});
  EXPECT_THAT(links.status(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(addresses[0])));
}

TEST(MeetingTest, ARankOfAnEarlierEpochIsRefusedAndTheOthersGoOn) {
  const Ranks ranks = Make(2);
  MeetAndSum(ranks, 4);
  Rank late;
  const std::vector<std::string> addresses{ranks[0]->address(), late.address()};
  const auto links = late.meeting.Meet({.epoch = 3, .rank = 1, .addresses = addresses});
  EXPECT_THAT(links.status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("calls for epoch 3, and here it is epoch 4")));
  MeetAndSum(ranks, 5);
}

absl::Status MeetAs(const Ranks& ranks, int rank) {
  return ranks[static_cast<size_t>(rank)]
      ->meeting.Meet({.epoch = 1, .rank = rank, .addresses = AddressesOf(ranks)})
      .status();
}

TEST(MeetingTest, ARankOfOtherTermsThanRankZeroIsRefusedWithBoth) {
  const Ranks ranks = Make(2);
  ranks[0]->meeting.SetTerms("buckets of 9");
  ranks[1]->meeting.SetTerms("buckets of 7");
  EXPECT_THAT(
      MeetAs(ranks, 1),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("rank 0 at " + ranks[0]->address() +
                         " refuses rank 1: rank 1 comes with buckets of 7, and here it is "
                         "buckets of 9: ranks must have the same program and model")));
}

// It is like rank 0, whose terms count: what is wrong is not its own.
TEST(MeetingTest, ARankThatAnotherOneOfOtherTermsRefusesIsNotToBlame) {
  const Ranks ranks = Make(3);
  ranks[1]->meeting.SetTerms("buckets of 7");
  std::thread first([&] {
    EXPECT_THAT(MeetAs(ranks, 0), StatusIs(absl::StatusCode::kAborted));
  });
  EXPECT_THAT(MeetAs(ranks, 2), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("rank 1 at " + ranks[1]->address() +
                                                   " refuses rank 2: rank 2 comes with ")));
  ranks[0]->meeting.Cancel(1);
  first.join();
}

TEST(MeetingTest, ARankThatWaitsForAnEpochThatIsOverIsTold) {
  const Ranks ranks = Make(3);
  const std::vector<std::string> addresses = AddressesOf(ranks);
  absl::Status ended;
  std::thread waiting([&] {
    ended = ranks[0]->meeting.Meet({.epoch = 1, .rank = 0, .addresses = addresses}).status();
  });
  // Rank 1 is in the next epoch already.
  const std::vector<std::string> two{addresses[0], addresses[1]};
  std::thread next([&] {
    const auto links = ranks[1]->meeting.Meet({.epoch = 2, .rank = 1, .addresses = two});
    EXPECT_THAT(links.status(), IsOk());
  });
  waiting.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kFailedPrecondition,
                              HasSubstr("epoch 1: some are at epoch 2")));
  EXPECT_THAT(ranks[0]->meeting.Meet({.epoch = 2, .rank = 0, .addresses = two}).status(), IsOk());
  next.join();
}

TEST(MeetingTest, AStrangerOfAnotherJobIsRefused) {
  const Ranks ranks = Make(1);
  Rank stranger(kLong, "uid/2");
  const auto links = stranger.meeting.Meet(
      {.epoch = 1, .rank = 1, .addresses = {ranks[0]->address(), stranger.address()}});
  EXPECT_THAT(links.status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       HasSubstr("another job or attempt")));
}

TEST(MeetingTest, ACallerThatClaimsAPlaceOfTheOneItCallsIsNotBelieved) {
  const Ranks ranks = Make(2);
  auto channel = comm::Channel::Connect(ranks[1]->address(), {});
  ASSERT_THAT(channel.status(), IsOk());
  ASSERT_THAT((*channel)->Send({.type = comm::FrameType::kHello}, std::string(kJob)), IsOk());
  const comm::FrameHead meet{.type = comm::FrameType::kMeet, .generation = 1, .rank = 0};
  ASSERT_THAT((*channel)->Send(meet), IsOk());
  ASSERT_THAT((*channel)->ReceiveHead().status(), IsOk());
  const auto links = ranks[1]->meeting.Meet(
      {.epoch = 1, .rank = 0, .addresses = {ranks[1]->address(), ranks[0]->address()}});
  EXPECT_THAT(links.status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("as rank 0")));
}

TEST(MeetingTest, AnEpochThatIsOverIsWaitedForNoLonger) {
  const Ranks ranks = Make(2);
  absl::Status ended;
  std::thread waiting([&] {
    ended = ranks[0]
                ->meeting.Meet({.epoch = 1, .rank = 0, .addresses = AddressesOf(ranks)})
                .status();
  });
  ranks[0]->meeting.Cancel(1);
  waiting.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kAborted));
  MeetAndSum(ranks, 2);
}

}  // namespace
}  // namespace taas::collective
