// The desk of an elastic job: who comes that nobody listed, who goes for good, who is waited for.

#include "trainer/ring/ring_desk.h"

#include <future>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class RingDeskTest : public testing::Test {
 protected:
  // With a chief and so many workers in its TF_CONFIG.
  void Open(int listed, size_t min, size_t max, Clock::Duration silence = 5s) {
    ClusterSpec cluster;
    cluster.addresses["chief"] = {"chief:1"};
    for (int i = 0; i < listed; ++i) cluster.addresses["worker"].push_back(AddressOf(i));
    cluster.self = {"chief", 0};
    desk_.emplace(clock_, RingDesk::Options{
                              .roster = {.cluster = cluster,
                                         .job = {"uid", 1},
                                         .config_hash = "hash",
                                         .data_identity = "",
                                         .self = {0, 1},  // Whose epochs count from 1.
                                         .silence = silence},
                              .address = "chief:2",
                              .min = min,
                              .max = max,
                              .on_over = [this](uint32_t epoch) { over_.set_value(epoch); }});
  }

  static std::string AddressOf(int worker) { return "worker-" + std::to_string(worker) + ":2"; }

  static wire::Identity IdentityOf(int worker) {
    wire::Identity identity;
    identity.set_job_uid("uid");
    identity.set_role("worker");
    identity.set_index(worker);
    identity.set_attempt(1);
    identity.set_pod_number(1);
    identity.set_start(100 + static_cast<uint64_t>(worker));
    return identity;
  }

  void Join(int worker) {
    wire::JoinRequest request;
    *request.mutable_identity() = IdentityOf(worker);
    request.set_config_hash("hash");
    request.set_bulk_address(AddressOf(worker));
    EXPECT_EQ(desk_->Join(request).verdict(), wire::JoinReply::ACCEPTED) << worker;
  }

  // It has seen nothing, so it is answered at once.
  wire::BeatReply Beat(int worker, std::optional<int64_t> waits_at = std::nullopt) {
    wire::BeatRequest request;
    *request.mutable_identity() = IdentityOf(worker);
    if (waits_at) {
      request.mutable_ring()->set_waiting(true);
      request.mutable_ring()->set_step(*waits_at);
      request.mutable_ring()->set_epoch(epoch_of_[worker]);
    }
    return desk_->Beat(request);
  }

  void Leave(int worker) {
    wire::LeaveRequest request;
    *request.mutable_identity() = IdentityOf(worker);
    desk_->Leave(request);
  }

  // The chief and these wait, at `step`, until they are told of an epoch: the chief's.
  Epoch Gather(std::initializer_list<int> workers, int64_t step) {
    auto own = std::async(std::launch::async,
                          [&] { return desk_->Next({.step = step}, std::nullopt); });
    std::map<int, wire::RingEpoch> told;
    while (told.size() < workers.size()) {
      for (const int worker : workers) {
        if (told.contains(worker)) continue;
        const wire::BeatReply reply = Beat(worker, epoch_of_[worker] == 0 ? kNoModel : step);
        if (reply.ring().number() > epoch_of_[worker]) told[worker] = reply.ring();
      }
      std::this_thread::yield();
    }
    const auto epoch = own.get();
    EXPECT_THAT(epoch, IsOk());
    for (const auto& [worker, ring] : told) {
      EXPECT_EQ(ring.number(), (*epoch)->number);
      epoch_of_[worker] = ring.number();
    }
    over_ = {};
    return **epoch;
  }

  FakeClock clock_;
  std::promise<uint32_t> over_;  // Of the chief's own part.
  std::map<int, uint32_t> epoch_of_;
  std::optional<RingDesk> desk_;
};

TEST_F(RingDeskTest, AWorkerThatNobodyListedIsARankOfTheNextEpoch) {
  Open(/*listed=*/1, /*min=*/2, /*max=*/3);
  Join(0);
  EXPECT_EQ(Gather({0}, kUntrained).addresses.size(), 2u);
  Join(5);
  EXPECT_EQ(desk_->waiting_for(), "");
  Beat(5, kNoModel);
  EXPECT_EQ(over_.get_future().get(), 1u) << "it wants to join";
  const Epoch epoch = Gather({0, 5}, /*step=*/10);
  EXPECT_THAT(epoch.addresses, ElementsAre("chief:2", AddressOf(0), AddressOf(5)));
  EXPECT_EQ(epoch.start.step, 10);
  EXPECT_THAT(epoch.receivers, ElementsAre(2)) << "it has no model yet";
  // There is no room for another one.
  Join(6);
  Beat(6, kNoModel);
  EXPECT_FALSE(Beat(5).ring().addresses().empty()) << "the epoch is in force";
}

TEST_F(RingDeskTest, WorkersThatAreScaledAwayAreNotWaitedFor) {
  Open(/*listed=*/3, /*min=*/2, /*max=*/4);
  for (int worker = 0; worker < 3; ++worker) Join(worker);
  EXPECT_EQ(Gather({0, 1, 2}, kUntrained).ranks(), 4);
  Leave(2);
  EXPECT_EQ(over_.get_future().get(), 1u);
  EXPECT_EQ(Gather({0, 1}, /*step=*/10).ranks(), 3);
  Leave(1);
  EXPECT_EQ(over_.get_future().get(), 2u);
  EXPECT_EQ(Gather({0}, /*step=*/20).ranks(), 2);
  EXPECT_EQ(desk_->waiting_for(), "");
  // Below the smallest number: it is told for whom, and only for whom there must be.
  Leave(0);
  EXPECT_EQ(over_.get_future().get(), 3u);
  while (desk_->waiting_for().empty()) std::this_thread::yield();
  EXPECT_THAT(desk_->waiting_for(),
              AllOf(HasSubstr("waiting for worker-0 at " + AddressOf(0)),
                    Not(HasSubstr("worker-1")), Not(HasSubstr("worker-2"))));
}

TEST_F(RingDeskTest, WhoIsSilentForTheHeartbeatIsLost) {
  Open(/*listed=*/2, /*min=*/2, /*max=*/3, /*silence=*/3s);
  Join(0);
  Join(1);
  EXPECT_EQ(Gather({0, 1}, kUntrained).ranks(), 3);
  clock_.Advance(2s);
  Beat(0);
  clock_.Advance(2s);
  EXPECT_EQ(over_.get_future().get(), 1u);
  EXPECT_EQ(Gather({0}, /*step=*/10).ranks(), 2);
  EXPECT_EQ(desk_->Peers()[1].error, "silent for more than 3 s");
}

// A chief that comes anew does not know who was scaled away while the one before led.
TEST_F(RingDeskTest, ThoseWhoTrainedAlreadyDoNotWaitForAllThatAreListed) {
  Open(/*listed=*/4, /*min=*/2, /*max=*/5);
  Join(0);
  epoch_of_[0] = 7;
  auto own = std::async(std::launch::async,
                        [&] { return desk_->Next({.step = kUntrained}, std::nullopt); });
  Beat(0, /*waits_at=*/30);
  // Both wait, and the others have a moment to come.
  while (desk_->waiting_for().find("worker-3") == std::string::npos) std::this_thread::yield();
  clock_.Advance(4s);
  EXPECT_FALSE(Beat(0, /*waits_at=*/30).has_ring());
  clock_.Advance(1s);
  const auto epoch = own.get();
  ASSERT_THAT(epoch, IsOk());
  EXPECT_EQ((*epoch)->number, 8u);
  EXPECT_EQ((*epoch)->start.step, 30) << "the worker's model, not the chief's checkpoint";
}

}  // namespace
}  // namespace taas
