#include "dashboard/history/history_recorder.h"

#include <cstdlib>
#include <deque>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using JobPtr = HistorySource::JobPtr;
using Pods = HistorySource::Pods;

// A cluster as the recorder sees it: jobs and their pods, logs and curves.
struct FakeCluster {
  bool synced = true;
  std::map<std::string, std::shared_ptr<WatchedJob>> jobs;  // By key.
  std::map<std::string, std::vector<std::shared_ptr<WatchedPod>>> pods;  // By name of the job.
  HistorySource::Events events;
  std::set<std::string> namespaces = {"ml"};
  std::string curves;  // Empty: nobody answers.
  std::string files;   // What the event files have.
  std::map<std::string, std::string> checkpoints;  // By name of the job.
  bool logs_readable = true;
  std::vector<Clock::Time> usage_questions;
  std::vector<std::string> usage_asked, series_asked, tails_asked;  // Of which job, of which pod.
};

class HistoryRecorderTest : public testing::Test {
 protected:
  HistoryRecorderTest() { EXPECT_NE(mkdtemp(dir_.data()), nullptr); }

  HistorySource Source() {
    return {.synced = [this] { return cluster_.synced; },
            .jobs =
                [this] {
                  std::vector<JobPtr> jobs;
                  for (const auto& [key, job] : cluster_.jobs) jobs.push_back(job);
                  return jobs;
                },
            .find =
                [this](const std::string& key) {
                  const auto found = cluster_.jobs.find(key);
                  return found == cluster_.jobs.end() ? nullptr : JobPtr(found->second);
                },
            .pods_of =
                [this](const WatchedJob& job) {
                  const auto& pods = cluster_.pods[job.meta.name];
                  return Pods(pods.begin(), pods.end());
                },
            .events_of = [this](const WatchedJob&, const Pods&) { return cluster_.events; },
            .watches =
                [this](JobKind, const std::string& ns) {
                  return cluster_.namespaces.count(ns) > 0;
                },
            .fetch_series =
                [this](const JobPtr& job, const Pods&, const auto& done) {
                  cluster_.series_asked.push_back(job->meta.name);
                  executor_.Post([done, curves = cluster_.curves] {
                    if (curves.empty()) return done(absl::UnavailableError("nobody answers"));
                    done(curves);
                  });
                },
            .fetch_files =
                [this](const JobPtr&, const Pods&, const auto& done) {
                  executor_.Post([done, files = cluster_.files] { done(files); });
                },
            .fetch_checkpoints =
                [this](const JobPtr& job, const Pods&, const auto& done) {
                  executor_.Post([done, seen = cluster_.checkpoints[job->meta.name]] {
                    done(seen);
                  });
                },
            .fetch_usage =
                [this](const std::vector<JobPtr>& jobs, const auto& done) {
                  cluster_.usage_questions.push_back(executor_.clock().Now());
                  std::map<std::string, ReplicaUse> used;
                  for (const JobPtr& job : jobs) {
                    cluster_.usage_asked.push_back(job->meta.name);
                    for (const auto& pod : cluster_.pods[job->meta.name]) {
                      used[pod->meta.uid] = {.cpu = 1.5};
                    }
                  }
                  executor_.Post([done, used] { done(used); });
                },
            .fetch_tails =
                [this](const JobPtr&, const Pods& pods, const auto& done) {
                  std::vector<HistoryTail> tails;
                  for (const auto& pod : pods) {
                    cluster_.tails_asked.push_back(pod->meta.name);
                    if (!cluster_.logs_readable) continue;
                    tails.push_back({.pod = pod->meta.name, .lines = {{"t", "last words"}}});
                  }
                  executor_.Post([done, tails] { done(tails); });
                }};
  }

  // What the dashboard has that starts now; a second one begins after the first has stopped.
  void Start() {
    store_ = std::make_unique<HistoryStore>(executor_, executor_,
                                            HistoryStore::Options{dir_ + "/history.db", {}});
    recorder_ = std::make_unique<HistoryRecorder>(HistoryRecorder::Context{
        .executor = executor_, .store = *store_, .own = transport_, .source = Source()});
    recorder_->Start();
    RunFor(seconds(2));
  }
  void Stop() {
    recorder_.reset();
    store_->Close([] {});
    RunFor(seconds(1));
    store_.reset();
  }
  void RunFor(Clock::Duration time) { executor_.RunUntil(executor_.clock().Now() + time); }

  WatchedJob& AddJob(const std::string& name, JobState state, const std::string& ns = "ml") {
    auto job = std::make_shared<WatchedJob>();
    job->meta = {.ns = ns, .name = name, .uid = "uid-" + name, .resource_version = "1",
                 .generation = 1};
    job->roles = {{.role = Role::kWorker, .name = "worker", .key = "worker"}};
    job->status.state = state;
    cluster_.jobs[job->key()] = job;
    return *job;
  }
  WatchedPod& AddPod(const std::string& job, int index, PodPhase phase) {
    auto pod = std::make_shared<WatchedPod>();
    pod->meta = {.ns = "ml", .name = job + "-worker-" + std::to_string(index),
                 .uid = "uid-" + job + std::to_string(index) + std::to_string(++made_)};
    pod->role = Role::kWorker;
    pod->index = index;
    pod->node = "node-1";
    pod->pod_number = 1;
    pod->phase = phase;
    cluster_.pods[job].push_back(pod);
    return *pod;
  }
  WatchedJob& Job(const std::string& name) { return *cluster_.jobs.at("trainingjobs/ml/" + name); }
  void Change(const std::string& name, JobState state) {
    WatchedJob& job = Job(name);
    job.status.state = state;
    job.meta.resource_version = std::to_string(std::stoi(job.meta.resource_version) + 1);
    recorder_->OnChanged(job);
    RunFor(milliseconds(50));
  }
  void Delete(const std::string& name) {
    const auto found = cluster_.jobs.find("trainingjobs/ml/" + name);
    const auto last = found->second;
    cluster_.jobs.erase(found);
    if (recorder_ != nullptr) recorder_->OnGone(*last);
    RunFor(seconds(2));
  }
  // Answers all requests for manifests.
  void Answer() {
    while (transport_.waiting() > 0) {
      asked_.push_back(transport_.request().path);
      const std::string name = asked_.back().substr(asked_.back().rfind('/') + 1);
      const auto job = cluster_.jobs.find("trainingjobs/ml/" + name);
      if (job == cluster_.jobs.end()) {
        transport_.Reply(HttpReply{.code = 404, .body = "{}"});
      } else {
        transport_.Reply(HttpReply{
            .code = 200,
            .body = json{{"metadata",
                          {{"name", name},
                           {"uid", job->second->meta.uid},
                           {"generation", job->second->meta.generation},
                           {"managedFields", {1, 2, 3}}}},
                         {"status", {{"state", JobStateName(job->second->status.state)}}}}
                        .dump()});
      }
      RunFor(milliseconds(10));
    }
    RunFor(seconds(1));
  }

  std::optional<HistoryRecord> Load(const std::string& name) {
    std::optional<HistoryRecord> record;
    store_->Load("uid-" + name, {.events = true, .manifest = true, .logs = true},
                 [&](const auto& loaded) {
                   ASSERT_THAT(loaded, IsOk());
                   record = *loaded;
                 });
    RunFor(milliseconds(10));
    return record;
  }
  std::vector<std::string> History() {
    std::vector<std::string> uids;
    store_->Page({.places = {{JobKind::kTrainingJob, "ml"}, {JobKind::kTrainingJob, "other"}}},
                 [&](const absl::StatusOr<HistoryPage>& page) {
                   for (const HistoryRow& row : page->rows) uids.push_back(row.cursor.uid);
                 });
    RunFor(milliseconds(10));
    return uids;
  }

  SimExecutor executor_{SimExecutor::Options{.seed = 11}};
  FakeTransport transport_{executor_};
  std::string dir_ = testing::TempDir() + "/recorder.XXXXXX";
  FakeCluster cluster_;
  int made_ = 0;
  std::vector<std::string> asked_;  // Paths of manifests.
  std::unique_ptr<HistoryStore> store_;
  std::unique_ptr<HistoryRecorder> recorder_;
};

TEST_F(HistoryRecorderTest, AJobIsHistoryOnceItHasEnded) {
  AddJob("mnist", JobState::kRunning);
  Start();
  EXPECT_THAT(History(), IsEmpty());
  Job("mnist").status.completion_time = executor_.clock().WallNow();
  Change("mnist", JobState::kSucceeded);
  RunFor(seconds(1));
  const auto record = Load("mnist");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(json::parse(record->row.row)["state"], "Succeeded");
  EXPECT_EQ(record->row.deleted, std::nullopt);
}

TEST_F(HistoryRecorderTest, AJobThatIsDeletedLaterKeepsItsEnd) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Change("mnist", JobState::kFailed);
  RunFor(minutes(5));
  Job("mnist").status.message = "changed by nobody";
  Delete("mnist");
  const auto record = Load("mnist");
  EXPECT_EQ(json::parse(record->row.row)["state"], "Failed");
  EXPECT_EQ(json::parse(record->row.row)["message"], "");
  EXPECT_TRUE(record->row.deleted.has_value());
  EXPECT_FALSE(record->row.unseen);
}

TEST_F(HistoryRecorderTest, AJobThatIsDeletedWhileItRunsIsKeptAsItWasLast) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Answer();
  AddPod("mnist", 0, PodPhase::kRunning);
  Change("mnist", JobState::kRunning);
  Job("mnist").status.message = "at step 7";
  cluster_.curves = R"({"series":{"loss":[[7,1,0.5]]}})";
  Delete("mnist");
  const auto record = Load("mnist");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(json::parse(record->row.row)["message"], "at step 7");
  EXPECT_TRUE(record->row.deleted.has_value());
  EXPECT_THAT(record->manifest, HasSubstr("mnist"));
  EXPECT_THAT(record->curves, HasSubstr("0.5")) << "its pods still answered";
  ASSERT_THAT(record->logs, SizeIs(1));
  EXPECT_EQ(record->logs[0].replica, "worker-0");
  EXPECT_EQ(record->logs[0].lines[0].l, "last words");
}

TEST_F(HistoryRecorderTest, AJobThatComesAndGoesBetweenTwoLooksIsThereToo) {
  Start();
  AddJob("brief", JobState::kSucceeded);
  Delete("brief");
  EXPECT_THAT(History(), ElementsAre("uid-brief"));
}

TEST_F(HistoryRecorderTest, AJobOfTheSameNameIsAnotherOne) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Delete("mnist");
  AddJob("mnist", JobState::kRunning).meta.uid = "uid-second";
  Change("mnist", JobState::kRunning);
  Answer();
  Change("mnist", JobState::kFailed);
  RunFor(seconds(2));
  EXPECT_THAT(History(), ElementsAre("uid-second", "uid-mnist"));
}

TEST_F(HistoryRecorderTest, JobsThatEndedOrWentWhileTheDashboardWasAwayAreFound) {
  for (const char* name : {"ends", "goes", "stays"}) AddJob(name, JobState::kRunning);
  AddJob("elsewhere", JobState::kRunning, "other");
  cluster_.namespaces.insert("other");
  Start();
  Answer();
  Stop();
  // Another start looks at one namespace only: of the other nothing is known.
  cluster_.namespaces.erase("other");
  cluster_.jobs.erase("trainingjobs/other/elsewhere");
  Job("ends").status.state = JobState::kSucceeded;
  cluster_.jobs.erase("trainingjobs/ml/goes");
  AddPod("ends", 0, PodPhase::kSucceeded);
  Start();
  Answer();
  EXPECT_THAT(History(), testing::UnorderedElementsAre("uid-ends", "uid-goes"));
  EXPECT_EQ(json::parse(Load("ends")->row.row)["state"], "Succeeded");
  EXPECT_THAT(Load("ends")->logs, SizeIs(1));
  EXPECT_THAT(Load("ends")->manifest, HasSubstr("Succeeded"));
  EXPECT_TRUE(Load("goes")->row.unseen);
  EXPECT_TRUE(Load("goes")->row.deleted.has_value());
  EXPECT_EQ(json::parse(Load("goes")->row.row)["state"], "Running");
  EXPECT_THAT(Load("goes")->manifest, HasSubstr("goes"));
}

TEST_F(HistoryRecorderTest, NothingIsTakenForGoneBeforeTheClusterHasBeenListed) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Stop();
  cluster_.synced = false;
  const auto job = cluster_.jobs.extract("trainingjobs/ml/mnist").mapped();
  Start();
  RunFor(minutes(5));
  EXPECT_THAT(History(), IsEmpty());
  cluster_.jobs["trainingjobs/ml/mnist"] = job;
  cluster_.synced = true;
  RunFor(minutes(5));
  EXPECT_THAT(History(), IsEmpty());
}

TEST_F(HistoryRecorderTest, AManifestIsReadAtFirstSightAtEachGenerationAndAtTheEnd) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Answer();
  EXPECT_THAT(asked_, ElementsAre("/apis/taas.dev/v1/namespaces/ml/trainingjobs/mnist"));
  for (int i = 0; i < 20; ++i) {
    Change("mnist", JobState::kRunning);
    RunFor(seconds(30));
    Answer();
  }
  EXPECT_THAT(asked_, SizeIs(1));
  Job("mnist").meta.generation = 2;
  Change("mnist", JobState::kRunning);
  Answer();
  EXPECT_THAT(asked_, SizeIs(2));
  Change("mnist", JobState::kSucceeded);
  Answer();
  EXPECT_THAT(asked_, SizeIs(3));
  RunFor(minutes(10));
  EXPECT_EQ(transport_.waiting(), 0u);
  const json manifest = json::parse(Load("mnist")->manifest);
  EXPECT_EQ(manifest["status"]["state"], "Succeeded");
  EXPECT_FALSE(manifest["metadata"].contains("managedFields"));
}

TEST_F(HistoryRecorderTest, ARestartDoesNotReadManifestsThatAreKept) {
  for (int i = 0; i < 10; ++i) AddJob("job-" + std::to_string(i), JobState::kRunning);
  Start();
  Answer();
  EXPECT_THAT(asked_, SizeIs(10));
  Stop();
  Start();
  EXPECT_EQ(transport_.waiting(), 0u);
}

TEST_F(HistoryRecorderTest, AManifestOfALaterJobOfTheSameNameIsNotTaken) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Delete("mnist");
  AddJob("mnist", JobState::kRunning).meta.uid = "uid-second";
  Answer();
  EXPECT_EQ(Load("mnist")->manifest, "");
}

TEST_F(HistoryRecorderTest, AnAccountThatMayNotReadManifestsDoesNotAskAllTheTime) {
  for (int i = 0; i < 100; ++i) AddJob("job-" + std::to_string(i), JobState::kRunning);
  Start();
  size_t asked = 0;
  for (int i = 0; i < 60; ++i) {
    while (transport_.waiting() > 0) {
      ++asked;
      transport_.Reply(HttpReply{.code = 403, .body = "{}"});
      RunFor(milliseconds(1));
    }
    for (const auto& [key, job] : cluster_.jobs) recorder_->OnChanged(*job);
    RunFor(seconds(5));
  }
  EXPECT_LE(asked, 100u);
  EXPECT_THAT(History(), IsEmpty());
}

TEST_F(HistoryRecorderTest, TheLastLinesOfAReplicaAreReadWhenItEnds) {
  AddJob("mnist", JobState::kRunning);
  AddPod("mnist", 0, PodPhase::kRunning);
  WatchedPod& second = AddPod("mnist", 1, PodPhase::kRunning);
  Start();
  EXPECT_THAT(cluster_.tails_asked, IsEmpty());
  second.phase = PodPhase::kFailed;
  Change("mnist", JobState::kRunning);
  Change("mnist", JobState::kRunning);
  EXPECT_THAT(cluster_.tails_asked, ElementsAre("mnist-worker-1"));
}

TEST_F(HistoryRecorderTest, ALogThatCannotBeReadAtOnceIsReadWhenTheJobSettles) {
  AddJob("mnist", JobState::kRunning);
  WatchedPod& pod = AddPod("mnist", 0, PodPhase::kRunning);
  Start();
  Answer();
  cluster_.logs_readable = false;
  pod.phase = PodPhase::kFailed;
  Change("mnist", JobState::kFailed);
  cluster_.logs_readable = true;
  RunFor(HistoryRecorder::kSettle + seconds(2));
  EXPECT_THAT(Load("mnist")->logs, SizeIs(1));
}

TEST_F(HistoryRecorderTest, WhatComesLateIsKeptUntilThingsHaveSettled) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Answer();
  Change("mnist", JobState::kFailed);
  auto event = std::make_shared<WatchedEvent>();
  event->meta.name = "late";
  event->message = "pods deleted";
  cluster_.events = {event};
  RunFor(HistoryRecorder::kSettle * HistoryRecorder::kSettleSteps + seconds(2));
  EXPECT_THAT(Load("mnist")->events, ElementsAre(HasSubstr("pods deleted")));
  // Then it is left alone, by the next start too.
  Stop();
  cluster_.tails_asked.clear();
  AddPod("mnist", 0, PodPhase::kSucceeded);
  Start();
  RunFor(minutes(2));
  EXPECT_THAT(cluster_.tails_asked, IsEmpty());
  Delete("mnist");
  EXPECT_TRUE(Load("mnist")->row.deleted.has_value());
}

TEST_F(HistoryRecorderTest, CurvesAreAskedSoonThenMoreRarelyAndOftenNearTheEnd) {
  AddJob("mnist", JobState::kRunning);
  Start();
  AddPod("mnist", 0, PodPhase::kRunning);
  Change("mnist", JobState::kRunning);
  RunFor(seconds(2));
  EXPECT_THAT(cluster_.series_asked, SizeIs(1)) << "it may be over soon";
  RunFor(minutes(10));
  EXPECT_GE(cluster_.series_asked.size(), 10u);
  EXPECT_LE(cluster_.series_asked.size(), 17u);
  Job("mnist").status.progress = Progress{.step = 9, .max_steps = 10, .eta_seconds = 10};
  RunFor(minutes(1));
  cluster_.series_asked.clear();
  RunFor(seconds(30));
  EXPECT_GE(cluster_.series_asked.size(), 5u);
  cluster_.pods.clear();
  RunFor(minutes(1));
  cluster_.series_asked.clear();
  RunFor(minutes(5));
  EXPECT_THAT(cluster_.series_asked, IsEmpty()) << "nothing runs";
}

// Symptom: of a job that was over after 96 s accuracy, learning rate and throughput ended at step
// 400 of 600: at 63 s its status, of 10 s before, had said that it would take a minute more.
TEST_F(HistoryRecorderTest, CurvesAreAskedForSoonerWhenTheEndComesNearer) {
  AddJob("gpt2", JobState::kRunning);
  AddPod("gpt2", 0, PodPhase::kRunning);
  Start();
  Job("gpt2").status.progress = Progress{.step = 300, .max_steps = 600, .eta_seconds = 600};
  Change("gpt2", JobState::kRunning);
  RunFor(seconds(64));
  cluster_.series_asked.clear();
  Job("gpt2").status.progress = Progress{.step = 500, .max_steps = 600, .eta_seconds = 10};
  Change("gpt2", JobState::kRunning);
  RunFor(seconds(4));
  EXPECT_THAT(cluster_.series_asked, IsEmpty()) << "not at each change";
  RunFor(seconds(3));
  EXPECT_THAT(cluster_.series_asked, SizeIs(1));
}

TEST_F(HistoryRecorderTest, CurvesStayThoughNobodyAnswersAtTheEnd) {
  AddJob("mnist", JobState::kRunning);
  AddPod("mnist", 0, PodPhase::kRunning);
  cluster_.curves = R"({"source":"chief-0","series":{"loss":[[1,1,0.9],[2,2,0.8]]}})";
  Start();
  RunFor(seconds(10));
  cluster_.curves.clear();
  Change("mnist", JobState::kSucceeded);
  RunFor(minutes(5));
  EXPECT_EQ(json::parse(Load("mnist")->curves)["series"]["loss"].size(), 2u);
}

TEST_F(HistoryRecorderTest, CheckpointsStayAsTheyWereLastSeen) {
  WatchedJob& job = AddJob("one", JobState::kRunning);
  job.checkpoint_dir = "/out";
  AddPod("one", 0, PodPhase::kRunning);
  cluster_.checkpoints["one"] = R"({"newest":[{"step":10}]})";
  AddJob("none", JobState::kRunning);
  AddPod("none", 0, PodPhase::kRunning);
  cluster_.checkpoints["none"] = "nobody asks for these";
  Start();
  RunFor(seconds(5));
  // Of the last save nobody has heard.
  cluster_.checkpoints["one"] = "";
  Change("one", JobState::kSucceeded);
  Change("none", JobState::kSucceeded);
  RunFor(seconds(5));
  EXPECT_EQ(Load("one")->checkpoints, R"({"newest":[{"step":10}]})");
  EXPECT_EQ(Load("none")->checkpoints, "");
  // A volume that can be seen has it later, too.
  cluster_.checkpoints["one"] = R"({"newest":[{"step":20}]})";
  RunFor(HistoryRecorder::kSettle * (HistoryRecorder::kSettleSteps + 1));
  EXPECT_EQ(Load("one")->checkpoints, R"({"newest":[{"step":20}]})");
}

TEST_F(HistoryRecorderTest, TheLossOfTheEndIsKeptThoughNobodyAnswersAtTheEnd) {
  AddJob("mnist", JobState::kRunning);
  AddPod("mnist", 0, PodPhase::kRunning);
  cluster_.curves = R"({"source":"chief-0","series":{"loss":[[1,1,0.9],[2,2,0.8]]}})";
  Start();
  RunFor(seconds(10));
  cluster_.curves.clear();
  Job("mnist").status.progress = Progress{.step = 10, .max_steps = 10, .loss = 0.1};
  Change("mnist", JobState::kSucceeded);
  RunFor(seconds(5));
  const json loss = json::parse(Load("mnist")->curves)["series"]["loss"];
  ASSERT_EQ(loss.size(), 3u);
  EXPECT_EQ(loss[2][0], 10);
  EXPECT_EQ(loss[2][2], 0.1);
}

// Symptom: the recorded curves of a job that was over in seconds ended where it had been asked for
// the last time, at step 1,400 of 3,000, while its event files had all of them.
TEST_F(HistoryRecorderTest, CurvesOfAJobThatIsOverAreFilledFromItsEventFiles) {
  AddJob("mnist", JobState::kRunning);
  AddPod("mnist", 0, PodPhase::kRunning);
  Job("mnist").summaries = VolumePath{.claim = "out", .below = "events"};
  cluster_.curves = R"({"source":"chief-0","series":{"loss":[[1,1,0.9],[1400,2,0.8]]}})";
  cluster_.files = R"({"series":{"loss":[[1,1,0.9],[1400,2,0.8],[2950,3,0.2]]},"evaluator":{}})";
  Start();
  RunFor(seconds(10));
  cluster_.curves.clear();
  Progress& progress = Job("mnist").status.progress.emplace();
  progress = {.step = 3'000, .max_steps = 3'000, .loss = 0.1};
  progress.evaluation = Evaluation{.step = 3'000, .accuracy = 0.975, .loss = 0.3};
  Change("mnist", JobState::kSucceeded);
  RunFor(seconds(5));
  const json curves = json::parse(Load("mnist")->curves);
  const json& loss = curves["series"]["loss"];
  ASSERT_EQ(loss.size(), 4u) << curves;
  EXPECT_EQ(loss[2][0], 2'950);
  EXPECT_EQ(loss[3][0], 3'000);
  EXPECT_EQ(curves["evaluator"]["accuracy"][0][2], 0.975);
}

TEST_F(HistoryRecorderTest, ManyJobsTakeTurnsSoThatTheDiskKeepsUp) {
  for (int i = 0; i < 300; ++i) {
    AddJob("job-" + std::to_string(i), JobState::kRunning);
    AddPod("job-" + std::to_string(i), 0, PodPhase::kRunning);
  }
  Start();
  cluster_.series_asked.clear();
  RunFor(minutes(10));
  EXPECT_LE(cluster_.series_asked.size(), 600 * HistoryRecorder::kSeriesPerTick);
  const std::set<std::string> jobs(cluster_.series_asked.begin(), cluster_.series_asked.end());
  EXPECT_THAT(jobs, SizeIs(300)) << "each of them";
}

TEST_F(HistoryRecorderTest, ARowIsWrittenNowAndThenThoughTheJobChangesAllTheTime) {
  AddJob("mnist", JobState::kRunning);
  Start();
  Answer();
  size_t writes = 0;
  for (int i = 0; i < 600; ++i) {
    Change("mnist", JobState::kRunning);
    writes += store_->waiting_bytes() > 0 ? 1 : 0;
    RunFor(seconds(1));
  }
  EXPECT_GE(writes, 9u);
  EXPECT_LE(writes, 11u);
}

TEST_F(HistoryRecorderTest, AJobWhoseEndIsTakenBackIsFollowedAgain) {
  AddJob("mnist", JobState::kSucceeded);
  Start();
  Answer();
  RunFor(minutes(3));
  EXPECT_THAT(History(), SizeIs(1));
  Change("mnist", JobState::kRunning);
  RunFor(seconds(1));
  EXPECT_THAT(History(), IsEmpty());
  Change("mnist", JobState::kFailed);
  RunFor(seconds(1));
  EXPECT_EQ(json::parse(Load("mnist")->row.row)["state"], "Failed");
}

// A fake that never calls back stands for a program that forgot to.
TEST_F(HistoryRecorderTest, WhatNeverAnswersStopsNothing) {
  AddJob("mnist", JobState::kRunning);
  AddPod("mnist", 0, PodPhase::kRunning);
  HistorySource source = Source();
  source.fetch_series = [](const auto&, const auto&, const auto&) {};
  source.fetch_tails = [](const auto&, const auto&, const auto&) {};
  store_ = std::make_unique<HistoryStore>(executor_, executor_,
                                          HistoryStore::Options{dir_ + "/history.db", {}});
  recorder_ = std::make_unique<HistoryRecorder>(HistoryRecorder::Context{
      .executor = executor_, .store = *store_, .own = transport_, .source = source});
  recorder_->Start();
  RunFor(minutes(10));
  Change("mnist", JobState::kFailed);
  RunFor(minutes(10));
  EXPECT_THAT(History(), SizeIs(1));
  Delete("mnist");
  EXPECT_TRUE(Load("mnist")->row.deleted.has_value());
}

TEST_F(HistoryRecorderTest, TheFileMayComeLate) {
  AddJob("mnist", JobState::kRunning);
  PosixFileSystem files;
  ASSERT_THAT(files.MakeDirs(dir_ + "/history.db"), IsOk());
  Start();
  Change("mnist", JobState::kFailed);
  RunFor(seconds(5));
  ASSERT_THAT(files.RemoveAll(dir_ + "/history.db"), IsOk());
  RunFor(minutes(1));
  EXPECT_THAT(History(), ElementsAre("uid-mnist"));
}

TEST_F(HistoryRecorderTest, WhatReplicasUseIsAskedForWhileTheyRunAndEverMoreRarely) {
  AddJob("first", JobState::kRunning).meta.creation_time = executor_.clock().WallNow();
  AddPod("first", 0, PodPhase::kRunning);
  AddPod("first", 1, PodPhase::kPending);
  AddJob("idle", JobState::kPending);
  Start();
  RunFor(seconds(60));
  const size_t at_first = cluster_.usage_asked.size();
  EXPECT_EQ(at_first, 4u);
  RunFor(std::chrono::hours(2));
  const size_t before = cluster_.usage_asked.size();
  RunFor(seconds(600));
  EXPECT_LE(cluster_.usage_asked.size() - before, 11u);
  EXPECT_GE(cluster_.usage_asked.size() - before, 9u);
  EXPECT_THAT(cluster_.usage_asked, testing::Each("first"));
  cluster_.pods["first"].clear();
  Change("first", JobState::kSucceeded);
  RunFor(seconds(90));
  const size_t over = cluster_.usage_asked.size();
  RunFor(seconds(600));
  EXPECT_EQ(cluster_.usage_asked.size(), over);
  std::string used;
  store_->Usage("uid-first", [&](const auto& read) { used = read.value_or(""); });
  RunFor(seconds(1));
  const json rows = json::parse(used)["replicas"]["worker-0"];
  EXPECT_GT(rows.size(), 50u);
  EXPECT_EQ(rows[0][1], 1.5);
}

// Symptom: with many jobs, each due at a time of its own, a metrics-server was asked for all pods
// of the cluster each second.
TEST_F(HistoryRecorderTest, OneQuestionIsForAllThatAreDueAndNoneComesSoonAfterAnother) {
  constexpr int kJobs = 50;
  Start();
  for (int i = 0; i < kJobs; ++i) {
    const std::string name = "job-" + std::to_string(i);
    AddJob(name, JobState::kRunning).meta.creation_time = executor_.clock().WallNow();
    AddPod(name, 0, PodPhase::kRunning);
    Change(name, JobState::kRunning);
    RunFor(milliseconds(700));
  }
  RunFor(minutes(2));
  const std::vector<Clock::Time>& asked = cluster_.usage_questions;
  ASSERT_GT(asked.size(), 5u);
  for (size_t i = 1; i < asked.size(); ++i) {
    EXPECT_GE(asked[i] - asked[i - 1], HistoryRecorder::kUsageAgain);
  }
  const std::set<std::string> jobs(cluster_.usage_asked.begin(), cluster_.usage_asked.end());
  EXPECT_THAT(jobs, SizeIs(kJobs));
  for (int i = 0; i < kJobs; ++i) {
    store_->Usage("uid-job-" + std::to_string(i), [i](const auto& read) {
      EXPECT_THAT(read.value_or(""), HasSubstr("1.5")) << i;
    });
    RunFor(milliseconds(10));
  }
}

// Each takes the disk's thread some time, in which whoever reads the history waits.
TEST_F(HistoryRecorderTest, OfOneAnswerSoManyJobsAreWrittenInATick) {
  constexpr int kJobs = 40;
  Start();
  for (int i = 0; i < kJobs; ++i) {
    AddPod("job-" + std::to_string(i), 0, PodPhase::kRunning);
    recorder_->OnChanged(AddJob("job-" + std::to_string(i), JobState::kRunning));
  }
  const auto written = [this] {
    size_t jobs = 0;
    for (int i = 0; i < kJobs; ++i) {
      store_->Usage("uid-job-" + std::to_string(i),
                    [&](const auto& read) { jobs += read.value_or("").empty() ? 0 : 1; });
      RunFor(milliseconds(1));
    }
    return jobs;
  };
  size_t before = 0;
  while (before == 0) {
    RunFor(milliseconds(200));
    before = written();
  }
  EXPECT_LE(before, 2 * HistoryRecorder::kSeriesPerTick);
  EXPECT_THAT(cluster_.usage_questions, SizeIs(1));
  RunFor(HistoryRecorder::kUsageAgain);
  EXPECT_EQ(written(), kJobs);
}

}  // namespace
}  // namespace taas::dashboard
