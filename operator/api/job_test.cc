#include "operator/api/job.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(NamesTest, EveryNameIsReadBackAsTheSameValue) {
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker}) {
    EXPECT_EQ(RoleFromName(RoleName(role)), role);
  }
  for (const RestartCause cause :
       {RestartCause::kUserError, RestartCause::kOutOfMemory, RestartCause::kKilled,
        RestartCause::kPreempted, RestartCause::kNodeLost, RestartCause::kBadNode}) {
    EXPECT_EQ(RestartCauseFromName(RestartCauseName(cause)), cause);
  }
  for (const JobState state : {JobState::kPending, JobState::kRunning, JobState::kRestarting,
                               JobState::kSucceeded, JobState::kFailed}) {
    EXPECT_EQ(JobStateFromName(JobStateName(state)), state);
  }
}

TEST(NamesTest, OtherTextsAreNothing) {
  EXPECT_EQ(RoleFromName("Worker"), std::nullopt);
  EXPECT_EQ(RoleFromName(""), std::nullopt);
  EXPECT_EQ(RestartCauseFromName("usererror"), std::nullopt);
  EXPECT_EQ(JobStateFromName("running"), std::nullopt);
}

TEST(PodNameTest, IsJobRoleIndex) {
  EXPECT_EQ(PodName("mnist", Role::kPs, 12), "mnist-ps-12");
}

}  // namespace
}  // namespace taas
