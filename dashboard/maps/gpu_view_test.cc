#include "dashboard/maps/gpu_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const Clock::WallTime kNow{std::chrono::seconds(1'770'000'000)};

struct PodSpec {
  std::string name;
  std::string node;
  int32_t gpus = 1;
  std::vector<std::string> devices = {};
  std::string ns = "ml";
  std::string job = "";
};

class GpuViewTest : public testing::Test {
 protected:
  GpuViewTest() {
    sight_.nodes = true;
    sight_.pods.all = true;
    sight_.jobs[JobKind::kTrainingJob].all = true;
    sight_.jobs[JobKind::kTfJob].all = true;
  }

  void AddNode(const std::string& name, int32_t capacity, int32_t allocatable) {
    WatchedNode node;
    node.meta.name = name;
    node.ready = true;
    node.product = "H100";
    node.capacity = capacity;
    node.allocatable = allocatable;
    nodes_.push_back(node);
  }
  WatchedPod& AddPod(const PodSpec& spec) {
    WatchedPod pod;
    pod.meta = {.ns = spec.ns, .name = spec.name};
    pod.meta.creation_time = kNow;
    pod.node = spec.node;
    pod.gpus = spec.gpus;
    pod.devices = spec.devices;
    pod.phase = spec.node.empty() ? PodPhase::kPending : PodPhase::kRunning;
    if (!spec.job.empty()) {
      pod.job = spec.job;
      pod.owner_uid = "uid-" + spec.job;
      pod.owner_kind = "TrainingJob";
      pod.role = Role::kWorker;
      pod.index = 3;
    }
    pods_.push_back(pod);
    return pods_.back();
  }
  WatchedJob& AddJob(const std::string& name, JobState state) {
    WatchedJob job;
    job.meta = {.ns = "ml", .name = name, .uid = "uid-" + name};
    job.owner = "ada";
    job.status.state = state;
    jobs_.push_back(job);
    return jobs_.back();
  }

  Json Show() {
    GpuFacts facts{.resource = "nvidia.com/gpu", .local = local_, .nodes_known = nodes_known_};
    for (const auto& node : nodes_) facts.nodes.push_back(std::make_shared<WatchedNode>(node));
    for (const auto& pod : pods_) facts.pods.push_back(std::make_shared<WatchedPod>(pod));
    std::map<std::string, GpuFacts::JobPtr> jobs;
    for (const auto& job : jobs_) jobs[job.key()] = std::make_shared<WatchedJob>(job);
    facts.job = [&](const std::string& key) { return jobs.count(key) > 0 ? jobs[key] : nullptr; };
    facts.stands_still = [&](const WatchedJob& job) { return still_.count(job.meta.name) > 0; };
    facts.readings = [&](const WatchedPod& pod) {
      const auto found = readings_.find(pod.meta.name);
      return found == readings_.end() ? nullptr : &found->second;
    };
    text_ = GpuTable(facts).TextFor(sight_);
    return Json::parse(text_);
  }

  std::vector<WatchedNode> nodes_;
  std::vector<WatchedPod> pods_;
  std::vector<WatchedJob> jobs_;
  std::set<std::string> still_;
  std::map<std::string, std::vector<DeviceReading>> readings_;
  bool local_ = false;
  bool nodes_known_ = true;
  Sight sight_;
  std::string text_;
};

TEST_F(GpuViewTest, ACellLeadsToItsPodItsJobAndItsOwner) {
  AddNode("a", 8, 7);
  AddJob("mnist", JobState::kRunning);
  AddPod({.name = "mnist-worker-3", .node = "a", .gpus = 2, .devices = {"GPU-7", "GPU-1"},
          .job = "mnist"});
  const Json map = Show();
  EXPECT_EQ(map["resource"], "nvidia.com/gpu");
  EXPECT_EQ(map["nodesVisible"], true);
  const Json& node = map["nodes"][0];
  EXPECT_EQ(node["name"], "a");
  EXPECT_EQ(node["product"], "H100");
  EXPECT_EQ(node["ready"], true);
  EXPECT_EQ(node["capacity"], 8);
  EXPECT_EQ(node["allocatable"], 7);
  EXPECT_EQ(node["hidden"], 0);
  EXPECT_EQ(node["holders"], Json::parse(R"([{
      "namespace": "ml", "pod": "mnist-worker-3", "count": 2, "devices": ["GPU-7", "GPU-1"],
      "source": "allocatedResourcesStatus", "state": "Running", "since": "2026-02-02T02:40:00Z",
      "job": {"kind": "TrainingJob", "namespace": "ml", "name": "mnist"},
      "role": "worker", "index": 3, "owner": "ada", "idle": false}])"));
  EXPECT_EQ(node["devices"], Json::parse(R"([{"id": "GPU-7", "health": "Healthy"},
                                             {"id": "GPU-1", "health": "Healthy"}])"));
}

TEST_F(GpuViewTest, APodWhoseDevicesNobodyTellsIsACountAndNoGuess) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 3});
  const Json map = Show();
  EXPECT_EQ(map["nodes"][0]["holders"][0]["source"], "count");
  EXPECT_EQ(map["nodes"][0]["holders"][0]["devices"], Json::array());
  EXPECT_EQ(map["nodes"][0]["holders"][0]["count"], 3);
  EXPECT_EQ(map["nodes"][0]["devices"], Json::array());
}

TEST_F(GpuViewTest, OfTheLocalClusterAllSlotsAreKnownAlsoTheFreeOnes) {
  local_ = true;
  AddNode("local-1", 2, 2);
  nodes_.back().product = "simulated";
  AddPod({.name = "p", .node = "local-1", .gpus = 1, .devices = {"1"}});
  const Json node = Show()["nodes"][0];
  EXPECT_EQ(node["simulated"], true);
  EXPECT_EQ(node["holders"][0]["source"], "node");
  EXPECT_EQ(node["devices"], Json::parse(R"([{"id": "0", "health": "Unknown"},
                                             {"id": "1", "health": "Healthy"}])"));
}

TEST_F(GpuViewTest, WhatATrainerMeasuredIsAtItsDeviceAndNothingElseIs) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 2, .devices = {"GPU-1", "GPU-2"}});
  readings_["p"] = {{.id = "GPU-2", .utilization = 0.25, .memory_used_mib = 100,
                     .memory_total_mib = 81'559},
                    {.id = "GPU-9", .utilization = 1}};
  const Json devices = Show()["nodes"][0]["devices"];
  EXPECT_EQ(devices, Json::parse(R"([{"id": "GPU-1", "health": "Healthy"},
      {"id": "GPU-2", "health": "Healthy", "utilization": 0.25, "memoryUsedMiB": 100,
       "memoryTotalMiB": 81559}])"));
}

TEST_F(GpuViewTest, HowWellADeviceIsIsShownAndWhatNobodyTellsIsNot) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 2, .devices = {"GPU-1", "GPU-2"}});
  readings_["p"] = {{.id = "GPU-1", .power_watts = 412.5, .power_limit_watts = 700,
                     .temperature_c = 64, .throttle = {{"PowerCap", "Heat"}},
                     .ecc_uncorrected = 2},
                    {.id = "GPU-2", .throttle = std::vector<std::string>{},
                     .ecc_uncorrected = 0}};
  const Json devices = Show()["nodes"][0]["devices"];
  EXPECT_EQ(devices, Json::parse(R"([
      {"id": "GPU-1", "health": "Healthy", "powerWatts": 412.5, "powerLimitWatts": 700.0,
       "temperatureC": 64, "throttle": ["PowerCap", "Heat"], "eccUncorrected": 2},
      {"id": "GPU-2", "health": "Healthy", "throttle": [], "eccUncorrected": 0}])"));
}

TEST_F(GpuViewTest, ATrainerNamesTheDevicesThatTheClusterDoesNot) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 1});
  readings_["p"] = {{.id = "GPU-2", .utilization = 0}};
  const Json node = Show()["nodes"][0];
  EXPECT_EQ(node["holders"][0]["source"], "trainer");
  EXPECT_EQ(node["holders"][0]["devices"], Json({"GPU-2"}));
  EXPECT_EQ(node["devices"],
            Json::parse(R"([{"id": "GPU-2", "health": "Unknown", "utilization": 0.0}])"));
}

TEST_F(GpuViewTest, OfAProgramThatSeesMoreThanItsPodHoldsNobodyKnowsWhichThoseAre) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 1});
  readings_["p"] = {{.id = "GPU-2", .utilization = 0}, {.id = "GPU-3", .utilization = 1}};
  const Json node = Show()["nodes"][0];
  EXPECT_EQ(node["holders"][0]["source"], "count");
  EXPECT_EQ(node["devices"], Json::array());
}

TEST_F(GpuViewTest, WhatIsMeasuredIsNotOfASimulatedDevice) {
  local_ = true;
  AddNode("a", 1, 1);
  nodes_[0].product = "simulated";
  AddPod({.name = "p", .node = "a", .gpus = 1, .devices = {"0"}});
  readings_["p"] = {{.id = "0", .utilization = 0.5}};
  EXPECT_FALSE(Show()["nodes"][0]["devices"][0].contains("utilization"));
  nodes_[0].product = "NVIDIA-H100";
  EXPECT_EQ(Show()["nodes"][0]["devices"][0]["utilization"], 0.5);
}

TEST_F(GpuViewTest, ADeviceIsUnhealthyWhereAnyPodSaysSo) {
  AddNode("a", 8, 8);
  AddPod({.name = "p", .node = "a", .gpus = 1, .devices = {"x"}}).unhealthy = {"x"};
  AddPod({.name = "q", .node = "a", .gpus = 1, .devices = {"x"}});
  EXPECT_EQ(Show()["nodes"][0]["devices"],
            Json::parse(R"([{"id": "x", "health": "Unhealthy", "claims": 2}])"));
}

TEST_F(GpuViewTest, TwoPodsThatClaimOneDeviceBothShow) {
  AddNode("a", 8, 8);
  AddPod({.name = "old", .node = "a", .gpus = 1, .devices = {"x"}});
  AddPod({.name = "new", .node = "a", .gpus = 2, .devices = {"x", "x", "y"}});
  AddPod({.name = "elsewhere", .node = "b", .gpus = 1, .devices = {"x"}});
  const Json map = Show();
  EXPECT_EQ(map["nodes"][0]["devices"],
            Json::parse(R"([{"id": "x", "health": "Healthy", "claims": 2},
                            {"id": "y", "health": "Healthy"}])"));
  EXPECT_EQ(map["nodes"][0]["holders"][1]["devices"], Json({"x", "y"}));
  EXPECT_EQ(map["nodes"][1]["devices"], Json::parse(R"([{"id": "x", "health": "Healthy"}])"));
}

TEST_F(GpuViewTest, AnEndedPodHoldsNothingAndOneThatEndsStillDoes) {
  AddNode("a", 8, 8);
  AddPod({.name = "done", .node = "a"}).phase = PodPhase::kSucceeded;
  AddPod({.name = "failed", .node = "a"}).phase = PodPhase::kFailed;
  AddPod({.name = "ending", .node = "a"}).meta.deletion_time = kNow;
  AddPod({.name = "no-gpus", .node = "a", .gpus = 0});
  const Json holders = Show()["nodes"][0]["holders"];
  ASSERT_EQ(holders.size(), 1u);
  EXPECT_EQ(holders[0]["pod"], "ending");
  EXPECT_EQ(holders[0]["state"], "Terminating");
}

TEST_F(GpuViewTest, PodsWithoutANodeWaitUnlessTheyAreDeleted) {
  AddPod({.name = "waits", .node = "", .gpus = 4});
  AddPod({.name = "gone", .node = ""}).meta.deletion_time = kNow;
  const Json map = Show();
  ASSERT_EQ(map["pending"].size(), 1u);
  EXPECT_EQ(map["pending"][0]["pod"], "waits");
  EXPECT_EQ(map["pending"][0]["count"], 4);
  EXPECT_EQ(map["pending"][0]["source"], "count");
  EXPECT_EQ(map["nodes"], Json::array());
}

struct IdleCase {
  const char* name;
  JobState state;
  bool stands_still;
  const char* reason;
};

TEST_F(GpuViewTest, WhatAJobHoldsForNothingSaysWhy) {
  AddNode("a", 8, 8);
  const IdleCase cases[] = {{"runs", JobState::kRunning, false, nullptr},
                            {"pending", JobState::kPending, false, nullptr},
                            {"still", JobState::kRunning, true, "NoProgress"},
                            {"suspended", JobState::kSuspended, false, "JobSuspended"},
                            {"failed", JobState::kFailed, true, "JobEnded"},
                            {"succeeded", JobState::kSucceeded, false, "JobEnded"}};
  for (const IdleCase& one : cases) {
    AddJob(one.name, one.state);
    if (one.stands_still) still_.insert(one.name);
    AddPod({.name = one.name, .node = "a", .job = one.name});
  }
  const Json holders = Show()["nodes"][0]["holders"];
  for (size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(holders[i]["idle"], cases[i].reason != nullptr) << cases[i].name;
    EXPECT_EQ(holders[i].value("idleReason", ""), cases[i].reason == nullptr ? "" : cases[i].reason)
        << cases[i].name;
  }
}

TEST_F(GpuViewTest, AJobOfTheSameNameThatDoesNotOwnThePodIsNotItsJob) {
  AddNode("a", 8, 8);
  AddJob("mnist", JobState::kRunning).meta.uid = "another";
  AddPod({.name = "p", .node = "a", .job = "mnist"});
  AddPod({.name = "q", .node = "a", .job = "unknown"});
  AddPod({.name = "r", .node = "a", .job = "mnist"}).owner_kind = "ReplicaSet";
  const Json map = Show();
  EXPECT_EQ(map["nodes"][0]["holders"].size(), 3u);
  for (const Json& holder : map["nodes"][0]["holders"]) {
    EXPECT_FALSE(holder.contains("job")) << holder;
    EXPECT_FALSE(holder.contains("owner")) << holder;
    EXPECT_EQ(holder["idle"], false) << holder;
  }
}

TEST_F(GpuViewTest, WhatOneMayNotSeeIsCountedAndNotNamed) {
  AddNode("a", 8, 8);
  AddJob("mnist", JobState::kRunning);
  AddPod({.name = "mine", .node = "a", .gpus = 1, .devices = {"x"}, .job = "mnist"});
  AddPod({.name = "secret-pod", .node = "a", .gpus = 3, .devices = {"secret-device", "x"},
          .ns = "secret-ns"});
  AddPod({.name = "secret-waits", .node = "", .gpus = 2, .ns = "secret-ns"});
  sight_.pods = {.all = false, .namespaces = {"ml"}};
  const Json map = Show();
  EXPECT_EQ(map["nodes"][0]["hidden"], 3);
  EXPECT_EQ(map["nodes"][0]["holders"].size(), 1u);
  EXPECT_EQ(map["nodes"][0]["devices"],
            Json::parse(R"([{"id": "x", "health": "Healthy", "claims": 2}])"));
  EXPECT_EQ(map["pending"], Json::array());
  EXPECT_EQ(map["hiddenPending"], 2);
  EXPECT_THAT(text_, Not(HasSubstr("secret")));
}

TEST_F(GpuViewTest, WithoutTheRightToJobsAPodShowsWithoutItsJobAndOwner) {
  AddNode("a", 8, 8);
  AddJob("mnist", JobState::kFailed);
  AddPod({.name = "p", .node = "a", .job = "mnist"});
  sight_.jobs[JobKind::kTrainingJob] = {.all = false, .namespaces = {"other"}};
  const Json holder = Show()["nodes"][0]["holders"][0];
  EXPECT_EQ(holder["pod"], "p");
  EXPECT_FALSE(holder.contains("job"));
  EXPECT_EQ(holder["idle"], false);
  EXPECT_THAT(text_, Not(HasSubstr("ada")));
}

TEST_F(GpuViewTest, WithoutTheRightToNodesOnlyThoseOfOnesOwnPodsShowAndWithoutCapacity) {
  AddNode("a", 8, 8);
  AddNode("secret-node", 8, 8);
  AddPod({.name = "mine", .node = "a", .gpus = 1, .devices = {"x"}});
  AddPod({.name = "theirs", .node = "a", .gpus = 2, .devices = {"z"}, .ns = "secret"});
  AddPod({.name = "far", .node = "secret-node", .gpus = 2, .ns = "secret"});
  AddPod({.name = "waits", .node = "", .gpus = 2, .ns = "secret"});
  sight_.pods = {.all = false, .namespaces = {"ml"}};
  const auto check = [&] {
    const Json map = Show();
    EXPECT_EQ(map["nodesVisible"], false);
    EXPECT_EQ(map["hiddenPending"], 0);
    ASSERT_EQ(map["nodes"].size(), 1u);
    const Json& node = map["nodes"][0];
    EXPECT_EQ(node["name"], "a");
    EXPECT_FALSE(node.contains("capacity"));
    EXPECT_FALSE(node.contains("allocatable"));
    EXPECT_EQ(node["product"], "");
    EXPECT_EQ(node["hidden"], 0);
    EXPECT_EQ(node["devices"], Json::parse(R"([{"id": "x", "health": "Healthy"}])"));
    EXPECT_THAT(text_, Not(HasSubstr("secret")));
  };
  sight_.nodes = false;
  check();
  // The same where the dashboard itself may not see nodes.
  sight_.nodes = true;
  nodes_known_ = false;
  check();
}

TEST_F(GpuViewTest, NodesWithoutGpusDoNotShowAndOnesThatAreGoneDoWhileAPodIsThere) {
  AddNode("cpu", 0, 0);
  AddPod({.name = "p", .node = "gone"});
  const Json map = Show();
  ASSERT_EQ(map["nodes"].size(), 1u);
  EXPECT_EQ(map["nodes"][0]["name"], "gone");
  EXPECT_EQ(map["nodes"][0]["ready"], false);
  EXPECT_FALSE(map["nodes"][0].contains("capacity"));
}

TEST_F(GpuViewTest, NonsenseIsCutDownToWhatAPageCanShow) {
  const std::string long_name(10'000, 'x');
  AddNode("negative", -5, -1);
  AddNode("huge", 2'000'000'000, 1'999'999'999);
  nodes_.back().memory_mib = -4;
  nodes_.back().product = long_name;
  AddJob("mnist", JobState::kRunning).owner = std::string(300'000, '\xff');
  AddPod({.name = long_name, .node = "huge", .gpus = kCountMax, .devices = {"a\"\n\x01", long_name},
          .job = "mnist"});
  AddPod({.name = "negative", .node = "huge", .gpus = -3});
  for (int i = 0; i < 5'000; ++i) pods_[0].devices.push_back(std::to_string(i));
  readings_[long_name] = {{.id = "1", .utilization = -1, .memory_used_mib = -1,
                           .power_watts = -1, .temperature_c = -274},
                          {.id = "2", .utilization = std::nan(""), .power_watts = std::nan(""),
                           .ecc_uncorrected = -1},
                          {.id = "3", .utilization = 7, .memory_total_mib = INT64_MAX,
                           .power_watts = 1e300, .temperature_c = INT64_MAX,
                           .ecc_uncorrected = INT64_MAX}};
  const Json map = Show();
  ASSERT_EQ(map["nodes"].size(), 1u);
  const Json& node = map["nodes"][0];
  EXPECT_EQ(node["capacity"], GpuTable::kGpusOfNodeMax);
  EXPECT_FALSE(node.contains("memoryMiB"));
  ASSERT_EQ(node["holders"].size(), 1u);
  EXPECT_EQ(node["holders"][0]["pod"].get<std::string>().size(), 253u);
  EXPECT_LE(node["holders"][0]["owner"].get<std::string>().size(), 3 * 253u);
  EXPECT_EQ(node["devices"].size(), static_cast<size_t>(GpuTable::kGpusOfNodeMax));
  EXPECT_EQ(node["devices"][0]["id"], "a\"\n\x01");
  for (const Json& device : node["devices"]) {
    EXPECT_FALSE(device.contains("utilization")) << device;
    EXPECT_FALSE(device.contains("memoryUsedMiB")) << device;
    EXPECT_FALSE(device.contains("memoryTotalMiB")) << device;
    for (const char* const name : {"powerWatts", "temperatureC", "eccUncorrected"}) {
      EXPECT_FALSE(device.contains(name)) << device;
    }
  }
}

}  // namespace
}  // namespace taas::dashboard
