#include "localkube/api/selectors.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

const Kind& Pods() { return *FindResource("pods"); }

const json kPod = {{"metadata", {{"name", "a"}, {"labels", {{"app", "x"}, {"t.dev/r", "ps"}}}}},
                   {"spec", {{"nodeName", "n1"}}},
                   {"status", {{"phase", "Running"}}}};

struct Case {
  const char* name;
  const char* labels;
  const char* fields;
  bool matches;
};

class SelectorTest : public testing::TestWithParam<Case> {};

TEST_P(SelectorTest, MatchesWhatKubernetesMatches) {
  const auto selector = Selector::Parse(GetParam().labels, GetParam().fields, Pods());
  ASSERT_THAT(selector, IsOk());
  EXPECT_EQ(selector->Matches(kPod), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SelectorTest,
    testing::Values(Case{"Empty", "", "", true}, Case{"Equal", "app=x", "", true},
                    Case{"DoubleEqual", "app==x", "", true},
                    Case{"Unequal", "app!=x", "", false},
                    Case{"UnequalOfAbsentLabel", "other!=x", "", true},
                    Case{"Exists", "t.dev/r", "", true}, Case{"NotExists", "!t.dev/r", "", false},
                    Case{"NotExistsOfAbsent", "!other", "", true},
                    Case{"In", "app in (y, x),t.dev/r=ps", "", true},
                    Case{"InWithout", "app in (y,z)", "", false},
                    Case{"NotIn", "app notin (y)", "", true},
                    Case{"AllTermsMustHold", "app=x,other=1", "", false},
                    Case{"Field", "", "metadata.name=a,spec.nodeName=n1", true},
                    Case{"FieldUnequal", "", "status.phase!=Running", false},
                    Case{"AbsentFieldIsEmpty", "", "status.podIP=", true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(SelectorErrorTest, WhatIsNotUnderstoodIsQuoted) {
  EXPECT_THAT(Selector::Parse("a b", "", Pods()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a b")));
  EXPECT_THAT(Selector::Parse("a within (b)", "", Pods()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("within")));
}

TEST(SelectorErrorTest, AFieldThatTheKindDoesNotIndexIsRefused) {
  EXPECT_THAT(Selector::Parse("", "spec.color=red", Pods()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("field label not supported: spec.color")));
}

}  // namespace
}  // namespace taas::localkube
