#include "operator/api/core/core_check.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/core/core_fields.h"
#include "operator/api/core/every_field.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Said(const char* type, const std::string& text,
                              TypeWords words = TypeWords::kSchema) {
  std::vector<std::string> out;
  for (const FieldError& error :
       CheckCore(CoreTypeNamed(type), Json::parse(text), "spec", words)) {
    out.push_back(FormatFieldError(error));
  }
  return out;
}

TEST(CoreCheckTest, AValueWithEveryFieldIsRight) {
  const CoreType& type = CoreTypeNamed("PodTemplateSpec");
  const Json everything = EveryField(type);
  EXPECT_THAT(CheckCore(type, everything, "", TypeWords::kSchema), IsEmpty());
  EXPECT_THAT(CheckCore(type, everything, "", TypeWords::kDecoder), IsEmpty());
  Json pruned = everything;
  PruneCore(type, &pruned);
  EXPECT_EQ(pruned, everything);
}

// `nodeSelecter` and `comand` in a template were valid to `taas validate`; the job ran anywhere,
// and without its program.
TEST(CoreCheckTest, AFieldThatThereIsNotIsToldWithWhatWasMeant) {
  EXPECT_THAT(
      Said("PodSpec", R"({"nodeSelecter":{"gpu":"true"},
                          "containers":[{"name":"a","comand":["x"],"colour":1}]})"),
      ElementsAre("unknown field \"spec.containers[0].colour\" (Kubernetes " + CoreVersion() +
                      " has no such field here)",
                  "unknown field \"spec.containers[0].comand\" (did you mean \"command\"?)",
                  "unknown field \"spec.nodeSelecter\" (did you mean \"nodeSelector\"?)"));
}

TEST(CoreCheckTest, AFieldThatBelongsElsewhereIsToldWhere) {
  EXPECT_THAT(Said("PodSpec", R"({"command":["x"],"containers":[{"name":"a"}]})"),
              ElementsAre("unknown field \"spec.command\" (it is a field of containers[])"));
  EXPECT_THAT(Said("PodSpec", R"({"containers":[{"name":"a","nodeSelector":{}}]})"),
              ElementsAre("unknown field \"spec.containers[0].nodeSelector\" (it belongs one level "
                          "up)"));
  EXPECT_THAT(Said("Container", R"({"name":"a","limits":{"cpu":1}})"),
              ElementsAre("unknown field \"spec.limits\" (it is a field of resources)"));
}

TEST(CoreCheckTest, AWordThatAFieldDoesNotTakeIsToldWithThoseThatItTakes) {
  EXPECT_THAT(Said("Container", R"({"name":"a","imagePullPolicy":"Allways"})"),
              ElementsAre("spec.imagePullPolicy: Unsupported value: \"Allways\": supported values: "
                          "\"Always\", \"IfNotPresent\", \"Never\" (did you mean \"Always\"?)"));
  EXPECT_THAT(Said("Toleration", R"({"operator":"Exist","effect":"NoSchedule"})"),
              ElementsAre(HasSubstr("spec.operator: Unsupported value: \"Exist\"")));
  EXPECT_THAT(Said("ContainerPort", R"({"containerPort":1,"protocol":"tcp"})"),
              ElementsAre(HasSubstr("did you mean \"TCP\"?")));
  EXPECT_THAT(Said("Toleration", R"({"operator":""})"), IsEmpty()) << "an empty text is none";
}

TEST(CoreCheckTest, AnAmountThatCannotBeReadIsToldWithHowToWriteOne) {
  EXPECT_THAT(Said("ResourceRequirements", R"({"limits":{"memory":"1 GB","cpu":2,
                                               "nvidia.com/gpu":"one"},"requests":{"cpu":0.5}})"),
              ElementsAre(HasSubstr("spec.limits.memory: Invalid value: \"1 GB\": quantities must"),
                          HasSubstr("spec.limits[nvidia.com/gpu]: Invalid value: \"one\"")));
  EXPECT_THAT(Said("ResourceRequirements", R"({"limits":{"memory":"1 GB"}})"),
              ElementsAre(HasSubstr("such as 2, 500m, 1G")));
  EXPECT_THAT(Said("ResourceRequirements", R"({"limits":{"memory":true}})"),
              ElementsAre(HasSubstr("must be of type number,string: \"boolean\"")));
}

// env value 0.1: an exception's text without a field.
TEST(CoreCheckTest, AValueOfAnotherTypeIsToldWithWhatToWrite) {
  EXPECT_THAT(Said("EnvVar", R"({"name":"LR","value":0.1})"),
              ElementsAre("spec.value: Invalid value: \"number\": spec.value in body must be of "
                          "type string: \"number\" (put quotes around it: \"0.1\")"));
  EXPECT_THAT(Said("EnvVar", R"({"name":false,"value":"x"})"),
              ElementsAre(HasSubstr("YAML reads yes, no, on, off")));
  EXPECT_THAT(Said("ContainerPort", R"({"containerPort":"8080"})"),
              ElementsAre(
                  HasSubstr("must be of type integer: \"string\" (leave out the quotes: 8080)")));
  EXPECT_THAT(Said("Container", R"({"name":"a","command":"python train.py"})"),
              ElementsAre(HasSubstr("must be of type array: \"string\" (write a list")));
  EXPECT_THAT(Said("Container", R"({"name":"a","args":["--lr",0.1]})"),
              ElementsAre(HasSubstr("spec.args[1]: Invalid value: \"number\"")));
  EXPECT_THAT(Said("PodSpec", R"({"containers":{"name":"a"}})"),
              ElementsAre(HasSubstr("spec.containers in body must be of type array: \"object\"")));
  EXPECT_THAT(Said("PodSpec", R"({"containers":[{"name":"a"}],"nodeSelector":{"gpu":true}})"),
              ElementsAre(HasSubstr("spec.nodeSelector.gpu: Invalid value: \"boolean\"")));
  EXPECT_THAT(Said("PodSpec", R"({"containers":[{"name":"a"}],"nodeSelector":["gpu"]})"),
              ElementsAre(HasSubstr("without dashes")));
  EXPECT_THAT(Said("PodSpec", R"({"containers":["a"]})"),
              ElementsAre(HasSubstr("spec.containers[0]: Invalid value: \"string\"")));
  EXPECT_THAT(Said("PodSpec", R"({"containers":[{"name":"a"}],"hostNetwork":"true"})"),
              ElementsAre(HasSubstr("leave out the quotes: true")));
}

TEST(CoreCheckTest, ADecoderSaysItInItsOwnWordsWithTheWholePath) {
  const auto said = [](const char* type, const std::string& text) {
    return Said(type, text, TypeWords::kDecoder);
  };
  EXPECT_THAT(said("PodSpec", R"({"containers":[{"name":"a","env":[{"name":"A","value":1}]}]})"),
              ElementsAre(HasSubstr("json: cannot unmarshal number into Go struct field "
                                    "spec.containers[0].env[0].value of type string")));
  EXPECT_THAT(said("PodSpec", R"({"containers":{}})"),
              ElementsAre(HasSubstr("unmarshal object into Go struct field spec.containers of type "
                                    "[]v1.Container")));
  EXPECT_THAT(said("ResourceRequirements", R"({"limits":{"memory":"1 GB"}})"),
              ElementsAre(HasSubstr("spec.limits.memory: \"1 GB\": quantities must match")));
}

TEST(CoreCheckTest, WhatMayNotBeLeftOutIsRequired) {
  EXPECT_THAT(Said("PodSpec", "{}"), ElementsAre("spec.containers: Required value"));
  EXPECT_THAT(Said("PodSpec", R"({"containers":[]})"),
              ElementsAre("spec.containers: Required value"));
  EXPECT_THAT(Said("Container", R"({"name":""})"), ElementsAre("spec.name: Required value"));
  EXPECT_THAT(Said("Container", R"({"name":"a","env":[{"value":"x"},null]})"),
              ElementsAre("spec.env[0].name: Required value", "spec.env[1].name: Required value"));
  EXPECT_THAT(Said("VolumeMount", R"({"name":"v"})"),
              ElementsAre("spec.mountPath: Required value"));
}

TEST(CoreCheckTest, NullIsAsIfItWereNotThere) {
  EXPECT_THAT(Said("PodSpec", R"({"containers":[{"name":"a","command":null,"args":[null],
                                  "resources":null,"env":null}],"nodeSelector":null})"),
              IsEmpty());
  EXPECT_THAT(CheckCore(CoreTypeNamed("EmptyDirVolumeSource"), Json(), "", TypeWords::kSchema),
              IsEmpty());
}

TEST(CoreCheckTest, NumbersHaveTheirRanges) {
  EXPECT_THAT(Said("ContainerPort", R"({"containerPort":3000000000})"), testing::SizeIs(1));
  EXPECT_THAT(Said("ContainerPort", R"({"containerPort":80.5})"), testing::SizeIs(1));
  EXPECT_THAT(Said("PodSecurityContext", R"({"runAsUser":3000000000})"), IsEmpty());
  EXPECT_THAT(Said("PodSecurityContext", R"({"runAsUser":18446744073709551615})"),
              testing::SizeIs(1));
}

TEST(CoreCheckTest, AMillionUnknownFieldsAreNotAllTold) {
  Json spec = {{"containers", Json::array({{{"name", "a"}}})}};
  for (int i = 0; i < 10'000; ++i) spec["colour" + std::to_string(i)] = i;
  EXPECT_EQ(CheckCore(CoreTypeNamed("PodSpec"), spec, "", TypeWords::kSchema).size(),
            kCoreErrorsMax);
}

TEST(CoreCheckTest, UnknownFieldsAreTakenOutAtAnyDepth) {
  Json spec = Json::parse(R"({"a":1,"containers":[{"name":"c","b":2,"env":[{"name":"e","c":3}]}],
                              "nodeSelector":{"free":"x"}})");
  PruneCore(CoreTypeNamed("PodSpec"), &spec);
  EXPECT_EQ(spec, Json::parse(R"({"containers":[{"name":"c","env":[{"name":"e"}]}],
                                  "nodeSelector":{"free":"x"}})"));
}

TEST(CoreCheckTest, AQuantityIsANumberWithOneUnit) {
  for (const char* right : {"0", "2", "-1", "+1", "1.5", ".5", "1.", "100m", "1k", "1Ki", "1G",
                            "1Gi", "1E", "1e3", "1E-3", " 1Gi ", "5n", "7u", "Gi", "."}) {
    EXPECT_TRUE(IsQuantity(right)) << right;
  }
  for (const char* wrong : {"", " ", "1 GB", "1GB", "1K", "1gi", "1.2.3", "--1", "1e",
                            "1e+", "one", "1Gi2", "0x10", "1_000", "1,5"}) {
    EXPECT_FALSE(IsQuantity(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace taas
