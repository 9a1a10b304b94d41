#include "dashboard/server/job_writes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

WatchedJob Job(JobKind kind) {
  WatchedJob job;
  job.kind = kind;
  job.meta = {.ns = "ml", .name = "m", .uid = "u"};
  job.roles = {{.role = Role::kWorker, .name = "worker", .key = "WORKER"}};
  return job;
}

TEST(CreateRequestTest, AManifestGoesWhereItsKindAndNamespaceSay) {
  const auto request = CreateRequest(
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: m, namespace: ml}\n", "other",
      false);
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->path,
            "/apis/taas.dev/v1/namespaces/ml/trainingjobs"
            "?fieldValidation=Strict&fieldManager=taas-dashboard");
  EXPECT_EQ(json::parse(request->body)["metadata"]["name"], "m");
  const auto dry = CreateRequest(
      R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "m"}})", "team",
      true);
  ASSERT_THAT(dry, IsOk());
  EXPECT_THAT(dry->path, HasSubstr("/apis/kubeflow.org/v1/namespaces/team/tfjobs?"));
  EXPECT_THAT(dry->path, HasSubstr("dryRun=All"));
}

TEST(CreateRequestTest, OnlyOneJobIsMade) {
  for (const char* manifest :
       {"", "a: [", "kind: Pod\napiVersion: v1\n",
        "kind: TrainingJob\napiVersion: kubeflow.org/v1\n",
        "kind: TFJob\napiVersion: kubeflow.org/v1\n---\nkind: TFJob\napiVersion: kubeflow.org/v1\n",
        "[]", "7"}) {
    EXPECT_THAT(CreateRequest(manifest, "ns", false), StatusIs(kInvalid)) << manifest;
  }
}

// Symptom: a token without any rights had 1 MB of YAML expanded for it, and ended the dashboard.
TEST(NamespacesNamedTest, AreWhatTheTextSaysWithoutReadingIt) {
  EXPECT_THAT(NamespacesNamed("metadata: {name: m, namespace: ml}", ""),
              ElementsAre("default", "ml"));
  EXPECT_THAT(NamespacesNamed("metadata:\n  namespace:   'ml'\n", "team"),
              ElementsAre("team", "ml"));
  EXPECT_THAT(NamespacesNamed("{\"metadata\": {\"namespace\" : \"a-1\"}}", "a-1"),
              ElementsAre("a-1"));
  EXPECT_THAT(NamespacesNamed("namespaces: x\nnamespace: *anchor\nnamespace:\n", ""),
              ElementsAre("default"));
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "namespace: n" + std::to_string(i) + "\n";
  EXPECT_EQ(NamespacesNamed(many, "").size(), 4u);
  EXPECT_THAT(NamespacesNamed("namespace: " + std::string(5'000, 'a'), ""),
              ElementsAre("default"));
}

// Names come from whoever writes the manifest.
TEST(CreateRequestTest, ANamespaceStaysInItsPlaceInThePath) {
  const auto request = CreateRequest(
      R"({"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
          "metadata": {"name": "m", "namespace": "../../kube-system/secrets?x"}})", "", false);
  ASSERT_THAT(request, IsOk());
  EXPECT_THAT(request->path, HasSubstr("/namespaces/..%2F..%2Fkube-system%2Fsecrets%3Fx/"));
}

TEST(ChangeRequestTest, SuspendAndWorkersAreWrittenAsTheKindHasThem) {
  const auto ours = ChangeRequest(Job(JobKind::kTrainingJob), R"({"suspend": true, "workers": 3})");
  ASSERT_THAT(ours, IsOk());
  EXPECT_EQ(json::parse(ours->body),
            R"({"metadata": {"uid": "u"},
                "spec": {"suspend": true, "roles": {"WORKER": {"replicas": 3}}}})"_json);
  EXPECT_EQ(ours->content_type, "application/merge-patch+json");
  const auto theirs = ChangeRequest(Job(JobKind::kTfJob), R"({"suspend": false, "workers": 0})");
  EXPECT_EQ(json::parse(theirs->body),
            R"({"metadata": {"uid": "u"},
                "spec": {"runPolicy": {"suspend": false},
                         "tfReplicaSpecs": {"WORKER": {"replicas": 0}}}})"_json);
}

TEST(ChangeRequestTest, AChangeIsShort) {
  const std::string padding(5'000, ' ');
  EXPECT_THAT(ChangeRequest(Job(JobKind::kTfJob), "{" + padding + "}"), StatusIs(kInvalid));
}

TEST(ChangeRequestTest, NothingElseIsChanged) {
  const WatchedJob job = Job(JobKind::kTrainingJob);
  for (const char* change : {"", "{}", "[]", R"({"suspend": 1})", R"({"workers": -1})",
                             R"({"workers": 1.5})", R"({"spec": {}})", R"({"workers": "3"})"}) {
    EXPECT_THAT(ChangeRequest(job, change), StatusIs(kInvalid)) << change;
  }
  WatchedJob without = job;
  without.roles.clear();
  EXPECT_THAT(ChangeRequest(without, R"({"workers": 1})"), StatusIs(kInvalid));
}

TEST(DeleteRequestTest, TheJobThatWasLookedAtIsDeleted) {
  const HttpRequest request = DeleteRequest(Job(JobKind::kTfJob));
  EXPECT_EQ(request.path, "/apis/kubeflow.org/v1/namespaces/ml/tfjobs/m");
  EXPECT_EQ(json::parse(request.body)["preconditions"]["uid"], "u");
}

TEST(WarningsOfTest, TextsAreTakenOutOfTheHeader) {
  EXPECT_THAT(WarningsOf(""), IsEmpty());
  EXPECT_THAT(WarningsOf(R"(299 - "a \"b\", c",299 - "d")"), ElementsAre("a \"b\", c", "d"));
  EXPECT_THAT(WarningsOf(R"(299 - "unfinished)"), ElementsAre("unfinished"));
  EXPECT_THAT(WarningsOf(R"(299 - "end\)"), ElementsAre("end\\"));
}

TEST(WithoutManagedFieldsTest, TheRestKeepsItsOrder) {
  EXPECT_EQ(WithoutManagedFields(R"({"z":1,"metadata":{"name":"m","managedFields":[1]},"a":2})"),
            R"({"z":1,"metadata":{"name":"m"},"a":2})");
  EXPECT_EQ(WithoutManagedFields("nonsense"), "nonsense");
}

}  // namespace
}  // namespace taas::dashboard
