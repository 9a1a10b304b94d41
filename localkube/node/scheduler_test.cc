// The loop around Schedule: what of pods and nodes it sees, and what it writes.

#include "localkube/node/scheduler.h"

#include <functional>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "localkube/node/api_calls.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr char kNodes[] = "/api/v1/nodes";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest()
      : store_(*Store::Open({.path = ":memory:"})),
        api_(*store_, clock_, random_, nullptr),
        calls_(api_) {
    EXPECT_THAT(api_.Bootstrap(), IsOk());
  }
  void Start() {
    scheduler_ = std::make_unique<Scheduler>(api_, *store_, clock_);
    scheduler_->Start();
  }
  void MakeNode(const std::string& name, const std::string& cpu) {
    const Json amounts = {{"cpu", cpu}, {"memory", "1Gi"}, {"pods", "10"}};
    Json node = {{"metadata", {{"name", name}}}};
    const auto made = calls_.Post(kNodes, node.dump());
    ASSERT_THAT(made, IsOk());
    node = Json::parse(*made);
    node["status"] = {{"capacity", amounts}, {"allocatable", amounts}};
    ASSERT_THAT(calls_.Put(kNodes + ("/" + name) + "/status", node.dump()), IsOk());
  }
  void PatchNode(const std::string& name, const Json& patch) {
    ASSERT_THAT(calls_.Patch(kNodes + ("/" + name), patch.dump()), IsOk());
  }
  static Json Pod(const std::string& name, const std::string& cpu) {
    return {{"metadata", {{"name", name}}},
            {"spec",
             {{"containers",
               Json::array({{{"name", "c"},
                             {"image", "i"},
                             {"resources", {{"requests", {{"cpu", cpu}}}}}}})}}}};
  }
  void Create(const Json& pod) { ASSERT_THAT(calls_.Post(kPods, pod.dump()), IsOk()); }
  Json Get(const std::string& name) {
    const auto text = calls_.Get(PodPath("default", name));
    return text.ok() ? Json::parse(*text) : Json();
  }
  std::string NodeOf(const std::string& name) { return Get(name)["spec"].value("nodeName", ""); }
  std::string Condition(const std::string& name, const std::string& type, const char* field) {
    for (const Json& condition : Get(name)["status"].value("conditions", Json::array())) {
      if (condition.value("type", "") == type) return condition.value(field, "");
    }
    return "";
  }
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + 5ms);
    }
  }

  RealClock clock_;
  SystemRandom random_;
  std::unique_ptr<Store> store_;
  Api api_;
  ApiCalls calls_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, WhatIsThereBeforeItAndWhatComesLaterIsPlacedWhereItFits) {
  MakeNode("small", "1");
  Create(Pod("early", "1"));
  Start();
  Await("early", [&] { return NodeOf("early") == "small"; });
  Create(Pod("late", "1"));
  Await("the refusal",
        [&] { return Condition("late", "PodScheduled", "reason") == "Unschedulable"; });
  EXPECT_EQ(Condition("late", "PodScheduled", "message"),
            "0/1 nodes are available: 1 Insufficient cpu.");
  const std::string since = Condition("late", "PodScheduled", "lastTransitionTime");
  MakeNode("large", "4");
  Await("late", [&] { return NodeOf("late") == "large"; });
  EXPECT_FALSE(since.empty());
}

TEST_F(SchedulerTest, RoomThatIsFreedIsGivenAgainAndOneThatIsDeletedGetsNone) {
  MakeNode("n", "1");
  Start();
  Create(Pod("a", "1"));
  Await("a", [&] { return NodeOf("a") == "n"; });
  Create(Pod("b", "1"));
  Await("the refusal", [&] { return !Condition("b", "PodScheduled", "message").empty(); });
  Json ended = Get("a");
  ended["status"]["phase"] = "Succeeded";
  ASSERT_THAT(calls_.Put(PodPath("default", "a") + "/status", ended.dump()), IsOk());
  Await("b", [&] { return NodeOf("b") == "n"; });
  Json held = Pod("c", "1");
  held["metadata"]["finalizers"] = Json::array({"example.com/stays"});
  Create(held);
  Await("the refusal", [&] { return !Condition("c", "PodScheduled", "message").empty(); });
  ASSERT_THAT(calls_.Delete(PodPath("default", "c"), ""), IsOk());
  ASSERT_THAT(calls_.Delete(PodPath("default", "b"), R"({"gracePeriodSeconds":0})"), IsOk());
  Create(Pod("d", "1"));
  Await("d", [&] { return NodeOf("d") == "n"; });
  EXPECT_EQ(NodeOf("c"), "") << "it is on its way out";
}

TEST_F(SchedulerTest, ATaintTakesPodsOffTheirNodeWhenTheirTimeIsOver) {
  MakeNode("n", "4");
  Start();
  Json patient = Pod("patient", "1");
  patient["spec"]["tolerations"] =
      Json::parse(R"([{"key":"lost","operator":"Exists","tolerationSeconds":100000}])");
  Create(patient);
  Json brief = Pod("brief", "1");
  brief["spec"]["tolerations"] =
      Json::parse(R"([{"key":"lost","operator":"Exists","tolerationSeconds":1}])");
  Create(brief);
  Create(Pod("none", "1"));
  for (const char* name : {"patient", "brief", "none"}) {
    Await(name, [&] { return NodeOf(name) == "n"; });
  }
  PatchNode("n", Json::parse(R"({"spec":{"taints":[{"key":"lost","effect":"NoExecute"}]}})"));
  for (const char* name : {"none", "brief"}) {
    Await(name, [&] { return Get(name)["metadata"].contains("deletionTimestamp"); });
    EXPECT_EQ(Condition(name, "DisruptionTarget", "reason"), "DeletionByTaintManager") << name;
  }
  EXPECT_FALSE(Get("patient")["metadata"].contains("deletionTimestamp"));
}

TEST_F(SchedulerTest, ANewSchedulerGoesOnWhereTheOldOneStopped) {
  MakeNode("n", "2");
  Start();
  Create(Pod("a", "1"));
  Await("a", [&] { return NodeOf("a") == "n"; });
  scheduler_.reset();
  Create(Pod("b", "1"));
  Create(Pod("c", "1"));
  Start();
  Await("one of them", [&] { return NodeOf("b").empty() != NodeOf("c").empty(); });
  Await("the other's refusal", [&] {
    const std::string refused = NodeOf("b").empty() ? "b" : "c";
    return !Condition(refused, "PodScheduled", "message").empty();
  });
}

// Symptom: one object that nobody expects ended the scheduler, and all pods stayed Pending.
TEST_F(SchedulerTest, AnObjectThatMakesNoSenseHoldsUpNobody) {
  MakeNode("n", "2");
  Start();
  for (const char* odd : {R"({"status":{"allocatable":"x"}})", R"({"spec":{"taints":{"a":1}}})",
                          R"({"metadata":{"labels":{"a":"b"}},"spec":null})"}) {
    Json node = Json::parse(odd);
    node["metadata"]["name"] = "odd";
    (void)calls_.Post(kNodes, node.dump());
    (void)calls_.Put(std::string(kNodes) + "/odd/status", node.dump());
  }
  Json pod = Pod("odd", "1");
  pod["spec"]["affinity"] = {{"nodeAffinity", "x"}};
  pod["spec"]["tolerations"] = Json::array({1, "x", Json::array()});
  (void)calls_.Post(kPods, pod.dump());
  Create(Pod("a", "1"));
  Await("a", [&] { return !NodeOf("a").empty(); });
}

}  // namespace
}  // namespace taas::localkube
