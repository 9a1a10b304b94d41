#include "operator/api/core/pod_spec_check.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/core/every_field.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Said(const std::string& text, PodSpecOptions options = {}) {
  options.path = "spec";
  std::vector<std::string> out;
  for (const FieldError& error : CheckPodSpec(Json::parse(text), options)) {
    out.push_back(FormatFieldError(error));
  }
  return out;
}

// A pod of one container with these fields.
std::string With(const std::string& fields) {
  return R"({"volumes":[{"name":"data","emptyDir":{}}],
             "containers":[{"name":"main","image":"i",)" +
         fields + "}]}";
}

TEST(PodSpecCheckTest, APodWithEveryFieldIsRight) {
  Json spec = EveryField(CoreTypeNamed("PodSpec"));
  spec["initContainers"][0]["name"] = "before";
  for (const char* list : {"containers", "initContainers"}) {
    spec[list][0]["env"][0]["value"] = "";  // Beside valueFrom.
  }
  EXPECT_THAT(CheckPodSpec(spec, {.path = "spec"}), IsEmpty());
}

// A mount of `dta` for the volume `data`: the pod was refused for ever, without a word.
TEST(PodSpecCheckTest, AMountOfAVolumeThatThereIsNotIsToldWithTheNearestName) {
  EXPECT_THAT(Said(With(R"("volumeMounts":[{"name":"dta","mountPath":"/d"}])")),
              ElementsAre("spec.containers[0].volumeMounts[0].name: Not found: \"dta\" "
                          "(did you mean \"data\"?)"));
  EXPECT_THAT(Said(With(R"("volumeMounts":[{"name":"jobs","mountPath":"/d"}])"),
                   {.volumes = {"jobs"}}),
              IsEmpty());
}

TEST(PodSpecCheckTest, WhatStandsTwiceIsToldWhereKubernetesTakesOneOnly) {
  EXPECT_THAT(Said(R"({"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}]})"),
              ElementsAre("spec.containers[1].name: Duplicate value: \"a\""));
  EXPECT_THAT(Said(R"({"containers":[{"name":"a","image":"i"}],
                       "initContainers":[{"name":"a","image":"i"}]})"),
              ElementsAre("spec.initContainers[0].name: Duplicate value: \"a\""));
  EXPECT_THAT(Said(With(R"("volumeMounts":[{"name":"data","mountPath":"/d"},
                                           {"name":"data","mountPath":"/d"}])")),
              ElementsAre(HasSubstr("volumeMounts[1].mountPath: Invalid value: \"/d\": must be")));
  EXPECT_THAT(Said(With(R"("ports":[{"name":"p","containerPort":1},
                                    {"name":"p","containerPort":2}])")),
              ElementsAre("spec.containers[0].ports[1].name: Duplicate value: \"p\""));
  EXPECT_THAT(Said(With(R"("env":[{"name":"A","value":"1"},{"name":"A","value":"2"}])")), IsEmpty())
      << "the last one of several variables is taken";
}

TEST(PodSpecCheckTest, ValuesThatNoServerTakesAreTold) {
  EXPECT_THAT(Said(R"({"containers":[{"name":"a"}]})"),
              ElementsAre("spec.containers[0].image: Required value"));
  EXPECT_THAT(Said(R"({"containers":[{"name":"A_b","image":"i"}]})"),
              ElementsAre(HasSubstr("spec.containers[0].name: Invalid value: \"A_b\": a")));
  EXPECT_THAT(Said(With(R"("ports":[{"containerPort":70000}])")),
              ElementsAre(HasSubstr("must be between 1 and 65535, inclusive")));
  EXPECT_THAT(Said(With(R"("env":[{"name":"A=B"}])")), ElementsAre(HasSubstr("other than '='")));
  EXPECT_THAT(Said(With(R"("env":[{"name":"A","value":"x","valueFrom":{}}])")),
              ElementsAre(HasSubstr("may not be specified when `value` is not empty")));
}

TEST(PodSpecCheckTest, ATemplateThatIsCompletedMayLackWhatIsAdded) {
  const PodSpecOptions completed{.completed = true, .container = "trainer"};
  EXPECT_THAT(Said("{}", completed), IsEmpty());
  EXPECT_THAT(Said(R"({"containers":[{"name":"trainer"}]})", completed), IsEmpty());
  EXPECT_THAT(Said(R"({"containers":[{"name":"sidecar"}]})", completed),
              ElementsAre("spec.containers[0].image: Required value"));
}

// A field of the wrong type ended in an exception's text.
TEST(PodSpecCheckTest, FieldsOfAnyTypeAnywhereAreToldOnce) {
  const Json everything = EveryField(CoreTypeNamed("PodSpec"));
  for (const Json& odd : {Json(1), Json("x"), Json(true), Json::array({1}), Json({{"a", 1}}),
                          Json(nullptr), Json::array({nullptr})}) {
    for (const auto& [name, ignored] : everything.items()) {
      Json spec = everything;
      spec[name] = odd;
      CheckPodSpec(spec, {.path = "spec"});
    }
    for (const auto& [name, ignored] : everything["containers"][0].items()) {
      Json spec = everything;
      spec["containers"][0][name] = odd;
      CheckPodSpec(spec, {.path = "spec"});
    }
    CheckPodSpec(odd, {.path = "spec"});
  }
  EXPECT_THAT(Said(R"({"containers":[{"name":1,"image":"i"}]})"), testing::SizeIs(1));
}

}  // namespace
}  // namespace taas
