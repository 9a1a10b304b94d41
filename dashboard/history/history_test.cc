#include "dashboard/history/history.h"

#include <cstdlib>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;

json JobObject(const std::string& state, int version) {
  return {{"apiVersion", "taas.dev/v1"},
          {"kind", "TrainingJob"},
          {"metadata",
           {{"name", "mnist"},
            {"namespace", "ml"},
            {"uid", "u1"},
            {"generation", 1},
            {"resourceVersion", std::to_string(version)}}},
          {"spec", {{"roles", {{"worker", {{"replicas", 1}}}}}}},
          {"status", {{"state", state}}}};
}

json PodObject(const std::string& phase, int version) {
  json pod = json::parse(R"({
      "metadata": {"name": "mnist-worker-0", "namespace": "ml", "uid": "p1",
                   "ownerReferences": [{"uid": "u1", "kind": "TrainingJob", "controller": true}],
                   "labels": {"taas.dev/job-name": "mnist", "taas.dev/role": "worker",
                              "taas.dev/index": "0", "taas.dev/attempt": "1",
                              "taas.dev/pod-number": "3"}},
      "spec": {"nodeName": "node-1", "containers": [{"name": "trainer"}]},
      "status": {"containerStatuses": [
          {"name": "trainer", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}})");
  pod["metadata"]["resourceVersion"] = std::to_string(version);
  pod["status"]["phase"] = phase;
  return pod;
}

// One job with one pod on an API server that the test plays, through the board to the answers.
class HistoryTest : public testing::Test {
 protected:
  HistoryTest() { EXPECT_NE(mkdtemp(dir_.data()), nullptr); }

  void Start() {
    history_ = std::make_unique<History>(
        History::Context{.executor = executor_, .own = transport_, .access = access_,
                         .disk = &executor_},
        HistoryStore::Options{dir_ + "/history.db", {}});
    board_ = std::make_unique<Board>(transport_, executor_, random_,
                                     ClusterCache::Options{.nodes = false}, history_->witness());
    history_->Start({.board = *board_,
                     .fetch_series = [](const auto&, const auto&, const auto& done) {
                       done(std::string(R"({"series":{"loss":[[1,2,0.5]]}})"));
                     }});
    table_ = RouteTable();
    history_->AddTo(&table_);
    board_->Start();
    RunFor(seconds(3));
  }
  void Stop() {
    history_->Close();
    RunFor(seconds(1));
    board_.reset();
    history_.reset();
  }

  // Answers what is asked while time goes on.
  void RunFor(seconds time) {
    const Clock::Time end = executor_.clock().Now() + time;
    while (executor_.clock().Now() < end) {
      while (transport_.waiting() > 0) transport_.Reply(AnswerTo(transport_.request()));
      executor_.RunUntil(executor_.clock().Now() + std::chrono::milliseconds(10));
    }
  }
  HttpReply AnswerTo(const HttpRequest& request) {
    const auto has = [&](const char* part) { return request.path.find(part) != std::string::npos; };
    if (has("subjectaccessreviews")) return {.code = 201, .body = R"({"status":{"allowed":true}})"};
    if (has("/log?")) return {.code = 200, .body = "2026-01-01T00:00:01Z last words\n"};
    if (has("/trainingjobs/mnist")) return {.code = 200, .body = JobObject("Succeeded", 1).dump()};
    json items = json::array();
    if (has("/trainingjobs") && job_.is_object()) items.push_back(job_);
    if (has("/pods") && pod_.is_object()) items.push_back(pod_);
    return {.code = 200,
            .body = json{{"metadata", {{"resourceVersion", "10"}}}, {"items", items}}.dump()};
  }
  void Watch(const char* path, const char* type, const json& object) {
    auto& stream = transport_.FindStream(path);
    if (opened_.insert(&stream).second) stream.Open(200);
    RunFor(seconds(1));
    stream.Send(json{{"type", type}, {"object", object}}.dump() + "\n");
    RunFor(seconds(2));
  }
  json Get(std::vector<std::string> path) {
    path.insert(path.begin(), "api");
    ApiCall call;
    call.request.segments = path;
    auto identity = std::make_shared<Identity>();
    identity->user = identity->key = "ada";
    call.identity = identity;
    json answer;
    call.respond = [&](const WebResponse& response) { answer = json::parse(*response.body); };
    const auto found = table_.Find("GET", path);
    if (found.handler == nullptr) return answer;
    (*found.handler)(call);
    RunFor(seconds(1));
    return answer;
  }

  SimExecutor executor_{SimExecutor::Options{.seed = 3}};
  FakeTransport transport_{executor_};
  SeededRandom random_{3};
  Access access_{transport_, executor_};
  std::string dir_ = testing::TempDir() + "/whole.XXXXXX";
  json job_, pod_;
  std::set<const void*> opened_;
  RouteTable table_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Board> board_;
};

TEST_F(HistoryTest, AJobThatEndsAndIsDeletedIsReadFromTheHistoryEvenByTheNextDashboard) {
  job_ = JobObject("Running", 1);
  pod_ = PodObject("Running", 1);
  Start();
  EXPECT_EQ(Get({"history"})["jobs"].size(), 0u);
  RunFor(seconds(5));
  Watch("/pods", "MODIFIED", PodObject("Succeeded", 11));
  Watch("/trainingjobs", "MODIFIED", JobObject("Succeeded", 12));
  ASSERT_EQ(Get({"history"})["jobs"].size(), 1u);
  EXPECT_EQ(Get({"history"})["jobs"][0]["state"], "Succeeded");
  std::string recorded;
  history_->Curves("u1", [&](std::string answer) { recorded = std::move(answer); });
  history_->Curves("u2", [&](const std::string& answer) { EXPECT_EQ(answer, ""); });
  RunFor(seconds(1));
  EXPECT_EQ(json::parse(recorded)["series"]["loss"][0][2], 0.5);
  EXPECT_EQ(json::parse(recorded)["archived"], true);
  Watch("/trainingjobs", "DELETED", JobObject("Succeeded", 13));
  EXPECT_TRUE(Get({"history"})["jobs"][0].contains("deleted"));

  Stop();
  job_ = pod_ = nullptr;
  Start();
  const json detail = Get({"history", "u1"});
  EXPECT_EQ(detail["name"], "mnist") << detail;
  EXPECT_TRUE(detail.contains("deleted"));
  EXPECT_FALSE(detail.contains("deletedUnseen"));
  EXPECT_EQ(detail["manifest"]["metadata"]["name"], "mnist");
  EXPECT_EQ(detail["series"]["series"]["loss"][0][2], 0.5);
  ASSERT_EQ(detail["logs"].size(), 1u) << detail;
  EXPECT_EQ(detail["logs"][0]["replica"], "worker-0");
  EXPECT_EQ(detail["logs"][0]["podNumber"], 3);
  EXPECT_EQ(detail["logs"][0]["lines"][0]["l"], "last words");
  EXPECT_THAT(std::string(detail["logs"][0]["lines"][0]["t"]), HasSubstr("2026-01-01T00:00:01"));
}

// Symptom: the page of a suspended job had no curves, though the history had recorded them.
TEST_F(HistoryTest, TheCurvesOfAJobThatIsSuspendedAreThere) {
  job_ = JobObject("Running", 1);
  pod_ = PodObject("Running", 1);
  Start();
  RunFor(seconds(5));
  Watch("/trainingjobs", "MODIFIED", JobObject("Suspended", 12));
  EXPECT_EQ(Get({"history"})["jobs"].size(), 0u);
  std::string recorded;
  history_->Curves("u1", [&](std::string answer) { recorded = std::move(answer); });
  RunFor(seconds(1));
  EXPECT_THAT(recorded, HasSubstr("0.5"));
}

TEST_F(HistoryTest, AJobThatWentWhileNoDashboardLookedIsMarked) {
  job_ = JobObject("Running", 1);
  Start();
  Stop();
  job_ = nullptr;
  Start();
  const json detail = Get({"history", "u1"});
  EXPECT_EQ(detail["state"], "Running");
  EXPECT_EQ(detail["deletedUnseen"], true);
}

}  // namespace
}  // namespace taas::dashboard
