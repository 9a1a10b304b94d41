#include "localkube/api/api.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "localkube/api/object_rules.h"
#include "localkube/api/pod_logs.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using nlohmann::json;

class RestTest : public ApiFixture {};

TEST_F(RestTest, ACreatedPodHasWhatTheServerOwns) {
  json sent = Pod("a");
  sent["status"] = {{"phase", "Running"}};
  sent["metadata"]["uid"] = "mine";
  const Reply made = Call("POST", kPods, sent);
  ASSERT_EQ(made.code, 201);
  const json& metadata = made.body["metadata"];
  EXPECT_EQ(metadata["namespace"], "default");
  EXPECT_EQ(metadata["generation"], 1);
  EXPECT_EQ(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(metadata["uid"].get<std::string>().size(), 36u);
  EXPECT_EQ(made.body["status"]["phase"], "Pending");
  EXPECT_EQ(made.body["spec"]["restartPolicy"], "Always");
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a").body, made.body);
}

TEST_F(RestTest, ErrorsReadAsThoseOfAKubeApiserver) {
  Call("POST", kPods, Pod("a"));
  const Reply twice = Call("POST", kPods, Pod("a"));
  EXPECT_EQ(twice.code, 409);
  EXPECT_EQ(twice.reason(), "AlreadyExists");
  EXPECT_EQ(twice.message(), "pods \"a\" already exists");
  const Reply missing = Call("GET", std::string(kJobs) + "/x");
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.message(), "trainingjobs.taas.dev \"x\" not found");
  EXPECT_EQ(missing.body["details"]["group"], "taas.dev");
  EXPECT_EQ(Call("GET", "/api/v1/gadgets").code, 404);
  EXPECT_EQ(Call("GET", "/api/v1/pods?labelSelector=%zz").code, 400);
  EXPECT_EQ(Call("PUT", kPods, Pod("a")).code, 405);
}

TEST_F(RestTest, APodOfAMissingNamespaceIsNotMade) {
  const Reply reply = Call("POST", "/api/v1/namespaces/none/pods", Pod("a"));
  EXPECT_EQ(reply.code, 404);
  EXPECT_EQ(reply.message(), "namespaces \"none\" not found");
}

TEST_F(RestTest, NamesAndContainersAreValidated) {
  EXPECT_EQ(Call("POST", kPods, Pod("Not_A_Name")).code, 422);
  json empty = Pod("a");
  empty["spec"]["containers"] = json::array();
  const Reply reply = Call("POST", kPods, empty);
  EXPECT_EQ(reply.code, 422);
  EXPECT_EQ(reply.message(), "Pod \"a\" is invalid: spec.containers: Required value");
  EXPECT_EQ(reply.body["details"]["causes"][0]["field"], "spec.containers");
}

TEST_F(RestTest, AClaimHasANameThatIsADirectoryInItsNamespace) {
  const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  for (const char* name : {"../../x", "..", "a/b", "a..b", "A", "-a"}) {
    const Reply reply = Call("POST", claims, {{"metadata", {{"name", name}}}});
    EXPECT_EQ(reply.code, 422) << name;
    EXPECT_THAT(reply.message(), HasSubstr("metadata.name"));
  }
  EXPECT_EQ(Call("POST", claims, {{"metadata", {{"name", "data.v1-a"}}}}).code, 201);
}

TEST_F(RestTest, AnnotationsAreKeptAndBounded) {
  json pod = Pod("a");
  pod["metadata"]["annotations"] = {{"note", "x"}, {"other", "y"}};
  EXPECT_EQ(Call("POST", kPods, pod).body["metadata"]["annotations"]["note"], "x");
  pod["metadata"]["name"] = "b";
  pod["metadata"]["annotations"]["note"] = std::string(257 << 10, 'x');
  const Reply reply = Call("POST", kPods, pod);
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("metadata.annotations"));
}

TEST_F(RestTest, GenerateNameMakesDifferentNames) {
  json sent = Pod("");
  sent["metadata"] = {{"generateName", "p-"}};
  const Reply one = Call("POST", kPods, sent);
  const Reply two = Call("POST", kPods, sent);
  ASSERT_EQ(two.code, 201);
  EXPECT_NE(one.body["metadata"]["name"], two.body["metadata"]["name"]);
}

TEST_F(RestTest, AnUpdateOfAnOldRevisionIsAConflict) {
  json pod = Call("POST", kPods, Pod("a")).body;
  const std::string path = std::string(kPods) + "/a";
  pod["metadata"]["labels"] = {{"x", "1"}};
  const Reply first = Call("PUT", path, pod);
  ASSERT_EQ(first.code, 200);
  pod["metadata"]["labels"] = {{"x", "2"}};
  const Reply second = Call("PUT", path, pod);
  EXPECT_EQ(second.code, 409);
  EXPECT_EQ(second.reason(), "Conflict");
  EXPECT_THAT(second.message(), HasSubstr("the object has been modified"));
}

TEST_F(RestTest, AnUpdateThatChangesNothingKeepsItsRevision) {
  const Reply made = Call("POST", kPods, Pod("a"));
  const Reply same = Call("PUT", std::string(kPods) + "/a", made.body);
  EXPECT_EQ(same.revision(), made.revision());
  const Reply patch = Call("PATCH", std::string(kPods) + "/a", json::object());
  EXPECT_EQ(patch.revision(), made.revision());
}

TEST_F(RestTest, StatusAndTheRestAreWrittenApart) {
  json pod = Call("POST", kPods, Pod("a")).body;
  const std::string path = std::string(kPods) + "/a";
  const Reply status = Call("PATCH", path + "/status",
                            {{"status", {{"phase", "Running"}}}, {"spec", {{"nodeName", "x"}}}});
  EXPECT_EQ(status.body["status"]["phase"], "Running");
  EXPECT_FALSE(status.body["spec"].contains("nodeName"));
  const Reply main = Call("PATCH", path, {{"status", {{"phase", "Failed"}}},
                                          {"metadata", {{"labels", {{"x", "1"}}}}}});
  EXPECT_EQ(main.body["status"]["phase"], "Running");
  EXPECT_EQ(main.body["metadata"]["labels"]["x"], "1");
  EXPECT_EQ(main.body["metadata"]["generation"], 1);
}

TEST_F(RestTest, APodsSpecIsFixed) {
  Call("POST", kPods, Pod("a"));
  const Reply reply =
      Call("PATCH", std::string(kPods) + "/a", {{"spec", {{"restartPolicy", "Never"}}}});
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("pod updates may not change fields"));
}

TEST_F(RestTest, APodIsBoundOnce) {
  Call("POST", kPods, Pod("a"));
  const std::string path = std::string(kPods) + "/a/binding";
  const json binding = {{"target", {{"kind", "Node"}, {"name", "local"}}}};
  EXPECT_EQ(Call("POST", path, binding).code, 201);
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a").body["spec"]["nodeName"], "local");
  EXPECT_EQ(Call("POST", path, binding).code, 409);
}

TEST_F(RestTest, ADryRunAnswersAndStoresNothing) {
  EXPECT_EQ(Call("POST", std::string(kPods) + "?dryRun=All", Pod("a")).code, 201);
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a").code, 404);
}

TEST_F(RestTest, AStrategicPatchMergesContainersByName) {
  Call("POST", kPods, Pod("a"));
  const json patch = {{"spec", {{"containers", {{{"name", "trainer"}, {"image", "i:2"}}}}}}};
  const Reply reply = Call("PATCH", std::string(kPods) + "/a", patch,
                           "application/strategic-merge-patch+json");
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.body["spec"]["containers"][0]["image"], "i:2");
  EXPECT_EQ(reply.body["spec"]["containers"].size(), 1u);
}

TEST_F(RestTest, AStatusThatIsNoObjectIsRefused) {
  Call("POST", kPods, Pod("a"));
  const std::string path = std::string(kPods) + "/a";
  for (const json& status : {json(nullptr), json("Running"), json(7), json::array()}) {
    const Reply merged = Call("PATCH", path + "/status", {{"status", status}});
    EXPECT_EQ(merged.code, 422) << status << merged.body;
    EXPECT_THAT(merged.message(), HasSubstr("status: "));
    json whole = Call("GET", path).body;
    whole["status"] = status;
    EXPECT_EQ(Call("PUT", path + "/status", whole).code, 422) << status;
    const json replace = {{{"op", "replace"}, {"path", "/status"}, {"value", status}}};
    const Reply patched = Call("PATCH", path + "/status", replace, "application/json-patch+json");
    EXPECT_EQ(patched.code, 422) << status << patched.body;
  }
  EXPECT_EQ(Call("GET", path).body["status"]["phase"], "Pending");
}

class DeleteTest : public ApiFixture {
 protected:
  void MakeRunning(const std::string& name) {
    Call("POST", kPods, Pod(name));
    Call("POST", std::string(kPods) + "/" + name + "/binding", {{"target", {{"name", "local"}}}});
  }
  const std::string path_ = std::string(kPods) + "/a";
};

TEST_F(DeleteTest, APodThatNoNodeHasIsGoneAtOnce) {
  Call("POST", kPods, Pod("a"));
  EXPECT_EQ(Call("DELETE", path_).code, 200);
  EXPECT_EQ(Call("GET", path_).code, 404);
}

TEST_F(DeleteTest, ARunningPodGetsItsGraceAndGoesWhenTheNodeSaysSo) {
  MakeRunning("a");
  const Reply deleted = Call("DELETE", path_, {{"gracePeriodSeconds", 7}});
  EXPECT_EQ(deleted.body["metadata"]["deletionTimestamp"], "2026-01-01T00:00:07Z");
  EXPECT_EQ(deleted.body["metadata"]["deletionGracePeriodSeconds"], 7);
  const std::string revision = deleted.revision();
  EXPECT_EQ(Call("DELETE", path_, {{"gracePeriodSeconds", 9}}).revision(), revision);
  EXPECT_EQ(Call("DELETE", path_, {{"gracePeriodSeconds", 0}}).code, 200);
  EXPECT_EQ(Call("GET", path_).code, 404);
}

TEST_F(DeleteTest, AGraceLongerThanAnyClockIsCut) {
  Call("POST", kPods, Pod("a"));
  Call("POST", std::string(kPods) + "/a/binding", {{"target", {{"name", "local"}}}});
  const json options = {{"gracePeriodSeconds", uint64_t{18'446'744'073'709'551'615u}}};
  const Reply reply = Call("DELETE", std::string(kPods) + "/a", options);
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.body["metadata"]["deletionGracePeriodSeconds"], kGraceSecondsMax);
}

TEST_F(DeleteTest, AnEvictedPodIsMarkedAsDisruptedAndGetsItsGrace) {
  Call("POST", kPods, Pod("a"));
  Call("POST", std::string(kPods) + "/a/binding", {{"target", {{"name", "local"}}}});
  const std::string path = std::string(kPods) + "/a";
  const json eviction = {{"apiVersion", "policy/v1"},
                         {"kind", "Eviction"},
                         {"metadata", {{"name", "a"}}},
                         {"deleteOptions", {{"gracePeriodSeconds", 7}}}};
  json other = eviction;
  other["deleteOptions"]["preconditions"]["uid"] = "of another";
  EXPECT_EQ(Call("POST", path + "/eviction", other).code, 409);
  EXPECT_FALSE(Call("GET", path).body["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(Call("POST", path + "/eviction", eviction).code, 201);
  const json pod = Call("GET", path).body;
  EXPECT_EQ(pod["metadata"]["deletionGracePeriodSeconds"], 7);
  const json& condition = pod["status"]["conditions"].back();
  EXPECT_EQ(condition["type"], "DisruptionTarget");
  EXPECT_EQ(condition["reason"], "EvictionByEvictionAPI");
  EXPECT_EQ(Call("POST", std::string(kPods) + "/none/eviction", eviction).code, 404);
  EXPECT_EQ(Call("GET", path + "/eviction").code, 405);
}

TEST_F(DeleteTest, APreconditionThatDoesNotHoldKeepsTheObject) {
  Call("POST", kPods, Pod("a"));
  const Reply uid = Call("DELETE", path_, {{"preconditions", {{"uid", "other"}}}});
  EXPECT_EQ(uid.code, 409);
  EXPECT_THAT(uid.message(), HasSubstr("UID in precondition: other"));
  EXPECT_EQ(Call("DELETE", path_, {{"preconditions", {{"resourceVersion", "1"}}}}).code, 409);
  EXPECT_EQ(Call("GET", path_).code, 200);
}

TEST_F(DeleteTest, AFinalizerHoldsAnObjectUntilItIsTakenAway) {
  json pod = Pod("a");
  pod["metadata"]["finalizers"] = {"x/y"};
  Call("POST", kPods, pod);
  const Reply deleted = Call("DELETE", path_);
  EXPECT_TRUE(deleted.body["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(Call("GET", path_).code, 200);
  EXPECT_EQ(Call("PATCH", path_, {{"metadata", {{"finalizers", nullptr}}}}).code, 200);
  EXPECT_EQ(Call("GET", path_).code, 404);
}

TEST_F(DeleteTest, ACollectionIsDeletedByItsSelector) {
  for (const char* name : {"a", "b"}) {
    json pod = Pod(name);
    pod["metadata"]["labels"] = {{"n", name}};
    Call("POST", kPods, pod);
  }
  EXPECT_EQ(Call("DELETE", std::string(kPods) + "?labelSelector=n%3Da").code, 200);
  EXPECT_EQ(Call("GET", path_).code, 404);
  EXPECT_EQ(Call("GET", std::string(kPods) + "/b").code, 200);
}

// What a pod's specification gets instead of what it should have, and what the server says.
struct BadSpec {
  const char* field;
  const char* spec;  // Merged into the one of a good pod.
  int code;
  const char* words;
};

class BadPodTest : public ApiFixture, public testing::WithParamInterface<BadSpec> {};

TEST_P(BadPodTest, IsRefusedAndNotStored) {
  json pod = Pod("a");
  pod["spec"].merge_patch(json::parse(GetParam().spec));
  const Reply reply = Call("POST", kPods, pod);
  EXPECT_EQ(reply.code, GetParam().code);
  EXPECT_THAT(reply.message(), HasSubstr(GetParam().words));
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a").code, 404);
}

INSTANTIATE_TEST_SUITE_P(
    Types, BadPodTest,
    testing::Values(
        BadSpec{"Grace", R"({"terminationGracePeriodSeconds":"30"})", 400,
                "spec.terminationGracePeriodSeconds"},
        BadSpec{"GraceFraction", R"({"terminationGracePeriodSeconds":1.5})", 400,
                "spec.terminationGracePeriodSeconds"},
        BadSpec{"GraceTooLarge", R"({"terminationGracePeriodSeconds":18446744073709551615})", 400,
                "spec.terminationGracePeriodSeconds"},
        BadSpec{"NodeName", R"({"nodeName":7})", 400, "spec.nodeName"},
        BadSpec{"RestartPolicy", R"({"restartPolicy":[]})", 400, "spec.restartPolicy"},
        BadSpec{"Containers", R"({"containers":{"name":"a"}})", 400, "spec.containers"},
        BadSpec{"Image", R"({"containers":[{"name":"a","image":7}]})", 400,
                "spec.containers[0].image"},
        BadSpec{"Command", R"({"containers":[{"name":"a","image":"i","command":"sh"}]})", 400,
                "spec.containers[0].command"},
        BadSpec{"EnvValue",
                R"({"containers":[{"name":"a","image":"i","env":[{"name":"A","value":1}]}]})", 400,
                "spec.containers[0].env[0].value"},
        BadSpec{"Port", R"({"containers":[{"name":"a","image":"i","ports":[7]}]})", 400,
                "spec.containers[0].ports[0]"},
        BadSpec{"Volumes", R"({"volumes":"data"})", 400, "spec.volumes"},
        BadSpec{"Claim", R"({"volumes":[{"name":"a","persistentVolumeClaim":"c"}]})", 400,
                "spec.volumes[0].persistentVolumeClaim"},
        BadSpec{"NodeSelector", R"({"nodeSelector":{"a":1}})", 400, "spec.nodeSelector"}),
    [](const auto& info) { return std::string(info.param.field); });

INSTANTIATE_TEST_SUITE_P(
    Values, BadPodTest,
    testing::Values(
        BadSpec{"NegativeGrace", R"({"terminationGracePeriodSeconds":-1})", 422,
                "spec.terminationGracePeriodSeconds"},
        BadSpec{"ContainerName", R"({"containers":[{"name":"../x","image":"i"}]})", 422,
                "spec.containers[0].name: Invalid value: \"../x\": a lowercase RFC 1123 label"},
        BadSpec{"ContainerNameWithDot", R"({"containers":[{"name":"a.b","image":"i"}]})", 422,
                "spec.containers[0].name"},
        BadSpec{"ContainerTwice",
                R"({"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}]})", 422,
                "spec.containers[1].name: Duplicate value: \"a\""},
        BadSpec{"InitContainerTwice",
                R"({"initContainers":[{"name":"trainer","image":"i"}]})", 422,
                "spec.initContainers[0].name: Duplicate value: \"trainer\""},
        BadSpec{"VolumeName", R"({"volumes":[{"name":"../x","emptyDir":{}}]})", 422,
                "spec.volumes[0].name: Invalid value: \"../x\""},
        BadSpec{"VolumeTwice",
                R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}]})", 422,
                "spec.volumes[1].name: Duplicate value: \"a\""},
        BadSpec{"ClaimName",
                R"({"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"../../x"}}]})",
                422, "spec.volumes[0].persistentVolumeClaim.claimName: Invalid value: \"../../x\""},
        BadSpec{"ClaimOfDots",
                R"({"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":".."}}]})", 422,
                "spec.volumes[0].persistentVolumeClaim.claimName"},
        BadSpec{"NoClaimName", R"({"volumes":[{"name":"a","persistentVolumeClaim":{}}]})", 422,
                "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
        BadSpec{"SubPath",
                R"({"containers":[{"name":"a","image":"i","volumeMounts":[
                    {"name":"v","mountPath":"/v","subPath":"a/../../b"}]}]})",
                422, "spec.containers[0].volumeMounts[0].subPath: Invalid value: \"a/../../b\""},
        BadSpec{"AbsoluteSubPath",
                R"({"containers":[{"name":"a","image":"i","volumeMounts":[
                    {"name":"v","mountPath":"/v","subPath":"/b"}]}]})",
                422, "must be a relative path"},
        BadSpec{"UnknownRestartPolicy", R"({"restartPolicy":"Sometimes"})", 422,
                "spec.restartPolicy: Unsupported value: \"Sometimes\""}),
    [](const auto& info) { return std::string(info.param.field); });

TEST_F(RestTest, ANullOfAPodIsAsIfItWereNotThere) {
  json pod = Pod("a");
  pod["spec"]["nodeName"] = nullptr;
  pod["spec"]["terminationGracePeriodSeconds"] = nullptr;
  pod["spec"]["containers"][0]["command"] = nullptr;
  const Reply made = Call("POST", kPods, pod);
  ASSERT_EQ(made.code, 201) << made.message();
  EXPECT_EQ(made.body["spec"]["terminationGracePeriodSeconds"], 30);
  EXPECT_FALSE(made.body["spec"].contains("nodeName"));
  EXPECT_EQ(Call("DELETE", std::string(kPods) + "/a").code, 200);
}

// Of an earlier version, which let it in.
TEST_F(DeleteTest, AStoredPodWithFieldsOfTheWrongTypeIsDeleted) {
  MakeRunning("a");
  json pod = Call("GET", path_).body;
  pod["spec"]["terminationGracePeriodSeconds"] = "30";
  pod["status"] = "Running";
  ASSERT_TRUE(store_->Commit({.key = {"pods", "default", "a"},
                              .expected_revision = store_->revision(),
                              .render = [&pod](uint64_t) { return pod.dump(); }}).ok());
  const Reply labelled = Call("PATCH", path_, {{"metadata", {{"labels", {{"x", "1"}}}}}});
  EXPECT_EQ(labelled.code, 200) << labelled.message();
  const Reply deleted = Call("DELETE", path_);
  EXPECT_EQ(deleted.code, 200) << deleted.message();
  EXPECT_EQ(deleted.body["metadata"]["deletionGracePeriodSeconds"], 30);
}

TEST_F(DeleteTest, TheNamespacesOfTheClusterItselfStay) {
  for (const std::string name : {"default", "kube-system", "kube-public"}) {
    const Reply reply = Call("DELETE", "/api/v1/namespaces/" + name);
    EXPECT_EQ(reply.code, 403) << name;
    EXPECT_EQ(reply.reason(), "Forbidden");
    EXPECT_EQ(reply.message(),
              "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
  }
  EXPECT_EQ(Call("GET", "/api/v1/namespaces/default").body["status"]["phase"], "Active");
}

class ReadTest : public ApiFixture {};

TEST_F(ReadTest, PagesContinueAndEnd) {
  for (const char* name : {"a", "b", "c"}) Call("POST", kPods, Pod(name));
  const Reply first = Call("GET", std::string(kPods) + "?limit=2");
  EXPECT_EQ(first.body["items"].size(), 2u);
  EXPECT_EQ(first.body["metadata"]["remainingItemCount"], 1);
  const std::string next = first.body["metadata"]["continue"];
  const Reply second = Call("GET", std::string(kPods) + "?limit=2&continue=" + next);
  EXPECT_EQ(second.body["items"].size(), 1u);
  EXPECT_EQ(second.body["items"][0]["metadata"]["name"], "c");
  EXPECT_FALSE(second.body["metadata"].contains("continue"));
}

TEST_F(ReadTest, AnExactRevisionIsShownAsItWasAndOddOptionsAreRefused) {
  const std::string list = kPods;
  const Reply first = Call("POST", kPods, Pod("first"));
  Call("POST", kPods, Pod("second"));
  const std::string then = "resourceVersion=" + first.revision();
  EXPECT_EQ(Call("GET", list + "?resourceVersionMatch=Exact&" + then).body["items"].size(), 1u);
  EXPECT_EQ(Call("GET", list + "?resourceVersionMatch=NotOlderThan&" + then).body["items"].size(),
            2u);
  for (const char* odd : {"?resourceVersionMatch=Exact", "?resourceVersionMatch=Newest",
                          "?resourceVersionMatch=Exact&resourceVersion=0",
                          "?resourceVersionMatch=Exact&resourceVersion=1&continue=1:a:b"}) {
    EXPECT_EQ(Call("GET", list + odd).code, 422) << odd;
  }
}

TEST_F(ReadTest, SelectorsChoose) {
  Call("POST", kPods, Pod("a"));
  Call("POST", kPods, Pod("b"));
  const Reply list = Call("GET", "/api/v1/pods?fieldSelector=metadata.name%3Db");
  ASSERT_EQ(list.body["items"].size(), 1u);
  EXPECT_EQ(list.body["items"][0]["metadata"]["name"], "b");
  EXPECT_EQ(Call("GET", "/api/v1/pods?fieldSelector=spec.color%3Db").code, 400);
}

TEST_F(ReadTest, ATableIsGivenToWhoAsksForOne) {
  Call("POST", kPods, Pod("a"));
  const Reply table =
      Call("GET", kPods, nullptr, "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table.body["kind"], "Table");
  EXPECT_EQ(table.body["columnDefinitions"][1]["name"], "Ready");
  EXPECT_EQ(table.body["rows"][0]["cells"][0], "a");
}

TEST_F(ReadTest, ARevisionStillToComeIsATimeout) {
  const Reply reply = Call("GET", std::string(kPods) + "?resourceVersion=999999");
  EXPECT_EQ(reply.code, 504);
  EXPECT_EQ(reply.body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

class WatchTest : public ApiFixture {};

TEST_F(WatchTest, ChangesComeInOrderFromTheRevisionOfTheList) {
  const std::string revision = Call("GET", kPods).revision();
  auto watch = Watch(std::string(kPods) + "?watch=1&resourceVersion=" + revision);
  Call("POST", kPods, Pod("a"));
  Call("PATCH", std::string(kPods) + "/a/status", {{"status", {{"phase", "Running"}}}});
  Call("DELETE", std::string(kPods) + "/a");
  EXPECT_THAT(watch->Names(3), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(WatchTest, WhatStopsMatchingIsDeletedForThatWatch) {
  auto watch = Watch(std::string(kPods) + "?watch=1&fieldSelector=status.phase%3DPending");
  Call("POST", kPods, Pod("a"));
  Call("PATCH", std::string(kPods) + "/a/status", {{"status", {{"phase", "Running"}}}});
  Call("PATCH", std::string(kPods) + "/a/status", {{"status", {{"phase", "Pending"}}}});
  EXPECT_THAT(watch->Names(3), ElementsAre("ADDED a", "DELETED a", "ADDED a"));
}

TEST_F(WatchTest, InitialEventsEndWithABookmarkThatSaysSo) {
  Call("POST", kPods, Pod("a"));
  auto watch = Watch(std::string(kPods) +
                     "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                     "&resourceVersionMatch=NotOlderThan");
  const auto events = watch->WaitFor(2);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["type"], "ADDED");
  EXPECT_EQ(events[1]["type"], "BOOKMARK");
  EXPECT_EQ(events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

TEST_F(WatchTest, ABookmarkComesFromTimeToTime) {
  auto watch = Watch(std::string(kPods) + "?watch=1&allowWatchBookmarks=1");
  clock_.Advance(std::chrono::seconds(16));
  watch->stream().Tick();
  EXPECT_EQ(watch->WaitFor(1).at(0)["type"], "BOOKMARK");
}

TEST_F(WatchTest, AWatchEndsWhenItsTimeIsOver) {
  auto watch = Watch(std::string(kPods) + "?watch=1&timeoutSeconds=5");
  watch->stream().Tick();
  EXPECT_FALSE(watch->ended());
  clock_.Advance(std::chrono::seconds(5));
  watch->stream().Tick();
  EXPECT_TRUE(watch->ended());
}

TEST_F(WatchTest, RowsOfATableComeToWhoAsksForThem) {
  auto watch = Watch(std::string(kPods) + "?watch=1", "application/json;as=Table;v=v1");
  Call("POST", kPods, Pod("a"));
  const json event = watch->WaitFor(1).at(0);
  EXPECT_EQ(event["object"]["kind"], "Table");
  EXPECT_EQ(event["object"]["rows"][0]["cells"][0], "a");
}

class CompactedTest : public ApiFixture {
 protected:
  CompactedTest() : ApiFixture(3) {}
};

TEST_F(CompactedTest, AWatchFromACompactedRevisionIsGone) {
  for (const char* name : {"a", "b", "c", "d"}) Call("POST", kPods, Pod(name));
  const Reply reply = Call("GET", std::string(kPods) + "?watch=1&resourceVersion=1");
  EXPECT_EQ(reply.code, 410);
  EXPECT_EQ(reply.reason(), "Expired");
}

class LogTest : public ApiFixture {
 protected:
  std::string Log(const std::string& query) {
    return api_.Handle({.method = "GET", .target = std::string(kPods) + "/a/log" + query}).body;
  }
};

TEST_F(LogTest, LinesOfTheOnlyContainerAreGiven) {
  Call("POST", kPods, Pod("a"));
  logs_.Append("a", "2026-01-01T00:00:00Z stdout F one\n2026-01-01T00:00:01Z stdout F two\n");
  EXPECT_EQ(Log(""), "one\ntwo\n");
  EXPECT_EQ(Log("?tailLines=1&timestamps=true"), "2026-01-01T00:00:01Z two\n");
}

TEST_F(LogTest, AContainerThatHasNotStartedIsNamed) {
  Call("POST", kPods, Pod("a"));
  const Reply reply = Call("GET", std::string(kPods) + "/a/log");
  EXPECT_EQ(reply.code, 400);
  EXPECT_EQ(reply.message(), "container \"trainer\" in pod \"a\" is waiting to start");
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a/log?container=other").code, 400);
}

// A container that ran for the first time "is waiting to start".
TEST_F(LogTest, ARunBeforeTheFirstIsNotFound) {
  Call("POST", kPods, Pod("a"));
  const Reply reply = Call("GET", std::string(kPods) + "/a/log?previous=true");
  EXPECT_EQ(reply.code, 400);
  EXPECT_EQ(reply.message(), "previous terminated container \"trainer\" in pod \"a\" not found");
}

TEST_F(LogTest, AFollowedLogGoesOnUntilTheContainerEnds) {
  Call("POST", kPods, Pod("a"));
  logs_.Append("a", "2026-01-01T00:00:00Z stdout F one\n");
  ApiResponse response =
      api_.Handle({.method = "GET", .target = std::string(kPods) + "/a/log?follow=true"});
  ASSERT_NE(response.stream, nullptr);
  std::string seen;
  bool ended = false;
  response.stream->Start({.data = [&](std::string chunk) { seen += chunk; },
                          .ended = [&] { ended = true; }});
  EXPECT_EQ(seen, "one\n");
  logs_.Append("a", "2026-01-01T00:00:01Z stdout F two\n");
  response.stream->Tick();
  EXPECT_EQ(seen, "one\ntwo\n");
  EXPECT_FALSE(ended);
  logs_.End("a");
  response.stream->Tick();
  EXPECT_TRUE(ended);
}

// Symptom: `kubectl logs -f` of more than 16 MB ended at once, with "unexpected EOF".
TEST_F(LogTest, AFollowedLogComesInPiecesThatWaitForTheClient) {
  Call("POST", kPods, Pod("a"));
  std::string records, want;
  while (want.size() < 5 * kLogPieceBytes) {
    const std::string line = std::string(1'000, 'x') + std::to_string(want.size()) + "\n";
    records += "2026-01-01T00:00:00Z stdout F " + line;
    want += line;
  }
  logs_.Append("a", records);
  for (const char* query : {"?follow=true", "?follow=true&tailLines=100000"}) {
    ApiResponse response =
        api_.Handle({.method = "GET", .target = std::string(kPods) + "/a/log" + query});
    ASSERT_NE(response.stream, nullptr);
    std::string seen;
    size_t longest = 0;
    response.stream->Start({.data =
                                [&](std::string chunk) {
                                  seen += chunk;
                                  longest = std::max(longest, chunk.size());
                                },
                            .ended = [] {}});
    EXPECT_TRUE(response.stream->HasMore()) << query;
    for (int i = 0; i < 100 && response.stream->HasMore(); ++i) response.stream->Tick();
    EXPECT_TRUE(seen == want) << query << ": " << seen.size() << " of " << want.size();
    EXPECT_LE(longest, kLogPieceBytes + kLogReadBytes) << query;
    EXPECT_FALSE(response.stream->HasMore());
  }
}

// What was behind the first 10,000 stayed, and the answer was Success.
TEST_F(DeleteTest, ACollectionIsDeletedWhole) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (int i = 0; i < 10'020; ++i) {
    const std::string label = i < 10 ? "kept" : "dropped";
    Call("POST", maps,
         {{"metadata", {{"name", "m" + std::to_string(i)}, {"labels", {{"is", label}}}}}});
  }
  EXPECT_EQ(Call("DELETE", maps + "?labelSelector=is=dropped").code, 200);
  EXPECT_EQ(Call("GET", maps).body["items"].size(), 10u);
}

// Bodies that are no JSON, of the wrong types, or nested so deep that recursion ends the process.
std::vector<std::string> BadBodies() {
  constexpr int kDeep = 100'000;
  std::string deep_object = R"({"metadata":{"name":"a"},"x":)";
  for (int i = 0; i < kDeep; ++i) deep_object += R"({"x":)";
  deep_object += "1" + std::string(kDeep + 1, '}');
  return {"x", "[]", "7", std::string(kDeep, '['),
          std::string(kDeep, '[') + std::string(kDeep, ']'), deep_object,
          R"({"metadata":7})", R"({"metadata":{"name":7}})",
          R"({"metadata":{"name":"a"},"spec":7})",
          R"({"metadata":{"name":"a"},"spec":{"containers":[7]}})",
          R"({"apiVersion":7,"metadata":{"name":"a"}})",
          R"({"metadata":{"name":"a","ownerReferences":[{}]}})"};
}

class BadBodyTest : public ApiFixture {
 protected:
  int CodeOf(const std::string& method, const std::string& target, const std::string& body,
             const std::string& content_type = "") {
    return api_.Handle({.method = method,
                        .target = target,
                        .body = body,
                        .content_type = content_type}).code;
  }
};

TEST_F(BadBodyTest, NothingThatIsPostedEndsTheServer) {
  for (const std::string& body : BadBodies()) {
    for (const char* target : {kPods, kJobs, "/api/v1/namespaces"}) {
      const int code = CodeOf("POST", target, body);
      const bool accepted = code == 201 && target == std::string("/api/v1/namespaces");
      EXPECT_TRUE(accepted || (code >= 400 && code < 500)) << target << " " << body.substr(0, 80);
    }
  }
}

TEST_F(BadBodyTest, NoPatchEndsTheServer) {
  const std::string path = std::string(kPods) + "/a";
  Call("POST", kPods, Pod("a"));
  for (const std::string& body : BadBodies()) {
    for (const char* type : {"merge-patch", "json-patch", "strategic-merge-patch"}) {
      const int code = CodeOf("PATCH", path, body, std::string("application/") + type + "+json");
      const bool no_operation = code == 200 && body == "[]";
      EXPECT_TRUE(no_operation || (code >= 400 && code < 500))
          << type << " " << body.substr(0, 80) << " " << code;
    }
  }
  EXPECT_EQ(Call("GET", path).code, 200);
}

TEST_F(BadBodyTest, NoBodyOfADeletionEndsTheServer) {
  for (const std::string& body : BadBodies()) {
    Call("POST", kPods, Pod("a"));
    for (const std::string& target : {std::string(kPods) + "/a", std::string(kPods)}) {
      const int code = CodeOf("DELETE", target, body);
      const bool deep = body.size() > 10'000;
      EXPECT_TRUE(deep ? code == 400 : code == 200 || (code >= 400 && code < 500))
          << target << " " << body.substr(0, 80) << " " << code;
    }
  }
}

}  // namespace
}  // namespace taas::localkube
