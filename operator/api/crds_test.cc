#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// A kube-apiserver's limit for what kubectl apply keeps in an annotation.
constexpr size_t kMaxAnnotationBytes = 262'144;

// Calls `visit` for each schema in the CRD, with its path.
template <typename Visit>
void EachSchema(const Json& schema, const std::string& path, const Visit& visit) {
  visit(schema, path);
  if (schema.contains("properties")) {
    for (const auto& [name, child] : schema["properties"].items()) {
      EachSchema(child, path + "." + name, visit);
    }
  }
  if (schema.contains("items")) EachSchema(schema["items"], path + "[]", visit);
  if (schema.contains("additionalProperties")) {
    EachSchema(schema["additionalProperties"], path + "{}", visit);
  }
}

struct Kind {
  const char* name;
  const std::string& (*json)();
  const CrdSchema& (*schema)();
};

class CrdsTest : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, CrdsTest,
                         testing::Values(Kind{"TrainingJob", TrainingJobCrdJson, TrainingJobSchema},
                                         Kind{"TFJob", TfJobCrdJson, TfJobSchema}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CrdsTest, IsSmallEnoughForKubectlApply) {
  EXPECT_LT(GetParam().json().size(), kMaxAnnotationBytes);
}

// Symptom: `kubectl explain` had no word for every third field.
TEST_P(CrdsTest, EachFieldHasADescription) {
  const Json crd = Json::parse(GetParam().json());
  const Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const auto of_field = [](const Json& schema, const std::string& path) {
    const Json fields = schema.value("properties", Json::object());
    for (const auto& [name, field] : fields.items()) {
      // A server refuses one of the metadata of an object, which it knows itself.
      if (name == "metadata" && path == GetParam().name) continue;
      EXPECT_NE(field.value("description", ""), "") << path << "." << name;
    }
  };
  EachSchema(root, GetParam().name, of_field);
}

TEST_P(CrdsTest, EachFieldOfTheSpecIsBounded) {
  // The cost of a CEL rule is estimated from these bounds; an object without them may be refused as
  // a whole.
  const Json crd = Json::parse(GetParam().json());
  const Json& version = crd["spec"]["versions"][0];
  const Json& spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"];
  EachSchema(spec, "spec", [](const Json& schema, const std::string& path) {
    const std::string type = schema.value("type", "");
    if (type == "string") {
      EXPECT_TRUE(schema.contains("maxLength") || schema.contains("enum") ||
                  schema.value("format", "") == "date-time")
          << path;
    }
    if (type == "array") {
      EXPECT_TRUE(schema.contains("maxItems")) << path;
    }
    if (schema.contains("additionalProperties")) {
      EXPECT_TRUE(schema.contains("maxProperties")) << path;
    }
    if (type == "integer" || type == "number") {
      EXPECT_TRUE(schema.contains("minimum") && schema.contains("maximum")) << path;
    }
  });
}

// A job that could not be planned kept the status of before: a server took none that says so.
TEST(TrainingJobCrdTest, TheStatusMayHaveEachConditionThatTheOperatorWrites) {
  for (const char* type : {"Created", "Scheduled", "Running", "Restarting", "Suspended",
                           "Succeeded", "Failed", "InternalError"}) {
    const Json conditions = Json::array({{{"type", type}, {"status", "True"}}});
    const Json object = {{"status", {{"conditions", conditions}}}};
    for (const FieldError& error : TrainingJobSchema().Validate(object)) {
      EXPECT_EQ(error.path.find("status"), std::string::npos) << type << ": " << error.message;
    }
  }
}

TEST(TrainingJobCrdTest, EachDefaultIsValid) {
  Json object = Json::parse(R"({
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "a"},
    "spec": {"trainer": {"model": {"name": "mlp"}, "data": {"format": "generated"}, "maxSteps": 1,
                         "checkpoint": {"dir": "/a"}},
             "roles": {"chief": {}, "ps": {}, "worker": {}},
             "volumes": [{"name": "a", "mountPath": "/a", "source": {"emptyDir": {}}}]}})");
  TrainingJobSchema().ApplyDefaults(&object);
  EXPECT_EQ(FormatFieldErrors(TrainingJobSchema().Validate(object)), "");
  EXPECT_EQ(object["spec"]["roles"]["ps"]["replicas"], 1);
}

TEST_P(CrdsTest, PrinterColumnsReadFieldsThatExist) {
  const std::vector<std::string> paths = GetParam().schema().FieldPaths();
  const std::set<std::string> known(paths.begin(), paths.end());
  const Json crd = Json::parse(GetParam().json());
  for (const Json& column : crd["spec"]["versions"][0]["additionalPrinterColumns"]) {
    std::string path = column["jsonPath"].get<std::string>().substr(1);
    if (path == "metadata.creationTimestamp") continue;
    // The last of a list, for JSONPath.
    if (const size_t at = path.find("[-1:]"); at != std::string::npos) path.replace(at, 5, "[]");
    EXPECT_THAT(known, testing::Contains(path));
  }
}

// Symptom: "kubectl get tfjobs -o wide" had NAME, STATE and AGE only, and STATE is the newest
// condition: a job whose pods found no node was "Created", and nothing told why.
TEST_P(CrdsTest, AWideTableSaysHowManyAreReadyAndWhyAJobDoesNotRun) {
  const Json crd = Json::parse(GetParam().json());
  std::set<std::string> paths;
  for (const Json& column : crd["spec"]["versions"][0]["additionalPrinterColumns"]) {
    paths.insert(column["jsonPath"].get<std::string>());
  }
  EXPECT_THAT(paths, testing::IsSupersetOf({".status.ready", ".status.message"}));
}

TEST(TfJobCrdTest, TheSpecGetsARunPolicyWithoutWhichOldClientsReadNoJob) {
  Json object = Json::parse(R"({"spec": {"tfReplicaSpecs": {"Worker": {}}}})");
  TfJobSchema().ApplyDefaults(&object);
  EXPECT_EQ(object["spec"]["runPolicy"], Json::parse(R"({"suspend": false})"));
  EXPECT_EQ(object["spec"]["tfReplicaSpecs"]["Worker"],
            Json::parse(R"({"replicas": 1, "restartPolicy": "Never"})"));
}

}  // namespace
}  // namespace taas
