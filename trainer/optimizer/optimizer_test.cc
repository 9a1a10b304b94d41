#include "trainer/optimizer/optimizer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptimizerTest, GradientDescentStepsAgainstTheGradient) {
  const auto sgd = Optimizer::Parse(R"({"name":"sgd","learningRate":0.5})");
  ASSERT_THAT(sgd, IsOk());
  EXPECT_EQ((*sgd)->name(), "sgd");
  EXPECT_TRUE((*sgd)->slots().empty());
  const std::vector<float> gradient = {2, -4, 0};
  std::vector<float> variable = {1, 1, 1};
  (*sgd)->Apply({.gradient = gradient, .in = variable, .out = variable, .step = 1});
  EXPECT_THAT(variable, ElementsAre(0, 3, 1));
}

TEST(OptimizerTest, OutOfPlaceUpdateLeavesTheOldVersionAlone) {
  const auto sgd = Optimizer::Make("sgd", 1);
  ASSERT_THAT(sgd, IsOk());
  const std::vector<float> gradient = {1, 2};
  const std::vector<float> old_version = {10, 10};
  std::vector<float> new_version(2);
  (*sgd)->Apply({.gradient = gradient, .in = old_version, .out = new_version, .step = 1});
  EXPECT_THAT(old_version, ElementsAre(10, 10));
  EXPECT_THAT(new_version, ElementsAre(9, 8));
}

TEST(OptimizerTest, NothingToUpdateIsFine) {
  const auto sgd = Optimizer::Make("sgd", 1);
  ASSERT_THAT(sgd, IsOk());
  (*sgd)->Apply({});
}

struct RefusedCase {
  const char* name;
  const char* json;
  const char* message;
};

class OptimizerRefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(OptimizerRefusedTest, MessageNamesTheField) {
  EXPECT_THAT(Optimizer::Parse(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, OptimizerRefusedTest,
    testing::Values(
        RefusedCase{"NotJson", "sgd", "optimizer: must be a JSON object, is sgd"},
        RefusedCase{"UnknownName", R"({"name":"sdg","learningRate":1})",
                    "optimizer.name: there is no optimizer \"sdg\"; known: sgd"},
        RefusedCase{"NoName", R"({"learningRate":1})", "optimizer.name"},
        RefusedCase{"NoRate", R"({"name":"sgd"})", "optimizer.learningRate"},
        RefusedCase{"RateOfText", R"({"name":"sgd","learningRate":"1"})", "optimizer.learningRate"},
        RefusedCase{"RateZero", R"({"name":"sgd","learningRate":0})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"RateNegative", R"({"name":"sgd","learningRate":-1})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"UnknownField", R"({"name":"sgd","learningRate":1,"momentum":0.9})",
                    "optimizer.momentum: unknown field"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
