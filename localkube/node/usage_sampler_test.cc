// Real processes under real shims; Sample is called by hand, so that nothing depends on a timer.

#include "localkube/node/usage_sampler.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "gtest/gtest.h"
#include "localkube/node/container_run.h"
#include "localkube/node/run_use.h"
#include "localkube/node/shim_record.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;

constexpr char kShim[] = "localkube/node/shim_program";
// Far more than any of this needs on a machine that is busy with other tests.
constexpr auto kPatience = 60s;
constexpr char kBurn[] = "while :; do :; done";
constexpr char kIdle[] = "exec sleep 1000";

class UsageSamplerTest : public testing::Test {
 protected:
  UsageSamplerTest() {
    dir_ = testing::TempDir() + "/usageXXXXXX";
    EXPECT_NE(::mkdtemp(dir_.data()), nullptr);
    char* path = ::realpath(kShim, nullptr);
    EXPECT_NE(path, nullptr) << kShim;
    program_ = path;
    std::free(path);
  }
  ~UsageSamplerTest() override {
    for (const std::string& name : runs_) {
      EXPECT_THAT(WriteStop(disk_, Files(name), {.grace = 0ms}), IsOk());
      Await("the end of " + name, [&] { return !IsLocked(Files(name).lock).value_or(true); });
    }
    EXPECT_EQ(KillLeftovers(disk_, dir_), 0) << "processes were left";
  }

  RunFiles Files(const std::string& name) const { return RunFiles(dir_ + "/" + name); }
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + 5ms);
    }
  }
  // A run of `script` as the node knows it, once its process runs.
  UsageSampler::Run StartContainer(const std::string& name, const std::string& script) {
    const RunFiles files = Files(name);
    RunSpec spec;
    spec.argv = {"/bin/sh", "-c", script};
    spec.env = {"PATH=/usr/bin:/bin", std::string(kRunDirVariable) + "=" + files.dir};
    EXPECT_THAT(disk_.MakeDirs(files.dir), IsOk());
    EXPECT_THAT(WriteSpec(disk_, files, spec), IsOk());
    EXPECT_THAT(StartRun(program_, files), IsOk());
    runs_.push_back(name);
    UsageSampler::Run run{.container = name, .pid = 0, .dir = files.dir};
    Await(name + " to run", [&] {
      const auto status = ReadRun(disk_, files);
      if (status.ok() && status->phase == RunPhase::kRunning) run.pid = status->state->pid;
      return run.pid != 0;
    });
    return run;
  }
  std::optional<RunUse> Measure(const UsageSampler::Run& run) {
    return MeasureRun(disk_, static_cast<pid_t>(run.pid), run.dir);
  }
  // One sample is no rate.
  void SampleTwice(UsageSampler& sampler) {
    sampler.Sample();
    clock_.SleepUntil(clock_.Now() + 1ms);
    sampler.Sample();
  }
  void AwaitCpu(const UsageSampler::Run& run, Clock::Duration least) {
    Await("processor time of " + run.container, [&] {
      const auto use = Measure(run);
      return use.has_value() && use->cpu >= least;
    });
  }

  RealClock clock_;
  PosixFileSystem disk_;
  std::string dir_;
  std::string program_;
  std::vector<std::string> runs_;
};

TEST_F(UsageSamplerTest, ABusyContainerUsesMoreThanAnIdleOneAndTheNodeTheSum) {
  UsageSampler sampler({"n", "other"}, disk_, clock_);
  const auto busy = StartContainer("busy", kBurn);
  const auto idle = StartContainer("idle", kIdle);
  sampler.SetRuns("uid-1", "n", {busy});
  sampler.SetRuns("uid-2", "n", {idle});
  EXPECT_FALSE(sampler.OfNode("n").has_value()) << "before the first look";
  sampler.Sample();
  EXPECT_FALSE(sampler.OfPod("uid-1").has_value()) << "one sample is no rate";
  const Clock::Duration before = Measure(busy)->cpu;
  AwaitCpu(busy, before + 300ms);
  sampler.Sample();
  const auto busy_use = sampler.OfPod("uid-1");
  const auto idle_use = sampler.OfPod("uid-2");
  ASSERT_TRUE(busy_use.has_value() && idle_use.has_value());
  const Usage& high = busy_use->containers.at("busy");
  const Usage& low = idle_use->containers.at("idle");
  // On a machine that has better things to do, 300 ms of it take at most kPatience.
  EXPECT_GE(high.nanocores, 300'000'000 / 60);
  EXPECT_GT(high.nanocores, 5 * low.nanocores);
  EXPECT_GT(busy_use->window.length, 300ms / 2);
  EXPECT_GT(low.memory_bytes, 10 << 10);
  const auto node = sampler.OfNode("n");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->usage.nanocores, high.nanocores + low.nanocores);
  EXPECT_EQ(node->usage.memory_bytes, high.memory_bytes + low.memory_bytes);
  EXPECT_EQ(sampler.OfNode("other")->usage.memory_bytes, 0);
  EXPECT_FALSE(sampler.OfNode("nobody's").has_value());
}

// What make and pipelines do: the time of each child is over before anybody looks.
TEST_F(UsageSamplerTest, TimeOfChildrenThatHaveEndedCounts) {
  const std::string burn_shortly = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
  const auto run =
      StartContainer("children", "while :; do /bin/sh -c '" + burn_shortly + "'; done");
  AwaitCpu(run, 500ms);
}

// A tree that takes longer to read than some of its processes live: its figures must not come and
// go.
TEST_F(UsageSamplerTest, AContainerThatForksAllTheTimeIsMeasuredEveryTime) {
  const auto run = StartContainer(
      "forks",
      "i=0; while [ $i -lt 200 ]; do i=$((i+1)); sleep 1000 & done; "
      "for i in 1 2 3 4 5 6; do (while :; do /bin/true; /bin/true; done) & done; wait");
  AwaitCpu(run, 500ms);
  int measured = 0;
  for (int look = 0; look < 20; ++look) measured += Measure(run).has_value() ? 1 : 0;
  EXPECT_EQ(measured, 20);
}

// A child whose parent is gone is adopted by the shim, and is the container's all the same.
TEST_F(UsageSamplerTest, OrphansOfTheContainerCount) {
  const auto run = StartContainer("orphans", std::string("(") + kBurn + " & ); " + kIdle);
  AwaitCpu(run, 300ms);
}

TEST_F(UsageSamplerTest, MemoryIsWhatTheProcessesHaveToThemselves) {
  // 40 MiB in a variable, which a shell holds in anonymous memory.
  const auto run = StartContainer(
      "memory", "x=$(head -c 41943040 /dev/zero | tr '\\0' x); sleep 1000; echo ${#x}");
  Await("the memory", [&] {
    const auto use = Measure(run);
    return use.has_value() && use->memory_bytes >= 40 << 20;
  });
}

TEST_F(UsageSamplerTest, NothingIsLeftOfAContainerThatHasEnded) {
  UsageSampler sampler({"n"}, disk_, clock_);
  const auto run = StartContainer("short", kIdle);
  sampler.SetRuns("uid", "n", {run});
  SampleTwice(sampler);
  ASSERT_TRUE(sampler.OfPod("uid").has_value());
  EXPECT_GT(sampler.OfNode("n")->usage.memory_bytes, 0);
  ASSERT_THAT(WriteStop(disk_, Files("short"), {.grace = 0ms}), IsOk());
  Await("its end", [&] { return !IsLocked(Files("short").lock).value_or(true); });
  sampler.Sample();  // The node has not noticed yet.
  EXPECT_FALSE(sampler.OfPod("uid").has_value());
  EXPECT_EQ(sampler.OfNode("n")->usage.memory_bytes, 0);
  sampler.SetRuns("uid", "n", {});
  EXPECT_FALSE(sampler.OfPod("uid").has_value());
}

TEST_F(UsageSamplerTest, ANewRunOfAContainerBeginsAnew) {
  UsageSampler sampler({"n"}, disk_, clock_);
  const auto first = StartContainer("first", kBurn);
  sampler.SetRuns("uid", "n", {first});
  sampler.Sample();
  AwaitCpu(first, 200ms);
  sampler.Sample();
  ASSERT_TRUE(sampler.OfPod("uid").has_value());
  auto second = StartContainer("second", kIdle);
  second.container = "first";
  sampler.SetRuns("uid", "n", {second});
  EXPECT_FALSE(sampler.OfPod("uid").has_value());
  SampleTwice(sampler);
  EXPECT_TRUE(sampler.OfPod("uid").has_value());
}

TEST_F(UsageSamplerTest, AProcessThatIsNotOfTheRunIsNotMeasured) {
  const auto run = StartContainer("a", kIdle);
  const auto other = StartContainer("b", kIdle);
  EXPECT_TRUE(Measure(run).has_value());
  EXPECT_FALSE(Measure({"a", other.pid, run.dir}).has_value()) << "its pid is another run's";
  EXPECT_FALSE(Measure({"a", ::getpid(), run.dir}).has_value());
}

TEST_F(UsageSamplerTest, APodHasFiguresOnceAllItsContainersAreMeasured) {
  UsageSampler sampler({"n"}, disk_, clock_);
  const auto one = StartContainer("one", kIdle);
  sampler.SetRuns("uid", "n", {one});
  SampleTwice(sampler);
  const auto two = StartContainer("two", kIdle);
  sampler.SetRuns("uid", "n", {one, two});
  EXPECT_FALSE(sampler.OfPod("uid").has_value()) << "half a pod would look like a small one";
  SampleTwice(sampler);
  ASSERT_TRUE(sampler.OfPod("uid").has_value());
  EXPECT_EQ(sampler.OfPod("uid")->containers.size(), 2u);
}

}  // namespace
}  // namespace taas::localkube
