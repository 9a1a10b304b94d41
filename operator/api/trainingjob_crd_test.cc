#include "operator/api/trainingjob_crd.h"

#include <set>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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
}

Json SpecSchema() {
  const Json crd = Json::parse(TrainingJobCrdJson());
  return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
}

TEST(TrainingJobCrdTest, IsSmallEnoughForKubectlApply) {
  EXPECT_LT(TrainingJobCrdJson().size(), kMaxAnnotationBytes);
}

TEST(TrainingJobCrdTest, EachFieldOfTheSpecIsBounded) {
  // The cost of a CEL rule is estimated from these bounds; an object without them may be refused as
  // a whole.
  EachSchema(SpecSchema(), "spec", [](const Json& schema, const std::string& path) {
    const std::string type = schema.value("type", "");
    if (type == "string") {
      EXPECT_TRUE(schema.contains("maxLength") || schema.contains("enum")) << path;
    }
    if (type == "array") {
      EXPECT_TRUE(schema.contains("maxItems")) << path;
    }
    if (type == "integer" || type == "number") {
      EXPECT_TRUE(schema.contains("minimum") && schema.contains("maximum")) << path;
    }
  });
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

TEST(TrainingJobCrdTest, PrinterColumnsReadFieldsThatExist) {
  const std::vector<std::string> paths = TrainingJobSchema().FieldPaths();
  const std::set<std::string> known(paths.begin(), paths.end());
  const Json crd = Json::parse(TrainingJobCrdJson());
  for (const Json& column : crd["spec"]["versions"][0]["additionalPrinterColumns"]) {
    const std::string path = column["jsonPath"].get<std::string>().substr(1);
    if (path == "metadata.creationTimestamp") continue;
    EXPECT_THAT(known, testing::Contains(path));
  }
}

}  // namespace
}  // namespace taas
