// A member against a chief that answers as a test says: late, in the wrong order, not at all.

#include "trainer/replica/member.h"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "trainer/cluster/chief_server.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class ScriptedChief : public ChiefHandler {
 public:
  using Lock = std::unique_lock<std::mutex>;

  wire::JoinReply Join(const wire::JoinRequest& request) override {
    Lock lock(mutex);
    starts.push_back(request.identity().start());
    changed.notify_all();
    wire::JoinReply reply;
    if (on_join) on_join(reply);
    return reply;
  }
  wire::BeatReply Beat(const wire::BeatRequest& request) override {
    Lock lock(mutex);
    wire::BeatReply reply;
    on_beat(lock, request, reply);
    return reply;
  }
  void Leave(const wire::LeaveRequest&) override {}
  void WaitFor(Lock& lock, const std::function<bool()>& done) {
    changed.wait(lock, [&] { return closing || done(); });
  }
  void Close() {
    Lock lock(mutex);
    closing = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> starts;  // Of each Join.
  bool closing = false;
  std::function<void(wire::JoinReply&)> on_join;  // Both with the lock held.
  std::function<void(Lock&, const wire::BeatRequest&, wire::BeatReply&)> on_beat =
      [this](Lock& lock, const wire::BeatRequest&, wire::BeatReply&) {
        WaitFor(lock, [] { return false; });
      };
};

class MemberTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = ChiefServer::Start("127.0.0.1", 0, chief_);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    address_ = "127.0.0.1:" + std::to_string(server_->port());
    member_.emplace(clock_,
                    Member::Options{.chief_name = "chief-0",
                                    .chief_address = address_,
                                    .job = {"uid", 1},
                                    .self = {"worker", 0},
                                    .incarnation = {1, 10},
                                    .rank = 1},
                    board_, stop_);
  }
  void TearDown() override {
    chief_.Close();
    member_.reset();
  }

  // What a test wrote before is its chief's, and what that wrote is the test's: the calls between
  // them say nothing of order.
  absl::Status Start() {
    { ScriptedChief::Lock handed_over(chief_.mutex); }
    const absl::Status status = member_->Start();
    ScriptedChief::Lock handed_back(chief_.mutex);
    return status;
  }

  FakeClock clock_;
  StatusBoard board_{{}};
  StopFlag stop_;
  ScriptedChief chief_;
  std::unique_ptr<ChiefServer> server_;
  std::string address_;
  std::optional<Member> member_;
};

TEST_F(MemberTest, WhatIsSaidOfAStartThatWasGivenUpDoesNotEndThePresentOne) {
  bool asked = false;
  chief_.on_beat = [&](auto& lock, const auto& request, auto& reply) {
    const bool wants = request.wanted() > 0;
    if (request.identity().start() != 10) {
      if (!wants) return chief_.WaitFor(lock, [] { return false; });
      reply.set_view(1);
      reply.add_batches(7);
      return;
    }
    // The heartbeat learns first that the chief gave it up. The answer to the other call comes when
    // the process stands there under a new start.
    asked = asked || wants;
    chief_.changed.notify_all();
    chief_.WaitFor(lock, [&] { return wants ? chief_.starts.size() > 1 : asked; });
    reply.set_verdict(wants ? wire::BeatReply::SUPERSEDED : wire::BeatReply::JOIN_AGAIN);
    reply.set_sentence("a later process has taken the place of worker-0");
  };
  ASSERT_THAT(Start(), IsOk());
  const auto work = member_->Next();
  ASSERT_THAT(work, IsOk());
  EXPECT_THAT(work->batches, ElementsAre(7));
}

TEST_F(MemberTest, AnAnswerThatWasOvertakenDoesNotBringAnEarlierGenerationBack) {
  bool has_work = false;
  uint64_t seen = 0;
  chief_.on_beat = [&, beats = 0](auto& lock, const auto& request, auto& reply) mutable {
    if (request.wanted() > 0) {
      reply.set_view(5);
      reply.set_generation(3);
      reply.add_batches(7);
      return;
    }
    if (++beats == 1) {
      chief_.WaitFor(lock, [&] { return has_work; });
      reply.set_view(4);
      reply.set_generation(2);
      return;
    }
    seen = request.seen_view();
    chief_.changed.notify_all();
    chief_.WaitFor(lock, [] { return false; });
  };
  ASSERT_THAT(Start(), IsOk());
  const auto work = member_->Next();
  ASSERT_THAT(work, IsOk());
  {
    ScriptedChief::Lock lock(chief_.mutex);
    has_work = true;
    chief_.changed.notify_all();
    chief_.WaitFor(lock, [&] { return seen > 0; });
  }
  EXPECT_EQ(seen, 5u);
  EXPECT_TRUE(member_->StillCurrent(3, work->pusher));
}

TEST_F(MemberTest, WaitsForTheChiefUntilTheDeadlineEachTimeUnderANewStart) {
  chief_.on_join = [&](wire::JoinReply& reply) {
    if (chief_.starts.size() > 3) return;
    clock_.Advance(1min);
    reply.set_verdict(wire::JoinReply::LATER);
    reply.set_sentence("not now");
  };
  EXPECT_THAT(Start(), IsOk());
  EXPECT_THAT(board_.snapshot().message,
              HasSubstr("waiting for chief-0 at " + address_ + " since 180 s: not now"));
  ScriptedChief::Lock lock(chief_.mutex);
  ASSERT_EQ(chief_.starts.size(), 4u);
  EXPECT_EQ(chief_.starts[0], 10u);
  EXPECT_NE(chief_.starts[1], chief_.starts[0]);
}

TEST_F(MemberTest, GivesUpAtTheDeadlineAndNamesTheChief) {
  chief_.on_join = [&](wire::JoinReply& reply) {
    clock_.Advance(10min);
    reply.set_verdict(wire::JoinReply::LATER);
    reply.set_sentence("not now");
  };
  EXPECT_THAT(Start(),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("waiting for chief-0 at " + address_ + " since 600 s: not now")));
}

// It waited for the end of a call of up to five seconds.
TEST_F(MemberTest, EndsAtOnceWhileTheChiefHoldsItsHeartbeat) {
  bool held = false;
  chief_.on_beat = [&](auto& lock, const auto&, auto&) {
    held = true;
    chief_.changed.notify_all();
    chief_.WaitFor(lock, [] { return false; });
  };
  ASSERT_THAT(Start(), IsOk());
  {
    ScriptedChief::Lock lock(chief_.mutex);
    chief_.WaitFor(lock, [&] { return held; });
  }
  const RealClock clock;
  const Clock::Time start = clock.Now();
  member_.reset();
  EXPECT_LT(clock.Now() - start, 1s);
}

// After the chief had ended its parameter servers called it for another five to ten seconds.
TEST_F(MemberTest, ToldToStopItNoticesAtOnceThatTheChiefHasGone) {
  ASSERT_THAT(Start(), IsOk());
  chief_.Close();
  server_.reset();
  const RealClock clock;
  const Clock::Time start = clock.Now();
  stop_.Stop();
  EXPECT_THAT(member_->WaitForEnd(), StatusIs(absl::StatusCode::kCancelled));
  member_.reset();
  EXPECT_LT(clock.Now() - start, 2s);
}

// A chief that ends answers every call at once: the heartbeats kept a core busy until it was gone.
TEST_F(MemberTest, AChiefThatAnswersAtOnceWithNoNewsIsNotAskedWithoutPause) {
  // Far above what fits in a third of a second with pauses, far below what does without.
  constexpr int kHot = 100;
  int beats = 0;
  chief_.on_beat = [&](auto&, const auto& request, auto& reply) {
    ++beats;
    chief_.changed.notify_all();
    reply.set_view(request.seen_view());
  };
  ASSERT_THAT(Start(), IsOk());
  ScriptedChief::Lock lock(chief_.mutex);
  EXPECT_FALSE(chief_.changed.wait_for(lock, 333ms, [&] { return beats > kHot; }));
  EXPECT_GT(beats, 1);
}

// Its links to the others may be as they were: the chief's machine is gone, or hangs.
TEST_F(MemberTest, ARankLeavesTheEpochOfAChiefThatIsSilent) {
  std::promise<uint32_t> left;
  bool told = false;
  chief_.on_beat = [&, silent = false](auto& lock, const auto& request, auto& reply) mutable {
    if (request.ring().waiting() && !silent) {
      reply.set_view(1);
      reply.mutable_ring()->set_number(4);
      reply.mutable_ring()->set_rank(1);
      for (const char* address : {"a:1", "b:1"}) reply.mutable_ring()->add_addresses(address);
      silent = true;
      return;
    }
    if (silent) clock_.Advance(3s);
    chief_.WaitFor(lock, [&] { return !silent; });
  };
  member_.emplace(clock_,
                  Member::Options{.chief_name = "chief-0",
                                  .chief_address = address_,
                                  .job = {"uid", 1},
                                  .self = {"worker", 0},
                                  .incarnation = {1, 10},
                                  .rank = 1,
                                  .silence = 300ms,
                                  .on_over =
                                      [&](uint32_t epoch) {
                                        if (!std::exchange(told, true)) left.set_value(epoch);
                                      }},
                  board_, stop_);
  ASSERT_THAT(Start(), IsOk());
  const auto epoch = member_->Next(Standing{}, std::nullopt);
  ASSERT_THAT(epoch, IsOk());
  EXPECT_EQ((*epoch)->number, 4u);
  EXPECT_EQ(left.get_future().get(), 4u);
}

TEST_F(MemberTest, CanBeDestroyedWhileItJoinsAgain) {
  chief_.on_join = [&](wire::JoinReply& reply) {
    if (chief_.starts.size() > 1) reply.set_verdict(wire::JoinReply::LATER);
  };
  chief_.on_beat = [](auto&, const auto&, auto& reply) {
    reply.set_verdict(wire::BeatReply::JOIN_AGAIN);
  };
  ASSERT_THAT(Start(), IsOk());
  {
    ScriptedChief::Lock lock(chief_.mutex);
    chief_.WaitFor(lock, [&] { return chief_.starts.size() > 2; });
  }
  member_.reset();
}

// Whoever waited for a chief that loads its data for longer than the start may take gave up, though
// the chief was there.
TEST_F(MemberTest, AChiefThatGetsReadyIsWaitedForBeyondTheDeadlineOfTheStart) {
  int asked = 0;
  chief_.on_join = [&](wire::JoinReply& reply) {
    clock_.Advance(2min);
    if (++asked > 5) return;
    reply.set_verdict(wire::JoinReply::LATER);
    reply.set_sentence("the chief loads its data");
    reply.set_getting_ready(true);
  };
  EXPECT_THAT(Start(), IsOk());
  EXPECT_EQ(asked, 6);
}

TEST_F(MemberTest, AChiefThatSendsAwayWithoutGettingReadyIsNot) {
  chief_.on_join = [&](wire::JoinReply& reply) {
    clock_.Advance(2min);
    reply.set_verdict(wire::JoinReply::LATER);
    reply.set_sentence("the chief is of an earlier attempt");
  };
  EXPECT_THAT(Start(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                HasSubstr("of an earlier attempt, given up after 300 s")));
}

// A worker that came when all was over said nothing.
TEST_F(MemberTest, WhoComesAtTheEndLearnsTheLastStep) {
  chief_.on_beat = [](auto&, const auto&, auto& reply) {
    reply.set_view(1);
    reply.set_done(true);
    reply.set_step(500);
  };
  ASSERT_THAT(Start(), IsOk());
  const auto work = member_->Next();
  ASSERT_THAT(work, IsOk());
  EXPECT_TRUE(work->done);
  EXPECT_EQ(member_->end_step(), 500);
}

}  // namespace
}  // namespace taas
