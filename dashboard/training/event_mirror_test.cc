#include "dashboard/training/event_mirror.h"

#include <cstdlib>
#include <map>
#include <string>

#include "dashboard/events/fake_events.h"
#include "dashboard/training/fake_replica.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using nlohmann::json;

// Replicas that serve event files, a few bytes at a time.
class FakeReplicas : public PollTransport {
 public:
  static constexpr size_t kPage = 40;

  explicit FakeReplicas(Executor& executor) : executor_(executor) {}

  void Get(const std::string& host, int32_t, const std::string& path, Done done) override {
    asked.push_back(host + path);
    if (silent) return;
    executor_.Post([done = std::move(done), answer = Answer(host, path)] { done(answer); });
  }

  std::map<std::string, std::map<std::string, std::string>> files;  // By host, then RUN/FILE.
  std::vector<std::string> asked;
  bool silent = false;

 private:
  absl::StatusOr<std::string> Answer(const std::string& host, const std::string& path) {
    const auto of_host = files.find(host);
    if (of_host == files.end()) return absl::UnavailableError(host + ": HTTP 404");
    if (path == "/events") {
      json list = json::array();
      for (const auto& [name, bytes] : of_host->second) {
        const size_t slash = name.find('/');
        list.push_back({{"run", name.substr(0, slash)},
                        {"file", name.substr(slash + 1)},
                        {"bytes", bytes.size()}});
      }
      return json{{"files", list}}.dump();
    }
    const std::string file = path.substr(path.find('=') + 1, path.find('&') - path.find('=') - 1);
    const size_t from = std::stoul(path.substr(path.rfind('=') + 1));
    const std::string& bytes = of_host->second.at(file);
    return from < bytes.size() ? bytes.substr(from, kPage) : "";
  }

  Executor& executor_;
};

class EventMirrorTest : public testing::Test {
 protected:
  EventMirrorTest() {
    job_.meta.uid = "u";
    job_.roles = {{.role = Role::kChief, .name = "chief"},
                  {.role = Role::kEvaluator, .name = "evaluator"}};
    pods_.push_back(RunningReplica(Role::kChief, "10.0.0.1"));
  }
  static std::string FileOf(const std::vector<float>& losses) {
    std::string bytes = FramedRecord(FileVersionEvent(1));
    for (size_t i = 0; i < losses.size(); ++i) {
      bytes += FramedRecord(SummaryEvent(2, static_cast<int64_t>(i),
                                         {SimpleValue("loss", losses[i])}));
    }
    return bytes;
  }
  // Null until it is answered.
  std::shared_ptr<json> Ask(const std::string& path,
                            std::vector<std::pair<std::string, std::string>> query = {}) {
    auto answer = std::make_shared<json>();
    mirror_.Ask(job_, pods_, {.path = path, .query = std::move(query)},
                [answer](const Answer& got) {
                  ASSERT_EQ(got.status, 200) << got.body;
                  *answer = json::parse(got.body);
                });
    return answer;
  }
  void Settle(Clock::Duration time = 100ms) {
    executor_.RunUntil(executor_.clock().Now() + time, [] { return false; });
  }
  json About() {
    const auto answer = Ask("");
    Settle();
    return *answer;
  }
  size_t Points() {
    const auto answer = Ask("/data/plugin/scalars/scalars", {{"run", "."}, {"tag", "loss"}});
    Settle();
    return answer->size();
  }

  SimExecutor executor_{{.in_order = true}};
  PosixFileSystem files_;
  FakeReplicas replicas_{executor_};
  EventShelf shelf_{files_, {.dir = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                                    testing::UnitTest::GetInstance()->current_test_info()->name()}};
  const std::string volumes_ = std::string(std::getenv("TEST_TMPDIR")) + "/volumes";
  EventMirror mirror_{replicas_, executor_, executor_, shelf_,
                      [this](const std::string& ns, const std::string& claim) {
                        return volumes_ + "/" + ns + "/" + claim;
                      }};
  WatchedJob job_;
  EventMirror::Pods pods_;
};

TEST_F(EventMirrorTest, FirstQuestionIsAnsweredWhenAllWasCopied) {
  replicas_.files["10.0.0.1"]["./tfevents.1"] = FileOf({3, 2, 1});
  EXPECT_EQ(Points(), 3u);
  EXPECT_GT(replicas_.asked.size(), 3u);
  const json about = About();
  EXPECT_EQ(about["source"], "chief-0");
  EXPECT_EQ(about["message"], "");
  EXPECT_EQ(about["runs"], 1);
  EXPECT_EQ(about["bytes"], about["bytesTotal"]);
}

TEST_F(EventMirrorTest, WhatIsWrittenLaterIsFetchedFromWhereTheCopyEnds) {
  replicas_.files["10.0.0.1"]["./tfevents.1"] = FileOf({3});
  EXPECT_EQ(Points(), 1u);
  replicas_.asked.clear();
  EXPECT_EQ(Points(), 1u);
  EXPECT_THAT(replicas_.asked, ElementsAre());  // It was asked just now.
  replicas_.files["10.0.0.1"]["./tfevents.1"] = FileOf({3, 2});
  Settle(2s);
  Points();
  EXPECT_EQ(Points(), 2u);
  EXPECT_EQ(replicas_.asked[1],
            "10.0.0.1/events/data?file=./tfevents.1&from=" + std::to_string(FileOf({3}).size()));
}

TEST_F(EventMirrorTest, EvaluatorsFilesAreReadBesideTheChiefsAndThoseOfOneDiskOnce) {
  pods_.push_back(RunningReplica(Role::kEvaluator, "10.0.0.2"));
  replicas_.files["10.0.0.1"]["./tfevents.1"] = FileOf({3});
  replicas_.files["10.0.0.2"]["./tfevents.1"] = FileOf({3});
  replicas_.files["10.0.0.2"]["eval/tfevents.2"] = FileOf({4});
  const json about = About();
  EXPECT_EQ(about["source"], "chief-0, evaluator-0");
  EXPECT_EQ(about["files"], 2);
  EXPECT_EQ(about["bytes"], FileOf({3}).size() + FileOf({4}).size());
  for (const std::string& asked : replicas_.asked) {
    EXPECT_FALSE(asked.starts_with("10.0.0.2/events/data?file=./")) << asked;
  }
}

TEST_F(EventMirrorTest, CopiesStayWhenTheReplicasAreGone) {
  replicas_.files["10.0.0.1"]["./tfevents.1"] = FileOf({3, 2});
  EXPECT_EQ(Points(), 2u);
  pods_.clear();
  Settle(3s);
  EXPECT_EQ(Points(), 2u);
  const json about = About();
  EXPECT_THAT(about["message"].get<std::string>(),
              HasSubstr("no replica that serves event files runs now; what is shown was read "
                        "until "));
}

TEST_F(EventMirrorTest, ReplicaThatDoesNotServeThemIsNamed) {
  const json about = About();
  EXPECT_EQ(about["files"], 0);
  EXPECT_THAT(about["message"].get<std::string>(),
              HasSubstr("chief-0 does not serve its event files: 10.0.0.1: HTTP 404"));
  replicas_.files["10.0.0.1"];
  Settle(3s);
  About();
  EXPECT_EQ(About()["message"], "chief-0 has written no event file yet");
}

TEST_F(EventMirrorTest, SlowReplicaHoldsUpNobodyForLong) {
  replicas_.silent = true;
  const auto answer = Ask("");
  Settle(EventMirror::kFirstWait - 500ms);
  EXPECT_TRUE(answer->is_null());
  Settle(1s);
  EXPECT_EQ((*answer)["files"], 0);
  const auto second = Ask("");
  Settle(EventMirror::kFirstWait + 500ms);
  EXPECT_EQ((*second)["files"], 0);
  EXPECT_EQ(replicas_.asked.size(), 1u);  // The first question is still under way.
}

TEST_F(EventMirrorTest, OfAVolumeThatCanBeSeenFilesAreReadInPlaceAlsoOfAJobThatIsOver) {
  pods_.clear();
  job_.meta.ns = "ns";
  job_.summaries = VolumePath{.claim = "out", .below = "logs"};
  ASSERT_THAT(files_.MakeDirs(volumes_ + "/ns/out/logs"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(volumes_ + "/ns/out/logs/events.out.tfevents.1",
                                     FileOf({3, 2})),
              IsOk());
  EXPECT_EQ(Points(), 2u);
  EXPECT_EQ(About()["message"], "");
  EXPECT_EQ(About()["files"], 1);
  EXPECT_THAT(replicas_.asked, ElementsAre());
}

TEST_F(EventMirrorTest, DamageIsTold) {
  std::string bytes = FileOf({3, 2});
  bytes[bytes.size() - 6] ^= 1;
  bytes += FramedRecord(SummaryEvent(2, 5, {SimpleValue("loss", 1)}));
  replicas_.files["10.0.0.1"]["./tfevents.1"] = bytes;
  const json about = About();
  ASSERT_EQ(about["problems"].size(), 1u);
  EXPECT_EQ(about["problems"][0]["file"], "tfevents.1");
}

}  // namespace
}  // namespace taas::dashboard
