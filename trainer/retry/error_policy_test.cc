#include "trainer/retry/error_policy.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "operator/base/status.h"
#include "trainer/graph/machine_fault.h"

namespace taas {
namespace {

using absl::StatusCode;
using enum TrainerRole;
using enum ErrorAt;

constexpr TrainerRole kRoles[] = {kChief, kWorker, kParameterServer, kLocal, kEvaluator};
constexpr ErrorAt kPlaces[] = {kSetUp, kLoad, kRead, kSave, kLastSave, kPeer};
constexpr int kCodes = 17;  // absl's, from 0.

// The table of docs/contract.md, line by line.
struct Line {
  const char* name;
  StatusCode code;
  ErrorPlace place;
  Patience patience;
  int exit_code;
};

class ErrorPolicyTest : public testing::TestWithParam<Line> {};

TEST_P(ErrorPolicyTest, CellIsAsTheContractSays) {
  const Line& line = GetParam();
  EXPECT_EQ(ReactionTo(line.code, line.place), (Reaction{line.patience, line.exit_code}));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, ErrorPolicyTest,
    testing::Values(
        // A full, absent or read-only disk at the start ended the job for good.
        Line{"FullDiskAtTheStart", StatusCode::kResourceExhausted, {kChief, kSetUp},
             Patience::kStart, 138},
        Line{"DiskAwayAtTheStart", StatusCode::kUnavailable, {kLocal, kSetUp}, Patience::kStart,
             138},
        Line{"DirectoryOfAnotherJob", StatusCode::kAborted, {kChief, kSetUp}, Patience::kAlways,
             143},
        Line{"DirectoryOfALaterPod", StatusCode::kFailedPrecondition, {kChief, kSetUp},
             Patience::kNone, 1},
        Line{"DirectoryWithoutRights", StatusCode::kPermissionDenied, {kLocal, kSetUp},
             Patience::kNone, 1},
        Line{"FileInTheWay", StatusCode::kNotFound, {kChief, kSetUp}, Patience::kNone, 1},
        Line{"NoUndamagedCheckpoint", StatusCode::kDataLoss, {kChief, kSetUp}, Patience::kNone, 1},
        Line{"DataAwayAtTheStart", StatusCode::kUnavailable, {kWorker, kLoad}, Patience::kStart,
             138},
        Line{"NoSuchData", StatusCode::kNotFound, {kWorker, kLoad}, Patience::kNone, 1},
        Line{"DataTooLarge", StatusCode::kResourceExhausted, {kChief, kLoad}, Patience::kNone, 1},
        Line{"DataWithoutRights", StatusCode::kPermissionDenied, {kLocal, kLoad}, Patience::kNone,
             1},
        Line{"DamagedData", StatusCode::kDataLoss, {kEvaluator, kLoad}, Patience::kNone, 1},
        Line{"WrongField", StatusCode::kInvalidArgument, {kChief, kLoad}, Patience::kNone, 1},
        Line{"DataAwayLater", StatusCode::kUnavailable, {kChief, kRead}, Patience::kRead, 138},
        Line{"DataAwayLaterOfAWorker", StatusCode::kUnavailable, {kWorker, kRead}, Patience::kRead,
             138},
        Line{"VolumeNotMounted", StatusCode::kNotFound, {kLocal, kRead}, Patience::kRead, 138},
        Line{"DamagedRecord", StatusCode::kDataLoss, {kWorker, kRead}, Patience::kNone, 1},
        Line{"CheckpointThatWasRetired", StatusCode::kNotFound, {kEvaluator, kRead},
             Patience::kAlways, 143},
        Line{"CheckpointThatIsDamaged", StatusCode::kDataLoss, {kEvaluator, kRead},
             Patience::kAlways, 143},
        Line{"CheckpointsAway", StatusCode::kUnavailable, {kEvaluator, kRead}, Patience::kAlways,
             143},
        Line{"CheckpointOfAnotherModel", StatusCode::kFailedPrecondition, {kEvaluator, kRead},
             Patience::kNone, 1},
        Line{"FullDisk", StatusCode::kResourceExhausted, {kChief, kSave}, Patience::kAlways, 143},
        Line{"DiskAway", StatusCode::kUnavailable, {kLocal, kSave}, Patience::kAlways, 143},
        Line{"DirectoryGone", StatusCode::kNotFound, {kChief, kSave}, Patience::kAlways, 143},
        Line{"Diverged", StatusCode::kInvalidArgument, {kChief, kSave}, Patience::kNone, 1},
        Line{"DirectoryTakenOver", StatusCode::kFailedPrecondition, {kLocal, kSave},
             Patience::kNone, 1},
        Line{"RightsTakenAway", StatusCode::kPermissionDenied, {kChief, kSave}, Patience::kNone, 1},
        // It was tried without end.
        Line{"FullDiskAtTheEnd", StatusCode::kResourceExhausted, {kChief, kLastSave},
             Patience::kSave, 1},
        Line{"DiskAwayAtTheEnd", StatusCode::kUnavailable, {kLocal, kLastSave}, Patience::kSave, 1},
        Line{"FileInTheWayAtTheEnd", StatusCode::kNotFound, {kLocal, kLastSave}, Patience::kSave,
             1},
        Line{"DivergedAtTheEnd", StatusCode::kInvalidArgument, {kChief, kLastSave},
             Patience::kNone, 1},
        Line{"PeerGone", StatusCode::kUnavailable, {kChief, kPeer}, Patience::kAlways, 143},
        Line{"PeerStartsAnew", StatusCode::kAborted, {kWorker, kPeer}, Patience::kAlways, 143},
        Line{"AnotherProgramAtItsAddress", StatusCode::kDataLoss, {kChief, kPeer},
             Patience::kAlways, 143},
        Line{"PeersDoNotCome", StatusCode::kDeadlineExceeded, {kParameterServer, kPeer},
             Patience::kNone, 138},
        Line{"RefusedOrReplaced", StatusCode::kFailedPrecondition, {kWorker, kPeer},
             Patience::kNone, 1},
        Line{"Nonsense", StatusCode::kInvalidArgument, {kChief, kPeer}, Patience::kNone, 1}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ErrorPolicyTest, WhatIsToldToStopEndsWith143AtOnceEverywhere) {
  for (const TrainerRole role : kRoles) {
    for (const ErrorAt at : kPlaces) {
      EXPECT_EQ(ReactionTo(StatusCode::kCancelled, {role, at}),
                (Reaction{Patience::kNone, kExitTerminated}));
    }
  }
}

TEST(ErrorPolicyTest, AllIsWellEverywhere) {
  for (const TrainerRole role : kRoles) {
    for (const ErrorAt at : kPlaces) {
      EXPECT_EQ(ReactionTo(StatusCode::kOk, {role, at}), (Reaction{Patience::kNone, kExitDone}));
    }
  }
}

TEST(ErrorPolicyTest, WhatIsTheMachinesFaultSaysSoWhateverElseItIs) {
  for (const StatusCode code : {StatusCode::kUnavailable, StatusCode::kNotFound}) {
    EXPECT_EQ(ExitCodeOf(Annotate(MachineFault(absl::Status(code, "lost")), "step 7")),
              kExitBadNode);
  }
  EXPECT_EQ(ExitCodeOf(MachineFault(absl::OkStatus())), kExitDone);
}

TEST(ErrorPolicyTest, EveryCellHasAnExitCodeOfTheContract) {
  for (int code = 0; code < kCodes; ++code) {
    for (const TrainerRole role : kRoles) {
      for (const ErrorAt at : kPlaces) {
        const int exit_code = ReactionTo(static_cast<StatusCode>(code), {role, at}).exit_code;
        EXPECT_TRUE(exit_code == 0 || exit_code == 1 || exit_code == 138 || exit_code == 143)
            << code << ": " << exit_code;
      }
    }
  }
}

}  // namespace
}  // namespace taas
