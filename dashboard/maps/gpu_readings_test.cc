#include "dashboard/maps/gpu_readings.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/training/fake_replica.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Trainers that the test plays; those that it says nothing of do not answer yet.
class FakeTrainers : public PollTransport {
 public:
  explicit FakeTrainers(Executor& executor) : executor_(executor) {}

  void Get(const std::string& host, int32_t port, const std::string& path, Done done) override {
    asked.push_back(host + ":" + std::to_string(port) + path);
    under_way.push_back(std::move(done));
    most_at_once = std::max(most_at_once, under_way.size());
    const auto answer = answers.find(host);
    if (answer == answers.end()) return;
    executor_.Post([done = std::move(under_way.back()), body = answer->second] { done(body); });
    under_way.pop_back();
  }

  std::map<std::string, absl::StatusOr<std::string>> answers;  // By host.
  std::vector<std::string> asked;
  std::vector<Done> under_way;
  size_t most_at_once = 0;

 private:
  Executor& executor_;
};

std::string Page(const std::string& id, double utilization, const std::string& peers = "[]") {
  return R"({"role": "chief", "gpus": [{"id": ")" + id + R"(", "index": 4, "utilization": )" +
         std::to_string(utilization) + R"(, "memoryUsedMiB": 7, "memoryTotalMiB": 9}], "peers": )" +
         peers + "}";
}

class GpuReadingsTest : public testing::Test {
 protected:
  GpuReadingsTest() {
    chief_ = Add(Role::kChief, 0, "10.0.0.1");
    worker_ = Add(Role::kWorker, 1, "10.0.0.2");
  }

  std::shared_ptr<WatchedPod> Add(Role role, int32_t index, const std::string& ip) {
    auto pod = RunningReplica(role, ip);
    pod->index = index;
    pod->meta.uid = "uid-" + ip;
    pod->gpus = 1;
    job_.pods.push_back(pod);
    return pod;
  }

  GpuReadings& Start(bool local = false) {
    auto job = std::make_shared<WatchedJob>();
    job->roles = {{.role = Role::kChief, .name = "chief"}, {.role = Role::kWorker}};
    job_.job = job;
    readings_.emplace(GpuReadings::Context{
        .transport = trainers_, .executor = executor_, .local = local,
        .jobs = [this] { return std::vector<GpuReadings::GpuJob>(jobs_, job_); },
        .changed = [this] { ++changes_; }});
    readings_->Look();
    Pass(0s);
    return *readings_;
  }

  void Pass(Clock::Duration time) { executor_.RunUntil(executor_.clock().Now() + time); }

  // "id=utilization"; "": not measured.
  static std::vector<std::string> Shown(const std::vector<DeviceReading>* devices) {
    std::vector<std::string> out;
    if (devices == nullptr) return out;
    for (const DeviceReading& device : *devices) {
      out.push_back(device.id + "=" + nlohmann::json(device.utilization.value_or(-1)).dump());
    }
    return out;
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTrainers trainers_{executor_};
  GpuReadings::GpuJob job_;
  size_t jobs_ = 1;
  std::shared_ptr<WatchedPod> chief_, worker_;
  int changes_ = 0;
  std::optional<GpuReadings> readings_;
};

constexpr char kPeers[] = R"([{"role": "worker", "index": 1,
                               "gpus": [{"id": "GPU-w", "index": 0, "utilization": 0.5}]},
                              {"role": "ps", "index": 0}])";

TEST_F(GpuReadingsTest, TheChiefTellsOfItselfAndOfItsPeers) {
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25, kPeers);
  const GpuReadings& readings = Start();
  EXPECT_THAT(trainers_.asked, ElementsAre("10.0.0.1:2223/status"));
  EXPECT_THAT(Shown(readings.Of(*chief_)), ElementsAre("GPU-c=0.25"));
  EXPECT_THAT(Shown(readings.Of(*worker_)), ElementsAre("GPU-w=0.5"));
  EXPECT_EQ(readings.Of(*chief_)->front().memory_used_mib, 7);
  EXPECT_EQ(readings.Of(*chief_)->front().memory_total_mib, 9);
  EXPECT_EQ(changes_, 1);
}

TEST_F(GpuReadingsTest, AnEvaluatorTellsOfItself) {
  const auto evaluator = Add(Role::kEvaluator, 0, "10.0.0.3");
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25);
  trainers_.answers["10.0.0.3"] = Page("GPU-e", 0.75);
  EXPECT_THAT(Shown(Start().Of(*evaluator)), ElementsAre("GPU-e=0.75"));
}

TEST_F(GpuReadingsTest, EachRoundBringsWhatIsNewAndSaysOnlyThen) {
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25);
  const GpuReadings& readings = Start();
  Pass(GpuReadings::kEvery);
  EXPECT_EQ(trainers_.asked.size(), 2u);
  EXPECT_EQ(changes_, 1) << "it is as busy as before";
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 1);
  Pass(GpuReadings::kEvery);
  EXPECT_THAT(Shown(readings.Of(*chief_)), ElementsAre("GPU-c=1.0"));
  EXPECT_EQ(changes_, 2);
}

TEST_F(GpuReadingsTest, NobodyIsAskedWhileNobodyLooks) {
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25);
  GpuReadings& readings = Start();
  Pass(1h);
  const size_t asked = trainers_.asked.size();
  EXPECT_LE(asked, GpuReadings::kWatched / GpuReadings::kEvery + 1);
  EXPECT_EQ(readings.Of(*chief_), nullptr) << "it is an hour old";
  readings.Look();
  readings.Look();
  Pass(0s);
  EXPECT_EQ(trainers_.asked.size(), asked + 1);
  EXPECT_THAT(Shown(readings.Of(*chief_)), ElementsAre("GPU-c=0.25"));
}

TEST_F(GpuReadingsTest, WhoDoesNotAnswerIsLeftAloneAndItsNumbersGo) {
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25, kPeers);
  GpuReadings& readings = Start();
  trainers_.answers["10.0.0.1"] = absl::UnavailableError("refused");
  for (int i = 0; i < 5; ++i) {
    readings.Look();
    Pass(GpuReadings::kEvery);
  }
  EXPECT_EQ(trainers_.asked.size(), 2u);
  EXPECT_EQ(readings.Of(*worker_), nullptr);
  EXPECT_EQ(changes_, 2) << "the map is made again without them";
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.5);
  for (int i = 0; i < 3; ++i) {
    readings.Look();
    Pass(GpuReadings::kEvery);
  }
  EXPECT_THAT(Shown(readings.Of(*chief_)), ElementsAre("GPU-c=0.5"));
}

TEST_F(GpuReadingsTest, ThousandsAreAskedSomeAtATime) {
  jobs_ = 1'000;
  Start();
  EXPECT_EQ(trainers_.most_at_once, GpuReadings::kAtOnce);
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25);
  for (auto& done : std::exchange(trainers_.under_way, {})) done(Page("GPU-c", 0.25));
  Pass(0s);
  EXPECT_EQ(trainers_.asked.size(), 1'000u);
}

TEST_F(GpuReadingsTest, OneThatIsGoneAnswersNobody) {
  Start();
  readings_.reset();
  ASSERT_EQ(trainers_.under_way.size(), 1u);
  trainers_.under_way[0](Page("GPU-c", 0.25));
  Pass(1h);
  EXPECT_EQ(changes_, 0);
}

TEST_F(GpuReadingsTest, OnOneMachineADeviceHasTheNumberOfItsSlot) {
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25);
  EXPECT_THAT(Shown(Start(/*local=*/true).Of(*chief_)), ElementsAre("4=0.25"));
}

TEST_F(GpuReadingsTest, OfAPodWithoutGpusNothingIsTaken) {
  chief_->gpus = 0;
  worker_->phase = PodPhase::kSucceeded;
  trainers_.answers["10.0.0.1"] = Page("GPU-c", 0.25, kPeers);
  const GpuReadings& readings = Start();
  EXPECT_EQ(readings.Of(*chief_), nullptr);
  EXPECT_EQ(readings.Of(*worker_), nullptr) << "an older pod's reading";
}

// An own image may serve anything at this address.
TEST(GpuPageTest, WhatIsNoDeviceIsLeftOut) {
  for (const char* body : {"", "[]", "<html>"}) EXPECT_FALSE(ReadGpuPage(body, false).ok()) << body;
  const auto page = ReadGpuPage(
      R"({"gpus": [1, {"id": 7}, {"id": ""}, {"index": 1},
                   {"id": "a", "utilization": "x", "memoryUsedMiB": 1e300}],
          "peers": [1, {"role": "cook", "index": 0, "gpus": [{"id": "b"}]},
                    {"role": "worker", "index": "0", "gpus": [{"id": "b"}]},
                    {"role": "worker", "index": 5000000000, "gpus": [{"id": "b"}]},
                    {"role": "worker", "index": 2, "gpus": 5}]})", false);
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->own.size(), 1u);
  EXPECT_EQ(page->own[0].id, "a");
  EXPECT_EQ(page->own[0].utilization, std::nullopt);
  EXPECT_EQ(page->own[0].memory_used_mib, std::nullopt);
  EXPECT_THAT(page->peers, IsEmpty());
  std::string many = R"({"gpus": [)";
  for (int i = 0; i < 1'000; ++i) many += (i > 0 ? "," : "") + std::string(R"({"id": "x"})");
  EXPECT_EQ(ReadGpuPage(many + "]}", false)->own.size(), 64u);
  const std::string long_id = R"({"gpus": [{"id": ")" + std::string(1'000, 'x') + R"("}]})";
  EXPECT_THAT(ReadGpuPage(long_id, false)->own, IsEmpty());
}

TEST(GpuPageTest, HowWellADeviceIsIsReadAsTheContractHasIt) {
  const auto page = ReadGpuPage(
      R"({"gpus": [{"id": "a", "powerWatts": 412.5, "powerLimitWatts": 700, "temperatureC": 64,
                    "throttle": ["Heat", "PowerCap", "Heat", "<b>", 7], "eccUncorrected": 2},
                   {"id": "b", "throttle": []},
                   {"id": "c", "powerWatts": "many", "temperatureC": [], "throttle": "Heat",
                    "eccUncorrected": {}}]})", false);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->own,
              ElementsAre(DeviceReading{.id = "a", .power_watts = 412.5, .power_limit_watts = 700,
                                        .temperature_c = 64, .throttle = {{"PowerCap", "Heat"}},
                                        .ecc_uncorrected = 2},
                          DeviceReading{.id = "b", .throttle = std::vector<std::string>{}},
                          DeviceReading{.id = "c"}));
}

TEST(GpuUseTest, SeveralDevicesAreBusyOnAverageAndUseTheirMemoryTogether) {
  EXPECT_FALSE(UseOf(nullptr).busy.has_value());
  const std::vector<DeviceReading> devices = {
      {.id = "0", .utilization = 0.5, .memory_used_mib = 1'000},
      {.id = "1", .utilization = 1.0, .memory_used_mib = 3'000},
      {.id = "2"}};
  EXPECT_EQ(UseOf(&devices).busy, 0.75);
  EXPECT_EQ(UseOf(&devices).memory_mib, 4'000);
  const std::vector<DeviceReading> silent = {{.id = "0"}};
  EXPECT_FALSE(UseOf(&silent).memory_mib.has_value());
}

}  // namespace
}  // namespace taas::dashboard
