// Two operators inside one process, on the API server of the local cluster: what a standby shows of
// itself, and how soon it leads.

#include <future>

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"
#include "operator/base/status_matchers.h"
#include "operator/base/thread_executor.h"
#include "operator/controller/operator_process.h"
#include "operator/kube/poll_transport.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

class OperatorStandbyTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    auto server = kLocalCluster.start(testing::TempDir() + "/" + test->name());
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
  }
  std::unique_ptr<OperatorProcess> StartOne(LeaderElectionOptions election = {.enabled = true}) {
    auto started = OperatorProcess::Start({.kubeconfig = server_->kubeconfig(),
                                           .health_addr = "127.0.0.1:0",
                                           .leader_election = election});
    EXPECT_THAT(started, IsOk());
    return started.ok() ? *std::move(started) : nullptr;
  }
  bool Await(const std::function<bool()>& holds) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!holds() && clock_.Now() < deadline) clock_.SleepUntil(clock_.Now() + 10ms);
    return holds();
  }
  static bool Leads(const OperatorProcess& process) {
    return process.Metrics().find("\ntaas_operator_leader 1\n") != std::string::npos;
  }
  std::string Page(const OperatorProcess& process, const std::string& path) {
    auto page = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
    auto text = page->get_future();
    executor_.Post([&, page] {
      poll_.Get("127.0.0.1", process.health_port(), path,
                [page](absl::StatusOr<std::string> got) { page->set_value(std::move(got)); });
    });
    const auto got = text.get();
    return got.ok() ? *got : std::string(got.status().message());
  }

  RealClock clock_;
  ThreadExecutor executor_{clock_, "test"};
  TcpPollTransport poll_{executor_};
  std::unique_ptr<TestedServer> server_;
};

TEST_F(OperatorStandbyTest, IsReadyAndWellAndSaysForWhomItStandsBy) {
  const auto first = StartOne();
  ASSERT_TRUE(Await([&] { return Leads(*first); }));
  EXPECT_THAT(Page(*first, "/readyz"), HasSubstr("leads with epoch 1"));
  const auto second = StartOne();
  ASSERT_TRUE(Await([&] { return second->Ready(); }));
  ASSERT_TRUE(Await([&] {
    return Page(*second, "/readyz").find("stands by for") != std::string::npos;
  })) << Page(*second, "/readyz");
  EXPECT_THAT(Page(*second, "/healthz"), HasSubstr("ok"));
  EXPECT_THAT(Page(*first, "/healthz"), HasSubstr("ok"));
  EXPECT_THAT(second->Metrics(), HasSubstr("\ntaas_operator_leader 0\n"));
}

TEST_F(OperatorStandbyTest, LeadsSoonAfterTheLeaderIsStoppedAndKeepsTheJobGoing) {
  const auto first = StartOne();
  ASSERT_TRUE(Await([&] { return Leads(*first); }));
  const auto second = StartOne();
  ASSERT_TRUE(Await([&] { return second->Ready(); }));
  const std::string job = R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
      "metadata":{"name":"mnist"},
      "spec":{"roles":{"worker":{"template":{"spec":{"containers":[
        {"name":"trainer","image":"own/image:1"}]}}}}}})";
  const auto epoch_of = [&](const std::string& pod) {
    const auto answer = server_->client().Do("GET", std::string(kPodsPath) + "/" + pod);
    const json object = answer.ok() ? json::parse(answer->body) : json::object();
    return object.value("/metadata/annotations/taas.dev~1epoch"_json_pointer, "");
  };
  const Clock::Time begun = clock_.Now();
  first->Stop();
  const auto created = server_->client().Do("POST", kTrainingJobsPath, job);
  ASSERT_THAT(created, IsOk());
  ASSERT_EQ(created->code, 201) << created->body;
  ASSERT_TRUE(Await([&] { return epoch_of("mnist-worker-0") == "2"; }));
  RecordProperty("hand_over_ms",
                 static_cast<int>((clock_.Now() - begun) / std::chrono::milliseconds(1)));
  EXPECT_LT(clock_.Now() - begun, 10s) << "it was waited for as if it had crashed";
}

TEST_F(OperatorStandbyTest, WithoutElectionsAProcessLeadsAtOnceAndAnnotatesNothing) {
  const auto only = StartOne({});
  ASSERT_TRUE(Await([&] { return only->Ready(); }));
  EXPECT_TRUE(Leads(*only));
  EXPECT_EQ(Page(*only, "/readyz"), "ok\n");
  const auto lease = server_->client().Do(
      "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/taas-operator");
  ASSERT_THAT(lease, IsOk());
  EXPECT_EQ(lease->code, 404);
}

// Symptom: a NetworkPolicy said who may read the metrics, and the port of the probes, which is open
// to all, served them too.
TEST_F(OperatorStandbyTest, ThePortOfTheProbesServesNoMetrics) {
  const auto only = StartOne({});
  ASSERT_TRUE(Await([&] { return only->Ready(); }));
  EXPECT_THAT(Page(*only, "/metrics"), HasSubstr("HTTP 404"));
}

// Symptom: "listen on 127.0.0.1:33367: Address already in use", and not which of two flags had said
// that address.
TEST_F(OperatorStandbyTest, AnAddressThatIsTakenIsToldWithItsFlag) {
  const auto first = StartOne({});
  ASSERT_NE(first, nullptr);
  const std::string taken = "127.0.0.1:" + std::to_string(first->health_port());
  const std::string kubeconfig = server_->kubeconfig();
  EXPECT_THAT(OperatorProcess::Start({.kubeconfig = kubeconfig, .metrics_addr = taken}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("--metrics-addr: listen on " + taken)));
  EXPECT_THAT(OperatorProcess::Start({.kubeconfig = kubeconfig, .health_addr = taken}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("--health-addr: listen on " + taken)));
}

TEST_F(OperatorStandbyTest, TimesThatCannotWorkAreRefusedWithTheFlagsNames) {
  const auto started = OperatorProcess::Start(
      {.kubeconfig = server_->kubeconfig(),
       .leader_election = {.enabled = true, .times = {.lease = 5s}}});
  EXPECT_THAT(started,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--lease-seconds 5")));
}

}  // namespace
}  // namespace taas
