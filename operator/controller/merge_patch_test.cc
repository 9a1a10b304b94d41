#include "operator/controller/merge_patch.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

struct Case {
  const char* name;
  const char* before;
  const char* after;
  const char* want;
};
class StatusPatchTest : public testing::TestWithParam<Case> {};

TEST_P(StatusPatchTest, SaysAllThatIsAndWhatIsNoMore) {
  const Case& c = GetParam();
  const json patch = json::parse(StatusPatch(c.before, c.after, "7"))["status"];
  EXPECT_EQ(patch, json::parse(c.want));
  json applied = json::parse(c.before);
  applied.merge_patch(patch);
  EXPECT_EQ(applied, json::parse(c.after));
}

INSTANTIATE_TEST_SUITE_P(
    Table, StatusPatchTest,
    testing::Values(Case{"Equal", R"({"a":1})", R"({"a":1})", R"({"a":1})"},
                    Case{"Changed", R"({"a":1,"b":2})", R"({"a":1,"b":3})", R"({"a":1,"b":3})"},
                    Case{"Gone", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1,"b":null})"},
                    Case{"Nested", R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1}})",
                         R"({"a":{"x":1,"y":null}})"},
                    Case{"ListsAreReplaced", R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
                    Case{"FromNothing", "{}", R"({"a":{"b":1}})", R"({"a":{"b":1}})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(StatusPatchVersionTest, IsTheOneThatThePatchWasMadeFrom) {
  EXPECT_EQ(json::parse(StatusPatch("{}", R"({"state":"Running"})", "7")),
            json::parse(R"({"metadata":{"resourceVersion":"7"},"status":{"state":"Running"}})"));
}

TEST(MergePatchTest, OfAPodGroupOnlyWhatTheOperatorWroteChanges) {
  const json patch = json::parse(PodGroupPatch(
      R"({"minMember":4,"minResources":{"cpu":"4","nvidia.com/gpu":"4"}})",
      R"({"minMember":3,"minResources":{"cpu":"3"}})", "uid-1", "17"));
  EXPECT_EQ(patch["spec"],
            json::parse(R"({"minMember":3,"minResources":{"cpu":"3","nvidia.com/gpu":null}})"));
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "17");
  EXPECT_EQ(patch["metadata"]["uid"], "uid-1");
  EXPECT_EQ(patch["metadata"]["annotations"]["taas.dev/pod-group-spec"],
            R"({"minMember":3,"minResources":{"cpu":"3"}})");
}

}  // namespace
}  // namespace taas
