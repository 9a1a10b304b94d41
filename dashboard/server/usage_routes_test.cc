#include "dashboard/server/usage_routes.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kJob[] =
    R"({"metadata":{"namespace":"ns","name":"j","uid":"uj","resourceVersion":"3"},)"
    R"("spec":{"roles":{"worker":{"replicas":1}}},"status":{"state":"Running"}})";
constexpr char kPod[] =
    R"({"metadata":{"namespace":"ns","name":"j-worker-0","uid":"up","resourceVersion":"4",)"
    R"("labels":{"taas.dev/job-name":"j","taas.dev/index":"0","taas.dev/role":"worker"}},)"
    R"("spec":{"containers":[{"name":"trainer"}]},"status":{"phase":"Running"}})";
constexpr char kMeasured[] =
    R"({"kind":"PodMetricsList","items":[)"
    R"({"metadata":{"name":"j-worker-0"},"containers":[)"
    R"({"name":"trainer","usage":{"cpu":"1500000000n","memory":"262144Ki"}},)"
    R"({"name":"proxy","usage":{"cpu":"250m","memory":"64Mi"}}]},)"
    R"({"metadata":{"name":"of-another"},"containers":[{"name":"a","usage":{"cpu":"9"}}]}]})";

class UsageRoutesTest : public testing::Test {
 protected:
  UsageRoutesTest() {
    board_.Start();
    AnswerAll();
    Run(200ms);
    routes_.AddTo(&table_);
  }

  void AnswerAll() {
    while (own_.waiting() > 0) {
      const HttpRequest& request = own_.request();
      std::string items;
      if (request.path.find("/trainingjobs") != std::string::npos) items = kJob;
      if (request.path.find("/pods") != std::string::npos) items = kPod;
      const bool review = request.verb == Verb::kPost;
      own_.Reply(HttpReply{
          .code = review ? 201 : 200,
          .body = review ? std::string(R"({"status":{"allowed":)") +
                               (request.body.find("metrics.k8s.io") == std::string::npos ||
                                        may_list_
                                    ? "true"
                                    : "false") +
                               "}}"
                         : R"({"metadata":{"resourceVersion":"10"},"items":[)" + items + "]}"});
      Run();
    }
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }

  void Ask(const std::string& who = "ada", bool recorded = false) {
    ApiCall call{.request = {.method = "GET",
                             .segments = {"api", "jobs", "ns", "trainingjobs", "j", "usage"}},
                 .respond = [this](WebResponse answer) { answers_.push_back(std::move(answer)); },
                 .identity = std::make_shared<Identity>(Identity{.user = who, .key = who}),
                 .token = "token-of-" + who};
    if (recorded) call.request.segments.push_back("recorded");
    const auto found = table_.Find("GET", call.request.segments);
    (*found.handler)(std::move(call));
    Run();
    AnswerAll();
  }
  void Reply(int code, const std::string& body) {
    ASSERT_EQ(callers_.waiting(), 1u);
    callers_.Reply(HttpReply{.code = code, .body = body});
    Run();
  }
  json Last() const { return json::parse(*answers_.back().body); }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport own_{executor_}, callers_{executor_};
  SeededRandom random_{1};
  Access access_{own_, executor_};
  Board board_{own_, executor_, random_, {}};
  UsageRoutes routes_{
      {.executor = executor_, .board = board_, .access = access_, .callers = callers_,
       .recorded = [this](const std::string& uid, const auto& done) {
         done(uid == "uj" ? recorded_ : "");
       }}};
  std::string recorded_ = R"({"every":0,"replicas":{"worker-0":[[1,0.5]]}})";
  bool may_list_ = true;
  RouteTable table_;
  std::vector<WebResponse> answers_;
};

// Symptom: neither the job nor a replica showed the CPU and memory that it used, though the cluster
// serves metrics.k8s.io and `taas top` shows both.
TEST_F(UsageRoutesTest, WhatAJobsPodsUseIsReadWithTheCallersToken) {
  Ask();
  ASSERT_EQ(callers_.waiting(), 1u);
  EXPECT_EQ(callers_.request().bearer_token, "token-of-ada");
  EXPECT_THAT(callers_.request().path,
              AllOf(HasSubstr("/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector="),
                    HasSubstr("job-name")));
  Reply(200, kMeasured);
  EXPECT_EQ(Last(), json::parse(R"({"pods":{"j-worker-0":{"cpu":1.75,"memoryMiB":320.0}}})"));
}

TEST_F(UsageRoutesTest, AnAnswerIsKeptForAMomentAndForWhoAsked) {
  Ask();
  Ask();
  Reply(200, kMeasured);
  EXPECT_EQ(answers_.size(), 2u);
  Ask();
  EXPECT_EQ(answers_.size(), 3u);
  Ask("bob");
  EXPECT_EQ(callers_.request().bearer_token, "token-of-bob");
  Reply(403, "{}");
  EXPECT_EQ(Last(), json::parse(R"({"pods":{},"why":"Forbidden"})"));
  Run(UsageRoutes::kFresh);
  Ask();
  Reply(200, kMeasured);
  EXPECT_EQ(answers_.size(), 5u);
}

// Symptom: what a replica had used before its page was opened was shown nowhere.
TEST_F(UsageRoutesTest, WhatTheHistoryRecordedIsForWhoMayAskForTheOther) {
  Ask("ada", /*recorded=*/true);
  EXPECT_EQ(callers_.waiting(), 0u);
  EXPECT_EQ(Last(), json::parse(recorded_));
  recorded_ = "";
  Ask("ada", /*recorded=*/true);
  EXPECT_EQ(Last(), json::parse(R"({"every":0,"replicas":{},"why":"NotYet"})"));
  recorded_ = R"({"secret":1})";
  may_list_ = false;
  Ask("bob", /*recorded=*/true);
  EXPECT_EQ(Last(), json::parse(R"({"every":0,"replicas":{},"why":"Forbidden"})"));
}

TEST_F(UsageRoutesTest, AClusterWithoutMetricsIsNotAskedAgainForAWhile) {
  Ask();
  Reply(404, "404 page not found");
  EXPECT_EQ(Last()["why"], "NotServed");
  Run(UsageRoutes::kFresh + 1s);
  Ask();
  EXPECT_EQ(callers_.waiting(), 0u);
  EXPECT_EQ(Last()["why"], "NotServed");
  Run(UsageRoutes::kNothingFresh);
  Ask();
  Reply(503, "");
  EXPECT_EQ(Last()["why"], "Unavailable");
}

TEST(UsageAnswerTest, WhatIsNoListOfMetricsIsNothing) {
  const std::string nothing = R"({"pods":{}})";
  for (const char* list :
       {"", "[]", "7", R"({"items":7})", R"({"items":[7,{"metadata":7},{"containers":{}}]})",
        R"({"items":[{"metadata":{"name":"a"},"containers":7}]})"}) {
    EXPECT_EQ(UsageAnswer(list, {"a"}), nothing) << list;
  }
  EXPECT_EQ(UsageAnswer(R"({"items":[{"metadata":{"name":"a"},"containers":[7,{"usage":7},)"
                        R"({"usage":{"cpu":true,"memory":"-1"}}]}]})",
                        {"a"}),
            R"({"pods":{"a":{"cpu":0.0,"memoryMiB":0.0}}})");
}

}  // namespace
}  // namespace taas::dashboard
