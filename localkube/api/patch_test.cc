#include "localkube/api/patch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

struct Case {
  const char* name;
  PatchType type;
  const char* object;
  const char* patch;
  const char* want;
};

class PatchTest : public testing::TestWithParam<Case> {};

TEST_P(PatchTest, GivesWhatKubernetesGives) {
  const auto changed = ApplyPatch(GetParam().type, json::parse(GetParam().object),
                                  json::parse(GetParam().patch));
  ASSERT_THAT(changed, IsOk());
  EXPECT_EQ(*changed, json::parse(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, PatchTest,
    testing::Values(
        Case{"MergeReplacesListsAndRemovesNulls", PatchType::kMerge, R"({"a":[1,2],"b":1})",
             R"({"a":[3],"b":null,"c":{"d":1}})", R"({"a":[3],"c":{"d":1}})"},
        Case{"JsonPatchOperations", PatchType::kJson, R"({"a":[1,2]})",
             R"([{"op":"add","path":"/a/-","value":3},{"op":"test","path":"/a/0","value":1}])",
             R"({"a":[1,2,3]})"},
        Case{"ContainersMergeByName", PatchType::kStrategic,
             R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]})",
             R"({"containers":[{"name":"b","image":"2"},{"name":"c","image":"3"}]})",
             R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},
                 {"name":"c","image":"3"}]})"},
        Case{"AnElementIsDeletedByDirective", PatchType::kStrategic,
             R"({"volumes":[{"name":"a"},{"name":"b"}]})",
             R"({"volumes":[{"$patch":"delete","name":"a"}]})", R"({"volumes":[{"name":"b"}]})"},
        Case{"OrderDirectiveSorts", PatchType::kStrategic,
             R"({"containers":[{"name":"a"},{"name":"b"}]})",
             R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})",
             R"({"containers":[{"name":"b"},{"name":"a"}]})"},
        Case{"PortsOfAServiceMergeByPort", PatchType::kStrategic,
             R"({"ports":[{"port":1,"name":"x"},{"port":2}]})",
             R"({"ports":[{"port":1,"name":"y"}]})",
             R"({"ports":[{"port":1,"name":"y"},{"port":2}]})"},
        Case{"ListsWithoutAKeyAreReplaced", PatchType::kStrategic, R"({"args":["a","b"]})",
             R"({"args":["c"]})", R"({"args":["c"]})"},
        Case{"ReplaceDirectiveReplacesAnObject", PatchType::kStrategic, R"({"a":{"b":1,"c":2}})",
             R"({"a":{"$patch":"replace","d":3}})", R"({"a":{"d":3}})"},
        Case{"RetainKeysDropsTheOthers", PatchType::kStrategic,
             R"({"strategy":{"type":"x","rolling":{}}})",
             R"({"strategy":{"$retainKeys":["type"],"type":"y"}})",
             R"({"strategy":{"type":"y"}})"},
        Case{"PrimitivesAreDeletedFromALists", PatchType::kStrategic,
             R"({"finalizers":["a","b"]})",
             R"({"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]})",
             R"({"finalizers":["b","c"]})"}),
    [](const auto& info) { return std::string(info.param.name); });

struct BadCase {
  const char* name;
  PatchType type;
  const char* patch;
};

class BadPatchTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadPatchTest, IsRefusedAndNothingIsThrown) {
  EXPECT_THAT(ApplyPatch(GetParam().type, json::parse(R"({"a":[1],"volumes":[{"name":"x"}]})"),
                         json::parse(GetParam().patch)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPatchTest,
    testing::Values(BadCase{"MergeWithAList", PatchType::kMerge, "[]"},
                    BadCase{"JsonPatchThatIsAnObject", PatchType::kJson, "{}"},
                    BadCase{"TestThatFails", PatchType::kJson,
                            R"([{"op":"test","path":"/a/0","value":7}])"},
                    BadCase{"PathThatIsNotThere", PatchType::kJson,
                            R"([{"op":"remove","path":"/b"}])"},
                    BadCase{"ElementWithoutItsKey", PatchType::kStrategic,
                            R"({"volumes":[{"emptyDir":{}}]})"},
                    BadCase{"DirectiveOfTheWrongType", PatchType::kStrategic,
                            R"({"$patch":7})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(JsonPatchTest, CopiesThatWouldFillTheMemoryAreRefused) {
  json patch = json::array({{{"op", "add"}, {"path", "/a"}, {"value", std::string(1000, 'x')}}});
  for (int i = 0; i < 40; ++i) {  // 2^40 kB if nobody counted.
    const std::string name = "/b" + std::to_string(i);
    patch.push_back({{"op", "copy"}, {"from", ""}, {"path", name}});
  }
  const auto result = ApplyPatch(PatchType::kJson, json::object(), patch);
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInvalidArgument,
                               testing::HasSubstr("copy more than 3145728 bytes")));
}

// 60,000 variables in a patch of 60,000 took 110 s; eight such patches are all that the server has
// threads for.
TEST(StrategicPatchTest, ListsOfThousandsAreMergedSortedAndDeletedFrom) {
  constexpr int kItems = 60'000;
  json list = json::array(), order = json::array(), names = json::array();
  for (int i = 0; i < kItems; ++i) {
    list.push_back({{"name", "E" + std::to_string(i)}, {"value", "1"}});
    order.push_back({{"name", "E" + std::to_string(kItems - 1 - i)}});
    names.push_back("x/" + std::to_string(i));
  }
  const json object = {{"env", list}, {"finalizers", names}};
  json patch = {{"env", list}, {"$setElementOrder/env", order}, {"finalizers", names},
                {"$deleteFromPrimitiveList/finalizers", names}};
  for (json& item : patch["env"]) item["value"] = "2";
  const auto changed = ApplyPatch(PatchType::kStrategic, object, patch);
  ASSERT_THAT(changed, IsOk());
  ASSERT_EQ((*changed)["env"].size(), static_cast<size_t>(kItems));
  EXPECT_EQ((*changed)["env"][0], (json{{"name", "E59999"}, {"value", "2"}}));
  EXPECT_EQ((*changed)["finalizers"], names);
  for (json& item : patch["env"]) item = {{"name", item["name"]}, {"$patch", "delete"}};
  const auto emptied = ApplyPatch(PatchType::kStrategic, object, patch);
  ASSERT_THAT(emptied, IsOk());
  EXPECT_EQ((*emptied)["env"], json::array());
}

TEST(JsonPatchTest, AnOperationThatFailsLeavesNothingOfThoseBefore) {
  const json object = {{"a", 1}};
  const json patch = json::parse(R"([{"op":"replace","path":"/a","value":2},
                                     {"op":"test","path":"/a","value":3}])");
  EXPECT_FALSE(ApplyPatch(PatchType::kJson, object, patch).ok());
  EXPECT_EQ(*ApplyPatch(PatchType::kJson, object, json::array({patch[0]})), json({{"a", 2}}));
}

}  // namespace
}  // namespace taas::localkube
