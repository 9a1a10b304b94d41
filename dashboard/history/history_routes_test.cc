#include "dashboard/history/history_routes.h"

#include <cstdlib>
#include <set>
#include <string>

#include "dashboard/history/fake_full_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// An API server that reviews access by a list: "ada list trainingjobs.taas.dev ml", "ada get
// pods/log ml"; everywhere is "*".
class FakeReviews : public KubeTransport {
 public:
  explicit FakeReviews(Executor& executor) : executor_(executor) {}

  void Do(HttpRequest request, OnReply done) override {
    const json spec = json::parse(request.body)["spec"];
    const json& asked = spec["resourceAttributes"];
    std::string resource = asked["resource"];
    const std::string group = asked.value("group", "");
    if (!group.empty()) resource += "." + group;
    if (asked.contains("subresource")) resource += "/" + std::string(asked["subresource"]);
    const std::string ns = asked.value("namespace", "*");
    const std::string what = std::string(spec["user"]) + " " + std::string(asked["verb"]) + " " +
                             resource + " ";
    asked_.insert(what + ns);
    const bool may = allowed.count(what + "*") > 0 || allowed.count(what + ns) > 0;
    executor_.Post([done = std::move(done), may, away = away] {
      if (away) return done(absl::UnavailableError("the API server is away"));
      done(HttpReply{.code = 201, .body = json{{"status", {{"allowed", may}}}}.dump()});
    });
  }
  std::unique_ptr<StreamHandle> Stream(HttpRequest, StreamCalls) override { return nullptr; }

  std::set<std::string> allowed;
  bool away = false;
  std::set<std::string> asked_;

 private:
  Executor& executor_;
};

class HistoryRoutesTest : public testing::Test {
 protected:
  HistoryRoutesTest() {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    store_ = std::make_unique<HistoryStore>(executor_, executor_,
                                            HistoryStore::Options{dir_ + "/history.db", {}});
    store_->Start([](const auto&) {});
    routes_ = std::make_unique<HistoryRoutes>(
        HistoryRoutes::Context{.store = *store_, .access = access_});
    routes_->AddTo(&table_);
    reviews_.allowed = {
        "ada list trainingjobs.taas.dev ml", "ada list trainingjobs.taas.dev vision",
        "bob list tfjobs.kubeflow.org ml", "root list trainingjobs.taas.dev *",
        "root list tfjobs.kubeflow.org *"};
  }

  struct NewJob {
    std::string uid;
    std::string ns = "ml";
    JobKind kind = JobKind::kTrainingJob;
    int over = 1;
    std::string search = "";
  };
  void Put(const NewJob& job) {
    HistoryJob entry{.uid = job.uid,
                     .kind = job.kind,
                     .ns = job.ns,
                     .name = "name-" + job.uid,
                     .over = Clock::WallTime(seconds(1'767'225'600 + job.over))};
    entry.search = job.search.empty() ? job.uid : job.search;
    entry.row = json{{"uid", job.uid}, {"namespace", job.ns}, {"state", "Succeeded"}}.dump();
    entry.detail = json{{"attempt", 2}, {"conditions", json::array()}}.dump();
    entry.events = {{.id = "e", .at = *entry.over, .json = R"({"message":"an event"})"}};
    store_->Put(entry);
    store_->Put(HistoryManifest{job.uid, 1, R"({"kind":"TrainingJob"})"});
    store_->Put(HistoryCheckpoints{job.uid, R"({"dir":"/out","newest":[{"step":5}]})"});
    store_->Put(HistorySeries{job.uid, R"({"series":{"loss":[[1,2,0.5]]}})"});
    store_->Put(HistoryUsage{job.uid, {.at = 100, .replicas = {{"worker-0", {.cpu = 1.5}}}}});
    store_->Put(HistoryLog{job.uid,
                           {.replica = "worker-0", .lines = {{"t", "secret of the log"}}}});
    executor_.RunUntil(executor_.clock().Now() + seconds(1));
  }

  struct Answer {
    int code = 0;
    json body;
  };
  Answer Get(const std::string& user, std::vector<std::string> path,
             std::vector<std::pair<std::string, std::string>> query = {}) {
    Answer answer;
    auto identity = std::make_shared<Identity>();
    identity->user = identity->key = user;
    ApiCall call;
    call.request.method = "GET";
    call.request.segments = std::move(path);
    call.request.segments.insert(call.request.segments.begin(), "api");
    call.request.query = std::move(query);
    call.identity = identity;
    call.respond = [&answer](const WebResponse& response) {
      answer.code = response.code;
      answer.body = json::parse(*response.body);
    };
    const auto found = table_.Find("GET", call.request.segments);
    if (found.handler == nullptr) return answer;
    (*found.handler)(call);
    executor_.RunUntil(executor_.clock().Now() + seconds(1));
    return answer;
  }
  static std::vector<std::string> Uids(const Answer& answer) {
    EXPECT_EQ(answer.code, 200) << answer.body;
    std::vector<std::string> uids;
    for (const json& job : answer.body["jobs"]) uids.push_back(job["uid"]);
    return uids;
  }

  SimExecutor executor_{SimExecutor::Options{.seed = 5}};
  FakeReviews reviews_{executor_};
  Access access_{reviews_, executor_};
  std::string dir_ = testing::TempDir() + "/routes.XXXXXX";
  std::unique_ptr<HistoryStore> store_;
  std::unique_ptr<HistoryRoutes> routes_;
  RouteTable table_;
};

TEST_F(HistoryRoutesTest, EachCallerHasTheRowsOfHerNamespacesAndKindsNewestFirst) {
  Put({.uid = "a", .over = 1});
  Put({.uid = "b", .ns = "vision", .over = 3});
  Put({.uid = "c", .ns = "secret", .over = 2});
  Put({.uid = "d", .kind = JobKind::kTfJob, .over = 4});
  EXPECT_THAT(Uids(Get("ada", {"history"})), ElementsAre("b", "a"));
  EXPECT_THAT(Uids(Get("bob", {"history"})), ElementsAre("d"));
  EXPECT_THAT(Uids(Get("root", {"history"})), ElementsAre("d", "b", "c", "a"));
  EXPECT_THAT(Uids(Get("nobody", {"history"})), IsEmpty());
}

// No live job is in these namespaces, so nobody has asked about them before.
TEST_F(HistoryRoutesTest, ANamespaceThatHasOnlyHistoryIsAskedFor) {
  Put({.uid = "a", .ns = "vision"});
  EXPECT_THAT(Uids(Get("ada", {"history"})), ElementsAre("a"));
  EXPECT_THAT(reviews_.asked_, Contains("ada list trainingjobs.taas.dev vision"));
}

TEST_F(HistoryRoutesTest, OneNamespaceIsAskedForAlone) {
  Put({.uid = "a"});
  Put({.uid = "b", .ns = "vision"});
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"namespace", "vision"}})), ElementsAre("b"));
  EXPECT_THAT(reviews_.asked_, Not(Contains("ada list trainingjobs.taas.dev ml")));
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"namespace", "never"}})), IsEmpty());
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"namespace", "secret"}})), IsEmpty());
}

TEST_F(HistoryRoutesTest, OfThousandsOfNamespacesTheLastAreAskedForAndThatIsSaid) {
  Put({.uid = "oldest", .over = 1});
  for (size_t i = 0; i < HistoryRoutes::kNamespacesMax; ++i) {
    Put({.uid = "u" + std::to_string(i), .ns = "run-" + std::to_string(i), .over = 10});
  }
  Answer answer = Get("ada", {"history"});
  EXPECT_THAT(Uids(answer), IsEmpty());
  EXPECT_THAT(answer.body["message"], HasSubstr("choose one"));
  EXPECT_LE(reviews_.asked_.size(), 3 * HistoryRoutes::kNamespacesMax + 10);
  answer = Get("ada", {"history"}, {{"namespace", "ml"}});
  EXPECT_THAT(Uids(answer), ElementsAre("oldest"));
  EXPECT_FALSE(answer.body.contains("message"));
  answer = Get("root", {"history"}, {{"limit", "500"}});
  EXPECT_THAT(Uids(answer), SizeIs(HistoryRoutes::kNamespacesMax + 1));
  EXPECT_FALSE(answer.body.contains("message"));
}

TEST_F(HistoryRoutesTest, AJobWithoutCurvesHasNone) {
  store_->Put(HistoryJob{.uid = "a",
                         .ns = "ml",
                         .over = Clock::WallTime(seconds(1'767'225'600)),
                         .row = "{\"uid\":\"a\"}", .detail = "{}"});
  executor_.RunUntil(executor_.clock().Now() + seconds(1));
  EXPECT_EQ(Get("ada", {"history", "a"}).body["series"],
            json::parse(R"({"series":{},"archived":true})"));
}

TEST_F(HistoryRoutesTest, PagesFollowEachOtherAndTellNothingOfOthersRows) {
  for (int i = 0; i < 10; ++i) {
    Put({.uid = "mine-" + std::to_string(i), .over = 2 * i});
    Put({.uid = "hidden-" + std::to_string(i), .ns = "secret", .over = 2 * i + 1});
  }
  std::vector<std::string> got;
  std::string next;
  for (int page = 0; page < 4; ++page) {
    std::vector<std::pair<std::string, std::string>> query = {{"limit", "3"}};
    if (!next.empty()) query.emplace_back("before", next);
    const Answer answer = Get("ada", {"history"}, query);
    EXPECT_THAT(answer.body.dump(), Not(HasSubstr("hidden")));
    for (const std::string& uid : Uids(answer)) got.push_back(uid);
    next = answer.body.value("next", "");
    EXPECT_EQ(next.empty(), page == 3);
  }
  EXPECT_THAT(got, ElementsAre("mine-9", "mine-8", "mine-7", "mine-6", "mine-5", "mine-4",
                               "mine-3", "mine-2", "mine-1", "mine-0"));
}

TEST_F(HistoryRoutesTest, ASearchIsByWordsInAnyCase) {
  Put({.uid = "a", .search = "ml/bert\nada"});
  Put({.uid = "b", .search = "ml/gpt\nbob"});
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"text", "  BERT  Ada "}})), ElementsAre("a"));
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"text", "bert bob"}})), IsEmpty());
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"text", "%"}})), IsEmpty());
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"text", std::string(100'000, ' ')}})), SizeIs(2));
}

TEST_F(HistoryRoutesTest, AQuestionThatIsNoneIsRefusedWithASentence) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"limit", "many"}, {"limit", "0"}, {"limit", "-4"}, {"limit", "99999999999999999999"},
           {"before", "x"}, {"before", "-"}, {"before", "12"}, {"before", "one-two"},
           {"before", "99999999999999999999-u"}}) {
    const Answer answer = Get("ada", {"history"}, {{key, value}});
    EXPECT_EQ(answer.code, 400) << key << "=" << value;
    EXPECT_EQ(answer.body["error"]["reason"], "BadRequest");
    EXPECT_THAT(answer.body["error"]["message"], HasSubstr("list the history"));
  }
  Put({.uid = "a"});
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"limit", "1000000000"}})), SizeIs(1));
  EXPECT_THAT(Uids(Get("ada", {"history"}, {{"before", "-5-x'; DROP"}})), IsEmpty());
}

TEST_F(HistoryRoutesTest, ADetailHasEverythingForWhoMaySeeIt) {
  Put({.uid = "a"});
  store_->Put(HistoryGone{"a", Clock::WallTime(seconds(1'767'225'700)), true});
  for (const char* right : {"list events", "get trainingjobs.taas.dev", "get pods/log",
                            "list pods.metrics.k8s.io"}) {
    reviews_.allowed.insert("ada " + std::string(right) + " ml");
  }
  executor_.RunUntil(executor_.clock().Now() + seconds(1));
  const Answer answer = Get("ada", {"history", "a"});
  ASSERT_EQ(answer.code, 200) << answer.body;
  EXPECT_EQ(answer.body["uid"], "a");
  EXPECT_EQ(answer.body["deleted"], "2026-01-01T00:01:40Z");
  EXPECT_EQ(answer.body["deletedUnseen"], true);
  EXPECT_EQ(answer.body["attempt"], 2);
  EXPECT_EQ(answer.body["events"][0]["message"], "an event");
  EXPECT_EQ(answer.body["manifest"]["kind"], "TrainingJob");
  EXPECT_EQ(answer.body["checkpoints"]["newest"][0]["step"], 5);
  EXPECT_EQ(answer.body["series"]["archived"], true);
  EXPECT_EQ(answer.body["series"]["series"]["loss"][0][2], 0.5);
  EXPECT_EQ(answer.body["logs"][0]["replica"], "worker-0");
  EXPECT_EQ(answer.body["logs"][0]["lines"][0]["l"], "secret of the log");
  EXPECT_EQ(answer.body["logs"][0]["truncated"], false);
  EXPECT_EQ(answer.body["usage"]["replicas"]["worker-0"], json::parse("[[100,1.5]]"));
  EXPECT_THAT(answer.body["withheld"], IsEmpty());
}

// Each part needs the right that it needs of a job that is there.
TEST_F(HistoryRoutesTest, PartsThatACallerMayNotSeeAreLeftOutAndNamed) {
  Put({.uid = "a"});
  Answer answer = Get("ada", {"history", "a"});
  ASSERT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body["withheld"], json({"events", "manifest", "logs"}));
  EXPECT_THAT(answer.body.dump(), Not(HasSubstr("secret of the log")));
  EXPECT_THAT(answer.body.dump(), Not(HasSubstr("an event")));
  EXPECT_FALSE(answer.body.contains("manifest"));
  EXPECT_FALSE(answer.body.contains("usage"));
  reviews_.allowed.insert("ada list events ml");
  executor_.RunUntil(executor_.clock().Now() + seconds(31));
  answer = Get("ada", {"history", "a"});
  EXPECT_EQ(answer.body["withheld"], json({"manifest", "logs"}));
  EXPECT_EQ(answer.body["events"][0]["message"], "an event");
}

// What they use is read from metrics.k8s.io, and who may see pods may not always see that.
TEST_F(HistoryRoutesTest, WhatReplicasUseNeedsTheRightToSeeMeasurements) {
  Put({.uid = "a"});
  reviews_.allowed.insert("ada list pods ml");
  EXPECT_FALSE(Get("ada", {"history", "a"}).body.contains("usage"));
  reviews_.allowed.insert("ada list pods.metrics.k8s.io ml");
  executor_.RunUntil(executor_.clock().Now() + seconds(31));
  EXPECT_TRUE(Get("ada", {"history", "a"}).body.contains("usage"));
}

TEST_F(HistoryRoutesTest, AJobOutOfSightIsAsOneThatIsNot) {
  Put({.uid = "a", .ns = "secret"});
  const Answer hidden = Get("ada", {"history", "a"}), none = Get("ada", {"history", "b"});
  EXPECT_EQ(hidden.code, 404);
  EXPECT_EQ(none.code, 404);
  std::string text = hidden.body.dump();
  text.replace(text.find("job a"), 5, "job b");
  EXPECT_EQ(text, none.body.dump());
}

TEST_F(HistoryRoutesTest, AnApiServerThatIsAwayShowsNothing) {
  Put({.uid = "a"});
  reviews_.away = true;
  EXPECT_THAT(Uids(Get("ada", {"history"})), IsEmpty());
  EXPECT_EQ(Get("ada", {"history", "a"}).code, 404);
}

TEST_F(HistoryRoutesTest, AHistoryThatIsNotBeingWrittenIsShownAndSaysSo) {
  Put({.uid = "a"});
  EXPECT_FALSE(Get("ada", {"history"}).body.contains("message"));
  FakeFullDisk full(1'000);
  Put({.uid = "b"});
  const Answer answer = Get("ada", {"history"});
  EXPECT_THAT(Uids(answer), ElementsAre("a"));
  EXPECT_THAT(answer.body["message"], HasSubstr("not being written since"));
}

TEST_F(HistoryRoutesTest, AHistoryThatCannotBeReadIsAProblemThatNamesNoPath) {
  HistoryStore store(executor_, executor_, HistoryStore::Options{"/proc/history.db", {}});
  HistoryRoutes routes(HistoryRoutes::Context{.store = store, .access = access_});
  table_ = RouteTable();
  routes.AddTo(&table_);
  store.Start([](const auto&) {});
  executor_.RunUntil(executor_.clock().Now() + seconds(1));
  for (const std::vector<std::string>& path :
       std::vector<std::vector<std::string>>{{"history"}, {"history", "a"}}) {
    const Answer answer = Get("ada", path);
    EXPECT_EQ(answer.code, 502);
    EXPECT_EQ(answer.body["error"]["reason"], "Unavailable");
    EXPECT_THAT(answer.body["error"]["message"], HasSubstr("read the history"));
    EXPECT_THAT(answer.body["error"]["message"], Not(HasSubstr("/proc")));
  }
}

}  // namespace
}  // namespace taas::dashboard
