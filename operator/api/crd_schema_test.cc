#include "operator/api/crd_schema.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

Json Crd(const std::string& spec_schema) {
  Json crd = Json::parse(R"({"spec": {"versions": [{"storage": true, "schema": {"openAPIV3Schema": {
      "type": "object", "properties": {"metadata": {"type": "object"}}}}}]}})");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
      Json::parse(spec_schema);
  return crd;
}

CrdSchema Schema(const std::string& spec_schema) { return *CrdSchema::Parse(Crd(spec_schema)); }

struct Case {
  const char* name;
  const char* schema;
  const char* value;
  const char* want;  // All errors; empty: none.
};

class CrdSchemaTest : public testing::TestWithParam<Case> {};

TEST_P(CrdSchemaTest, ValidateSays) {
  const Json object = {{"spec", Json::parse(GetParam().value)}};
  EXPECT_EQ(FormatFieldErrors(Schema(GetParam().schema).Validate(object)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, CrdSchemaTest,
    testing::Values(
        Case{"IntegerTakesWholeFloat", R"({"type": "integer"})", "2.0", ""},
        Case{"IntegerRefusesFraction", R"({"type": "integer"})", "2.5",
             "spec: Invalid value: \"number\": spec in body must be of type integer: \"number\""},
        Case{"NumberTakesInteger", R"({"type": "number"})", "2", ""},
        Case{"NullIsNoString", R"({"type": "string"})", "null",
             "spec: Invalid value: \"null\": spec in body must be of type string: \"null\""},
        Case{"NullIsTakenWhereAllowed", R"({"type": "string", "nullable": true})", "null", ""},
        Case{"BoundItselfIsInside", R"({"type": "integer", "minimum": 1, "maximum": 1})", "1", ""},
        Case{"BoundItselfIsOutside",
             R"({"type": "number", "minimum": 0, "exclusiveMinimum": true})", "0",
             "spec: Invalid value: 0: spec in body should be greater than 0"},
        Case{"LengthCountsCharactersNotBytes", R"({"type": "string", "maxLength": 2})", R"("äö")",
             ""},
        Case{"TooLong", R"({"type": "string", "maxLength": 2})", R"("abc")",
             "spec: Too long: may not be more than 2 bytes"},
        Case{"PatternIsSearchedNotMatched", R"({"type": "string", "pattern": "b"})",
             R"("abc")", ""},
        Case{"PatternWithAnchors", R"({"type": "string", "pattern": "^b$"})", R"("abc")",
             "spec: Invalid value: \"abc\": spec in body should match '^b$'"},
        Case{"SetHoldsEachOnce", R"({"type": "array", "x-kubernetes-list-type": "set"})",
             R"(["a", "b", "a"])", "spec[2]: Duplicate value: \"a\""},
        Case{"MapIsKeyed",
             R"({"type": "array", "x-kubernetes-list-type": "map",
                 "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object"}})",
             R"([{"k": 1, "v": 1}, {"k": 2}, {"k": 1, "v": 2}])",
             "spec[2]: Duplicate value: {\"k\":1}"},
        Case{"TimeOfADay", R"({"type": "string", "format": "date-time"})", R"("yesterday")",
             "spec: Invalid value: \"yesterday\": spec in body must be of type date-time: "
             "\"yesterday\""},
        Case{"MapOfNumbers",
             R"({"type": "object", "additionalProperties": {"type": "integer"}})", R"({"a": "b"})",
             "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: "
             "\"string\""},
        Case{"MapOfSets",
             R"({"type": "object", "additionalProperties": {"type": "array",
                 "x-kubernetes-list-type": "set"}})",
             R"({"a": [1, 1]})", "spec[a][1]: Duplicate value: 1"},
        Case{"TooFewItemsAreCounted", R"({"type": "array", "minItems": 2})", "[1]",
             "spec: Invalid value: 1: spec in body should have at least 2 items"},
        Case{"NumberOrText", R"({"x-kubernetes-int-or-string": true})", R"("5%")", ""},
        Case{"NumberOrTextIsNoFraction", R"({"x-kubernetes-int-or-string": true})", "0.5",
             "spec: Invalid value: \"number\": spec in body must be of type integer,string: "
             "\"number\""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CrdSchemaParseTest, AKeywordThatIsNotImplementedIsRefused) {
  EXPECT_THAT(CrdSchema::Parse(Crd(R"({"type": "object", "oneOf": []})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("schema of 'spec': keyword 'oneOf' is not implemented")));
}

TEST(CrdSchemaParseTest, WhatIsNoCrdIsAnError) {
  EXPECT_FALSE(CrdSchema::Parse(Json::object()).ok());
  EXPECT_FALSE(CrdSchema::Parse(Json::array()).ok());
  EXPECT_FALSE(CrdSchema::Parse(Crd(R"({"type": 3})")).ok());
  EXPECT_FALSE(CrdSchema::Parse(Crd(R"({"pattern": "("})")).ok());
}

TEST(CrdSchemaDefaultsTest, ADefaultedParentGetsItsChildrensDefaults) {
  const CrdSchema schema = Schema(R"({"type": "object", "default": {}, "properties": {
      "a": {"type": "object", "default": {}, "properties": {
          "b": {"type": "integer", "default": 7}}}}})");
  Json object = Json::object();
  schema.ApplyDefaults(&object);
  EXPECT_EQ(object, Json::parse(R"({"spec": {"a": {"b": 7}}})"));
}

TEST(CrdSchemaDefaultsTest, NullIsReplacedByADefaultAndElseRemoved) {
  const CrdSchema schema = Schema(R"({"type": "object", "properties": {
      "a": {"type": "integer", "default": 7}, "b": {"type": "integer"},
      "c": {"type": "integer", "nullable": true}}})");
  Json object = Json::parse(R"({"spec": {"a": null, "b": null, "c": null}})");
  schema.ApplyDefaults(&object);
  EXPECT_EQ(object, Json::parse(R"({"spec": {"a": 7, "c": null}})"));
}

TEST(CrdSchemaDefaultsTest, NullInAMapIsRemoved) {
  const CrdSchema schema = Schema(R"({"type": "object", "additionalProperties": {
      "type": "object", "properties": {"a": {"type": "integer", "default": 7}}}})");
  Json object = Json::parse(R"({"spec": {"x": null, "y": {}}})");
  schema.ApplyDefaults(&object);
  EXPECT_EQ(object, Json::parse(R"({"spec": {"y": {"a": 7}}})"));
}

TEST(CrdSchemaDefaultsTest, ItemsOfAListHaveDefaultsToo) {
  const CrdSchema schema = Schema(R"({"type": "array", "items": {"type": "object",
      "properties": {"a": {"type": "boolean", "default": false}}}})");
  Json object = Json::parse(R"({"spec": [{}, {"a": true}]})");
  schema.ApplyDefaults(&object);
  EXPECT_EQ(object, Json::parse(R"({"spec": [{"a": false}, {"a": true}]})"));
}

TEST(CrdSchemaUnknownTest, BelowPreservedFieldsAnythingGoes) {
  const CrdSchema schema = Schema(R"({"type": "object", "properties": {
      "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
               "properties": {"known": {"type": "object"}}},
      "list": {"type": "array", "items": {"type": "object"}}}})");
  const Json object = Json::parse(R"({"extra": 1, "metadata": {"name": "a", "nmae": "b"},
      "spec": {"open": {"any": {"thing": 1}, "known": {"x": 1}}, "list": [{}, {"y": 1}]}})");
  std::vector<std::string> paths;
  for (const FieldError& error : schema.UnknownFields(object)) paths.push_back(error.path);
  EXPECT_THAT(paths, testing::UnorderedElementsAre("extra", "metadata.nmae", "spec.open.known.x",
                                                   "spec.list[1].y"));
  Json pruned = object;
  schema.Prune(&pruned);
  EXPECT_THAT(schema.UnknownFields(pruned), testing::IsEmpty());
  EXPECT_EQ(pruned["spec"]["open"]["any"]["thing"], 1);
  EXPECT_EQ(pruned["metadata"], Json({{"name", "a"}}));
}

}  // namespace
}  // namespace taas
