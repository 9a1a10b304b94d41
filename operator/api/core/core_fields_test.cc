#include "operator/api/core/core_fields.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::Contains;
using testing::StartsWith;

TEST(CoreFieldsTest, ATypeHasItsFieldsWithWhatTheyAre) {
  const CoreType& container = CoreTypeNamed("Container");
  ASSERT_NE(container.Find("name"), nullptr);
  EXPECT_TRUE(container.Find("name")->required);
  EXPECT_FALSE(container.Find("image")->required);
  EXPECT_EQ(GoTypeOf(*container.Find("command")), "[]string");
  EXPECT_EQ(container.Find("ports")->type, &CoreTypeNamed("ContainerPort"));
  EXPECT_THAT(container.Find("imagePullPolicy")->words,
              testing::ElementsAre("Always", "IfNotPresent", "Never"));
  EXPECT_EQ(container.Find("comand"), nullptr);
  EXPECT_THAT(container.Names(), Contains("volumeMounts"));
}

TEST(CoreFieldsTest, MapsQuantitiesAndWhatMayBeANumberOrATextAreKnown) {
  EXPECT_EQ(GoTypeOf(*CoreTypeNamed("PodSpec").Find("nodeSelector")), "map[string]string");
  EXPECT_EQ(GoTypeOf(*CoreTypeNamed("ResourceRequirements").Find("limits")),
            "map[string]resource.Quantity");
  EXPECT_EQ(GoTypeOf(*CoreTypeNamed("HTTPGetAction").Find("port")), "intstr.IntOrString");
  EXPECT_EQ(GoTypeOf(*CoreTypeNamed("ContainerPort").Find("containerPort")), "int32");
  EXPECT_EQ(GoTypeOf(*CoreTypeNamed("SecurityContext").Find("privileged")), "bool");
}

TEST(CoreFieldsTest, TheKubernetesIsNamed) { EXPECT_THAT(CoreVersion(), StartsWith("v1.")); }

// A server's warning `unknown field "spec.containers[0].comand"` does not say what there is.
TEST(CoreFieldsTest, APathOfAPodThatEndsInAnUnknownFieldGetsAHint) {
  EXPECT_EQ(HintForPodField("spec.nodeSelecter"), "did you mean \"nodeSelector\"?");
  EXPECT_EQ(HintForPodField("spec.containers[0].comand"), "did you mean \"command\"?");
  EXPECT_EQ(HintForPodField("spec.containers[12].env[3].valu"), "did you mean \"value\"?");
  EXPECT_EQ(HintForPodField("spec.colour"), "");
  EXPECT_EQ(HintForPodField("spec.nodeName"), "");
  EXPECT_EQ(HintForPodField("spec.none.below"), "");
  EXPECT_EQ(HintForPodField(""), "");
}

}  // namespace
}  // namespace taas
