#include "localkube/node/shim_record.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/node/container_run.h"
#include "localkube/node/sandbox.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr char kShim[] = "localkube/node/shim_program";
// Far more than any of these processes needs on a machine that is busy with other tests.
constexpr auto kPatience = 30s;

class ShimTest : public testing::Test {
 protected:
  ShimTest() : files_(MakeDir()) {
    char* path = ::realpath(kShim, nullptr);
    EXPECT_NE(path, nullptr) << kShim;
    program_ = path;
    std::free(path);
    spec_.env = {"PATH=/usr/bin:/bin", std::string(kRunDirVariable) + "=" + files_.dir,
                 "TAAS_TERMINATION_LOG=" + files_.termination_log};
  }
  ~ShimTest() override { EXPECT_EQ(KillLeftovers(disk_, files_.dir), 0) << "processes were left"; }

  static std::string MakeDir() {
    std::string dir = testing::TempDir() + "/runXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    return dir;
  }
  void Shell(const std::string& script) { spec_.argv = {"/bin/sh", "-c", script}; }
  void Start() {
    ASSERT_THAT(WriteSpec(disk_, files_, spec_), IsOk());
    ASSERT_THAT(StartRun(program_, files_), IsOk());
  }
  void Await(const char* what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + 5ms);
    }
  }
  RunStatus Status() {
    const auto run = ReadRun(disk_, files_);
    EXPECT_THAT(run, IsOk());
    return run.value_or(RunStatus());
  }
  ExitRecord AwaitExit() {
    Await("the end", [&] { return ReadExit(disk_, files_).value_or(std::nullopt).has_value(); });
    Await("the shim's end", [&] { return !IsLocked(files_.lock).value_or(true); });
    return ReadExit(disk_, files_).value_or(std::nullopt).value_or(ExitRecord());
  }
  ExitRecord RunToEnd() {
    Start();
    return AwaitExit();
  }
  void AwaitLog(const std::string& text) {
    Await(text.c_str(), [&] {
      return disk_.ReadAll(files_.log).value_or("").find(text) != std::string::npos;
    });
  }
  std::string LogText() { return disk_.ReadAll(files_.log).value_or(""); }

  RealClock clock_;
  PosixFileSystem disk_;
  RunFiles files_;
  RunSpec spec_;
  std::string program_;
};

TEST_F(ShimTest, ExitCodeOutputAndTimesAreRecorded) {
  Shell("echo out; echo err >&2; printf tail; exit 7");
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.exit_code, 7);
  EXPECT_EQ(exit.reason, "Error");
  EXPECT_GE(exit.finished_at, exit.started_at);
  EXPECT_GT(exit.started_at, Clock::WallTime(1'700'000'000s));
  EXPECT_THAT(LogText(), HasSubstr(" stdout F out\n"));
  EXPECT_THAT(LogText(), HasSubstr(" stderr F err\n"));
  EXPECT_THAT(LogText(), HasSubstr(" stdout F tail\n"));
}

TEST_F(ShimTest, ASignalIsExitCode128PlusItsNumber) {
  Shell("kill -SEGV $$");
  EXPECT_EQ(RunToEnd().exit_code, 139);
}

TEST_F(ShimTest, AProcessAboveItsMemoryLimitIsKilledAsOutOfMemory) {
  spec_.memory_bytes_max = 64 << 20;
  Shell("python3 -c 'import time; x = bytearray(200 << 20); time.sleep(60)'; exit 0");
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_EQ(exit.reason, "OOMKilled");
}

TEST_F(ShimTest, PagesThatAForkSharesCountOnceAndKill9IsNotOutOfMemory) {
  spec_.memory_bytes_max = 150 << 20;
  Shell("exec python3 -c 'import os, signal, time; x = bytearray(100 << 20)\n"
        "if os.fork() == 0: time.sleep(60)\n"
        "time.sleep(0.5); os.kill(os.getpid(), signal.SIGKILL)'");
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_EQ(exit.reason, "Error");
}

TEST_F(ShimTest, OnlyTheEnvironmentOfTheSpecReachesTheProcess) {
  ::setenv("TAAS_SECRET_OF_THE_CALLER", "1", 1);
  spec_.argv = {"/usr/bin/env"};
  EXPECT_EQ(RunToEnd().exit_code, 0);
  EXPECT_THAT(LogText(), HasSubstr("PATH=/usr/bin:/bin"));
  EXPECT_THAT(LogText(), testing::Not(HasSubstr("TAAS_SECRET_OF_THE_CALLER")));
}

TEST_F(ShimTest, TheTerminationLogBecomesTheMessageCutToItsEnd) {
  Shell(
      "head -c 5000 /dev/zero | tr '\\0' x > $TAAS_TERMINATION_LOG; echo end >> "
      "$TAAS_TERMINATION_LOG");
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.message, std::string(kTerminationMessageBytesMax - 4, 'x') + "end\n");
}

TEST_F(ShimTest, TheEndOfTheOutputStandsInForAMissingMessageWhereAsked) {
  spec_.message_from_log = true;
  Shell("echo what went wrong; exit 1");
  EXPECT_EQ(RunToEnd().message, "what went wrong\n");
}

TEST_F(ShimTest, AProgramThatDoesNotExistIsAStartErrorThatNamesIt) {
  spec_.argv = {"/no/such/program"};
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.exit_code, kStartErrorCode);
  EXPECT_EQ(exit.reason, "StartError");
  EXPECT_THAT(exit.message, HasSubstr("/no/such/program: No such file"));
}

TEST_F(ShimTest, AStopIsSigtermAndTheProcessMayEndItself) {
  Shell("trap 'echo bye; exit 143' TERM; echo ready; while :; do read x < /dev/zero & wait; done");
  Start();
  AwaitLog("ready");
  EXPECT_EQ(Status().phase, RunPhase::kRunning);
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = kPatience}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 143);
  EXPECT_THAT(LogText(), HasSubstr("bye"));
}

// True: this process, and what it starts, gets no instance of inotify any more.
bool DoWithoutInotify() {
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  const int limit = ::open("/proc/sys/user/max_inotify_instances", O_WRONLY | O_CLOEXEC);
  return limit >= 0 && ::write(limit, "0", 1) == 1;
}

// Symptom: where other programs of the user had all instances of inotify, a container failed for
// good with StartError, "inotify_init1: Too many open files", and its job with it.
TEST_F(ShimTest, WithoutInotifyAContainerRunsAndIsStopped) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "needs: no sanitizer";  // Its thread forbids another namespace of users.
#endif
  Shell("trap 'echo bye; exit 143' TERM; echo ready; while :; do read x < /dev/zero & wait; done");
  ASSERT_THAT(WriteSpec(disk_, files_, spec_), IsOk());
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!DoWithoutInotify()) ::_exit(126);
    ::execl(program_.c_str(), program_.c_str(), "shim", files_.dir.c_str(), nullptr);
    ::_exit(127);
  }
  AwaitLog("ready");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = kPatience}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 143);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_NE(WEXITSTATUS(status), 126) << "no namespace of users could be made";
}

TEST_F(ShimTest, AProcessThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  Shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  Start();
  AwaitLog("ready");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = 50ms}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 137);
}

TEST_F(ShimTest, AShorterGracePeriodReplacesALongerOne) {
  Shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  Start();
  AwaitLog("ready");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = 1h}), IsOk());
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = 0ms}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 137);
}

TEST_F(ShimTest, ARunThatIsStoppedBeforeItsStartNeverStarts) {
  Shell("echo started");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = 0ms}), IsOk());
  EXPECT_EQ(RunToEnd().exit_code, 143);
  EXPECT_EQ(LogText(), "");
}

TEST_F(ShimTest, DescendantsEndWithTheirContainerEvenInASessionOfTheirOwn) {
  // The fixture's destructor finds them by their environment.
  Shell("setsid sh -c 'trap \"\" TERM HUP; sleep 1000' & sleep 1000 & exit 0");
  EXPECT_EQ(RunToEnd().exit_code, 0);
}

TEST_F(ShimTest, ARunIsStartedOnceHoweverManyShimsAreStarted) {
  Shell("echo started >> " + files_.dir + "/count; sleep 0.2");
  ASSERT_THAT(WriteSpec(disk_, files_, spec_), IsOk());
  for (int i = 0; i < 8; ++i) ASSERT_THAT(StartRun(program_, files_), IsOk());
  AwaitExit();
  ASSERT_THAT(StartRun(program_, files_), IsOk());
  Await("the late shim", [&] { return !IsLocked(files_.lock).value_or(true); });
  EXPECT_EQ(disk_.ReadAll(files_.dir + "/count").value_or(""), "started\n");
}

TEST_F(ShimTest, KillingWhoeverStartsShimsNeverRunsAContainerTwice) {
  Shell("echo started >> " + files_.dir + "/count");
  ASSERT_THAT(WriteSpec(disk_, files_, spec_), IsOk());
  // Each starter is killed a little later than the one before, so that some die in the middle.
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (ReadRun(disk_, files_).value_or(RunStatus()).phase == RunPhase::kNew) {
        (void)StartRun(program_, files_);
      }
      ::_exit(0);
    }
    clock_.SleepUntil(clock_.Now() + i * 200us);
    ::kill(pid, SIGKILL);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  ASSERT_THAT(StartRun(program_, files_), IsOk());
  AwaitExit();
  EXPECT_EQ(disk_.ReadAll(files_.dir + "/count").value_or(""), "started\n");
}

TEST_F(ShimTest, AShimThatIsKilledTakesItsContainerAlongAndTheRunIsNotRepeated) {
  Shell("echo ready $PPID; sleep 1000");
  Start();
  AwaitLog("ready");
  Await("the record", [&] { return Status().phase == RunPhase::kRunning; });
  const std::string log = LogText();
  const pid_t shim = std::atoi(log.c_str() + log.find("ready ") + 6);
  ASSERT_GT(shim, 1);
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  Await("the loss", [&] { return Status().phase == RunPhase::kEnded; });
  EXPECT_EQ(Status().exit->reason, "ContainerStatusUnknown");
  EXPECT_EQ(Status().exit->exit_code, kUnknownExitCode);
  ASSERT_THAT(StartRun(program_, files_), IsOk());
  EXPECT_EQ(LogText(), log);
}

TEST_F(ShimTest, ARunOfAnEphemeralClusterEndsWhenItsOwnerIsGone) {
  spec_.owner_lock = files_.dir + "/owner";
  const auto owner = TakeLock(spec_.owner_lock);
  ASSERT_THAT(owner, IsOk());
  EXPECT_THAT(TakeLock(spec_.owner_lock), StatusIs(absl::StatusCode::kFailedPrecondition));
  Shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  Start();
  AwaitLog("ready");
  EXPECT_EQ(Status().phase, RunPhase::kRunning);
  ::close(*owner);
  EXPECT_EQ(AwaitExit().exit_code, 137);
}

// Calls `hook` once, before the first read of `path`.
class HookedFileSystem : public PosixFileSystem {
 public:
  HookedFileSystem(std::string path, std::function<void()> hook)
      : path_(std::move(path)), hook_(std::move(hook)) {}
  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override {
    if (path == path_ && hook_ != nullptr) std::exchange(hook_, nullptr)();
    return PosixFileSystem::OpenRead(path);
  }

 private:
  const std::string path_;
  std::function<void()> hook_;
};

TEST_F(ShimTest, ARunThatIsClaimedWhileItIsReadIsNotTakenForLost) {
  int lock = -1;
  HookedFileSystem disk(files_.exit, [&] {
    lock = TakeLock(files_.lock).value_or(-1);
    EXPECT_THAT(disk_.WriteAtomically(files_.started, ""), IsOk());
  });
  const auto run = ReadRun(disk, files_);
  ASSERT_THAT(run, IsOk());
  ASSERT_GE(lock, 0) << "the hook was not called";
  EXPECT_EQ(run->phase, RunPhase::kNew);
  EXPECT_FALSE(disk_.Exists(files_.exit).value_or(true));
  EXPECT_EQ(Status().phase, RunPhase::kStarting);
  ::close(lock);
}

// Symptom: a record that could not be read kept its pod as it was for ever, even when deleted.
TEST_F(ShimTest, ARecordThatIsNoneCountsAsOneOfARunThatWasLost) {
  ASSERT_THAT(disk_.WriteAtomically(files_.started, ""), IsOk());
  ASSERT_THAT(disk_.WriteAtomically(files_.exit, "garbage"), IsOk());
  ASSERT_EQ(::mkfifo(files_.state.c_str(), 0600), 0);
  const auto look = LookAtRun(disk_, files_);
  ASSERT_THAT(look, IsOk());
  EXPECT_EQ(look->phase, RunPhase::kEnded);
  EXPECT_FALSE(look->exit.has_value()) << "a look writes nothing";
  const RunStatus run = Status();
  EXPECT_EQ(run.phase, RunPhase::kEnded);
  EXPECT_EQ(run.exit.value_or(ExitRecord()).reason, "ContainerStatusUnknown");
  EXPECT_EQ(ReadExit(disk_, files_)->value_or(ExitRecord()).exit_code, kUnknownExitCode);
  // Of terabytes nothing is read either.
  ASSERT_THAT(disk_.WriteAtomically(files_.spec, ""), IsOk());
  ASSERT_EQ(::truncate(files_.spec.c_str(), off_t{1} << 40), 0);
  EXPECT_THAT(ReadSpec(disk_, files_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a record at most")));
}

// Symptom: `taas local ci` was over, its directory gone, and a process of it was there for half a
// minute more.
TEST_F(ShimTest, WhereTheDirectoryOfItsRunIsGoneAShimEndsAtOnce) {
  Shell("echo ready; while [ -e " + files_.dir + " ]; do sleep 0.02; done");
  Start();
  AwaitLog("ready");
  const int lock = ::open(files_.lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  ASSERT_THAT(disk_.RemoveAll(files_.dir), IsOk());
  const Clock::Time gone = clock_.Now();
  struct flock mine = {};
  mine.l_type = F_WRLCK;
  Await("the shim's end", [&] { return ::fcntl(lock, F_OFD_SETLK, &mine) == 0; });
  EXPECT_LT(clock_.Now() - gone, 15s) << "half of what it waits for a disk that is full";
  ::close(lock);
}

TEST_F(ShimTest, ARunThatWasRetiredIsNotStartedHoweverFarItsDirectoryIsRemoved) {
  Shell("echo started >> " + files_.dir + "/count");
  ASSERT_THAT(WriteSpec(disk_, files_, spec_), IsOk());
  const auto busy = TakeLock(files_.lock);
  ASSERT_THAT(busy, IsOk());
  EXPECT_THAT(RetireRun(disk_, files_), StatusIs(absl::StatusCode::kFailedPrecondition));
  ::close(*busy);
  ASSERT_THAT(RetireRun(disk_, files_), IsOk());
  for (const std::string& removed : {std::string(), files_.started, files_.lock}) {
    if (!removed.empty()) {
      ASSERT_THAT(disk_.Remove(removed), IsOk());
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl(program_.c_str(), program_.c_str(), "shim", files_.dir.c_str(), nullptr);
      ::_exit(127);
    }
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    EXPECT_FALSE(disk_.Exists(files_.dir + "/count").value_or(true)) << removed;
  }
}

TEST_F(ShimTest, AStateThatCannotBeWrittenEndsWhatWasStarted) {
  const std::string there = files_.dir + "/there";
  // A pipe takes the text and refuses fsync; opening it waits for a reader, so the container runs.
  const std::string pipe = files_.state + ".tmp";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Shell("setsid sh -c 'trap \"\" TERM HUP; : > " + there + "; sleep 1000' & sleep 1000");
  Start();
  Await("the container", [&] { return disk_.Exists(there).value_or(false); });
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const ExitRecord exit = AwaitExit();
  ::close(reader);
  // The fixture's destructor finds what is left.
  EXPECT_EQ(exit.reason, "StartError");
  EXPECT_THAT(exit.message, HasSubstr("state.json"));
}

class SandboxTest : public ShimTest {
 protected:
  SandboxTest() {
    // Debian's bubblewrap is one of the packages that `make` installs, and this machine allows
    // namespaces; where one does not, `taas local` translates paths instead (volumes_test).
    EXPECT_TRUE(SandboxWorks());
    data_ = MakeDir();
    EXPECT_THAT(disk_.WriteAtomically(data_ + "/file", "content\n"), IsOk());
  }
  std::string data_;
};

TEST_F(SandboxTest, VolumesAppearWhereTheMachineHasNoDirectoryAndTheMachineStaysAsItWas) {
  spec_.mounts = {{data_, "/taas-test-data", true}, {data_, "/usr/share/taas-test/deep", false}};
  Shell(
      "cat /taas-test-data/file; echo new > /usr/share/taas-test/deep/written; ls /usr/share/misc");
  const ExitRecord exit = RunToEnd();
  EXPECT_EQ(exit.exit_code, 0) << LogText();
  EXPECT_THAT(LogText(), HasSubstr("stdout F content"));
  EXPECT_EQ(disk_.ReadAll(data_ + "/written").value_or(""), "new\n");
  EXPECT_FALSE(disk_.Exists("/taas-test-data").value_or(true));
  EXPECT_FALSE(disk_.Exists("/usr/share/taas-test").value_or(true));
}

TEST_F(SandboxTest, AReadOnlyVolumeCannotBeWritten) {
  spec_.mounts = {{data_, "/taas-test-data", true}};
  Shell("echo x > /taas-test-data/file");
  EXPECT_NE(RunToEnd().exit_code, 0);
  EXPECT_THAT(LogText(), HasSubstr("Read-only"));
  EXPECT_EQ(disk_.ReadAll(data_ + "/file").value_or(""), "content\n");
}

TEST_F(SandboxTest, StopReachesTheProcessAndItsExitCodeIsKept) {
  spec_.mounts = {{data_, "/taas-test-data", true}};
  Shell("trap 'echo bye; exit 143' TERM; echo ready; while :; do sleep 1000 & wait; done");
  Start();
  AwaitLog("ready");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = kPatience}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 143);
  EXPECT_THAT(LogText(), HasSubstr("bye"));
}

TEST_F(SandboxTest, AKilledProcessIs137AndItsDescendantsEndWithTheNamespace) {
  spec_.mounts = {{data_, "/taas-test-data", true}};
  Shell("trap '' TERM; setsid sleep 1000 & echo ready; while :; do sleep 1000; done");
  Start();
  AwaitLog("ready");
  ASSERT_THAT(WriteStop(disk_, files_, {.grace = 20ms}), IsOk());
  EXPECT_EQ(AwaitExit().exit_code, 137);
}

TEST_F(SandboxTest, AProgramThatDoesNotExistIsAStartError) {
  spec_.mounts = {{data_, "/taas-test-data", true}};
  spec_.argv = {"no-such-program"};
  EXPECT_EQ(RunToEnd().reason, "StartError");
}

}  // namespace
}  // namespace taas::localkube
