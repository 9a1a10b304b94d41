// What /training answers: a job's ranks and checkpoints, by whoever knows them.

#include <cstdlib>
#include <string>
#include <utility>

#include "dashboard/training/checkpoint_source.h"
#include "dashboard/training/fake_replica.h"
#include "dashboard/training/report_source.h"
#include "dashboard/training/training_routes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

constexpr char kPage[] =
    R"({"uid":"u","role":"chief","index":0,
        "shares":{"compute":0.4,"wait":0.5,"exchange":0.05,"hiddenExchange":0.1,"bytesPerStep":9},
        "slowest":"worker-0",
        "peers":[{"role":"worker","index":0,"shares":{"compute":0.9,"wait":9}}],
        "checkpoints":[{"step":20,"bytes":7,"savedAt":"2026-11-21T05:54:17Z"},{"step":10}]})";

class TrainingFactsTest : public testing::Test {
 protected:
  TrainingFactsTest() {
    job_.meta = {.ns = "ml", .name = "ring", .uid = "u"};
    job_.roles = {{.role = Role::kChief, .name = "chief"}, {.role = Role::kWorker}};
    job_.checkpoint_dir = "/out/ckpt";
    job_.checkpoints = VolumePath{.claim = "ring-out", .host_path = "", .below = "ckpt"};
    pods_.push_back(RunningReplica(Role::kChief, "10.0.0.1"));
  }
  void Wait(Clock::Duration time) { executor_.RunUntil(executor_.clock().Now() + time); }
  ReportReply Reply(absl::StatusOr<std::string> body) {
    ReportReply got;
    reports_.Fetch(job_, pods_, [&got](const ReportReply& reply) { got = reply; });
    if (!trainers_.asked.empty()) trainers_.Answer(std::move(body));
    Wait(2s);
    return got;
  }
  CheckpointList List(CheckpointSource& source) {
    CheckpointList got;
    source.Fetch(job_, pods_, [&got](const CheckpointList& list) { got = list; });
    if (!trainers_.asked.empty()) trainers_.Answer(kPage);
    Wait(2s);
    return got;
  }
  CheckpointSource Remote() { return CheckpointSource(Context(nullptr)); }
  CheckpointSource::Context Context(
      std::function<std::string(const std::string&, const std::string&)> claim_dir) {
    return {.executor = executor_, .disk = executor_, .reports = reports_,
            .claim_dir = std::move(claim_dir)};
  }
  json Text(const ReportReply& reply, const CheckpointList& list,
            const std::string& recorded = "") {
    return json::parse(TrainingText(
        job_, {.reply = reply, .checkpoints = list, .recorded = recorded, .model = {}}));
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTrainers trainers_;
  ReportSource reports_{trainers_, executor_};
  WatchedJob job_;
  ReportSource::Pods pods_;
};

TEST_F(TrainingFactsTest, TheRanksAreThoseThatTheChiefTellsOf) {
  const json text = Text(Reply(kPage), {});
  EXPECT_EQ(text["source"], "chief-0");
  EXPECT_EQ(text["slowest"], "worker-0");
  EXPECT_EQ(text["ranks"][0], json::parse(R"({"replica":"chief-0","compute":0.4,"wait":0.5,
                                             "exchange":0.05,"hidden":0.1,"bytesPerStep":9})"));
  EXPECT_EQ(text["ranks"][1]["replica"], "worker-0");
  EXPECT_EQ(text["ranks"][1]["wait"], 1.0) << "no rank waits for more than all of its time";
}

TEST_F(TrainingFactsTest, OneAnswerServesAllWhoAskMeanwhile) {
  int told = 0;
  const auto tell = [&told](const ReportReply&) { ++told; };
  reports_.Fetch(job_, pods_, tell);
  reports_.Fetch(job_, pods_, tell);
  ASSERT_EQ(trainers_.asked.size(), 1u);
  EXPECT_EQ(trainers_.asked[0].first, "10.0.0.1:2223/status");
  trainers_.Answer(kPage);
  reports_.Fetch(job_, pods_, tell);
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(trainers_.asked.empty());
  Wait(2s);
  reports_.Fetch(job_, pods_, tell);
  EXPECT_EQ(trainers_.asked.size(), 1u) << "what is older than a second is asked anew";
}

TEST_F(TrainingFactsTest, WhereNobodyAnswersItIsSaidWhyAndWhatIsOfAnotherJobIsNotBelieved) {
  EXPECT_THAT(Text(Reply(absl::UnavailableError("connection refused")), {}).dump(),
              HasSubstr("chief-0 does not answer: connection refused"));
  for (const char* page : {"<html>", "[]", R"({"uid":"other","role":"chief","shares":{}})"}) {
    const json text = Text(Reply(page), {});
    EXPECT_FALSE(text.contains("ranks")) << page;
    EXPECT_THAT(std::string(text["message"]), HasSubstr("serves no /status of this job")) << page;
  }
  pods_.clear();
  EXPECT_THAT(Reply("").message, HasSubstr("no replica"));
}

TEST_F(TrainingFactsTest, OnAClusterTheChiefSaysWhichCheckpointsThereAre) {
  CheckpointSource source = Remote();
  const json text = Text({}, List(source));
  EXPECT_EQ(text["checkpoints"], json::parse(R"({
    "dir":"/out/ckpt","claim":"ring-out","from":"trainer",
    "newest":[{"step":20,"bytes":7,"savedAt":"2026-11-21T05:54:17Z"},{"step":10}]})"));
}

TEST_F(TrainingFactsTest, OnThisMachineTheVolumesFolderSaysItAlsoWhenTheJobIsOver) {
  std::string top = testing::TempDir() + "/volume.XXXXXX";
  ASSERT_NE(mkdtemp(top.data()), nullptr);
  PosixFileSystem files;
  ASSERT_THAT(files.MakeDirs(top + "/ckpt"), IsOk());
  ASSERT_THAT(files.WriteAtomically(top + "/ckpt/model.ckpt-30.index", "abc"), IsOk());
  job_.status.state = JobState::kSucceeded;
  CheckpointSource source(Context([top](const std::string& ns, const std::string& claim) {
    return ns == "ml" && claim == "ring-out" ? top : "";
  }));
  const CheckpointList list = List(source);
  EXPECT_EQ(list.from, CheckpointList::From::kFolder);
  const json checkpoints = Text({}, list)["checkpoints"];
  EXPECT_EQ(checkpoints["folder"], top + "/ckpt");
  EXPECT_EQ(checkpoints["newest"][0]["step"], 30);
  EXPECT_EQ(checkpoints["newest"][0]["bytes"], 3);
  EXPECT_NE(SeenCheckpoints(job_, list), "");
}

TEST_F(TrainingFactsTest, OfAJobThatSucceededElsewhereTheLastStepIsKnownAndTheHistoryKnowsMore) {
  job_.status.state = JobState::kSucceeded;
  job_.status.progress = Progress{.step = 30};
  CheckpointSource source = Remote();
  const CheckpointList list = List(source);
  EXPECT_TRUE(trainers_.asked.empty());
  EXPECT_EQ(SeenCheckpoints(job_, list), "") << "nobody has seen it";
  EXPECT_EQ(Text({}, list)["checkpoints"]["newest"], json::parse(R"([{"step":30}])"));
  EXPECT_EQ(Text({}, list)["checkpoints"]["from"], "status");
  // The last save came after the last question.
  json with = Text({}, list, R"({"newest":[{"step":20,"bytes":7}]})")["checkpoints"];
  EXPECT_EQ(with["newest"], json::parse(R"([{"step":30},{"step":20,"bytes":7}])"));
  EXPECT_EQ(with["from"], "history");
  with = Text({}, list, R"({"newest":[{"step":30,"bytes":7}]})")["checkpoints"];
  EXPECT_EQ(with["newest"], json::parse(R"([{"step":30,"bytes":7}])"));
  for (const char* damaged : {"{", "[]", R"({"newest":5})", R"({"newest":[]})"}) {
    EXPECT_EQ(Text({}, list, damaged)["checkpoints"]["from"], "status") << damaged;
  }
}

TEST_F(TrainingFactsTest, OfAJobThatFailedNobodyKnowsWhatIsLeft) {
  job_.status.state = JobState::kFailed;
  job_.status.progress = Progress{.step = 30};
  CheckpointSource source = Remote();
  const json checkpoints = Text({}, List(source))["checkpoints"];
  EXPECT_EQ(checkpoints["newest"], json::array());
  EXPECT_FALSE(checkpoints.contains("from"));
  EXPECT_EQ(checkpoints["claim"], "ring-out") << "where they were to go is known";
}

TEST_F(TrainingFactsTest, AJobThatKeepsNoCheckpointsHasNone) {
  job_.checkpoint_dir.clear();
  job_.checkpoints.reset();
  CheckpointSource source = Remote();
  EXPECT_FALSE(Text({}, List(source)).contains("checkpoints"));
  EXPECT_TRUE(trainers_.asked.empty());
}

}  // namespace
}  // namespace taas::dashboard
