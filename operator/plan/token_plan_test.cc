// The secret by which a job's replicas know each other: drawn once, given to each pod.

#include <algorithm>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/pod_json.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kFirst[] = "0123456789abcdef0123456789abcdef";
constexpr char kSecond[] = "fedcba9876543210fedcba9876543210";

// What each pod of the plan has in its environment; "" of one that has none.
std::map<std::string, std::string> TokensOf(const Plan& plan) {
  std::map<std::string, std::string> tokens;
  for (const CreatePod& step : StepsOf<CreatePod>(plan)) {
    const json pod = json::parse(*PodJson(step.pod));
    std::string& token = tokens[step.pod.name];
    for (const json& variable : pod["spec"]["containers"][0]["env"]) {
      if (variable["name"] == kTokenVariable) token = variable.value("value", "(another)");
    }
  }
  return tokens;
}

std::string Stored(const Plan& plan) {
  const auto writes = StepsOf<WriteLedger>(plan);
  return writes.empty() ? "(no write)" : writes.front().ledger.token;
}

TEST(JobTokenTest, IsStoredBeforeTheFirstPodAndEachPodHasIt) {
  for (const bool tfjob : {false, true}) {
    Snapshot now = tfjob ? StartedTfJob({.ps = 1, .workers = 2})
                         : NewJob({.chiefs = 1, .ps = 1, .workers = 1});
    now.job.ledger.reset();
    now.fresh_token = kFirst;
    EXPECT_EQ(Stored(PlanJob(now)), kFirst);
    const Plan plan = Follow(now);
    const auto tokens = TokensOf(plan);
    EXPECT_THAT(tokens, SizeIs(3));
    for (const auto& [pod, token] : tokens) EXPECT_EQ(token, kFirst) << pod;
    // It is nowhere else: not in what readers of the job's status see.
    EXPECT_THAT(plan.status.message, Not(HasSubstr(kFirst)));
    // The one that is stored stays.
    now.fresh_token = kSecond;
    EXPECT_EQ(PlanJob(now).steps.size(), plan.steps.size());
    for (const auto& [pod, token] : TokensOf(PlanJob(now))) EXPECT_EQ(token, kFirst) << pod;
  }
}

// Symptom (averted): after an upgrade of the operator a replica of a running job would have come
// back with a token that the others do not have.
TEST(JobTokenTest, AJobThatRunsWithoutGoesOnWithoutUntilNoPodIsLeft) {
  Snapshot now = StartedJob({.ps = 1, .workers = 2});
  now.fresh_token = kFirst;
  now.pods.push_back(PodOf(now, Role::kPs, 0));
  EXPECT_THAT(TokensOf(PlanJob(now)), AllOf(SizeIs(2), Each(testing::Pair(testing::_, ""))));
  // As when it is suspended and resumed: all are gone.
  now.pods.clear();
  EXPECT_EQ(Stored(PlanJob(now)), kFirst);
  EXPECT_THAT(TokensOf(PlanJob(now)), SizeIs(0)) << "no pod is made that does not have it";
  const auto tokens = TokensOf(Follow(now));
  EXPECT_THAT(tokens, SizeIs(3));
  for (const auto& [pod, token] : tokens) EXPECT_EQ(token, kFirst) << pod;
}

TEST(JobTokenTest, AWipedLedgerHasThatOfThePodsAgain) {
  Snapshot now = StartedJob({.ps = 1, .workers = 2});
  now.job.ledger->token = kFirst;
  now.pods.push_back(PodOf(now, Role::kPs, 0));
  const auto made = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_THAT(made, SizeIs(2));
  now.pods.push_back(PodFromSpec(made.front().pod, "w0"));
  now.job.ledger.reset();
  now.fresh_token = kSecond;
  EXPECT_EQ(Stored(PlanJob(now)), kFirst);
}

TEST(JobTokenTest, ATemplatesOwnValueWins) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.job.ledger->token = kFirst;
  now.job.spec.roles[Role::kPs].env =
      R"([{"name":"TAAS_JOB_TOKEN","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])";
  now.job.spec.roles[Role::kWorker].container = 0;
  now.job.spec.roles[Role::kWorker].pod_template =
      R"({"spec":{"containers":[{"name":"trainer","env":[
          {"name":"TAAS_JOB_TOKEN","value":"mine"}]}]}})";
  EXPECT_EQ(TokensOf(PlanJob(now)),
            (std::map<std::string, std::string>{{"mnist-ps-0", "(another)"},
                                                {"mnist-worker-0", "mine"}}));
}

}  // namespace
}  // namespace taas
