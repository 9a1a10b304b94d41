#include "cli/convert_job.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "operator/api/manifest.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ConvertedJob Convert(const std::string& yaml) {
  const auto documents = ManifestDocuments(yaml);
  EXPECT_THAT(documents, IsOk());
  const auto job = ConvertTfJob(documents->front());
  EXPECT_THAT(job, IsOk());
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job->json)), "") << job->json;
  return *job;
}

constexpr char kClassic[] = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: dist-mnist, namespace: team, uid: u, labels: {a: b}, creationTimestamp: null}
spec:
  cleanPodPolicy: All
  runPolicy: {cleanPodPolicy: Running, backoffLimit: 3, activeDeadlineSeconds: 60}
  successPolicy: AllWorkers
  tfReplicaSpecs:
    PS:
      replicas: 2
      template:
        metadata: {creationTimestamp: null}
        spec:
          restartPolicy: OnFailure
          containers: [{name: tensorflow, image: tf, ports: [{name: tfjob-port, containerPort: 3333},
                                                             {name: other, containerPort: 80}]}]
    WORKER:
      replicas: 3
      restartPolicy: ExitCode
      template: {spec: {containers: [{name: tensorflow, image: tf}, {name: sidecar, image: s}]}}
    Master: {template: {spec: {containers: [{name: tensorflow, image: tf}]}}}
    Evaluator: {template: {spec: {containers: [{name: tensorflow, image: tf}]}}}
status: {startTime: now}
)";

TEST(ConvertTfJobTest, RolesPoliciesAndPortKeepTheirMeaning) {
  const Json job = Json::parse(Convert(kClassic).json);
  EXPECT_EQ(job["metadata"], Json::parse(R"({"name":"dist-mnist","namespace":"team",
      "labels":{"a":"b"}})"));
  const Json& spec = job["spec"];
  EXPECT_EQ(spec["cleanPodPolicy"], "Running") << "runPolicy wins over the older place";
  EXPECT_EQ(spec["backoffLimit"], 3);
  EXPECT_EQ(spec["activeDeadlineSeconds"], 60);
  EXPECT_EQ(spec["successPolicy"], "AllWorkers");
  EXPECT_EQ(spec["exitCodes"]["preset"], "AtLeast128");
  EXPECT_EQ(spec["network"], (Json{{"port", 3333}, {"evaluatorInCluster", "All"}}));
  EXPECT_EQ(spec["roles"]["ps"], Json::parse(R"({"replicas":2,"restartPolicy":"Never",
      "template":{"spec":{"containers":[{"name":"trainer","image":"tf",
          "ports":[{"name":"other","containerPort":80}]}]}}})"));
  EXPECT_EQ(spec["roles"]["worker"]["restartPolicy"], "ExitCode");
  EXPECT_EQ(spec["roles"]["worker"]["template"]["spec"]["containers"][1]["name"], "sidecar");
  EXPECT_EQ(spec["roles"]["chief"]["replicas"], 1);
  EXPECT_FALSE(job.contains("status"));
}

TEST(ConvertTfJobTest, WhatChangesIsSaid) {
  const auto notes = Convert(kClassic).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("Master: becomes the chief")));
  EXPECT_THAT(notes, Contains(HasSubstr("PS.template.spec.restartPolicy")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("backoffLimit"))));
}

TEST(ConvertTfJobTest, DefaultsThatDifferAreWrittenOut) {
  const ConvertedJob job = Convert(
      "kind: TFJob\nmetadata: {name: a}\nspec: {enableDynamicWorker: true, tfReplicaSpecs: {Worker: "
      "{template: {spec: {containers: [{name: tensorflow, image: tf}]}}}}}\n");
  const Json spec = Json::parse(job.json)["spec"];
  EXPECT_EQ(spec["cleanPodPolicy"], "None");
  EXPECT_EQ(spec["roles"]["worker"]["restartPolicy"], "Never");
  EXPECT_FALSE(spec.contains("network"));
  EXPECT_THAT(job.notes, Contains(HasSubstr("backoffLimit")));
  EXPECT_THAT(job.notes, Contains(HasSubstr("enableDynamicWorker")));
}

TEST(ConvertTfJobTest, OtherObjectsAreRefused) {
  for (const char* text : {"[]", "{}", "{\"kind\":\"TrainingJob\"}", "not json"}) {
    EXPECT_THAT(ConvertTfJob(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
  // Nonsense below a TFJob is the validator's to refuse; it must not end the program here.
  EXPECT_THAT(ConvertTfJob(R"({"kind":"TFJob","metadata":3,"spec":{"runPolicy":[],
      "tfReplicaSpecs":{"PS":7,"Worker":{"template":{"metadata":1,"spec":{"containers":[1,{}]}}}}}})"),
              IsOk());
}

}  // namespace
}  // namespace taas
