#include "localkube/api/rules/metadata_rules.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

// One change of metadata, tried by every way that there is to make it.
class MetadataTest : public ApiFixture {
 protected:
  static json Map(const json& metadata) {
    json map = {{"metadata", metadata}};
    map["metadata"]["name"] = "a";
    return map;
  }
  std::string Path() const { return std::string(kMaps) + "/a"; }

  // The answers of creation, PUT, and all patches, of a map and of the status of a pod.
  void ExpectEverywhere(const json& metadata, int code, const std::string& words) {
    const auto expect = [&](const char* way, const Reply& reply) {
      EXPECT_EQ(reply.code, code == 200 && way == std::string("POST") ? 201 : code)
          << way << " " << reply.body.dump().substr(0, 500);
      EXPECT_THAT(reply.message(), HasSubstr(words)) << way;
    };
    const Reply made = Call("POST", kMaps, Map(metadata));
    expect("POST", made);
    if (made.code == 201) Call("DELETE", Path());
    ASSERT_EQ(Call("POST", kMaps, Map(json::object())).code, 201);
    expect("PUT", Call("PUT", Path(), Map(metadata)));
    Fresh();
    expect("merge", Call("PATCH", Path(), {{"metadata", metadata}}, kMerge));
    Fresh();
    expect("strategic", Call("PATCH", Path(), {{"metadata", metadata}}, kStrategic));
    Fresh();
    json operations = json::array();
    for (const auto& [field, value] : metadata.items()) {
      operations.push_back({{"op", "add"}, {"path", "/metadata/" + field}, {"value", value}});
    }
    expect("JSON patch", Call("PATCH", Path(), operations, kJsonPatch));
    Call("DELETE", Path());
  }
  void Fresh() {
    Call("DELETE", Path());
    ASSERT_EQ(Call("POST", kMaps, Map(json::object())).code, 201);
  }
};

// An annotation of 300 kB was refused at a creation and taken by a patch: what a real server
// refuses was never seen to be refused here.
TEST_F(MetadataTest, AnnotationsAreBoundedWhicheverWayTheyCome) {
  ExpectEverywhere({{"annotations", {{"x", std::string(300'000, 'a')}}}}, 422,
                   "metadata.annotations: Too long: may not be more than 262144 bytes");
  ExpectEverywhere({{"annotations", {{"x", std::string(262'143, 'a')}}}}, 200, "");
  ExpectEverywhere({{"annotations", {{"x", std::string(262'144, 'a')}}}}, 422, "Too long");
  ExpectEverywhere({{"annotations", {{"a b", "x"}}}}, 422,
                   "metadata.annotations: Invalid value: \"a b\": name part must consist of");
  ExpectEverywhere({{"annotations", {{"Example.COM/Name", "any \n text"}}}}, 200, "");
}

// A label with the key "a b c" or a value of 98 characters was stored.
TEST_F(MetadataTest, LabelsAreNamesWithShortPlainValues) {
  ExpectEverywhere({{"labels", {{"a b c", "x"}}}}, 422,
                   "metadata.labels: Invalid value: \"a b c\": name part must consist of");
  ExpectEverywhere({{"labels", {{"a", std::string(98, 'v')}}}}, 422,
                   "must be no more than 63 characters");
  ExpectEverywhere({{"labels", {{"a/b/c", ""}}}}, 422, "a qualified name must consist of");
  ExpectEverywhere({{"labels", {{"example.com/name", "a.b_c-9"}, {"empty", ""}}}}, 200, "");
}

TEST_F(MetadataTest, FinalizersAreNames) {
  ExpectEverywhere({{"finalizers", {"a b"}}}, 422, "metadata.finalizers: Invalid value: \"a b\"");
  ExpectEverywhere({{"finalizers", {"hold"}}}, 422,
                   "name is neither a standard finalizer name nor is it fully qualified");
  ExpectEverywhere({{"finalizers", {"orphan", "foregroundDeletion"}}}, 422,
                   "finalizer orphan and foregroundDeletion cannot be both set");
  ExpectEverywhere({{"finalizers", json::array({7})}}, 400, "is not a list of strings");
}

TEST_F(MetadataTest, OwnersAreWhole) {
  const json owner = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", "u"}};
  const auto with = [&](const char* field, const json& value) {
    json changed = owner;
    changed[field] = value;
    return json{{"ownerReferences", json::array({changed})}};
  };
  ExpectEverywhere(with("uid", "u"), 200, "");
  ExpectEverywhere(with("name", ""), 422, "metadata.ownerReferences.name: Invalid value: \"\"");
  ExpectEverywhere(with("apiVersion", ""), 422, "version must not be empty");
  ExpectEverywhere(with("controller", "yes"), 400, "controller is not true or false");
  json both = with("controller", true);
  both["ownerReferences"].push_back(both["ownerReferences"][0]);
  both["ownerReferences"][1]["uid"] = "other";
  ExpectEverywhere(both, 422, "Only one reference can have Controller set to true");
}

// An object that was being deleted took new finalizers, and with them a longer life.
TEST_F(MetadataTest, WhatIsBeingDeletedGetsNoNewFinalizers) {
  Call("POST", kMaps, Map({{"finalizers", {"test/hold", "test/other"}}}));
  Call("DELETE", Path());
  const json more = {{"metadata", {{"finalizers", {"test/hold", "test/new"}}}}};
  for (const char* type : {kMerge, kStrategic}) {
    const Reply reply = Call("PATCH", Path(), more, type);
    EXPECT_EQ(reply.code, 422) << type;
    EXPECT_THAT(reply.message(),
                HasSubstr("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                          "object is being deleted, found new finalizers []string{\"test/new\"}"));
  }
  const json fewer = {{"metadata", {{"finalizers", {"test/hold"}}}}};
  EXPECT_EQ(Call("PATCH", Path(), fewer, kMerge).code, 200);
  EXPECT_EQ(Call("PATCH", Path(), {{"metadata", {{"finalizers", nullptr}}}}, kMerge).code, 200);
  EXPECT_EQ(Call("GET", Path()).code, 404);
}

TEST_F(MetadataTest, TheStatusOfAPodIsNoWayAroundIt) {
  Call("POST", kPods, Pod("a"));
  const Reply reply = Call("PATCH", std::string(kPods) + "/a/status",
                           {{"metadata", {{"labels", {{"a b", "x"}}}}}}, kMerge);
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("metadata.labels"));
}

// What an earlier version let in can still be changed elsewhere, and be put right.
TEST_F(MetadataTest, WhatWasStoredBeforeIsNotLookedAtUntilItChanges) {
  json map = Call("POST", kMaps, Map(json::object())).body;
  map["metadata"]["labels"] = {{"a b", "x"}};
  ASSERT_TRUE(store_->Commit({.key = {"configmaps", "default", "a"},
                              .expected_revision = std::stoull(
                                  map["metadata"]["resourceVersion"].get<std::string>()),
                              .render = [&](uint64_t revision) {
                                map["metadata"]["resourceVersion"] = std::to_string(revision);
                                return map.dump();
                              }}).ok());
  EXPECT_EQ(Call("PATCH", Path(), {{"data", {{"k", "v"}}}}, kMerge).code, 200);
  EXPECT_EQ(Call("PATCH", Path(), {{"metadata", {{"labels", {{"c", "d"}}}}}}, kMerge).code, 422);
  EXPECT_EQ(Call("PATCH", Path(), {{"metadata", {{"labels", {{"a b", nullptr}}}}}}, kMerge).code,
            200);
}

// 100,000 labels that are wrong would be an answer of 30 MB.
TEST_F(MetadataTest, OfManyFlawsTheFirstAreNamed) {
  json labels = json::object();
  for (int i = 0; i < 100'000; ++i) labels["a b " + std::to_string(i)] = "x";
  const Reply reply = Call("POST", kMaps, Map({{"labels", labels}}));
  EXPECT_EQ(reply.code, 422);
  EXPECT_EQ(reply.body["details"]["causes"].size(), 100u);
}

}  // namespace
}  // namespace taas::localkube
