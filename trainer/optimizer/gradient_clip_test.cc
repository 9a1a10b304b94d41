#include "trainer/optimizer/gradient_clip.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

struct Gradients {
  std::vector<float> first, second;

  // After `json` was applied to both.
  Gradients& Clip(const char* json) {
    const auto clip = GradientClip::Parse(json);
    EXPECT_THAT(clip, IsOk());
    const std::span<float> spans[] = {first, {}, second};
    clip->Apply(spans);
    return *this;
  }
};

TEST(GradientClipTest, NothingSaidChangesNothing) {
  EXPECT_FALSE(GradientClip::Parse("")->clips());
  Gradients gradients{{3, -1e9f}, {0}};
  EXPECT_THAT(gradients.Clip("").first, ElementsAre(3, -1e9f));
}

TEST(GradientClipTest, ValueBoundsEachElement) {
  Gradients gradients{{3, -0.5f, -7}, {0.75f, 0.25f}};
  gradients.Clip(R"({"value":0.5})");
  EXPECT_THAT(gradients.first, ElementsAre(0.5f, -0.5f, -0.5f));
  EXPECT_THAT(gradients.second, ElementsAre(0.5f, 0.25f));
}

TEST(GradientClipTest, GlobalNormIsOfAllVariablesTogether) {
  Gradients gradients{{3, 0}, {-4}};
  gradients.Clip(R"({"globalNorm":1})");
  EXPECT_THAT(gradients.first, ElementsAre(FloatEq(0.6f), 0));
  EXPECT_THAT(gradients.second, ElementsAre(FloatEq(-0.8f)));
}

TEST(GradientClipTest, GradientsBelowTheNormKeepTheirBits) {
  Gradients gradients{{0.3f, 0.1f}, {-0.7f}};
  const Gradients before = gradients;
  gradients.Clip(R"({"globalNorm":5})");
  EXPECT_EQ(gradients.first, before.first);
  EXPECT_EQ(gradients.second, before.second);
}

TEST(GradientClipTest, WhatIsNotFiniteIsSeenAfterwards) {
  Gradients of_value{{std::nanf("")}, {1}};
  EXPECT_TRUE(std::isnan(of_value.Clip(R"({"value":1})").first[0]));
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    Gradients of_norm{{bad}, {1}};
    EXPECT_TRUE(std::isnan(of_norm.Clip(R"({"globalNorm":1})").second[0])) << bad;
  }
}

TEST(GradientClipTest, RefusalsNameTheField) {
  for (const char* json : {"5", "{}", R"({"value":1,"globalNorm":1})", R"({"norm":1})"}) {
    EXPECT_THAT(GradientClip::Parse(json),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("optimizer.clip: must be")))
        << json;
  }
  EXPECT_THAT(GradientClip::Parse(R"({"value":0})"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("optimizer.clip.value: must be a number above 0")));
  EXPECT_THAT(GradientClip::Parse(R"({"globalNorm":"1"})"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("optimizer.clip.globalNorm: must be")));
}

}  // namespace
}  // namespace taas
