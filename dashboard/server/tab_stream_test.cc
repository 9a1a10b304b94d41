// A tab's stream over a whole board, against an API server that the test plays.

#include "dashboard/server/tab_stream.h"

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

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
using testing::HasSubstr;
using testing::Not;

// What a tab has received.
class Page : public StreamSink {
 public:
  bool Write(SharedText chunk) override {
    text += *chunk;
    return !ended;
  }
  void End() override { ended = true; }
  void Abort() override { ended = true; }
  size_t unsent() const override { return 0; }

  // The data of the last event of this name; null: there is none.
  json Last(const std::string& name) const {
    const std::string head = "event: " + name + "\ndata: ";
    const size_t at = text.rfind(head);
    if (at == std::string::npos) return nullptr;
    const size_t begin = at + head.size();
    return json::parse(text.substr(begin, text.find("\n\n", begin) - begin));
  }
  std::string LastId() const {
    const size_t at = text.rfind("id: ");
    return at == std::string::npos ? "" : text.substr(at + 4, text.find('\n', at) - at - 4);
  }

  std::string text;
  bool ended = false;
};

json Job(const std::string& ns, const std::string& name, int version) {
  return {{"metadata",
           {{"name", name},
            {"namespace", ns},
            {"uid", "uid-" + name},
            {"resourceVersion", std::to_string(version)}}},
          {"spec", {{"roles", {{"worker", {{"replicas", 1}}}}}}},
          {"status", {{"state", "Running"}, {"message", "v" + std::to_string(version)}}}};
}

class TabStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    board_.Start();
    Settle(1s);
  }

  // Answers whatever is asked, and lets so much time pass.
  void Settle(std::chrono::milliseconds time) {
    const Clock::Time end = executor_.clock().Now() + time;
    do {
      while (transport_.waiting() > 0) transport_.Reply(AnswerTo(transport_.request()));
      executor_.RunUntil(std::min(end, executor_.clock().Now() + 50ms),
                         [this] { return transport_.waiting() > 0; });
    } while (executor_.clock().Now() < end || transport_.waiting() > 0);
  }

  absl::StatusOr<HttpReply> AnswerTo(const HttpRequest& request) {
    if (away_) return absl::UnavailableError("connection refused");
    const json body = json::parse(request.body, nullptr, false);
    if (request.path.find("tokenreviews") != std::string::npos) {
      const json status = token_good_ ? json{{"authenticated", true},
                                             {"user", {{"username", "ann"}}}}
                                      : json{{"authenticated", false}};
      return HttpReply{.code = 201, .body = json{{"status", status}}.dump()};
    }
    if (request.path.find("subjectaccessreviews") != std::string::npos) {
      const json& asked = body["spec"]["resourceAttributes"];
      const std::string ns = asked.value("namespace", "");
      const bool may = !ns.empty() && reach_.count(ns) > 0;
      return HttpReply{.code = 201, .body = json{{"status", {{"allowed", may}}}}.dump()};
    }
    json items = json::array();
    if (request.path.find("trainingjobs") != std::string::npos) {
      for (const auto& [name, job] : jobs_) items.push_back(job);
    }
    return HttpReply{.code = 200,
                     .body = json{{"kind", "List"},
                                  {"metadata", {{"resourceVersion", "100"}}},
                                  {"items", items}}.dump()};
  }

  void Watch(const std::string& type, const json& job) {
    FakeTransport::ServerStream& stream = transport_.FindStream("trainingjobs");
    stream.Open(200);
    stream.Send(json{{"type", type}, {"object", job}}.dump() + "\n");
    Settle(300ms);
  }

  std::unique_ptr<TabStream> Open(TabTopics topics, const std::shared_ptr<Page>& page,
                                  const std::string& after = "") {
    auto identity = std::make_shared<Identity>();
    identity->user = "ann";
    identity->key = "ann";
    auto tab = std::make_unique<TabStream>(
        context_, TabStream::Options{
                      .identity = identity, .token = "t1", .topics = topics, .after = after});
    tab->Open(page);
    Settle(300ms);
    return tab;
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  std::map<std::string, json> jobs_ = {{"one", Job("a", "one", 5)}, {"two", Job("b", "two", 6)}};
  std::set<std::string> reach_ = {"a"};
  bool token_good_ = true;
  bool away_ = false;
  bool gpus_throw_ = false;
  Authenticator authenticator_{transport_, executor_};
  Access access_{transport_, executor_};
  Board board_{transport_, executor_, random_, {}};
  TabStream::Context context_{
      .executor = executor_,
      .board = board_,
      .authenticator = authenticator_,
      .access = access_,
      .gpus =
          [this](const Sight&) {
            if (gpus_throw_) throw std::out_of_range("no such node");
            return std::string(R"({"nodes":[]})");
          },
      .queues = [](const Sight&, const QueueSight&) { return std::string("{}"); },
      .map_namespaces = [] { return std::set<std::string>(); }};
};

TEST_F(TabStreamTest, RowsOfWhatIsInSightComeOnceAndThenTheirChanges) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  ASSERT_TRUE(page->Last("jobs")["full"]);
  EXPECT_EQ(page->Last("jobs")["rows"].size(), 1);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["name"], "one");
  Watch("MODIFIED", Job("a", "one", 101));
  EXPECT_FALSE(page->Last("jobs")["full"]);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["message"], "v101");
  Watch("MODIFIED", Job("b", "two", 102));
  EXPECT_THAT(page->text, Not(HasSubstr("two")));
  Watch("DELETED", Job("a", "one", 103));
  EXPECT_EQ(page->Last("jobs")["gone"], json({"uid-one"}));
}

// Symptom: what threw in a later callback of a page's stream, after it had been let in, ended the
// dashboard for everybody.
TEST_F(TabStreamTest, WhatThrowsInACallbackEndsThatStreamAlone) {
  const auto page = std::make_shared<Page>(), other = std::make_shared<Page>();
  const auto tab = Open({.gpus = true}, page);
  const auto jobs = Open({.jobs = true}, other);
  gpus_throw_ = true;
  board_.NoteMaps();
  Settle(TabStream::kMapsEvery + 500ms);  // It is made in a timer.
  EXPECT_TRUE(page->ended);
  EXPECT_EQ(page->Last("end")["reason"], "Internal");
  const auto late = std::make_shared<Page>();
  const auto too_late = Open({.gpus = true}, late);  // And in what waits for rights.
  EXPECT_TRUE(late->ended);
  Watch("MODIFIED", Job("a", "one", 101));
  EXPECT_EQ(other->Last("jobs")["rows"][0]["message"], "v101");
  EXPECT_FALSE(other->ended);
}

TEST_F(TabStreamTest, AJobWhoseLossRisesIsShownSo) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["health"], "ok");
  board_.NoteLoss(*board_.cache().FindJob("trainingjobs/a/one"), true);
  Settle(300ms);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["healthReason"], "LossRises");
  board_.NoteLoss(*board_.cache().FindJob("trainingjobs/a/one"), false);
  Settle(300ms);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["health"], "ok");
}

TEST_F(TabStreamTest, ATabThatComesBackGetsWhatItHasMissed) {
  const auto before = std::make_shared<Page>();
  Open({.jobs = true}, before).reset();
  Watch("MODIFIED", Job("a", "one", 101));
  const auto after = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, after, before->LastId());
  EXPECT_FALSE(after->Last("jobs")["full"]);
  EXPECT_EQ(after->Last("jobs")["rows"].size(), 1);
  // A page of another process's days gets everything.
  const auto stranger = std::make_shared<Page>();
  const auto other = Open({.jobs = true}, stranger, "0123456789ab-7");
  EXPECT_TRUE(stranger->Last("jobs")["full"]);
}

TEST_F(TabStreamTest, ADetailComesAgainOnlyWhenSomethingOfItHasChanged) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.job = "trainingjobs/a/one"}, page);
  EXPECT_EQ(page->Last("job")["job"]["message"], "v5");
  const size_t sent = page->text.size();
  Settle(12s);
  EXPECT_EQ(page->text.substr(sent).find("event: job"), std::string::npos);
  Watch("MODIFIED", Job("a", "one", 101));
  EXPECT_EQ(page->Last("job")["job"]["message"], "v101");
  Watch("DELETED", Job("a", "one", 102));
  EXPECT_EQ(page->Last("job")["job"], nullptr);
}

TEST_F(TabStreamTest, OfAJobOutOfSightTheTabHearsThatThereIsNone) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.job = "trainingjobs/b/two"}, page);
  ASSERT_TRUE(page->Last("job").contains("job"));
  EXPECT_EQ(page->Last("job")["job"], nullptr);
}

TEST_F(TabStreamTest, ASilentStreamSaysThatItIsStillThere) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  page->text.clear();
  Settle(16s);
  EXPECT_THAT(page->text, HasSubstr(": still here\n\n"));
}

TEST_F(TabStreamTest, ATokenThatWasRevokedEndsTheStreamWithinAMinute) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  token_good_ = false;
  Settle(61s);
  EXPECT_TRUE(page->ended);
  EXPECT_EQ(page->Last("end")["reason"], "Unauthenticated");
}

TEST_F(TabStreamTest, RightsThatChangeChangeWhatIsShown) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  reach_ = {"b"};
  Settle(61s);
  EXPECT_FALSE(page->ended);
  EXPECT_TRUE(page->Last("jobs")["full"]);
  EXPECT_EQ(page->Last("jobs")["rows"][0]["name"], "two");
}

TEST_F(TabStreamTest, ANewNamespaceIsAskedForAtOnce) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  reach_ = {"a", "c"};
  Watch("ADDED", Job("c", "three", 101));
  EXPECT_THAT(page->text, HasSubstr("\"three\""));
}

// Symptom: a page that goes blank, or asks for a login, while the API server is away.
TEST_F(TabStreamTest, WhileTheApiServerIsAwayThePageKeepsWhatItHasAndSaysSince) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  EXPECT_EQ(page->Last("cluster")["connected"], true);
  away_ = true;
  Settle(70s);
  EXPECT_FALSE(page->ended);
  EXPECT_EQ(page->Last("cluster")["connected"], false);
  EXPECT_TRUE(page->Last("cluster").contains("since"));
  EXPECT_EQ(page->Last("jobs")["gone"], json::array());
  away_ = false;
  Settle(10s);
  EXPECT_EQ(page->Last("cluster")["connected"], true);
}

TEST_F(TabStreamTest, AServerThatStopsSaysSo) {
  const auto page = std::make_shared<Page>();
  const auto tab = Open({.jobs = true}, page);
  tab->Stop();
  EXPECT_TRUE(page->ended);
  EXPECT_EQ(page->Last("end")["reason"], "ServerStops");
  EXPECT_EQ(board_.listeners(), 0u);
}

}  // namespace
}  // namespace taas::dashboard
