// What becomes of a job whose pods the API server warns of, or does not take, under the whole
// controller, in virtual time.

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kUnknown[] = R"(299 - "unknown field \"spec.nodeSelecter\"")";
constexpr char kInvalid[] =
    "Pod \"mnist-worker-0\" is invalid: spec.containers[0].imagePullPolicy: Unsupported value: "
    "\"Allways\"";

int EventsOf(SimCluster& cluster, const std::string& reason) {
  const auto& events = cluster.api().events();
  return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const json& event) {
    return event["reason"] == reason;
  }));
}

json ConditionOf(const SimCluster& cluster, const std::string& type) {
  for (const json& condition : cluster.Status().value("conditions", json::array())) {
    if (condition["type"] == type) return condition;
  }
  return json::object();
}

// `nodeSelecter`: the job ran on any node, and nobody was told.
TEST(TemplateTest, AFieldWithoutEffectOfATfJobIsAnEventAConditionAndTheMessage) {
  SimCluster cluster(1);
  cluster.api().faults().pod_warning = kUnknown;
  cluster.CreateTfJob({.workers = 3}, "Never", json::parse(R"({"tfReplicaSpecs":{"Worker":
      {"template":{"spec":{"nodeSelecter":{"gpu":"true"}}}}}})"));
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(5));
  const auto told = AllOf(
      HasSubstr("\"spec.tfReplicaSpecs.Worker.template.spec.nodeSelecter\""),
      HasSubstr("did you mean \"nodeSelector\"?"));
  EXPECT_EQ(EventsOf(cluster, "TemplateWarning"), 1) << "one, for three pods";
  EXPECT_THAT(ConditionOf(cluster, "TemplateWarning").value("message", ""), told);
  EXPECT_EQ(ConditionOf(cluster, "TemplateWarning").value("reason", ""), "FieldsIgnored");
  EXPECT_THAT(cluster.Status().value("message", ""), told);
  EXPECT_EQ(cluster.Status()["conditions"].back()["type"], "Running") << "the state is the last";
  EXPECT_THAT(cluster.api().complaints(), IsEmpty());
}

TEST(TemplateTest, AFieldWithoutEffectOfATrainingJobIsSaidUntilAPodIsMadeWithoutAWarning) {
  SimCluster cluster(2);
  cluster.api().faults().pod_warning = kUnknown;
  cluster.CreateJob({.workers = 1});
  cluster.EditSpec(json::parse(R"({"roles":{"worker":{"template":{"spec":{
      "nodeSelecter":{"gpu":"true"}}}}}})"));
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(5));
  EXPECT_EQ(EventsOf(cluster, "TemplateWarning"), 1);
  EXPECT_EQ(ConditionOf(cluster, "Created").value("reason", ""), "FieldsIgnored");
  EXPECT_THAT(cluster.Status().value("message", ""), HasSubstr("nodeSelecter"));
  cluster.CrashOperator();
  cluster.RunFor(seconds(10));
  EXPECT_THAT(cluster.Status().value("message", ""), HasSubstr("nodeSelecter"));
  EXPECT_EQ(EventsOf(cluster, "TemplateWarning"), 1);
}

TEST(TemplateTest, OtherWarningsAreAnEventAndAConditionAndNotTheMessage) {
  SimCluster cluster(3);
  cluster.api().faults().pod_warning = R"(299 - "would violate PodSecurity \"restricted\"")";
  cluster.CreateTfJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(5));
  EXPECT_EQ(EventsOf(cluster, "TemplateWarning"), 1);
  EXPECT_EQ(ConditionOf(cluster, "TemplateWarning").value("reason", ""), "ServerWarned");
  EXPECT_THAT(cluster.Status().value("message", ""), Not(HasSubstr("PodSecurity")));
}

// `Allways`: the pods were tried for ever.
TEST(TemplateTest, ATemplateThatTheServerRefusesIsToldWithItsFieldsForBothKinds) {
  for (const bool tf : {true, false}) {
    SimCluster cluster(4);
    cluster.api().faults().invalid_pod = kInvalid;
    const json pod = json::parse(R"({"spec":{"containers":[{"name":"side","image":"i",
        "imagePullPolicy":"Allways"}]}})");
    if (tf) {
      json own = pod;
      own["spec"]["containers"][0]["name"] = "tensorflow";
      cluster.CreateTfJob({.workers = 2}, "Never",
                          {{"tfReplicaSpecs", {{"Worker", {{"template", own}}}}}});
    } else {
      cluster.CreateJob({.workers = 2});
      cluster.EditSpec({{"roles", {{"worker", {{"template", pod}}}}}});
    }
    cluster.RunFor(seconds(600));
    const std::string path =
        tf ? "spec.tfReplicaSpecs.Worker.template.spec.containers[0].imagePullPolicy"
           : "spec.roles.worker.template.spec.containers[0].imagePullPolicy";
    EXPECT_THAT(cluster.Status().value("message", ""),
                AllOf(HasSubstr(kInvalid), HasSubstr(path), HasSubstr("did you mean \"Always\"?")));
    const json condition = ConditionOf(cluster, tf ? "Refused" : "Scheduled");
    EXPECT_EQ(condition.value("reason", ""), "Refused");
    EXPECT_THAT(condition.value("message", ""), HasSubstr(path));
    EXPECT_EQ(EventsOf(cluster, tf ? "FailedCreatePod" : "Refused"), 1);
    if (tf) {
      EXPECT_EQ(cluster.Status()["conditions"].back()["type"], "Created");
    }

    cluster.api().faults().invalid_pod.clear();
    cluster.EditSpec(tf ? json::parse(R"({"runPolicy":{"backoffLimit":3}})")
                        : json::parse(R"({"backoffLimit":3})"));
    ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
    EXPECT_THAT(cluster.Status().dump(), Not(HasSubstr("Allways")));
  }
}

// Between two tries the message was gone, and the condition came and went.
TEST(TemplateTest, WhileThePodsAreRefusedTheStatusDoesNotChange) {
  SimCluster cluster(5);
  cluster.api().faults().invalid_pod = kInvalid;
  cluster.CreateTfJob({.workers = 1});
  cluster.RunFor(seconds(20));
  const json first = cluster.Status();
  ASSERT_THAT(first.value("message", ""), HasSubstr("Allways"));
  for (int i = 0; i < 1000; ++i) {
    cluster.RunFor(std::chrono::milliseconds(100));
    ASSERT_EQ(cluster.Status(), first) << "after " << i << " tenths of a second";
  }
}

}  // namespace
}  // namespace taas
