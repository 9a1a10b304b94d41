#include "cli/cluster_checks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "third_party/json.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using Level = Finding::Level;
using testing::HasSubstr;

const Clock::WallTime kNow(1'800'000'000s);

TEST(ClusterChecksTest, AnOldServerIsAWarningAndNoServerAFailure) {
  EXPECT_EQ(CheckVersion(R"({"major":"1","minor":"34","gitVersion":"v1.34.0"})").level, Level::kOk);
  EXPECT_EQ(CheckVersion(R"({"major":"1","minor":"25+","gitVersion":"v1.25.1"})").level,
            Level::kWarn);
  EXPECT_EQ(CheckVersion("<html>").level, Level::kFail);
  const Finding down = CheckVersion(absl::UnavailableError("connect: refused"));
  EXPECT_EQ(down.level, Level::kFail);
  EXPECT_THAT(down.todo, HasSubstr("taas local up"));
  EXPECT_TRUE(IsLocalCluster(R"({"gitVersion":"v1.34.4+taas"})"));
  EXPECT_FALSE(IsLocalCluster(R"({"gitVersion":"v1.34.4"})"));
}

TEST(ClusterChecksTest, ACrdIsComparedWithThatOfThisRelease) {
  EXPECT_EQ(CheckCrd(JobKind::kTrainingJob, TrainingJobCrdJson()).level, Level::kOk);
  EXPECT_EQ(CheckCrd(JobKind::kTfJob, TfJobCrdJson()).level, Level::kOk);
  auto crd = nlohmann::json::parse(TrainingJobCrdJson());
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase(
      "suspend");
  const Finding old = CheckCrd(JobKind::kTrainingJob, crd.dump());
  EXPECT_EQ(old.level, Level::kWarn);
  EXPECT_THAT(old.text, HasSubstr("/properties/spec/properties/suspend"));
  EXPECT_THAT(old.todo, HasSubstr("crds/trainingjobs.yaml"));
  EXPECT_EQ(CheckCrd(JobKind::kTrainingJob, absl::NotFoundError("")).level, Level::kFail);
  EXPECT_EQ(CheckCrd(JobKind::kTfJob, absl::NotFoundError("")).level, Level::kWarn);
}

TEST(ClusterChecksTest, RightsThatAreMissingAreNamed) {
  std::vector<absl::StatusOr<std::string>> replies(NeededRights().size(),
                                                   R"({"status":{"allowed":true}})");
  EXPECT_EQ(CheckRights(replies, "team").level, Level::kOk);
  replies[0] = R"({"status":{"allowed":false}})";
  const Finding denied = CheckRights(replies, "team");
  EXPECT_EQ(denied.level, Level::kWarn);
  EXPECT_THAT(denied.text, HasSubstr("in namespace team: create trainingjobs"));
  EXPECT_EQ(CheckRights({absl::NotFoundError("no such path")}, "team").level, Level::kOk);
  EXPECT_EQ(CheckRights({absl::PermissionDeniedError("no")}, "team").level, Level::kWarn);
}

Job JobOfAge(std::chrono::seconds age) {
  Job job;
  job.meta = {.ns = "team", .name = "mnist", .creation_time = kNow - age};
  return job;
}

TEST(ClusterChecksTest, AJobThatWaitsForAnOperatorShowsThatNoneRuns) {
  const Finding waiting = CheckOperator({JobOfAge(300s)}, 1, true, {}, "team", kNow);
  EXPECT_EQ(waiting.level, Level::kFail);
  EXPECT_THAT(waiting.text, HasSubstr("team/mnist waits for one since 5m"));
  EXPECT_EQ(CheckOperator({JobOfAge(5s)}, 1, false, {}, "team", kNow).level, Level::kOk);
  Job seen = JobOfAge(300s);
  seen.status.observed_generation = 1;
  EXPECT_EQ(CheckOperator({seen}, 0, false, {}, "team", kNow).level, Level::kOk);
  Job foreign = JobOfAge(300s);
  foreign.spec.managed_by = "kueue.x-k8s.io/multikueue";
  EXPECT_EQ(CheckOperator({foreign}, 0, true, {}, "team", kNow).level, Level::kOk);
  EXPECT_EQ(CheckOperator({}, 0, false, {}, "team", kNow).level, Level::kWarn);
}

// Symptom: `taas doctor` said that all is well of a namespace that the operator does not look at.
TEST(ClusterChecksTest, AnOperatorThatWorksElsewhereIsNone) {
  OperatorScope scope;
  scope.Add(R"({"spec":{"template":{"spec":{"containers":[{"args":["--namespaces=a"]}]}}}})");
  const Finding elsewhere = CheckOperator({}, 1, false, scope, "team", kNow);
  EXPECT_EQ(elsewhere.level, Level::kFail);
  EXPECT_EQ(elsewhere.text, "the operator works in a, not in team");
  EXPECT_EQ(CheckOperator({}, 1, false, scope, "a", kNow).level, Level::kOk);
  const Finding waiting = CheckOperator({JobOfAge(300s)}, 1, false, scope, "a", kNow);
  EXPECT_EQ(waiting.level, Level::kFail);
  EXPECT_EQ(waiting.text,
            "job team/mnist waits for one since 5m: the operator works in a, not in team");
}

TEST(ClusterChecksTest, AClusterWithoutAReadyNodeRunsNothing) {
  NodeUse node;
  node.state = "Ready";
  node.total.gpus = 8;
  const Finding good = CheckNodes(absl::OkStatus(), {{"a", node}});
  EXPECT_EQ(good.level, Level::kOk);
  EXPECT_EQ(good.text, "1 of 1 ready, 8 GPUs on them");
  node.state = "NotReady";
  EXPECT_EQ(CheckNodes(absl::OkStatus(), {{"a", node}}).level, Level::kFail);
  EXPECT_EQ(CheckNodes(absl::PermissionDeniedError("no"), {}).level, Level::kWarn);
}

TEST(ClusterChecksTest, AReviewAsksForOneRightInOneNamespace) {
  const auto review =
      nlohmann::json::parse(AccessReview({"get", "", "pods", "log"}, "team"));
  EXPECT_EQ(review["spec"]["resourceAttributes"],
            nlohmann::json::parse(R"({"namespace":"team","verb":"get","group":"",
                "resource":"pods","subresource":"log"})"));
}

}  // namespace
}  // namespace taas
