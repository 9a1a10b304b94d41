
#include "localkube/api/api_fixture.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

json Job(const std::string& name) {
  return json::parse(R"({
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": ")" + name + R"("},
    "spec": {
      "trainer": {
        "model": {"name": "mlp", "hidden": [500]},
        "data": {"format": "idx", "train": {"images": "/d/i.gz", "labels": "/d/l.gz"}},
        "strategy": {"type": "ParameterServer"}, "maxSteps": 100},
      "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 2}, "worker": {"replicas": 2}}}})");
}

class JobApiTest : public ApiFixture {
 protected:
  const std::string path_ = std::string(kJobs) + "/mnist";
};

TEST_F(JobApiTest, ACreatedJobHasTheDefaultsOfTheSchema) {
  json sent = Job("mnist");
  sent["status"] = {{"state", "Succeeded"}};
  const Reply made = Call("POST", std::string(kJobs) + "?fieldValidation=Strict", sent);
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.body["spec"]["cleanPodPolicy"], "Running");
  EXPECT_EQ(made.body["spec"]["backoffLimit"], 6);
  EXPECT_FALSE(made.body.contains("status"));
  EXPECT_EQ(made.body["metadata"]["uid"].get<std::string>().size(), 36u);
}

TEST_F(JobApiTest, AStatusThatIsNoObjectIsRefused) {
  Call("POST", kJobs, Job("mnist"));
  EXPECT_EQ(Call("PATCH", path_ + "/status", {{"status", "Running"}}).code, 422);
  EXPECT_FALSE(Call("GET", path_).body.contains("status"));
}

TEST_F(JobApiTest, AnUnknownFieldIsRefusedWarnedAboutOrDropped) {
  json sent = Job("mnist");
  sent["spec"]["colour"] = "red";
  const Reply strict = Call("POST", std::string(kJobs) + "?fieldValidation=Strict", sent);
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(strict.message(), HasSubstr("unknown field \"spec.colour\""));
  const Reply warned = Call("POST", std::string(kJobs) + "?fieldValidation=Warn", sent);
  EXPECT_EQ(warned.code, 201) << warned.body;
  EXPECT_FALSE(warned.body["spec"].contains("colour"));
  ASSERT_EQ(warned.headers.size(), 1u);
  EXPECT_THAT(warned.headers[0].second, HasSubstr("spec.colour"));
}

TEST_F(JobApiTest, SchemaAndRulesAnswer422WithTheField) {
  json negative = Job("mnist");
  negative["spec"]["roles"]["worker"]["replicas"] = -1;
  const Reply schema = Call("POST", kJobs, negative);
  EXPECT_EQ(schema.code, 422);
  EXPECT_THAT(schema.message(), HasSubstr("spec.roles.worker.replicas"));
  json without_ps = Job("mnist");
  without_ps["spec"]["roles"].erase("ps");
  const Reply rule = Call("POST", kJobs, without_ps);
  EXPECT_EQ(rule.code, 422);
  EXPECT_THAT(rule.message(), HasSubstr("at least one ps"));
}

TEST_F(JobApiTest, WhatIsFixedStaysAndGenerationCountsOnlyWishes) {
  ASSERT_EQ(Call("POST", kJobs, Job("mnist")).code, 201);
  const Reply model =
      Call("PATCH", path_, {{"spec", {{"trainer", {{"maxSteps", 7}}}}}});
  EXPECT_EQ(model.code, 422);
  const Reply labelled = Call("PATCH", path_, {{"metadata", {{"labels", {{"a", "b"}}}}}});
  EXPECT_EQ(labelled.code, 200) << labelled.body;
  EXPECT_EQ(labelled.body["metadata"]["generation"], 1);
}

// Symptom: a second `kubectl apply` of the same manifest counted a generation.
TEST_F(JobApiTest, LeavingOutADefaultIsNoChange) {
  const json volumes = json::parse(
      R"([{"name":"d","mountPath":"/d","source":{"persistentVolumeClaim":{"claimName":"c"}}}])");
  json sent = Job("mnist");
  sent["spec"]["volumes"] = volumes;
  const Reply made = Call("POST", kJobs, sent);
  ASSERT_EQ(made.code, 201) << made.body;
  const Reply again = Call("PATCH", path_, {{"spec", {{"volumes", volumes}}}});
  EXPECT_EQ(again.body, made.body);
}

TEST_F(JobApiTest, AStatusIsWrittenThroughItsSubresourceOnly) {
  const Reply made = Call("POST", kJobs, Job("mnist"));
  json changed = made.body;
  changed["status"] = {{"state", "Running"}, {"ready", "5/5"}};
  changed["metadata"]["labels"] = {{"not", "taken"}};
  const Reply put = Call("PUT", path_ + "/status", changed);
  ASSERT_EQ(put.code, 200) << put.body;
  EXPECT_EQ(put.body["status"]["state"], "Running");
  EXPECT_FALSE(put.body["metadata"].contains("labels"));
  EXPECT_EQ(put.body["metadata"]["generation"], 1);
  const Reply stale = Call("PUT", path_ + "/status", changed);
  EXPECT_EQ(stale.code, 409);
}

TEST_F(JobApiTest, AnUpdateWithoutARevisionIsRefused) {
  json job = Call("POST", kJobs, Job("mnist")).body;
  job["metadata"].erase("resourceVersion");
  const Reply put = Call("PUT", path_, job);
  EXPECT_EQ(put.code, 422);
  EXPECT_THAT(put.message(), HasSubstr("must be specified for an update"));
}

TEST_F(JobApiTest, ScaleIsReadFromTheJob) {
  Call("POST", kJobs, Job("mnist"));
  const Reply scale = Call("GET", path_ + "/scale");
  EXPECT_EQ(scale.body["kind"], "Scale");
  EXPECT_EQ(scale.body["spec"]["replicas"], 2);
}

TEST_F(JobApiTest, AStrategicPatchOfACustomKindIsNotSupported) {
  Call("POST", kJobs, Job("mnist"));
  EXPECT_EQ(Call("PATCH", path_, json::object(), "application/strategic-merge-patch+json").code,
            415);
  EXPECT_EQ(Call("PATCH", path_, json::array(), "application/json-patch+json").code, 200);
}

TEST_F(JobApiTest, TheDefinitionIsShownAndCannotBeChanged) {
  const std::string path =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trainingjobs.taas.dev";
  EXPECT_EQ(Call("GET", path).body["spec"]["names"]["kind"], "TrainingJob");
  EXPECT_EQ(Call("DELETE", path).code, 405);
  EXPECT_EQ(Call("PATCH", path, json::object()).code, 405);
}

TEST_F(JobApiTest, ScaleIsWrittenThroughItsSubresource) {
  ASSERT_EQ(Call("POST", kJobs, Job("mnist")).code, 201);
  json scale = Call("GET", path_ + "/scale").body;
  scale["spec"]["replicas"] = 5;
  ASSERT_EQ(Call("PUT", path_ + "/scale", scale).code, 200);
  const Reply job = Call("GET", path_);
  EXPECT_EQ(job.body["spec"]["roles"]["worker"]["replicas"], 5);
  EXPECT_EQ(job.body["metadata"]["generation"], 2);
  EXPECT_EQ(Call("PUT", path_ + "/scale", scale).reason(), "Conflict") << "an old revision";
  EXPECT_EQ(Call("PATCH", path_ + "/scale", {{"spec", {{"replicas", -1}}}}).code, 422);
}

constexpr char kTfJobs[] = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";

json TfJob(const std::string& name) {
  return json::parse(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": ")" + name + R"("},
    "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "OnFailure",
      "template": {"spec": {"containers": [{"name": "tensorflow", "image": "own:1",
        "command": ["true"]}]}}}}}})");
}

TEST_F(JobApiTest, ATfJobIsStoredCheckedAndShownAsItsOwnDefinitionSays) {
  const Reply made = Call("POST", std::string(kTfJobs) + "?fieldValidation=Strict", TfJob("a"));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.body["kind"], "TFJob");
  EXPECT_EQ(made.body["metadata"]["generation"], 1);
  json odd = TfJob("b");
  odd["spec"]["colour"] = "red";
  const Reply strict = Call("POST", std::string(kTfJobs) + "?fieldValidation=Strict", odd);
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(strict.message(),
              HasSubstr("TFJob in version \"v1\" cannot be handled as a TFJob: strict decoding "
                        "error: unknown field \"spec.colour\""));
  json empty = TfJob("c");
  empty["spec"].erase("tfReplicaSpecs");
  EXPECT_EQ(Call("POST", kTfJobs, empty).code, 422);
  const std::string path = std::string(kTfJobs) + "/a";
  const json status = {{"status", {{"conditions", json::array({{{"type", "Running"},
                                                               {"status", "True"}}})}}}};
  EXPECT_EQ(Call("PATCH", path + "/status", status).code, 200);
  const Reply table =
      Call("GET", kTfJobs, nullptr, "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table.body["columnDefinitions"][1]["name"], "State");
  EXPECT_EQ(table.body["rows"][0]["cells"][1], "Running");
  EXPECT_EQ(Call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions").body["items"]
                .size(),
            2u);
  EXPECT_EQ(Call("GET", path + "/scale").code, 404);
}

class TemplateApiTest : public ApiFixture {
 protected:
  static json WithTemplateField(json job, const std::string& field, const json& value) {
    job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"][field] = value;
    return job;
  }
  static std::string Level(const char* path, const char* level) {
    return std::string(path) + "?fieldValidation=" + level;
  }
};

// `nodeSelecter` in a template was taken without a word.
TEST_F(TemplateApiTest, AnUnknownFieldOfATemplateIsRefusedWarnedAboutOrKept) {
  const json odd = WithTemplateField(TfJob("a"), "nodeSelecter", {{"gpu", "true"}});
  const Reply strict = Call("POST", Level(kTfJobs, "Strict"), odd);
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(strict.message(),
              HasSubstr("strict decoding error: unknown field \"spec.tfReplicaSpecs.Worker."
                        "template.spec.nodeSelecter\" (did you mean \"nodeSelector\"?)"));
  const Reply warned = Call("POST", Level(kTfJobs, "Warn"), odd);
  EXPECT_EQ(warned.code, 201) << warned.body;
  ASSERT_EQ(warned.headers.size(), 1u);
  EXPECT_THAT(warned.headers[0].second, HasSubstr("nodeSelecter"));
  const Reply ignored =
      Call("POST", Level(kTfJobs, "Ignore"), WithTemplateField(TfJob("b"), "nodeSelecter", 1));
  EXPECT_EQ(ignored.code, 201) << ignored.body;
  EXPECT_EQ(ignored.headers.size(), 0u);
}

TEST_F(TemplateApiTest, AValueThatNoPodCanHaveIsRefusedAtEveryLevel) {
  json odd = TfJob("a");
  json& container = odd["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0];
  container["imagePullPolicy"] = "Allways";
  container["env"] = json::parse(R"([{"name":"LR","value":0.1}])");
  for (const char* level : {"Strict", "Warn", "Ignore"}) {
    const Reply reply = Call("POST", Level(kTfJobs, level), odd);
    EXPECT_EQ(reply.code, 422) << level;
    EXPECT_THAT(reply.message(), HasSubstr("spec.containers[0].imagePullPolicy: Unsupported value: "
                                           "\"Allways\": supported values: \"Always\""));
    EXPECT_THAT(reply.message(), HasSubstr("env[0].value: Invalid value: \"number\""));
  }
}

// In two rounds: what was of a wrong type was told only when no field was unknown.
TEST_F(TemplateApiTest, WhatIsWrongIsToldInOneRound) {
  json odd = Job("mnist");
  odd["spec"]["trainer"]["maxStep"] = 5;
  odd["spec"]["trainer"]["batchSize"] = "many";
  odd["spec"]["roles"]["worker"]["template"]["spec"]["dnsPolicy"] = "Cluster";
  const Reply reply = Call("POST", Level(kJobs, "Strict"), odd);
  EXPECT_EQ(reply.code, 400);
  for (const char* words : {"unknown field \"spec.trainer.maxStep\" (did you mean \"maxSteps\"?)",
                            "spec.trainer.batchSize: Invalid value: \"string\"",
                            "template.spec.dnsPolicy: Unsupported value: \"Cluster\""}) {
    EXPECT_THAT(reply.message(), HasSubstr(words));
  }
}

// What was let in earlier is nobody's fault who changes something else.
TEST_F(TemplateApiTest, AStoredTemplateIsHeldAgainstNoneButThoseWhoChangeIt) {
  json stored = WithTemplateField(TfJob("a"), "restartPolicy", "Allways");
  stored["metadata"]["uid"] = "u";
  stored["metadata"]["namespace"] = "default";
  ASSERT_TRUE(store_->Commit({.key = {"tfjobs.kubeflow.org", "default", "a"},
                              .render = [&](uint64_t) { return stored.dump(); }})
                  .ok());
  const std::string path = std::string(kTfJobs) + "/a";
  const json label = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  EXPECT_EQ(Call("PATCH", Level(path.c_str(), "Strict"), label).code, 200);
  const json policy = {{"spec", {{"runPolicy", {{"backoffLimit", 3}}}}}};
  const Reply other = Call("PATCH", Level(path.c_str(), "Strict"), policy);
  EXPECT_EQ(other.code, 200) << other.body;
  EXPECT_EQ(Call("PATCH", path + "/status", {{"status", {{"state", "Running"}}}}).code, 200);
  json changed = Call("GET", path).body;
  changed = WithTemplateField(changed, "dnsPolicy", "Cluster");
  EXPECT_EQ(Call("PUT", Level(path.c_str(), "Strict"), changed).code, 422);
}

TEST_F(TemplateApiTest, UnknownFieldsOfAPodAreRefusedOrDropped) {
  const json pod = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},
      "spec":{"nodeSelecter":{},"containers":[{"name":"c","image":"i","comand":["x"]}]}})");
  const Reply strict = Call("POST", Level(kPods, "Strict"), pod);
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(strict.message(),
            "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
            "field \"spec.containers[0].comand\" (did you mean \"command\"?), unknown field "
            "\"spec.nodeSelecter\" (did you mean \"nodeSelector\"?)");
  const Reply warned = Call("POST", kPods, pod);
  EXPECT_EQ(warned.code, 201) << warned.body;
  EXPECT_EQ(warned.headers.size(), 2u);
  EXPECT_FALSE(warned.body["spec"].contains("nodeSelecter"));
  EXPECT_FALSE(warned.body["spec"]["containers"][0].contains("comand"));
  const std::string path = std::string(kPods) + "/a";
  const Reply patched = Call("PATCH", Level(path.c_str(), "Strict"),
                             {{"spec", {{"tolerance", json::array()}}}});
  EXPECT_EQ(patched.code, 400) << patched.body;
}

// A list where a map belongs, and a number for a text: "the object could not be read", and which
// field was not said.
TEST_F(TemplateApiTest, AFieldOfAPodOfTheWrongTypeIsToldWithItsPathAtEveryLevel) {
  const json pod = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},
      "spec":{"nodeSelector":["gpu"],"containers":[{"name":"c","image":"i",
      "env":[{"name":"A","value":1}],"resources":{"limits":{"memory":"1 GB"}}}]}})");
  for (const char* level : {"Strict", "Warn", "Ignore"}) {
    const Reply reply = Call("POST", Level(kPods, level), pod);
    EXPECT_EQ(reply.code, 400) << level;
    EXPECT_THAT(reply.message(), HasSubstr("cannot unmarshal array into Go struct field "
                                           "spec.nodeSelector of type map[string]string"));
    EXPECT_THAT(reply.message(), HasSubstr("spec.containers[0].env[0].value of type string"));
    EXPECT_THAT(reply.message(), HasSubstr("spec.containers[0].resources.limits.memory: \"1 GB\""));
  }
}

}  // namespace
}  // namespace taas::localkube
