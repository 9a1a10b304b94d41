#include "operator/api/template_check.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/manifest.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> All(JobKind kind, const std::string& yaml) {
  const auto documents = ManifestDocuments(yaml);
  EXPECT_THAT(documents, IsOk());
  std::vector<std::string> out;
  if (!documents.ok()) return out;
  for (const FieldError& error : ValidateAll(kind, documents->at(0))) {
    out.push_back(FormatFieldError(error));
  }
  return out;
}

std::string TfJob(const std::string& worker) {
  return R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: typos}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: Never
      template:
)" + worker;
}

std::string TrainingJob(const std::string& rest) {
  return R"(
apiVersion: taas.dev/v1
kind: TrainingJob
metadata: {name: mnist}
spec:
  trainer:
    model: {name: mlp, hidden: [500]}
    data: {format: idx, train: {images: /d/i.gz, labels: /d/l.gz}}
    maxSteps: 100
    strategy: {type: Local}
)" + rest;
}

// "1 job is valid", and the pod stayed Pending or ran something else.
TEST(TemplateCheckTest, TyposInTheTemplateOfATfJobAreToldWithTheirPaths) {
  EXPECT_THAT(
      All(JobKind::kTfJob, TfJob(R"(
        spec:
          nodeSelecter: {gpu: "true"}
          containers:
            - name: tensorflow
              image: me/tf:1
              comand: [python, train.py]
              imagePullPolicy: Allways
              resources: {limits: {memory: 1 GB}}
)")),
      UnorderedElementsAre(
          "unknown field \"spec.tfReplicaSpecs.Worker.template.spec.nodeSelecter\" (did you mean "
          "\"nodeSelector\"?)",
          "unknown field \"spec.tfReplicaSpecs.Worker.template.spec.containers[0].comand\" (did "
          "you mean \"command\"?)",
          HasSubstr("spec.tfReplicaSpecs.Worker.template.spec.containers[0].imagePullPolicy: "
                    "Unsupported value: \"Allways\""),
          HasSubstr("spec.tfReplicaSpecs.Worker.template.spec.containers[0].resources.limits."
                    "memory: Invalid value: \"1 GB\"")));
}

TEST(TemplateCheckTest, WordsThatYamlReadsAsSomethingElseAreToldWithWhatToWrite) {
  EXPECT_THAT(
      All(JobKind::kTfJob, TfJob(R"(
        spec:
          containers:
            - name: tensorflow
              image: me/tf:1
              env: [{name: NO, value: "x"}, {name: LR, value: 0.1}, {name: DEBUG, value: yes}]
              ports: [{containerPort: "2222"}]
)")),
      ElementsAre(HasSubstr("env[0].name: Invalid value: \"boolean\""),
                  HasSubstr("put quotes around it: \"0.1\""),
                  HasSubstr("env[2].value: Invalid value: \"boolean\""),
                  HasSubstr("leave out the quotes: 2222")));
}

TEST(TemplateCheckTest, MetadataOfATemplateIsLookedAtToo) {
  EXPECT_THAT(All(JobKind::kTfJob, TfJob(R"(
        metadata: {anotations: {a: b}, annotations: {sidecar.istio.io/inject: "false"}}
        spec: {containers: [{name: tensorflow, image: i}]}
)")),
              ElementsAre(HasSubstr("template.metadata.anotations\" (did you mean "
                                    "\"annotations\"?)")));
}

TEST(TemplateCheckTest, TheTrainersContainerOfATrainingJobMayLackWhatTheOperatorAdds) {
  EXPECT_THAT(All(JobKind::kTrainingJob, TrainingJob(R"(
  volumes: [{name: data, mountPath: /d, source: {emptyDir: {}}}]
  roles:
    worker:
      template:
        spec:
          nodeSelector: {disk: ssd}
          containers:
            - name: trainer
              volumeMounts: [{name: data, mountPath: /elsewhere}]
)")),
              IsEmpty());
  EXPECT_THAT(All(JobKind::kTrainingJob, TrainingJob(R"(
  roles:
    worker: {template: {spec: {tolerations: [{key: gpu, operator: Exists}]}}}
)")),
              IsEmpty());
}

TEST(TemplateCheckTest, SourcesOfVariablesAndVolumesOfATrainingJobAreLookedAt) {
  EXPECT_THAT(
      All(JobKind::kTrainingJob, TrainingJob(R"(
  volumes: [{name: data, mountPath: /d, source: {emptyDir: {sizelimit: 1Gi}}}]
  roles:
    worker:
      env: [{name: A, valueFrom: {secretKeyRf: {name: a, key: b}}}]
      envFrom: [{configMapRef: {nme: a}}]
)")),
      ElementsAre(HasSubstr("\"spec.volumes[0].source.emptyDir.sizelimit\" (did you mean "
                            "\"sizeLimit\"?)"),
                  HasSubstr("\"spec.roles.worker.env[0].valueFrom.secretKeyRf\" (did you mean "
                            "\"secretKeyRef\"?)"),
                  HasSubstr("\"spec.roles.worker.envFrom[0].configMapRef.nme\" (did you mean "
                            "\"name\"?)")));
}

// A misspelt field had to be mended before a value of a wrong type was told.
TEST(TemplateCheckTest, UnknownFieldsAndWrongTypesAreToldInOneRound) {
  const std::vector<std::string> said = All(JobKind::kTrainingJob, R"(
apiVersion: taas.dev/v1
kind: TrainingJob
metadata: {name: mnist}
spec:
  trainer:
    model: {name: mlp, hidden: [500]}
    data: {format: idx, train: {images: /d/i.gz, labels: /d/l.gz}}
    maxStep: 100
    batchSize: "many"
    strategy: {type: Local}
  roles:
    wroker: {replicas: 1}
    worker: {template: {spec: {nodeSelecter: {}}}}
)");
  EXPECT_THAT(said, Contains("unknown field \"spec.trainer.maxStep\" (did you mean "
                             "\"maxSteps\"?)"));
  EXPECT_THAT(said, Contains("unknown field \"spec.roles.wroker\" (did you mean \"worker\"?)"));
  EXPECT_THAT(said, Contains(HasSubstr("spec.trainer.batchSize: Invalid value: \"string\"")));
  EXPECT_THAT(said, Contains(HasSubstr("template.spec.nodeSelecter\"")));
}

TEST(TemplateCheckTest, AServerThatSeesTheDefinitionOnlySaysNothingOfATemplate) {
  const auto documents = ManifestDocuments(TfJob(R"(
        spec: {nodeSelecter: {}, containers: [{name: tensorflow, image: i}]}
)"));
  ASSERT_THAT(documents, IsOk());
  EXPECT_THAT(Validate(JobKind::kTfJob, documents->at(0)), IsEmpty());
}

TEST(TemplateCheckTest, JobsOfAnyShapeAreLookedAt) {
  for (const char* text : {"{}", "[]", "1", "null", R"({"spec":1})", R"({"spec":{"roles":[]}})",
                           R"({"spec":{"roles":{"ps":1}}})", R"({"spec":{"volumes":[1,{}]}})",
                           R"({"spec":{"roles":{"ps":{"template":{"spec":[],"metadata":1}}}}})",
                           R"({"spec":{"tfReplicaSpecs":{"PS":{"template":{"spec":7}}}}})",
                           R"({"spec":{"roles":{"ps":{"env":[1],"envFrom":[null]}}}})"}) {
    for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
      CheckTemplates(kind, Json::parse(text));
      ValidateAll(kind, text);
    }
  }
}

TEST(TemplateCheckTest, UnknownFieldsAreTakenOutOfAPod) {
  Json pod = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","lables":{}},
      "spce":{},"spec":{"containers":[{"name":"a","image":"i","comand":["x"]}]}})");
  std::vector<std::string> said;
  for (const FieldError& error : TakeUnknownOfPod(&pod)) said.push_back(FormatFieldError(error));
  EXPECT_THAT(said,
              ElementsAre("unknown field \"spce\" (did you mean \"spec\"?)",
                          "unknown field \"metadata.lables\" (did you mean \"labels\"?)",
                          "unknown field \"spec.containers[0].comand\" (did you mean "
                          "\"command\"?)"));
  EXPECT_EQ(pod, Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},
      "spec":{"containers":[{"name":"a","image":"i"}]}})"));
}

}  // namespace
}  // namespace taas
