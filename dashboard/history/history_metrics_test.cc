#include "dashboard/history/history_metrics.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kList[] =
    R"({"items":[{"metadata":{"namespace":"ml","name":"j-worker-0"},"containers":[
        {"usage":{"cpu":"1500m","memory":"64Mi"}},{"usage":{"cpu":"500m","memory":"1Mi"}}]},
       {"metadata":{"namespace":"ml","name":"odd"},"containers":5}, 7]})";

class HistoryMetricsTest : public testing::Test {
 protected:
  void Fetch(HistoryMetrics& metrics) {
    used_.clear();
    ++asked_;
    metrics.Fetch([this](const HistoryMetrics::Used& used) {
      used_ = used;
      ++told_;
    });
  }
  void Reply(int code, const std::string& body = "{}") {
    ASSERT_GT(transport_.waiting(), 0u);
    paths_.push_back(transport_.request().path);
    transport_.Reply(HttpReply{.code = code, .body = body});
    executor_.RunUntil(executor_.clock().Now());
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  HistoryMetrics::Used used_;
  std::vector<std::string> paths_;
  int asked_ = 0, told_ = 0;
};

TEST_F(HistoryMetricsTest, OneQuestionIsForThePodsOfAllJobs) {
  HistoryMetrics metrics(transport_, executor_, {});
  Fetch(metrics);
  Reply(200, kList);
  EXPECT_THAT(paths_, testing::ElementsAre(
                          "/apis/metrics.k8s.io/v1beta1/pods?labelSelector=taas.dev%2Fjob-name"));
  ASSERT_THAT(used_, SizeIs(1));
  const ReplicaUse use = used_.at({"ml", "j-worker-0"});
  EXPECT_EQ(use.cpu, 2);
  EXPECT_EQ(use.memory_mib, 65);
  EXPECT_FALSE(use.gpu.has_value());
}

TEST_F(HistoryMetricsTest, WhereItSeesSomeNamespacesEachIsAsked) {
  HistoryMetrics metrics(transport_, executor_, {"ml", "vision"});
  Fetch(metrics);
  Reply(503);
  EXPECT_EQ(told_, 0);
  Reply(200, kList);
  EXPECT_THAT(used_, SizeIs(1));
  EXPECT_THAT(paths_[1], testing::HasSubstr("/namespaces/ml/pods?"));
}

TEST_F(HistoryMetricsTest, AClusterThatMeasuresNothingIsLeftAlone) {
  for (const int code : {403, 404}) {
    HistoryMetrics metrics(transport_, executor_, {});
    Fetch(metrics);
    Reply(code);
    Fetch(metrics);
    EXPECT_EQ(transport_.waiting(), 0u);
    executor_.RunUntil(executor_.clock().Now() + HistoryMetrics::kRefusedAgain);
    Fetch(metrics);
    Reply(200, kList);
    EXPECT_THAT(used_, SizeIs(1)) << code;
  }
  EXPECT_EQ(told_, asked_);
}

// Symptom: one namespace that this account may not see ended the round, for all of them.
TEST_F(HistoryMetricsTest, ANamespaceThatIsRefusedIsLeftAloneAndTheOthersAreAsked) {
  for (const int code : {401, 403, 404}) {
    HistoryMetrics metrics(transport_, executor_, {"ml", "vision"});
    Fetch(metrics);
    Reply(code);
    Reply(200, kList);
    EXPECT_THAT(used_, SizeIs(1)) << code;
    Fetch(metrics);
    ASSERT_EQ(transport_.waiting(), 1u) << code;
    EXPECT_THAT(transport_.request().path, testing::HasSubstr("/namespaces/ml/pods?"));
    Reply(200, kList);
    EXPECT_THAT(used_, SizeIs(1)) << code;
  }
  EXPECT_EQ(told_, asked_);
}

// Symptom: a metrics-server that was overloaded was asked each second.
TEST_F(HistoryMetricsTest, WhoFailsIsLeftAloneForAWhileWhichIsSaidOnce) {
  HistoryMetrics metrics(transport_, executor_, {});
  constexpr std::chrono::seconds half = std::chrono::seconds(HistoryMetrics::kFailedAgain) / 2;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    Fetch(metrics);
    if (i == 0) Reply(503);
    if (i == 1) transport_.Reply(absl::DeadlineExceededError("no answer in 5 s"));
    if (i == 2) transport_.Reply(absl::ResourceExhaustedError("more than 16 MiB"));
    executor_.RunUntil(executor_.clock().Now() + half);
    Fetch(metrics);
    EXPECT_EQ(transport_.waiting(), 0u);
    executor_.RunUntil(executor_.clock().Now() + half);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, testing::HasSubstr("answers with 503"));
  EXPECT_EQ(log.find("for a while"), log.rfind("for a while")) << log;
  Fetch(metrics);
  Reply(200, kList);
  EXPECT_THAT(used_, SizeIs(1));
  EXPECT_EQ(told_, asked_);
}

}  // namespace
}  // namespace taas::dashboard
