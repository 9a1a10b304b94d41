// What a real API server sends in protobuf says to the operator what its JSON says.

#include <string>
#include <vector>

#include "e2e/control_plane.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/api_error.h"
#include "operator/kube/list_page.h"
#include "operator/kube/object_fields.h"
#include "operator/kube/watch_reader.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";

// Each field that the operator reads has a value.
constexpr char kPod[] = R"({"metadata": {"name": "a", "finalizers": ["kueue.x-k8s.io/managed"],
  "labels": {"taas.dev/job-name": "mnist", "taas.dev/role": "worker", "taas.dev/index": "1",
             "taas.dev/attempt": "2", "taas.dev/pod-number": "3", "other": "x"},
  "annotations": {"taas.dev/bootstrap": "10.0.0.1:2222", "taas.dev/template": "ff",
    "taas.dev/epoch": "4", "taas.dev/requests": "{\"cpu\":\"2\"}",
                  "kueue.x-k8s.io/retriable-in-group": "false", "taas.dev/pod-group-spec": "{}"},
  "ownerReferences": [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "u0"},
    {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "name": "mnist", "uid": "u1",
     "controller": true}]},
 "spec": {"nodeName": "node-0", "restartPolicy": "OnFailure", "initContainers": [
    {"name": "fetch", "image": "f:1"},
    {"name": "proxy", "image": "p:1", "restartPolicy": "Always"}], "containers": [
    {"name": "sidecar", "image": "s:1"}, {"name": "trainer", "image": "t:1"}]}})";
constexpr char kStatus[] = R"({"status": {"phase": "Failed", "reason": "Evicted",
  "message": "Speicher reicht nicht: 3 GiB – 2 GiB", "podIP": "10.0.0.7", "conditions": [
    {"type": "Ready", "status": "False", "reason": "PodFailed"},
    {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet",
     "message": "evicted"}],
  "initContainerStatuses": [
    {"name": "fetch", "image": "f:1", "imageID": "", "ready": true, "restartCount": 2,
     "state": {"terminated": {"exitCode": 0, "reason": "Completed",
       "startedAt": "2026-11-21T05:54:50Z", "finishedAt": "2026-11-21T05:54:55Z"}},
     "lastState": {"terminated": {"exitCode": 22, "reason": "Error", "message": "no host"}}},
    {"name": "proxy", "image": "p:1", "imageID": "", "ready": false, "restartCount": 0,
     "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no p:1"}}}],
  "containerStatuses": [
    {"name": "sidecar", "image": "s:1", "imageID": "", "ready": false, "restartCount": 0,
     "state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}},
    {"name": "trainer", "image": "t:1", "imageID": "", "ready": false, "restartCount": 4,
     "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "{}",
       "startedAt": "2026-11-21T05:55:00Z", "finishedAt": "2026-11-21T05:56:00Z"}},
     "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "no data"}}},
    {"name": "logger", "image": "l:1", "imageID": "", "ready": true, "restartCount": 1,
     "state": {"running": {"startedAt": "2026-11-21T05:57:00Z"}},
     "lastState": {"terminated": {"exitCode": 0}}}]}})";

class ProtobufTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plane = ControlPlane::Start(testing::TempDir() + "/plane");
    ASSERT_THAT(plane, IsOk());
    plane_ = plane->release();
  }
  static void TearDownTestSuite() { delete plane_; }

  static int Call(const std::string& method, const std::string& path, const std::string& body = "",
                  const std::string& type = "application/json") {
    const auto answer = plane_->client().Do(method, path, body, type);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->code : 0;
  }
  static std::string Get(const std::string& path, std::string_view accept) {
    const auto answer = plane_->client().Do("GET", path, "", "", accept);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->body : "";
  }

  static inline ControlPlane* plane_ = nullptr;
};

TEST_F(ProtobufTest, ThePodSaysTheSameInBothForms) {
  ASSERT_EQ(Call("POST", kPods, kPod), 201);
  const std::string path = std::string(kPods) + "/a";
  ASSERT_EQ(Call("PATCH", path + "/status", kStatus, "application/merge-patch+json"), 200);
  // Its finalizer keeps it, with a time of deletion.
  ASSERT_EQ(Call("DELETE", path + "?gracePeriodSeconds=9"), 200);

  const std::string text = Get(path, "application/json");
  const std::string bytes = Get(path, kProtobufOrJson);
  ASSERT_TRUE(IsKubeProtobuf(bytes));
  ASSERT_FALSE(IsKubeProtobuf(text));
  const auto of_json = ReadObjectFields(text);
  const auto of_protobuf = ReadObjectFields(bytes);
  ASSERT_THAT(of_json, IsOk());
  ASSERT_THAT(of_protobuf, IsOk());
  EXPECT_EQ(*of_protobuf, *of_json);
  // And it is all there.
  EXPECT_EQ(of_protobuf->meta.name, "a");
  EXPECT_TRUE(of_protobuf->meta.deletion_time.has_value());
  EXPECT_TRUE(of_protobuf->held_by_kueue);
  EXPECT_EQ(of_protobuf->epoch, "4");
  ASSERT_THAT(of_protobuf->statuses, SizeIs(3));
  EXPECT_EQ(of_protobuf->statuses[1].last_termination_message, "no data");
  EXPECT_TRUE(of_protobuf->statuses[2].started.has_value());
  ASSERT_THAT(of_protobuf->init_containers, SizeIs(2));
  EXPECT_EQ(of_protobuf->init_containers[1].restart_policy, "Always");
  ASSERT_THAT(of_protobuf->init_statuses, SizeIs(2));
  EXPECT_EQ(of_protobuf->init_statuses[0].exit_code, 0);
  EXPECT_EQ(of_protobuf->init_statuses[0].last_termination_message, "no host");
  EXPECT_EQ(of_protobuf->init_statuses[1].waiting_message, "no p:1");

  const auto metadata = ReadObjectMetadata(bytes);
  ASSERT_THAT(metadata, IsOk());
  EXPECT_EQ(metadata->meta, of_json->meta);
  EXPECT_EQ(metadata->owners, of_json->owners);

  std::vector<ObjectFields> listed;
  const auto page = ReadListPage(Get(kPods, kProtobufOrJson), [&](std::string_view item) {
    const auto fields = ReadObjectFields(item);
    if (fields.ok()) listed.push_back(*fields);
    return fields.status();
  });
  ASSERT_THAT(page, IsOk());
  EXPECT_FALSE(page->resource_version.empty());
  EXPECT_THAT(page->continue_token, IsEmpty());
  EXPECT_THAT(listed, ElementsAre(*of_json));

  // All that has happened to it, as a watch tells it until the server ends it.
  const std::string watch = std::string(kPods) + "?watch=1&timeoutSeconds=1&resourceVersion=0";
  std::vector<ObjectFields> watched;
  WatchReader reader;
  const absl::Status read =
      reader.Add(Get(watch, kProtobufOrJson), [&](const WatchEvent& event) -> absl::Status {
        EXPECT_EQ(event.type, WatchType::kAdded);
        const auto fields = ReadObjectFields(event.object);
        if (fields.ok()) watched.push_back(*fields);
        return fields.status();
      });
  EXPECT_THAT(read, IsOk());
  EXPECT_THAT(watched, ElementsAre(*of_json));
}

TEST_F(ProtobufTest, ARefusalSaysTheSameInBothForms) {
  const std::string path = std::string(kPods) + "/missing";
  const std::string bytes = Get(path, kProtobufOrJson);
  ASSERT_TRUE(IsKubeProtobuf(bytes));
  const ApiError of_protobuf = ParseApiError(bytes, 500);
  const ApiError of_json = ParseApiError(Get(path, "application/json"), 500);
  EXPECT_EQ(of_protobuf.code, 404);
  EXPECT_EQ(of_protobuf.reason, "NotFound");
  EXPECT_EQ(of_protobuf.message, of_json.message);
}

}  // namespace
}  // namespace taas
