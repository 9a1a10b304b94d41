#include "operator/base/closest_name.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

const std::vector<std::string> kFields = {"command",     "env",      "image",   "imagePullPolicy",
                                          "nodeName",    "ps",       "resources", "maxSteps",
                                          "nodeSelector", "worker",  "ttlSecondsAfterFinished"};

// `unknown field "spec.roles.wroker"`, and no word of which name there is.
TEST(ClosestNameTest, ALetterThatIsWrongMissingAddedOrSwappedIsForgiven) {
  EXPECT_EQ(ClosestName("wroker", kFields), "worker");
  EXPECT_EQ(ClosestName("nodeSelecter", kFields), "nodeSelector");
  EXPECT_EQ(ClosestName("comand", kFields), "command");
  EXPECT_EQ(ClosestName("maxStep", kFields), "maxSteps");
  EXPECT_EQ(ClosestName("resource", kFields), "resources");
  EXPECT_EQ(ClosestName("envs", kFields), "env");
  EXPECT_EQ(ClosestName("psx", kFields), "ps");
}

TEST(ClosestNameTest, TheCaseDoesNotMatter) {
  EXPECT_EQ(ClosestName("imagepullpolicy", kFields), "imagePullPolicy");
  EXPECT_EQ(ClosestName("ImagePullPolicy", kFields), "imagePullPolicy");
}

TEST(ClosestNameTest, TheNearestOfSeveralIsNamedAndOfEquallyNearOnesTheFirst) {
  EXPECT_EQ(ClosestName("aad", {"add", "aax"}), "add");
  EXPECT_EQ(ClosestName("limits", {"limit", "limits"}), "limits");
}

TEST(ClosestNameTest, TheBeginningOfOneNameMeansThatName) {
  EXPECT_EQ(ClosestName("ttlSeconds", kFields), "ttlSecondsAfterFinished");
  EXPECT_EQ(ClosestName("node", kFields), std::nullopt) << "of two";
}

TEST(ClosestNameTest, AnotherWordIsNoMistake) {
  EXPECT_EQ(ClosestName("colour", kFields), std::nullopt);
  EXPECT_EQ(ClosestName("x", {"y"}), std::nullopt);
  EXPECT_EQ(ClosestName("", kFields), std::nullopt);
  EXPECT_EQ(ClosestName("env", {}), std::nullopt);
  EXPECT_EQ(ClosestName(std::string(100'000, 'a'), kFields), std::nullopt);
}

TEST(ClosestNameTest, TheSentenceIsEmptyWhereNoNameIsNear) {
  EXPECT_EQ(DidYouMean("comand", kFields), "did you mean \"command\"?");
  EXPECT_EQ(DidYouMean("colour", kFields), "");
}

}  // namespace
}  // namespace taas
