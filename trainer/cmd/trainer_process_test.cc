// Whole jobs of real processes on loopback: they end, they survive kill -9 of any one of them, and
// every batch counts once.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/commit_ledger.h"
#include "trainer/ps/ledger_check.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;
using namespace std::chrono_literals;

// A job of this test that has not ended by then hangs.
constexpr auto kPatience = 60s;
constexpr auto kPoll = 5ms;

std::string ScratchDir() {
  static int count = 0;
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/" + std::to_string(getpid()) +
                          "-" + std::to_string(++count);
  PosixFileSystem files;
  EXPECT_THAT(files.MakeDirs(dir), IsOk());
  return dir;
}

std::string TrainerPath() {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") +
         "/trainer/cmd/taas-trainer";
}

// Ports that are free now. Below those that Linux gives to outgoing connections (32768 and up), so
// that none is taken by chance before its process listens.
std::vector<int> FreePorts(int count) {
  static std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<int> any(12'000, 19'999);
  std::set<int> ports;
  while (std::ssize(ports) < count) {
    const auto socket = comm::OpenListeningSocket("127.0.0.1", any(random));
    if (!socket.ok()) continue;
    ports.insert(*comm::PortOfSocket(*socket));
    close(*socket);
  }
  return {ports.begin(), ports.end()};
}

// One child process; killed at the end if it still runs.
class Child {
 public:
  Child(const std::vector<std::string>& args, const std::map<std::string, std::string>& environment,
        std::string log)
      : log_(std::move(log)) {
    std::vector<std::string> env_text;
    for (const auto& [name, value] : environment) env_text.push_back(name + "=" + value);
    std::vector<char*> argv, envp;
    for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
    for (const std::string& entry : env_text) envp.push_back(const_cast<char*>(entry.c_str()));
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool Ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  void Kill() {
    if (Ended()) return;
    kill(pid_, SIGKILL);
    ended_ = waitpid(pid_, &status_, 0) == pid_;
  }
  void Signal(int number) { kill(pid_, number); }
  int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_); }
  std::string Log() const { return PosixFileSystem().ReadAll(log_).value_or(""); }

 private:
  const std::string log_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

bool WaitUntil(const std::function<bool()>& done) {
  RealClock clock;
  const Clock::Time deadline = clock.Now() + kPatience;
  while (!done()) {
    if (clock.Now() > deadline) return false;
    clock.SleepUntil(clock.Now() + kPoll);
  }
  return true;
}

struct Job {
  int chiefs = 1, ps = 2, workers = 2;
  json config = json::parse(R"({
    "model": {"name": "mlp", "hidden": [64]},
    "data": {"format": "generated", "generated": {"examples": 2000, "testExamples": 500,
             "features": 64, "classes": 10}},
    "strategy": {"type": "ParameterServer"},
    "batchSize": 32, "maxSteps": 600, "logSteps": 10})");
  std::string dir = ScratchDir();
  std::string uid = "uid-of-" + dir;
  json cluster = json::object();
  std::map<std::string, std::unique_ptr<Child>> children;
  std::map<std::string, int> pods;
  std::map<std::string, std::string> more_environment;

  void Plan() {
    const std::vector<int> ports = FreePorts(chiefs + ps + workers);
    size_t next = 0;
    const auto add = [&](const char* role, int count) {
      for (int i = 0; i < count; ++i) {
        cluster[role].push_back("127.0.0.1:" + std::to_string(ports[next++]));
      }
    };
    add("chief", chiefs);
    add("ps", ps);
    add("worker", workers);
  }
  std::string TerminationPath(const std::string& name) { return dir + "/" + name + ".termination"; }
  json Termination(const std::string& name) {
    return json::parse(PosixFileSystem().ReadAll(TerminationPath(name)).value_or("null"), nullptr,
                       false);
  }
  Child& Start(const std::string& role, int index) { return StartWith(cluster, role, index); }
  Child& StartWith(const json& cluster, const std::string& role, int index) {
    const std::string name = role + "-" + std::to_string(index);
    const json task = {{"cluster", cluster}, {"task", {{"type", role}, {"index", index}}}};
    std::map<std::string, std::string> environment = {
        {"TF_CONFIG", task.dump()},
        {"TAAS_TRAINER", config.dump()},
        {"TAAS_JOB", "default/test"},
        {"TAAS_JOB_UID", uid},
        {"TAAS_POD_NUMBER", std::to_string(++pods[name])},
        {"TAAS_TERMINATION_LOG", TerminationPath(name)}};
    environment.insert(more_environment.begin(), more_environment.end());
    auto& child = children[name];
    child = nullptr;
    child = std::make_unique<Child>(std::vector<std::string>{TrainerPath()}, environment,
                                    dir + "/" + name + ".log");
    return *child;
  }
  void StartAll() {
    Plan();
    for (const auto& [role, addresses] : cluster.items()) {
      for (int i = 0; i < static_cast<int>(addresses.size()); ++i) Start(role, i);
    }
  }
  std::string Logs() {
    std::string text;
    for (auto& [name, child] : children) text += "== " + name + "\n" + child->Log();
    return text;
  }
  void ExpectAllDone() {
    const bool ended = WaitUntil([&] {
      for (auto& [name, child] : children) {
        if (!child->Ended()) return false;
      }
      return true;
    });
    EXPECT_TRUE(ended) << Logs();
    for (auto& [name, child] : children) {
      if (!child->Ended()) continue;
      EXPECT_EQ(child->exit_code(), 0) << name << "\n" << Logs();
    }
  }
  // The step that the chief printed last.
  int64_t PrintedStep(const std::string& chief) {
    const std::string log = children[chief]->Log();
    const size_t at = log.rfind("\nstep ");
    return at == std::string::npos ? 0 : std::atoll(log.c_str() + at + 6);
  }
  void ExpectCheckpoint(int64_t step) {
    PosixFileSystem files;
    const auto state = files.ReadAll(dir + "/out/checkpoint");
    ASSERT_THAT(state, IsOk());
    EXPECT_THAT(*state, HasSubstr("model.ckpt-" + std::to_string(step) + "\""));
    const auto reader =
        BundleReader::Open(files, dir + "/out/model.ckpt-" + std::to_string(step));
    ASSERT_THAT(reader, IsOk());
    EXPECT_EQ(*(*reader)->ReadInt64("global_step"), step);
    EXPECT_EQ(*(*reader)->ReadInt64("taas/cursor/watermark"), step);
    EXPECT_TRUE((*reader)->ReadInt64s("taas/cursor/above")->empty());
  }
  bool DirectoryReleased() {
    const auto owner = PosixFileSystem().ReadAll(dir + "/out/.owner");
    return owner.ok() && json::parse(*owner)["released"].get<bool>();
  }
  void KeepLedgers() { more_environment[ps::kLedgerDirVariable] = dir; }
  // Of every process that was started, whether it ended well or was killed.
  void ExpectWholeLedgers(int64_t steps, int aggregate) {
    std::vector<std::vector<ps::LedgerRecord>> processes;
    PosixFileSystem files;
    const auto names = files.List(dir);
    ASSERT_THAT(names, IsOk());
    for (const std::string& name : *names) {
      if (!name.ends_with(".ledger")) continue;
      const auto records = ps::ParseLedger(files.ReadAll(dir + "/" + name).value_or(""));
      ASSERT_THAT(records, IsOk()) << name;
      processes.push_back(*records);
    }
    EXPECT_GE(processes.size(), static_cast<size_t>(ps));
    EXPECT_THAT(ps::CheckLedgers(processes, {.steps = steps, .aggregate = aggregate}), IsOk());
  }
  void UseCheckpoints() { config["checkpoint"] = {{"dir", dir + "/out"}, {"everySteps", 50}}; }
};

TEST(TrainerProcessTest, ChiefTwoShardsTwoWorkersTrainAndAllExitWithZero) {
  Job job;
  job.UseCheckpoints();
  job.StartAll();
  job.ExpectAllDone();
  job.ExpectCheckpoint(600);
  const json end = job.Termination("chief-0");
  EXPECT_EQ(end["message"], "done");
  EXPECT_EQ(end["step"], 600);
  EXPECT_GT(end["evaluation"]["accuracy"], 0.5) << end.dump();
  EXPECT_THAT(job.children["chief-0"]->Log(), testing::ContainsRegex(
      "step [0-9]+, loss = [0-9.]+ \\([0-9.]+ examples/sec; [0-9.]+ sec/batch\\)"));
  EXPECT_EQ(job.Termination("ps-1")["message"], "done");
}

TEST(TrainerProcessTest, WithoutAChiefRoleWorkerZeroIsTheChief) {
  Job job;
  job.chiefs = 0;
  job.ps = 1;
  job.StartAll();
  job.ExpectAllDone();
  EXPECT_EQ(job.Termination("worker-0")["step"], 600);
}

// A short job was over before its workers had started: they looked for the chief until the operator
// ended them ten seconds later.
TEST(TrainerProcessTest, AWorkerThatComesWhenAllIsDoneIsToldSoAndEndsWithZero) {
  Job job;
  job.workers = 1;
  job.ps = 1;
  job.config["maxSteps"] = 20;
  job.Plan();
  job.Start("chief", 0);
  job.Start("ps", 0);
  ASSERT_TRUE(WaitUntil([&] {
    return job.children["chief-0"]->Log().find("evaluation at step") != std::string::npos;
  })) << job.Logs();
  job.Start("worker", 0);
  job.ExpectAllDone();
}

TEST(TrainerProcessTest, WorkerIsKilledAndReplacedAndEveryBatchStillCountsOnce) {
  Job job;
  job.UseCheckpoints();
  job.config["maxSteps"] = 20'000;
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 100; })) << job.Logs();
  job.children["worker-1"]->Kill();
  job.Start("worker", 1);
  job.ExpectAllDone();
  job.ExpectCheckpoint(20'000);
}

TEST(TrainerProcessTest, ParameterServerIsKilledAndReplacedAndTheJobGoesOnFromTheLastCut) {
  Job job;
  job.UseCheckpoints();
  job.config["maxSteps"] = 20'000;
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 100; })) << job.Logs();
  job.children["ps-1"]->Kill();
  job.Start("ps", 1);
  job.ExpectAllDone();
  job.ExpectCheckpoint(20'000);
  EXPECT_THAT(job.children["chief-0"]->Log(), HasSubstr("going back to the last cut"));
}

TEST(TrainerProcessTest, ChiefIsKilledAndReplacedAndTheJobGoesOnFromItsCheckpoint) {
  Job job;
  job.UseCheckpoints();
  job.config["maxSteps"] = 20'000;
  job.StartAll();
  // Far from the end, and after the first checkpoint.
  ASSERT_TRUE(WaitUntil([&] {
    return job.children["chief-0"]->Log().find("checkpoint saved") != std::string::npos;
  })) << job.Logs();
  job.children["chief-0"]->Kill();
  job.Start("chief", 0);
  job.ExpectAllDone();
  job.ExpectCheckpoint(20'000);
  EXPECT_THAT(job.children["chief-0"]->Log(), HasSubstr("resuming from checkpoint"));
}

TEST(TrainerProcessTest, TerminatedChiefSavesACheckpointAndItsSuccessorResumes) {
  Job job;
  job.chiefs = 1;
  job.ps = 1;
  job.workers = 0;
  job.UseCheckpoints();
  job.config["checkpoint"].erase("everySteps");
  job.config["maxSteps"] = 10'000'000;
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 50; })) << job.Logs();
  Child& chief = *job.children["chief-0"];
  // The parameter server first: it serves on until the chief has its last cut.
  job.children["ps-0"]->Signal(SIGTERM);
  chief.Signal(SIGTERM);
  for (const char* name : {"chief-0", "ps-0"}) {
    Child& child = *job.children[name];
    ASSERT_TRUE(WaitUntil([&] { return child.Ended(); })) << job.Logs();
    EXPECT_EQ(child.exit_code(), 143) << job.Logs();
  }
  EXPECT_THAT(chief.Log(), HasSubstr("checkpoint saved"));
  EXPECT_TRUE(job.DirectoryReleased());
}

TEST(TrainerProcessTest, ChiefThatFindsAllStepsDoneEvaluatesAndEndsAlone) {
  Job job;
  job.UseCheckpoints();
  job.StartAll();
  job.ExpectAllDone();
  job.children.clear();
  Child& chief = job.Start("chief", 0);
  ASSERT_TRUE(WaitUntil([&] { return chief.Ended(); })) << job.Logs();
  EXPECT_EQ(chief.exit_code(), 0) << job.Logs();
  EXPECT_EQ(job.Termination("chief-0")["step"], 600);
  EXPECT_GT(job.Termination("chief-0")["evaluation"]["accuracy"], 0.5);
}

// It served on for twenty seconds, while the job could not be moved.
TEST(TrainerProcessTest, ParameterServerThatIsToldToStopLeavesAtOnceWithAllStepsMadeBefore) {
  Job job;
  job.UseCheckpoints();
  job.KeepLedgers();
  job.config["maxSteps"] = 20'000;
  job.config["checkpoint"].erase("everySteps");
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 100; })) << job.Logs();
  RealClock clock;
  const int64_t before = job.PrintedStep("chief-0");
  const Clock::Time told = clock.Now();
  Child& child = *job.children["ps-1"];
  child.Signal(SIGTERM);
  ASSERT_TRUE(WaitUntil([&] { return child.Ended(); })) << job.Logs();
  std::printf("a parameter server that was told to stop left after %.3f s\n",
              std::chrono::duration<double>(clock.Now() - told).count());
  EXPECT_EQ(child.exit_code(), 143) << job.Logs();
  // Far below the time that it serves a chief which does not answer.
  EXPECT_LT(clock.Now() - told, 10s);
  job.Start("ps", 1);
  job.ExpectAllDone();
  job.ExpectCheckpoint(20'000);
  job.ExpectWholeLedgers(20'000, 1);
  const std::string log = job.children["chief-0"]->Log();
  const size_t back = log.find("going back to the last cut step=");
  ASSERT_NE(back, std::string::npos) << log;
  // There is no checkpoint: without the cut it would go back to step 0. Steps made between the cut
  // and the end of the parameter server are made again.
  EXPECT_GE(std::atoll(log.c_str() + back + std::strlen("going back to the last cut step=")),
            before)
      << log;
}

TEST(TrainerProcessTest, SynchronousJobSurvivesTheDeathOfAWorkerAndOfAParameterServer) {
  Job job;
  job.UseCheckpoints();
  job.KeepLedgers();
  job.config["strategy"] = {{"type", "ParameterServer"}, {"mode", "Sync"}, {"backupWorkers", 1}};
  job.config["optimizer"] = {{"name", "adam"}, {"learningRate", 0.001}};
  job.config["maxSteps"] = 1500;
  job.StartAll();
  RealClock clock;
  for (const char* role : {"worker", "ps"}) {
    const int64_t reached = job.PrintedStep("chief-0") + 100;
    ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= reached; })) << job.Logs();
    job.children[std::string(role) + "-1"]->Kill();
    const size_t length = job.children["chief-0"]->Log().size();
    const Clock::Time killed = clock.Now();
    job.Start(role, 1);
    ASSERT_TRUE(WaitUntil([&] {
      return job.children["chief-0"]->Log().find("\nstep ", length) != std::string::npos;
    })) << job.Logs();
    std::printf("after kill -9 of a %s the next line of ten steps came after %.3f s\n", role,
                std::chrono::duration<double>(clock.Now() - killed).count());
  }
  job.ExpectAllDone();
  job.ExpectWholeLedgers(1500, 2);
  PosixFileSystem files;
  const auto reader = BundleReader::Open(files, job.dir + "/out/model.ckpt-1500");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(*(*reader)->ReadInt64("global_step"), 1500);
  EXPECT_EQ(*(*reader)->ReadInt64("taas/cursor/watermark"), 3000);
  EXPECT_TRUE((*reader)->Has("beta1_power"));
}

TEST(TrainerProcessTest, ChiefNamesAParameterServerThatIsMissingWithinTenSeconds) {
  Job job;
  job.Plan();
  RealClock clock;
  const Clock::Time start = clock.Now();
  Child& chief = job.Start("chief", 0);
  job.Start("ps", 0);
  const std::string wanted =
      "waiting for ps-1 at " + job.cluster["ps"][1].get<std::string>() + " (has not joined";
  ASSERT_TRUE(WaitUntil([&] { return chief.Log().find(wanted) != std::string::npos; }))
      << job.Logs();
  EXPECT_LT(clock.Now() - start, 10s);
}

TEST(TrainerProcessTest, WorkerThatIsAddedToARunningJobTakesPart) {
  Job job;
  job.config["maxSteps"] = 10'000'000;
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 50; })) << job.Logs();
  json larger = job.cluster;
  larger["worker"].push_back("127.0.0.1:" + std::to_string(FreePorts(1)[0]));
  Child& added = job.StartWith(larger, "worker", 2);
  ASSERT_TRUE(WaitUntil([&] {
    return added.Ended() || added.Log().find("\nstep ") != std::string::npos;
  })) << job.Logs();
  EXPECT_FALSE(added.Ended()) << job.Logs();
  EXPECT_FALSE(job.children["chief-0"]->Ended()) << job.Logs();
}

TEST(TrainerProcessTest, WorkerThatWasSilentForLongComesBackAndTrainsOn) {
  Job job;
  job.config["maxSteps"] = 10'000'000;
  job.StartAll();
  Child& worker = *job.children["worker-1"];
  ASSERT_TRUE(WaitUntil([&] { return worker.Log().find("\nstep ") != std::string::npos; }))
      << job.Logs();
  worker.Signal(SIGSTOP);
  ASSERT_TRUE(WaitUntil([&] {
    return job.children["chief-0"]->Log().find("replica fenced") != std::string::npos;
  })) << job.Logs();
  worker.Signal(SIGCONT);
  ASSERT_TRUE(WaitUntil([&] {
    const std::string log = worker.Log();
    const size_t again = log.find("joining again");
    return worker.Ended() ||
           (again != std::string::npos && log.find("\nstep ", again) != std::string::npos);
  })) << job.Logs();
  EXPECT_FALSE(worker.Ended()) << job.Logs();
}

TEST(TrainerProcessTest, DirectoryOfAnotherLivingJobIsWaitedForAndTakenOnceItIsReleased) {
  Job job;
  job.UseCheckpoints();
  job.config["strategy"] = {{"type", "Local"}};
  job.config["maxSteps"] = 10'000'000;
  const auto start = [&](const char* name, const std::string& uid) -> Child& {
    auto& child = job.children[name];
    child = std::make_unique<Child>(
        std::vector<std::string>{TrainerPath()},
        std::map<std::string, std::string>{{"TAAS_TRAINER", job.config.dump()},
                                           {"TAAS_JOB_UID", uid},
                                           {"TAAS_TERMINATION_LOG", job.TerminationPath(name)}},
        job.dir + "/" + name + ".log");
    return *child;
  };
  Child& first = start("first", "u1");
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("first") >= 50; })) << job.Logs();
  Child& second = start("second", "u2");
  ASSERT_TRUE(WaitUntil([&] {
    return second.Ended() || second.Log().find("in use by another job") != std::string::npos;
  })) << job.Logs();
  ASSERT_FALSE(second.Ended()) << job.Logs();
  first.Signal(SIGTERM);
  ASSERT_TRUE(WaitUntil([&] {
    return second.Log().find("resuming from checkpoint") != std::string::npos;
  })) << job.Logs();
  EXPECT_TRUE(first.Ended());
  second.Signal(SIGTERM);
  ASSERT_TRUE(WaitUntil([&] { return second.Ended(); })) << job.Logs();
  EXPECT_EQ(second.exit_code(), 143);
  EXPECT_TRUE(job.DirectoryReleased());
}

TEST(TrainerProcessTest, LocalStrategyTrainsWithNoClusterAtAll) {
  Job job;
  job.UseCheckpoints();
  job.config["strategy"] = {{"type", "Local"}};
  PosixFileSystem files;
  ASSERT_THAT(files.WriteAtomically(job.dir + "/config.json", job.config.dump()), IsOk());
  job.children["alone"] = std::make_unique<Child>(
      std::vector<std::string>{TrainerPath(), "--config", job.dir + "/config.json"},
      std::map<std::string, std::string>{{"TAAS_TERMINATION_LOG", job.TerminationPath("alone")}},
      job.dir + "/alone.log");
  job.ExpectAllDone();
  job.ExpectCheckpoint(600);
  EXPECT_GT(job.Termination("alone")["evaluation"]["accuracy"], 0.5);
}

class DivergedModelTest : public testing::TestWithParam<const char*> {};

TEST_P(DivergedModelTest, EndsWithOneAndASentenceAndKeepsTheCheckpointBefore) {
  Job job;
  job.workers = 0;
  job.ps = 1;
  job.UseCheckpoints();
  job.config["strategy"] = {{"type", "ParameterServer"}, {"mode", GetParam()}};
  job.config["maxSteps"] = 20'000;
  // All is well for long enough that there is a checkpoint to keep.
  job.config["optimizer"] = {{"name", "sgd"}, {"learningRate", 0.01},
                             {"decay", {{"type", "step"}, {"boundaries", {5000}},
                                        {"rates", {1e6}}}}};
  job.StartAll();
  Child& chief = *job.children["chief-0"];
  ASSERT_TRUE(WaitUntil([&] { return chief.Ended(); })) << job.Logs();
  EXPECT_EQ(chief.exit_code(), 1);
  EXPECT_THAT(job.Termination("chief-0")["message"].get<std::string>(),
              testing::ContainsRegex("Model diverged.* step [0-9]+.*(op|variable) "));
  PosixFileSystem files;
  const auto state = files.ReadAll(job.dir + "/out/checkpoint");
  ASSERT_THAT(state, IsOk());
  const size_t name = state->find('"') + 1;
  const auto reader = BundleReader::Open(
      files, job.dir + "/out/" + state->substr(name, state->find('"', name) - name));
  ASSERT_THAT(reader, IsOk());
  std::vector<float> weights(64 * 10);
  const std::vector<int64_t> shape = {64, 10};
  ASSERT_THAT((*reader)->ReadFloats("softmax_linear/weights", shape, weights), IsOk());
  EXPECT_TRUE(std::ranges::all_of(weights, [](float x) { return std::isfinite(x); }));
}

INSTANTIATE_TEST_SUITE_P(Modes, DivergedModelTest, testing::Values("Async", "Sync"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TrainerProcessTest, PortInUseEndsWith138) {
  for (const char* role : {"chief", "ps"}) {
    Job job;
    job.ps = 1;
    job.workers = 0;
    job.UseCheckpoints();
    job.Plan();
    const std::string address = job.cluster[role][0];
    const auto taken = comm::OpenListeningSocket("127.0.0.1", std::stoi(address.substr(10)));
    ASSERT_THAT(taken, IsOk());
    Child& child = job.Start(role, 0);
    ASSERT_TRUE(WaitUntil([&] { return child.Ended(); }));
    EXPECT_EQ(child.exit_code(), 138) << job.Logs();
    // Whoever has the port may have the directory too.
    EXPECT_FALSE(PosixFileSystem().Exists(job.dir + "/out").value_or(true));
    close(*taken);
  }
}

TEST(TrainerProcessTest, ACheckpointDirectoryThatCannotBeWrittenEndsWithOneAndItsName) {
  Job job;
  job.config["strategy"] = {{"type", "Local"}};
  // Not even root makes a directory below a file.
  PosixFileSystem files;
  ASSERT_THAT(files.WriteAtomically(job.dir + "/file", ""), IsOk());
  job.config["checkpoint"] = {{"dir", job.dir + "/file/out"}};
  job.children["alone"] = std::make_unique<Child>(
      std::vector<std::string>{TrainerPath()},
      std::map<std::string, std::string>{{"TAAS_TRAINER", job.config.dump()},
                                         {"TAAS_TERMINATION_LOG", job.TerminationPath("alone")}},
      job.dir + "/alone.log");
  ASSERT_TRUE(WaitUntil([&] { return job.children["alone"]->Ended(); }));
  EXPECT_EQ(job.children["alone"]->exit_code(), 1) << job.Logs();
  EXPECT_THAT(job.Termination("alone")["message"].get<std::string>(),
              HasSubstr(job.dir + "/file/out"));
}

TEST(TrainerProcessTest, ACheckpointOfAnotherModelIsRefusedAndKept) {
  Job job;
  job.UseCheckpoints();
  job.StartAll();
  job.ExpectAllDone();
  job.config["model"]["hidden"] = {32};
  job.config["maxSteps"] = 700;
  job.cluster = json::object();
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.children["chief-0"]->Ended(); })) << job.Logs();
  EXPECT_EQ(job.children["chief-0"]->exit_code(), 1) << job.Logs();
  EXPECT_THAT(job.Termination("chief-0")["message"].get<std::string>(),
              HasSubstr("checkpoint of another model"));
  job.ExpectCheckpoint(600);
}

// Twice the same identity, as when the same command line is given on two hosts: of two starts of
// one pod number the later one counts, and the earlier one is told so instead of hanging.
TEST(TrainerProcessTest, TheEarlierOfTwoProcessesWithOneIdentityIsToldSoAndTheJobGoesOn) {
  Job job;
  job.UseCheckpoints();
  job.config["maxSteps"] = 20'000;
  job.StartAll();
  ASSERT_TRUE(WaitUntil([&] { return job.PrintedStep("chief-0") >= 100; })) << job.Logs();
  const std::unique_ptr<Child> earlier = std::move(job.children["worker-1"]);
  // The port is the first line of defence; take another host's, that is another address, here.
  const std::string address = "127.0.0.1:" + std::to_string(FreePorts(1)[0]);
  job.cluster["worker"][1] = address;
  job.pods["worker-1"] = 0;
  job.Start("worker", 1);
  ASSERT_TRUE(WaitUntil([&] { return earlier->Ended(); })) << job.Logs();
  EXPECT_EQ(earlier->exit_code(), 1) << earlier->Log();
  EXPECT_THAT(earlier->Log(), HasSubstr("worker-1"));
  job.ExpectAllDone();
  job.ExpectCheckpoint(20'000);
}

struct BadStart {
  const char* name;
  const char* tf_config;
  const char* trainer;
  const char* sentence;
};

class BadStartTest : public testing::TestWithParam<BadStart> {};

TEST_P(BadStartTest, EndsWithOneAndASentence) {
  Job job;
  // Who leads takes its port before it looks at anything else.
  std::string tf_config = GetParam().tf_config;
  constexpr std::string_view kPort = R"(127.0.0.1:1")";
  if (const size_t at = tf_config.find(kPort); at != std::string::npos) {
    tf_config.replace(at, kPort.size(), "127.0.0.1:" + std::to_string(FreePorts(1)[0]) + "\"");
  }
  Child child({TrainerPath()},
              {{"TF_CONFIG", tf_config},
               {"TAAS_TRAINER", GetParam().trainer},
               {"TAAS_TERMINATION_LOG", job.TerminationPath("bad")}},
              job.dir + "/bad.log");
  ASSERT_TRUE(WaitUntil([&] { return child.Ended(); }));
  EXPECT_EQ(child.exit_code(), 1) << child.Log();
  EXPECT_THAT(job.Termination("bad")["message"].get<std::string>(), HasSubstr(GetParam().sentence));
}

constexpr char kTrainer[] = R"({"model":{"name":"softmax"},"data":{"format":"idx",
  "train":{"images":"/nonexistent/images.gz","labels":"/nonexistent/labels.gz"}},"maxSteps":5})";
constexpr char kAlone[] =
    R"({"cluster":{"worker":["127.0.0.1:1"],"ps":["127.0.0.1:2"]},
        "task":{"type":"worker","index":0}})";

INSTANTIATE_TEST_SUITE_P(
    Table, BadStartTest,
    testing::Values(
        BadStart{"TfConfigMalformed", "{", kTrainer, "TF_CONFIG: not JSON"},
        BadStart{"IndexOutOfRange",
                 R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":5}})", kTrainer,
                 "index 5 is out of range"},
        BadStart{"UnknownField", kAlone, R"({"model":{},"data":{},"steps":1})", "steps: unknown"},
        BadStart{"NoSteps", kAlone, R"({"model":{},"data":{}})", "maxSteps: is required"},
        BadStart{"MissingData", kAlone, kTrainer, "/nonexistent/images.gz"},
        BadStart{"UnknownModel", kAlone,
                 R"({"model":{"name":"transformer9"},"data":{"format":"generated"},"maxSteps":5})",
                 "transformer9"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
