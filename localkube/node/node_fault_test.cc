// One pod on one node, and a disk that fails at each of its operations in turn, or a process that
// ends there: whatever fails when, each run of a container is started once and no pod is forgotten.

#include <stdlib.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "localkube/node/node.h"
#include "localkube/node/pod_dirs.h"
#include "localkube/node/usage_sampler.h"
#include "operator/base/clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

// On a machine that is busy with other tests, each of these with a node of its own.
constexpr auto kPatience = 120s;
constexpr auto kLookEvery = 5ms;
// Worlds at a time: each has some threads, and they mostly wait.
constexpr int kWorldsAtOnce = 30;

std::string RealPath(const char* path) {
  char* real = ::realpath(path, nullptr);
  EXPECT_NE(real, nullptr) << path;
  std::string out = real != nullptr ? real : "";
  ::free(real);
  return out;
}

class World {
 public:
  World(const std::string& shim, int fail_at, FaultFileSystem::Kind kind)
      : shim_(shim),
        dir_(MakeDir()),
        disk_(posix_),
        store_(*Store::Open({.path = ":memory:"})),
        api_(*store_, clock_, random_, nullptr) {
    EXPECT_THAT(api_.Bootstrap(), IsOk());
    disk_.FailAt(fail_at, kind);
    Start();
  }
  ~World() {
    node_.reset();
    EXPECT_THAT(EndAllRuns(posix_, clock_, PodDirs(dir_ + "/pods"), 0ms), IsOk());
    EXPECT_EQ(KillLeftovers(posix_, dir_), 0) << "processes were left";
  }

  // A node as after a start of the program; one that fails at once is started again.
  void Start() {
    node_.reset();
    for (int tries = 0; tries < 2; ++tries) {
      node_ = std::make_unique<Node>(
          Node::Options{.nodes = {{.name = "local", .allocatable = {.cpu_milli = 1000}}},
                        .pods_dir = dir_ + "/pods",
                        .volumes_dir = dir_ + "/volumes",
                        .trainer_path = "/bin/false",
                        .shim_path = shim_,
                        .base_env = {{"PATH", "/usr/bin:/bin"}}},
          api_, *store_, usage_, disk_, clock_);
      if (node_->Start().ok()) return;
    }
  }
  void StartWithAGoodDisk() {
    node_.reset();
    disk_.FailAt(0, FaultFileSystem::Kind::kOnce);
    Start();
  }
  void Create(const std::string& policy, const std::string& script) {
    const Json pod = {
        {"metadata", {{"name", "a"}}},
        {"spec",
         {{"restartPolicy", policy},
          {"nodeName", "local"},
          {"containers",
           Json::array({{{"name", "c"},
                         {"image", "own"},
                         {"command", {"/bin/sh", "-c", "cd " + dir_ + "; " + script}}}})}}}};
    EXPECT_THAT(Calls().Post("/api/v1/namespaces/default/pods", pod.dump()), IsOk());
  }
  Json Get() {
    const auto text = Calls().Get(PodPath("default", "a"));
    return text.ok() ? Json::parse(*text) : Json();
  }
  std::string Phase() { return Get()["status"].value("phase", ""); }
  bool HasEnded() {
    const std::string phase = Phase();
    return phase == "Succeeded" || phase == "Failed";
  }
  void Delete() { EXPECT_THAT(Calls().Delete(PodPath("default", "a"), ""), IsOk()); }
  bool IsGone() {
    const auto pods = PodDirs(dir_ + "/pods").Pods(posix_);
    return Get().is_null() && pods.ok() && pods->empty();
  }
  std::string Count() { return posix_.ReadAll(dir_ + "/count").value_or(""); }
  int operations() const { return disk_.operations(); }

 private:
  static std::string MakeDir() {
    std::string dir = testing::TempDir() + "/worldXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    return dir;
  }
  ApiCalls Calls() { return ApiCalls(api_); }

  const std::string shim_;
  const std::string dir_;
  RealClock clock_;
  SystemRandom random_;
  PosixFileSystem posix_;
  FaultFileSystem disk_;
  std::unique_ptr<Store> store_;
  Api api_;
  UsageSampler usage_{{"local"}, posix_, clock_};
  std::unique_ptr<Node> node_;
};

// Fails the first time, and is restarted in place.
constexpr char kTwice[] = "echo started >> count; [ $(wc -l < count) -ge 2 ]";

class NodeFaultTest : public testing::Test {
 protected:
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + kLookEvery);
    }
  }
  // How many operations of its disk a node needs for the life of the pod.
  int CountOperations() {
    World world(shim_, 0, FaultFileSystem::Kind::kOnce);
    world.Create("OnFailure", kTwice);
    Await("the end", [&] { return world.HasEnded(); });
    world.Delete();
    Await("no directory", [&] { return world.IsGone(); });
    return world.operations();
  }
  // The life of the pod with each fault, `look` in its middle.
  void Enumerate(FaultFileSystem::Kind kind, const std::function<void(World*, int)>& look) {
    const int last = CountOperations();
    ASSERT_GT(last, 30);
    for (int first = 1; first <= last; first += kWorldsAtOnce) {
      std::vector<std::unique_ptr<World>> worlds;
      for (int at = first; at < first + kWorldsAtOnce && at <= last; ++at) {
        worlds.push_back(std::make_unique<World>(shim_, at, kind));
        worlds.back()->Create("OnFailure", kTwice);
      }
      for (size_t i = 0; i < worlds.size(); ++i) look(worlds[i].get(), first + static_cast<int>(i));
      for (size_t i = 0; i < worlds.size(); ++i) {
        SCOPED_TRACE("fault at operation " + std::to_string(first + i));
        World& world = *worlds[i];
        Await("the end", [&] { return world.HasEnded(); });
        EXPECT_EQ(world.Phase(), "Succeeded") << world.Get()["status"].dump(1);
        EXPECT_EQ(world.Count(), "started\nstarted\n");
        world.Delete();
      }
      for (size_t i = 0; i < worlds.size(); ++i) {
        SCOPED_TRACE("fault at operation " + std::to_string(first + i));
        Await("no directory", [&] { return worlds[i]->IsGone(); });
      }
    }
  }

  RealClock clock_;
  const std::string shim_ = RealPath("localkube/node/shim_program");
};

TEST_F(NodeFaultTest, ADiskThatFailsOnceAnywhereChangesNothing) {
  Enumerate(FaultFileSystem::Kind::kOnce, [](World*, int) {});
}

TEST_F(NodeFaultTest, ANodeWhoseDiskIsGoneAnywhereIsReplacedByOneThatGoesOn) {
  Enumerate(FaultFileSystem::Kind::kCrash, [this](World* world, int at) {
    // A pod that was quick has ended with fewer operations.
    Await("the fault", [&] { return world->operations() >= at || world->HasEnded(); });
    world->StartWithAGoodDisk();
  });
}

class ShimFaultTest : public NodeFaultTest {
 protected:
  // The shim program under a name that says what is to fail.
  std::string Faulty(const std::string& how, int at) {
    std::string dir = testing::TempDir() + "/shimXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    const std::string name = dir + "/shim-" + how + "-" + std::to_string(at);
    const std::string program = RealPath("localkube/node/fault_shim_program");
    EXPECT_EQ(::symlink(program.c_str(), name.c_str()), 0);
    return name;
  }
  // More than a shim has, or those of the end would be left out.
  static constexpr int kOperationsMax = 25;

  // Each pod ends, its container was started at most once; returns how many succeeded.
  int Enumerate(const std::string& how) {
    int succeeded = 0;
    std::vector<std::unique_ptr<World>> worlds;
    for (int at = 1; at <= kOperationsMax; ++at) {
      worlds.push_back(
          std::make_unique<World>(Faulty(how, at), 0, FaultFileSystem::Kind::kOnce));
      worlds.back()->Create("Never", "echo started >> count");
    }
    for (size_t i = 0; i < worlds.size(); ++i) {
      SCOPED_TRACE(how + " at operation " + std::to_string(i + 1));
      Await("the end", [&] { return worlds[i]->HasEnded(); });
      const bool success = worlds[i]->Phase() == "Succeeded";
      succeeded += success;
      const std::string count = worlds[i]->Count();
      EXPECT_TRUE(count == "started\n" || (count.empty() && !success)) << count;
      const Json status = worlds[i]->Get()["status"]["containerStatuses"][0];
      EXPECT_EQ(success, status["state"]["terminated"]["exitCode"] == 0) << status.dump(1);
      worlds[i]->Delete();
    }
    for (const auto& world : worlds) Await("no directory", [&] { return world->IsGone(); });
    EXPECT_EQ(worlds.size(), static_cast<size_t>(kOperationsMax));
    return succeeded;
  }
};

TEST_F(ShimFaultTest, ADiskThatFailsOnceLosesNoPodAndNoSuccessThatWasHad) {
  const int succeeded = Enumerate("fail");
  EXPECT_GT(succeeded, kOperationsMax / 2) << "a fault at the end is tried again";
  EXPECT_LT(succeeded, kOperationsMax) << "no fault was met";
}

TEST_F(ShimFaultTest, AShimThatIsKilledAnywhereLosesNoPodAndStartsNothingTwice) {
  const int succeeded = Enumerate("kill");
  EXPECT_GT(succeeded, 0) << "the last operations are met by no kill";
  EXPECT_LT(succeeded, kOperationsMax) << "nothing was killed";
}

}  // namespace
}  // namespace taas::localkube
