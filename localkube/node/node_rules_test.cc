#include "localkube/node/node_rules.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

const NodeLabels& Labels() {
  static const NodeLabels kLabels = {{"nvidia.com/gpu.product", "H100"}, {"slots", "8"}};
  return kLabels;
}

bool Allowed(const std::string& spec) {
  return Allows(ReadNodeRules(Json::parse(spec)), "node-1", Labels());
}

struct TermCase {
  const char* name;
  const char* term;
  bool allowed;
};

class NodeTermTest : public testing::TestWithParam<TermCase> {};

TEST_P(NodeTermTest, TheTermDecides) {
  EXPECT_EQ(Allowed(std::string(R"({"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)") +
                    GetParam().term + "]}}}}"),
            GetParam().allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NodeTermTest,
    testing::Values(
        TermCase{"InList", R"({"matchExpressions":[{"key":"nvidia.com/gpu.product",
            "operator":"In","values":["A100","H100"]}]})", true},
        TermCase{"InOtherList", R"({"matchExpressions":[{"key":"nvidia.com/gpu.product",
            "operator":"In","values":["A100"]}]})", false},
        TermCase{"NotInWithoutLabel", R"({"matchExpressions":[{"key":"none",
            "operator":"NotIn","values":["a"]}]})", true},
        TermCase{"Exists", R"({"matchExpressions":[{"key":"slots","operator":"Exists"}]})", true},
        TermCase{"DoesNotExist", R"({"matchExpressions":[{"key":"slots",
            "operator":"DoesNotExist"}]})", false},
        TermCase{"GreaterThan", R"({"matchExpressions":[{"key":"slots","operator":"Gt",
            "values":["7"]}]})", true},
        TermCase{"LessThan", R"({"matchExpressions":[{"key":"slots","operator":"Lt",
            "values":["8"]}]})", false},
        TermCase{"GreaterThanAWord", R"({"matchExpressions":[{"key":"nvidia.com/gpu.product",
            "operator":"Gt","values":["1"]}]})", false},
        TermCase{"NameOfTheNode", R"({"matchFields":[{"key":"metadata.name","operator":"In",
            "values":["node-1"]}]})", true},
        TermCase{"NameOfAnother", R"({"matchFields":[{"key":"metadata.name","operator":"NotIn",
            "values":["node-1"]}]})", false},
        TermCase{"NothingDemanded", "{}", false},
        TermCase{"OneOfTwo", R"({"matchExpressions":[{"key":"slots","operator":"DoesNotExist"}]},
            {"matchExpressions":[{"key":"slots","operator":"Exists"}]})", true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(NodeRulesTest, EachEntryOfANodeSelectorMustHold) {
  EXPECT_TRUE(Allowed("{}"));
  EXPECT_TRUE(Allowed(R"({"nodeSelector":{"slots":"8"}})"));
  EXPECT_FALSE(Allowed(R"({"nodeSelector":{"slots":"8","disk":"ssd"}})"));
}

struct TolerationCase {
  const char* name;
  const char* toleration;
  bool tolerates;  // gpu=old:NoSchedule
};

class TolerationTest : public testing::TestWithParam<TolerationCase> {};

TEST_P(TolerationTest, TheTolerationDecides) {
  const auto tolerations = ReadTolerations(
      Json::parse(std::string(R"({"tolerations":[)") + GetParam().toleration + "]}"));
  EXPECT_EQ(Untolerated({{"gpu", "old", "NoSchedule"}}, tolerations) == nullptr,
            GetParam().tolerates);
}

INSTANTIATE_TEST_SUITE_P(
    Table, TolerationTest,
    testing::Values(
        TolerationCase{"SameValue", R"({"key":"gpu","value":"old"})", true},
        TolerationCase{"OtherValue", R"({"key":"gpu","value":"new"})", false},
        TolerationCase{"KeyExists", R"({"key":"gpu","operator":"Exists"})", true},
        TolerationCase{"Everything", R"({"operator":"Exists"})", true},
        TolerationCase{"OtherEffect", R"({"operator":"Exists","effect":"NoExecute"})", false},
        TolerationCase{"NoKeyMeansNothing", R"({"value":"old"})", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TaintTest, OneThatOnlyDislikesKeepsNobodyAway) {
  const std::vector<Taint> taints = {{"slow", "", "PreferNoSchedule"}};
  EXPECT_EQ(Untolerated(taints, {}), nullptr);
  EXPECT_EQ(Dislikes(taints, {}), 1);
  EXPECT_EQ(SecondsToStay(taints, {}), std::nullopt);
}

TEST(TaintTest, ThePodStaysAsLongAsItsLeastPatientTolerationSays) {
  const std::vector<Taint> lost = {{"node.kubernetes.io/unreachable", "", "NoExecute"}};
  EXPECT_EQ(SecondsToStay(lost, {}), 0);
  const auto tolerations = ReadTolerations(Json::parse(R"({"tolerations":[
      {"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
       "tolerationSeconds":60}]})"));
  EXPECT_EQ(SecondsToStay(lost, tolerations), 60);
  EXPECT_EQ(SecondsToStay(lost, ReadTolerations(Json::parse(
                R"({"tolerations":[{"operator":"Exists"}]})"))),
            std::nullopt);
}

}  // namespace
}  // namespace taas::localkube
