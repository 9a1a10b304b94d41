// Mistakes in the template of a job, told at its first pod: on a real kube-apiserver, which sees
// them no sooner, and on the local cluster, if whoever sent the job did not want to be told. The
// test plays the kubelet.

#include <string>

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

struct Kind {
  const char* name;
  const char* path;
  const char* template_path;  // In the manifest.
  const char* warned;         // The condition that tells of warnings,
  const char* refused;        // and of a refusal.
  const char* refused_event;
};
constexpr Kind kTfJob{"TFJob",
                      kTfJobsPath,
                      "spec.tfReplicaSpecs.Worker.template",
                      "TemplateWarning",
                      "Refused",
                      "FailedCreatePod"};
constexpr Kind kTrainingJob{"TrainingJob", kTrainingJobsPath, "spec.roles.worker.template",
                            "Created",     "Scheduled",       "Refused"};

// A job of one worker with this pod.
json JobOf(const Kind& kind, const std::string& name, const std::string& pod_spec) {
  const json pod = {{"spec", json::parse(pod_spec)}};
  json job = {{"kind", kind.name}, {"metadata", {{"name", name}}}};
  if (std::string(kind.name) == "TFJob") {
    job["apiVersion"] = "kubeflow.org/v1";
    job["spec"]["tfReplicaSpecs"]["Worker"] = {{"replicas", 1}, {"template", pod}};
  } else {
    job["apiVersion"] = "taas.dev/v1";
    job["spec"] = json::parse(R"({"trainer":{"model":{"name":"mlp","hidden":[8]},
        "data":{"format":"idx","train":{"images":"/d/i.gz","labels":"/d/l.gz"}},
        "maxSteps":10,"strategy":{"type":"Local"}}})");
    job["spec"]["roles"]["worker"] = {{"replicas", 1}, {"template", pod}};
  }
  return job;
}

class TemplateTest : public OperatorFixture {
 protected:
  // Of another name each time: nothing collects what the ones before leave.
  void Create(const Kind& kind, const std::string& pod_spec) {
    name_ = "typos" + std::to_string(++jobs_);
    const json made = Call("POST", std::string(kind.path) + "?fieldValidation=Ignore",
                           JobOf(kind, name_, pod_spec).dump());
    ASSERT_EQ(made.value("kind", ""), kind.name) << made.dump(1);
  }
  json Status(const Kind& kind) {
    return Call("GET", std::string(kind.path) + "/" + name_).value("status", json::object());
  }
  std::string Message(const Kind& kind) { return Status(kind).value("message", ""); }
  std::string ConditionOf(const Kind& kind, const std::string& type) {
    for (const json& condition : Status(kind).value("conditions", json::array())) {
      if (condition["type"] == type) return condition.value("message", "");
    }
    return "";
  }
  std::string EventOf(const std::string& reason) {
    const json events = Call("GET", "/api/v1/namespaces/default/events");
    for (const json& event : events.value("items", json::array())) {
      const bool of_job = event["involvedObject"].value("name", "") == name_;
      if (of_job && event["reason"] == reason) return event.value("message", "");
    }
    return "";
  }
  // `fields`: of one container, beside name and image.
  static std::string Pod(const Kind& kind, const std::string& spec, const std::string& fields) {
    const bool tf = std::string(kind.name) == "TFJob";
    return "{" + spec + R"("containers":[{"name":")" + (tf ? "tensorflow" : "trainer") +
           R"(","image":"me/tf:1")" + fields + "}]}";
  }

  std::string name_;
  int jobs_ = 0;
};

class WarnedTest : public TemplateTest, public testing::WithParamInterface<ServerKind> {};

// `nodeSelecter`, `comand`: "1 job is valid", and the pod ran on any node, without its program.
TEST_P(WarnedTest, FieldsThatThereAreNotAreToldAtTheFirstPod) {
  ASSERT_NO_FATAL_FAILURE(Begin(GetParam()));
  for (const Kind& kind : {kTfJob, kTrainingJob}) {
    SCOPED_TRACE(kind.name);
    ASSERT_NO_FATAL_FAILURE(
        Create(kind, Pod(kind, R"("nodeSelecter":{"gpu":"true"},)", R"(,"comand":["x"])")));
    ASSERT_TRUE(AwaitPod(name_ + "-worker-0"));
    const std::string base = "\"" + std::string(kind.template_path) + ".spec.";
    const auto told = AllOf(HasSubstr(base + "nodeSelecter\" (did you mean \"nodeSelector\"?)"),
                            HasSubstr(base + "containers[0].comand\" (did you mean \"command\"?)"));
    EXPECT_TRUE(Await([&] { return Message(kind).find("comand") != std::string::npos; }))
        << Status(kind).dump(1);
    EXPECT_THAT(ConditionOf(kind, kind.warned), told);
    EXPECT_THAT(Message(kind), told);
    EXPECT_TRUE(Await([&] { return !EventOf("TemplateWarning").empty(); }));
    EXPECT_THAT(EventOf("TemplateWarning"), told);
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, WarnedTest, testing::Values(kKubeApiServer, kLocalCluster),
                         [](const auto& info) { return std::string(info.param.name); });

struct Refused {
  const char* spec;
  const char* fields;
  const char* told;  // Behind the path of the template.
};

// The pod was tried for ever; of an amount or a number no field was named.
TEST_F(TemplateTest, WhatTheServerRefusesIsToldWithItsField) {
  ASSERT_NO_FATAL_FAILURE(Begin(kKubeApiServer));
  for (const Kind& kind : {kTfJob, kTrainingJob}) {
    for (const Refused& one :
         {Refused{"", R"(,"imagePullPolicy":"Allways")",
                  ".spec.containers[0].imagePullPolicy: Unsupported value: \"Allways\""},
          Refused{"", R"(,"resources":{"limits":{"memory":"1 GB"}})",
                  ".spec.containers[0].resources.limits.memory: Invalid value: \"1 GB\""},
          Refused{"", R"(,"env":[{"name":"LR","value":0.1}])",
                  ".spec.containers[0].env[0].value: Invalid value: \"number\""},
          Refused{R"("nodeSelector":{"gpu":true},)", "",
                  ".spec.nodeSelector.gpu: Invalid value: \"boolean\""},
          Refused{"", R"(,"volumeMounts":[{"name":"none","mountPath":"/n"}])",
                  ".spec.containers[0].volumeMounts[0].name: Not found: \"none\""}}) {
      SCOPED_TRACE(std::string(kind.name) + one.told);
      ASSERT_NO_FATAL_FAILURE(Create(kind, Pod(kind, one.spec, one.fields)));
      const auto told = HasSubstr(std::string(kind.template_path) + one.told);
      EXPECT_TRUE(Await([&] {
        return Message(kind).find(one.told) != std::string::npos &&
               ConditionOf(kind, kind.refused).find(one.told) != std::string::npos;
      })) << Status(kind).dump(1);
      EXPECT_THAT(Message(kind), told);
      EXPECT_THAT(ConditionOf(kind, kind.refused), told);
      EXPECT_TRUE(Await([&] { return !EventOf(kind.refused_event).empty(); }));
      EXPECT_THAT(EventOf(kind.refused_event), told);
    }
  }
}

}  // namespace
}  // namespace taas
