// The controller under leader election: what a standby does, and what a leader does about those
// before and after it.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/controller/controller.h"
#include "operator/controller/fake_api.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kWorker[] = "mnist-worker-0";

class NobodyAnswers : public PollTransport {
 public:
  void Get(const std::string&, int32_t, const std::string&, Done) override {}
};

class ControllerLeaderTest : public testing::Test {
 protected:
  ControllerLeaderTest() { StandBy({}); }

  void StandBy(GangOptions gang) {
    controller_ = std::make_unique<Controller>(
        api_, executor_, random_, poll_, ports_, metrics_,
        Controller::Options{.trainer_image = "taas/trainer:test",
                            .gang = gang,
                            .standby = true,
                            .on_later_epoch = [this](int64_t epoch) { later_.push_back(epoch); }});
    controller_->Start();
  }

  void RunFor(milliseconds time) { executor_.RunUntil(executor_.clock().Now() + time); }
  void CreateJob(const std::string& name = "mnist", int workers = 1) {
    json job = json::parse(R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","spec":{
        "trainer":{"model":{"name":"mlp"}},"cleanPodPolicy":"None",
        "roles":{"worker":{"replicas":1}}}})");
    job["metadata"]["name"] = name;
    job["spec"]["roles"]["worker"]["replicas"] = workers;
    api_.Put("trainingjobs", std::move(job));
  }
  static json WithEpoch(json object, const char* epoch) {
    object["metadata"]["annotations"]["taas.dev/epoch"] = epoch;
    return object;
  }
  json Pod(const std::string& name = kWorker) {
    const json* pod = api_.Find("pods", name);
    return pod == nullptr ? json() : *pod;
  }
  json Status() { return api_.Find("trainingjobs", "mnist")->value("status", json::object()); }

  SimExecutor executor_{{.seed = 1}};
  SeededRandom random_{1};
  FakeApi api_{executor_, random_};
  NobodyAnswers poll_;
  LoopbackPorts ports_{random_};
  Metrics metrics_;
  std::vector<int64_t> later_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(ControllerLeaderTest, AStandbyWritesNothingAndNeedsNoTimeWhenItLeads) {
  CreateJob();
  RunFor(seconds(60));
  EXPECT_TRUE(controller_->synced());
  EXPECT_EQ(api_.writes(), 0);
  EXPECT_THAT(api_.events(), IsEmpty());
  controller_->Lead(3);
  RunFor(milliseconds(100));
  EXPECT_EQ(Pod().value("/metadata/annotations/taas.dev~1epoch"_json_pointer, ""), "3");
  EXPECT_EQ(api_.Find("services", "mnist")->at("metadata")["annotations"]["taas.dev/epoch"], "3");
}

TEST_F(ControllerLeaderTest, APodThatKueueHoldsThoughItsJobIsGoneIsLetGoByALeaderOnly) {
  StandBy({.scheduler = GangScheduler::kKueue});
  api_.Put("pods", json::parse(R"({
      "metadata":{"name":"mnist-worker-0","deletionTimestamp":"2026-01-01T00:00:00Z",
        "finalizers":["kueue.x-k8s.io/managed"],
        "labels":{"taas.dev/job-name":"mnist","taas.dev/role":"worker","taas.dev/index":"0",
          "taas.dev/pod-number":"1"},
        "ownerReferences":[{"apiVersion":"taas.dev/v1","kind":"TrainingJob","name":"mnist",
          "uid":"gone","controller":true}]},
      "spec":{"containers":[{"name":"trainer","image":"i"}]},"status":{"phase":"Failed"}})"));
  RunFor(seconds(60));
  EXPECT_EQ(api_.writes(), 0);
  EXPECT_THAT(api_.Names("pods"), ElementsAre(kWorker));
  controller_->Lead(3);
  RunFor(seconds(1));
  EXPECT_THAT(api_.Names("pods"), IsEmpty());
}

TEST_F(ControllerLeaderTest, WhatAStandbyCouldNotReadIsToldWhenItLeadsUnlessItWasMended) {
  const auto put = [&](const char* name, const char* role) {
    json job = json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","spec":{
        "tfReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[
          {"name":"tensorflow","image":"i"}]}}}}}})");
    if (std::string(role) != "Worker") job["spec"]["tfReplicaSpecs"] = {{role, {{"replicas", 1}}}};
    job["metadata"] = {{"name", name}};
    if (const json* known = api_.Find("tfjobs", name)) job["metadata"] = known->at("metadata");
    api_.Put("tfjobs", job);
  };
  put("broken", "Janitor");
  put("mended", "Janitor");
  RunFor(seconds(10));
  put("mended", "Worker");
  RunFor(seconds(10));
  EXPECT_EQ(api_.writes(), 0);
  controller_->Lead(1);
  RunFor(seconds(10));
  const json broken = api_.Find("tfjobs", "broken")->at("status")["conditions"];
  EXPECT_EQ(broken.back()["reason"], "TFJobFailedValidation");
  const json mended = api_.Find("tfjobs", "mended")->at("status")["conditions"];
  EXPECT_EQ(mended.front()["type"], "Created") << mended.dump(1);
}

// Symptom: the create of a process that had been frozen since before its lease ended came through
// after the job's end, and its pod ran for ever.
TEST_F(ControllerLeaderTest, APodThatAFormerLeaderMadeAfterTheEndOfTheJobGoes) {
  CreateJob("mnist", 2);
  controller_->Lead(2);
  RunFor(seconds(1));
  const std::string other = "mnist-worker-1";
  const json made = Pod(other);
  ASSERT_FALSE(made.is_null());
  json ended = Pod();
  ended["status"] = json::parse(R"({"phase":"Succeeded","containerStatuses":[{"name":"trainer",
      "image":"i","restartCount":0,"state":{"terminated":{"exitCode":0}}}]})");
  api_.Put("pods", ended);
  RunFor(seconds(60));
  ASSERT_EQ(Status().value("state", ""), "Succeeded") << Status().dump(1);
  // What had not completed at the end may stay as it is: the user wants all pods kept.
  ASSERT_FALSE(Pod(other).is_null());
  api_.Remove("pods", other);
  RunFor(seconds(10));
  ASSERT_TRUE(Pod(other).is_null()) << "of a job that has ended nothing is made";

  api_.Put("pods", WithEpoch(made, "2"));
  RunFor(seconds(60));
  EXPECT_FALSE(Pod(other).is_null()) << "this leader's own are kept";
  api_.Remove("pods", other);
  RunFor(seconds(10));
  api_.Put("pods", WithEpoch(made, "1"));
  RunFor(seconds(1));
  EXPECT_TRUE(Pod(other).is_null()) << Pod(other).dump(1);
  EXPECT_EQ(Status().value("state", ""), "Succeeded");
}

TEST_F(ControllerLeaderTest, APodOfAFormerLeaderThatIsWantedStays) {
  CreateJob();
  controller_->Lead(2);
  RunFor(seconds(1));
  const json made = Pod();
  // In the place of ours, before anybody looks.
  api_.faults().hold_watches = true;
  api_.Remove("pods", kWorker);
  api_.Put("pods", WithEpoch(made, "1"));
  api_.faults().hold_watches = false;
  api_.Release();
  RunFor(seconds(30));
  EXPECT_EQ(Pod().value("/metadata/annotations/taas.dev~1epoch"_json_pointer, ""), "1");
}

TEST_F(ControllerLeaderTest, AJobWithAnObjectOfALaterLeaderIsLeftAloneUntilThatIsDisproved) {
  CreateJob();
  controller_->Lead(2);
  RunFor(seconds(1));
  ASSERT_THAT(later_, IsEmpty());
  api_.Put("pods", WithEpoch(Pod(), "9"));
  RunFor(seconds(1));
  ASSERT_FALSE(later_.empty());
  EXPECT_EQ(later_.back(), 9);
  const int writes = api_.writes();
  api_.Remove("services", "mnist");
  RunFor(seconds(1));
  EXPECT_EQ(api_.writes(), writes) << "perhaps this process leads no more";
  EXPECT_EQ(api_.Find("services", "mnist"), nullptr);

  CreateJob("other");
  RunFor(seconds(1));
  EXPECT_FALSE(Pod("other-worker-0").is_null()) << "the others go on until the lease is lost";

  controller_->DisproveEpochs(9);
  RunFor(seconds(30));
  EXPECT_NE(api_.Find("services", "mnist"), nullptr);
  const size_t asked = later_.size();
  RunFor(seconds(60));
  EXPECT_EQ(later_.size(), asked);
}

TEST_F(ControllerLeaderTest, StrangersWithOurLabelsProveNothing) {
  CreateJob();
  controller_->Lead(2);
  RunFor(seconds(1));
  json stranger = WithEpoch(Pod(), "9");
  stranger["metadata"]["name"] = "stranger";
  stranger["metadata"]["ownerReferences"][0]["uid"] = "another";
  api_.Put("pods", stranger);
  RunFor(seconds(5));
  EXPECT_THAT(later_, IsEmpty());
  EXPECT_EQ(controller_->known_epoch(), 9) << "the next epoch is above it all the same";
}

}  // namespace
}  // namespace taas
