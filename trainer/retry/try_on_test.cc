#include "trainer/retry/try_on.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class TryOnTest : public testing::Test {
 protected:
  // Each attempt takes a minute by the clock.
  absl::Status Try(ErrorAt at, const std::function<absl::Status(int)>& attempt) {
    const Tries tries{clock_, board_, stop_, {.role = TrainerRole::kChief, .pause = 0ms}};
    return TryOn(tries, at, "save the last checkpoint", [&] {
      clock_.Advance(1min);
      seen_ = board_.snapshot();
      return attempt(++attempts_);
    });
  }

  FakeClock clock_;
  StatusBoard board_{{}};
  StopFlag stop_;
  int attempts_ = 0;
  StatusBoard::Snapshot seen_;  // At the last attempt.
};

// A full disk at the end was tried for ever: nobody heard of it, and the job never ended.
TEST_F(TryOnTest, ADiskThatStaysFullEndsTheLastSaveWithItsCause) {
  const auto full = absl::ResourceExhaustedError("write /out/a: No space left on device");
  EXPECT_THAT(Try(ErrorAt::kLastSave, [&](int) { return full; }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("save the last checkpoint, given up after 3600 s"),
                             HasSubstr("No space left on device"))));
  EXPECT_EQ(attempts_, 61);
  EXPECT_EQ(seen_.state, RunState::kSaving);
  EXPECT_THAT(seen_.message, AllOf(HasSubstr("trying again to save the last checkpoint since "
                                             "3540 s, at most for 3600 s"),
                                   HasSubstr("No space left on device")));
}

TEST_F(TryOnTest, ADiskThatIsBackInTimeCostsNothing) {
  board_.SetState(RunState::kTraining, "as before");
  EXPECT_THAT(Try(ErrorAt::kLastSave,
                  [&](int attempt) {
                    return attempt < 50 ? absl::UnavailableError("stat /out: Stale file handle")
                                        : absl::OkStatus();
                  }),
              IsOk());
  EXPECT_EQ(attempts_, 50);
  EXPECT_EQ(board_.snapshot().state, RunState::kTraining);
  EXPECT_EQ(board_.snapshot().message, "as before");
}

TEST_F(TryOnTest, WhatMayBeWellOnAnotherNodeAsksForAnotherStart) {
  EXPECT_THAT(Try(ErrorAt::kRead, [](int) { return absl::UnavailableError("read x: I/O error"); }),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("given up after 600 s"), HasSubstr("read x: I/O error"))));
}

TEST_F(TryOnTest, WhatDoesNotPassIsNotTriedAgain) {
  const auto diverged = absl::InvalidArgumentError("Model diverged");
  EXPECT_EQ(Try(ErrorAt::kLastSave, [&](int) { return diverged; }), diverged);
  EXPECT_EQ(attempts_, 1);
}

TEST_F(TryOnTest, AStopEndsTheWait) {
  EXPECT_THAT(Try(ErrorAt::kLastSave,
                  [&](int attempt) {
                    if (attempt == 3) stop_.Stop();
                    return absl::UnavailableError("away");
                  }),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped while trying again")));
  EXPECT_EQ(attempts_, 3);
}

}  // namespace
}  // namespace taas
