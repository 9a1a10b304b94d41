#include "cli/operator_scope.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::string Deployment(const std::string& containers) {
  return R"({"kind":"Deployment","spec":{"template":{"spec":{"containers":[)" + containers +
         "]}}}}";
}

// Symptom: a job in a namespace that the operator does not look at had an empty STATE for ever, and
// `taas doctor` said that all is well.
TEST(OperatorScopeTest, ANamespaceThatNoOperatorLooksAtIsNamedWithThoseThatSomeDoes) {
  OperatorScope scope;
  scope.Add(Deployment(
      R"({"name":"operator","args":["--namespaces=team-b,team-a","--kinds=TrainingJob"]})"));
  EXPECT_EQ(scope.WhyNotIn("default"), "the operator works in team-a, team-b, not in default");
  EXPECT_EQ(scope.WhyNotIn("team-a"), "");
  scope.Add(Deployment(R"({"name":"operator","command":["taas-operator","--namespaces","ops"]})"));
  EXPECT_EQ(scope.WhyNotIn("ops"), "");
  EXPECT_EQ(scope.WhyNotIn("default"), "the operator works in ops, team-a, team-b, not in default");
}

TEST(OperatorScopeTest, AnOperatorWithoutTheFlagWorksEverywhere) {
  OperatorScope scope;
  scope.Add(Deployment(R"({"args":["--namespaces=team-a"]})"));
  scope.Add(Deployment(R"({"args":["--namespaces-are-not-this"]},{"name":"sidecar"})"));
  EXPECT_EQ(scope.WhyNotIn("default"), "");
}

TEST(OperatorScopeTest, OfNoOperatorAndOfWhatIsNoDeploymentNothingIsSaid) {
  OperatorScope scope;
  EXPECT_EQ(scope.WhyNotIn("default"), "");
  for (const char* json : {"", "[]", "{}", R"({"spec":{"template":{"spec":{"containers":3}}}})"}) {
    scope.Add(json);
  }
  EXPECT_EQ(scope.WhyNotIn("default"), "");
}

}  // namespace
}  // namespace taas
