// The table of what a pod may hold, against a real kube-apiserver: every field is one that it
// decodes, of the type that it wants, and nothing is refused here that it takes.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "e2e/control_plane.h"
#include "e2e/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/core/core_check.h"
#include "operator/api/core/core_fields.h"
#include "operator/api/core/every_field.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// Decodes strictly, stores nothing.
constexpr char kPods[] =
    "/api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Strict";

class PodFieldsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plane = ControlPlane::Start(testing::TempDir() + "/plane");
    ASSERT_THAT(plane, IsOk());
    plane_ = *std::move(plane);
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override { ASSERT_NE(plane_, nullptr) << "there is no API server"; }

  // The message of a 400; empty: it could be decoded.
  static std::string Undecodable(const Json& spec) {
    const Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "a"}}},
                      {"spec", spec}};
    const auto answer = plane_->client().Do("POST", kPods, pod.dump());
    EXPECT_THAT(answer, IsOk());
    if (!answer.ok() || answer->code != 400) return "";
    return Json::parse(answer->body).value("message", "");
  }

  static std::unique_ptr<ControlPlane> plane_;
};

std::unique_ptr<ControlPlane> PodFieldsTest::plane_;

// A value that no decoder takes for the field.
Json OtherType(const CoreField& field) {
  using Kind = CoreField::Kind;
  if (field.many == CoreField::Many::kList) return {{"a", 1}};
  if (field.many == CoreField::Many::kMap) return Json::array({1});
  switch (field.kind) {
    case Kind::kBoolean:
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kStruct:
    case Kind::kAny:
      return "text";
    case Kind::kString:
    case Kind::kTime:
      return 1;
    case Kind::kQuantity:
    case Kind::kIntOrString:
      break;
  }
  return true;
}

struct Place {
  Json::json_pointer pointer;
  const CoreType* type;
};

// Where each type stands first.
void Collect(const CoreType& type, const Json::json_pointer& at, std::set<std::string>* seen,
             std::vector<Place>* out) {
  if (!seen->insert(type.name).second) return;
  out->push_back({at, &type});
  for (const auto& [name, field] : type.fields) {
    if (field.type == nullptr || field.many == CoreField::Many::kMap) continue;
    Json::json_pointer below = at / name;
    if (field.many == CoreField::Many::kList) below /= 0;
    Collect(*field.type, below, seen, out);
  }
}

std::vector<Place> PlacesOf(const CoreType& root) {
  std::set<std::string> seen;
  std::vector<Place> out;
  Collect(root, Json::json_pointer(), &seen, &out);
  return out;
}

bool Refuses(const Json& spec) {
  for (const FieldError& error :
       CheckCore(CoreTypeNamed("PodSpec"), spec, "spec", TypeWords::kDecoder)) {
    if (IsDecodingError(error)) return true;
  }
  return false;
}

TEST_F(PodFieldsTest, APodWithEveryFieldIsDecoded) {
  const Json everything = EveryField(CoreTypeNamed("PodSpec"));
  EXPECT_EQ(Undecodable(everything), "");
  EXPECT_FALSE(Refuses(everything));
}

TEST_F(PodFieldsTest, AnotherTypeThanTheTablesIsRefusedByBoth) {
  const Json everything = EveryField(CoreTypeNamed("PodSpec"));
  int fields = 0;
  for (const Place& place : PlacesOf(CoreTypeNamed("PodSpec"))) {
    for (const auto& [name, field] : place.type->fields) {
      if (field.kind == CoreField::Kind::kAny) continue;
      Json spec = everything;
      spec[place.pointer / name] = OtherType(field);
      EXPECT_NE(Undecodable(spec), "") << place.pointer / name;
      EXPECT_TRUE(Refuses(spec)) << place.pointer / name;
      ++fields;
    }
  }
  EXPECT_GT(fields, 400);
}

TEST_F(PodFieldsTest, AnUnknownFieldHasTheSamePathHereAndThere) {
  const Json everything = EveryField(CoreTypeNamed("PodSpec"));
  for (const Place& place : PlacesOf(CoreTypeNamed("PodSpec"))) {
    Json spec = everything;
    spec[place.pointer / "colour"] = 1;
    const auto errors = CheckCore(CoreTypeNamed("PodSpec"), spec, "spec", TypeWords::kDecoder);
    ASSERT_EQ(errors.size(), 1u) << place.pointer;
    EXPECT_THAT(Undecodable(spec), HasSubstr(errors[0].message));
  }
}

// What is required by the letter of OpenAPI alone must not be asked for.
TEST_F(PodFieldsTest, WhatIsRequiredHereIsNotTakenThere) {
  const Json base = Json::parse(R"({"containers":[{"name":"a","image":"i"}]})");
  for (const char* text :
       {R"({"containers":[{"image":"i"}]})", R"({"containers":[]})",
        R"({"containers":[{"name":"a","image":"i","env":[{"value":"x"}]}]})",
        R"({"containers":[{"name":"a","image":"i","ports":[{"name":"p"}]}]})",
        R"({"containers":[{"name":"a","image":"i","volumeMounts":[{"mountPath":"/m"}]}]})"}) {
    const Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "a"}}},
                      {"spec", Json::parse(text)}};
    const auto answer = plane_->client().Do("POST", kPods, pod.dump());
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(answer->code, 422) << answer->body;
    for (const FieldError& error :
         CheckCore(CoreTypeNamed("PodSpec"), pod["spec"], "spec", TypeWords::kSchema)) {
      EXPECT_THAT(answer->body, HasSubstr(error.path));
    }
  }
  Json spec = base;
  spec["containers"][0]["livenessProbe"] =
      Json::parse(R"({"httpGet":{"port":80,"httpHeaders":[{"name":"A"}]}})");
  const Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "a"}}},
                    {"spec", spec}};
  const auto answer = plane_->client().Do("POST", kPods, pod.dump());
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->code, 201) << answer->body;
  EXPECT_TRUE(CheckCore(CoreTypeNamed("PodSpec"), spec, "spec", TypeWords::kSchema).empty());
}

// Amounts are decoded by the same rule.
TEST_F(PodFieldsTest, AnAmountIsOneForBothOrForNone) {
  for (const char* text : {"0",   "2",  "-1",    "+1",  "1.5", ".5", "1.", "100m",  "1k",    "1Ki",
                           "1G",  "1Gi", "1E",   "1e3", "1E-3", " 1Gi ", "5n", "7u", "", " ",
                           "1 GB", "1GB", "1K",  "1gi", "Gi",  ".",  "+",  "-Gi",   "m",     "e3",
                           "1.2.3", "--1", "1e", "1e+", "one", "1Gi2", "0x10", "1_000", "1,5"}) {
    Json spec = Json::parse(R"({"containers":[{"name":"a","image":"i"}]})");
    spec["containers"][0]["resources"]["limits"]["memory"] = text;
    EXPECT_EQ(Undecodable(spec).empty(), IsQuantity(text)) << "\"" << text << "\": "
                                                           << Undecodable(spec);
  }
}

}  // namespace
}  // namespace taas
