#include "localkube/api/rules/json_patch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* want;  // Null: refused.
};

class JsonPatchCaseTest : public testing::TestWithParam<Case> {};

TEST_P(JsonPatchCaseTest, GivesWhatRfc6902Says) {
  const Case& one = GetParam();
  const auto got = ApplyJsonPatch(json::parse(one.object), json::parse(one.patch));
  if (one.want == nullptr) {
    EXPECT_THAT(got, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("operation 0")));
    return;
  }
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got, json::parse(one.want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonPatchCaseTest,
    testing::Values(
        Case{"AddsInTheMiddle", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
             R"({"a":[1,2,3]})"},
        Case{"AddsAtTheEnd", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])",
             R"({"a":[1,2]})"},
        Case{"AddsBehindTheEnd", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])",
             nullptr},
        Case{"AddsToAText", R"({"a":"x"})", R"([{"op":"add","path":"/a/b","value":2}])", nullptr},
        Case{"ReplacesTheWhole", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])",
             R"({"b":2})"},
        Case{"RemovesAnElement", R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/1"}])",
             R"({"a":[1,3]})"},
        Case{"RemovesTheWhole", R"({"a":1})", R"([{"op":"remove","path":""}])", nullptr},
        Case{"ReplacesWhatIsNotThere", R"({})", R"([{"op":"replace","path":"/a","value":1}])",
             nullptr},
        Case{"MovesAMember", R"({"a":{"b":1},"c":{}})",
             R"([{"op":"move","from":"/a/b","path":"/c/d"}])", R"({"a":{},"c":{"d":1}})"},
        Case{"MovesToItself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])",
             R"({"a":1})"},
        Case{"MovesIntoItself", R"({"a":{"b":1}})",
             R"([{"op":"move","from":"/a","path":"/a/b"}])", nullptr},
        Case{"MovesInAList", R"({"a":[1,2,3]})",
             R"([{"op":"move","from":"/a/2","path":"/a/0"}])", R"({"a":[3,1,2]})"},
        Case{"Copies", R"({"a":{"b":[1]}})", R"([{"op":"copy","from":"/a","path":"/a/c"}])",
             R"({"a":{"b":[1],"c":{"b":[1]}}})"},
        Case{"EscapesAreRead", R"({"a/b":{"~":1}})",
             R"([{"op":"test","path":"/a~1b/~0","value":1}])", R"({"a/b":{"~":1}})"},
        Case{"ABadEscape", R"({"~":1})", R"([{"op":"test","path":"/~2","value":1}])", nullptr},
        Case{"AnIndexWithAZero", R"({"a":[1,2]})",
             R"([{"op":"test","path":"/a/01","value":2}])", nullptr},
        Case{"AnEmptyIndex", R"({"a":[1,2]})", R"([{"op":"test","path":"/a/","value":2}])",
             nullptr},
        Case{"APointerWithoutASlash", R"({"a":1})", R"([{"op":"remove","path":"a"}])", nullptr},
        Case{"NoPath", R"({"a":1})", R"([{"op":"remove"}])", nullptr},
        Case{"NoValue", R"({"a":1})", R"([{"op":"add","path":"/b"}])", nullptr},
        Case{"NoSuchOperation", R"({"a":1})", R"([{"op":"drop","path":"/a"}])", nullptr},
        Case{"NoObject", R"({"a":1})", R"(["remove"])", nullptr}),
    [](const auto& info) { return std::string(info.param.name); });

// 600 kB moved 8,000 times took 82 s of one of the server's eight threads.
TEST(JsonPatchTest, ALargeValueIsMovedAsOftenAsAPatchMayWithoutBeingCopied) {
  json object = {{"a", json::array()}, {"other", json::object()}};
  for (int i = 0; i < 60'000; ++i) object["a"].push_back(std::to_string(i));
  json patch = json::array();
  for (size_t i = 0; i < kJsonPatchOperationsMax; i += 2) {
    patch.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/other/b"}});
    patch.push_back({{"op", "move"}, {"from", "/other/b"}, {"path", "/a"}});
  }
  const auto got = ApplyJsonPatch(object, patch);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got, object);
}

TEST(JsonPatchTest, ElementsThatChangeTheirIndexAreCounted) {
  json object = {{"a", json::array()}};
  for (int i = 0; i < 60'000; ++i) object["a"].push_back(i);
  json patch = json::array();
  for (size_t i = 0; i < 1'000; ++i) {
    patch.push_back({{"op", "move"}, {"from", "/a/0"}, {"path", "/a/-"}});
  }
  EXPECT_THAT(ApplyJsonPatch(object, patch),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("send the whole list")));
}

// Copied into itself at its deepest place a small value was nested some 100,000 levels deep, and
// writing it took more stack than a thread has.
TEST(JsonPatchTest, WhatNestsItselfIsRefused) {
  json object = json::object();
  std::string path;
  json patch = json::array();
  for (int i = 0; i < 14; ++i) {
    std::string deeper;
    for (int k = 0; k < 1 << i; ++k) deeper += "/a";
    patch.push_back({{"op", "copy"}, {"from", ""}, {"path", deeper}});
  }
  EXPECT_THAT(ApplyJsonPatch(object, patch),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("levels")));
}

// Its depth is estimated while values move; an estimate that grew must not refuse what is flat.
TEST(JsonPatchTest, MovesToAndFroDoNotCountAsDepth) {
  json patch = json::array();
  for (int i = 0; i < 2'000; ++i) {
    patch.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b/c"}});
    patch.push_back({{"op", "move"}, {"from", "/b/c"}, {"path", "/a"}});
  }
  const json object = {{"a", {1, {2, {3}}}}, {"b", json::object()}};
  const auto got = ApplyJsonPatch(object, patch);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got, object);
}

}  // namespace
}  // namespace taas::localkube
