#include "operator/api/manifest.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string One(const std::string& yaml) {
  const auto documents = ManifestDocuments(yaml);
  if (!documents.ok()) return documents.status().ToString();
  return documents->size() == 1 ? documents->front() : std::to_string(documents->size());
}

struct Case {
  const char* name;
  const char* yaml;
  const char* json;
};

class ScalarTest : public testing::TestWithParam<Case> {};

TEST_P(ScalarTest, MeansWhatKubectlTakesItFor) {
  EXPECT_EQ(One(std::string("a: ") + GetParam().yaml),
            std::string("{\"a\":") + GetParam().json + "}");
}

INSTANTIATE_TEST_SUITE_P(
    Table, ScalarTest,
    testing::Values(Case{"Integer", "42", "42"}, Case{"Negative", "-42", "-42"},
                    Case{"Positive", "+42", "42"}, Case{"Hexadecimal", "0x1F", "31"},
                    Case{"Octal", "0o17", "15"}, Case{"OldOctal", "017", "15"},
                    Case{"Binary", "0b101", "5"}, Case{"Underscores", "1_000", "1000"},
                    Case{"Largest", "9223372036854775807", "9223372036854775807"},
                    Case{"Lowest", "-9223372036854775808", "-9223372036854775808"},
                    Case{"Unsigned", "18446744073709551615", "18446744073709551615"},
                    Case{"Float", "0.5", "0.5"}, Case{"FloatWithoutZero", ".5", "0.5"},
                    Case{"FloatWithExponent", "1e-3", "0.001"},
                    Case{"TwoDots", "1.2.3", "\"1.2.3\""}, Case{"Quantity", "1Gi", "\"1Gi\""},
                    Case{"Date", "2026-11-21", "\"2026-11-21\""},
                    Case{"Address", "127.0.0.1", "\"127.0.0.1\""},
                    Case{"Time", "12:30", "\"12:30\""}, Case{"Dash", "-a", "\"-a\""},
                    Case{"True", "true", "true"}, Case{"Yes", "yes", "true"},
                    Case{"Off", "Off", "false"}, Case{"Y", "y", "true"},
                    Case{"MixedCase", "tRue", "\"tRue\""}, Case{"Nothing", "", "null"},
                    Case{"Tilde", "~", "null"}, Case{"Null", "null", "null"},
                    Case{"QuotedNumber", "\"42\"", "\"42\""},
                    Case{"QuotedTrue", "'true'", "\"true\""},
                    Case{"QuotedNothing", "''", "\"\""}, Case{"Text", "some text", "\"some text\""},
                    Case{"TaggedText", "!!str 42", "\"42\""},
                    Case{"TaggedFloat", "!!float 1", "1.0"},
                    Case{"Block", "|\n  one\n  two\n", R"("one\ntwo\n")"},
                    Case{"FlowList", "[1, two, null]", R"([1,"two",null])"},
                    Case{"FlowMapping", "{b: {c: d}}", R"({"b":{"c":"d"}})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ManifestDocumentsTest, DocumentsAreSeparatedAndEmptyOnesLeftOut) {
  EXPECT_THAT(*ManifestDocuments("---\na: 1\n---\n# nothing\n---\nb: 2\n"),
              ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(*ManifestDocuments(""), ElementsAre());
}

TEST(ManifestDocumentsTest, JsonIsYaml) {
  EXPECT_EQ(One("{\"a\": {\"b\": [1, \"2\", true, null]}}"), R"({"a":{"b":[1,"2",true,null]}})");
}

TEST(ManifestDocumentsTest, AListIsTakenApart) {
  EXPECT_THAT(*ManifestDocuments("kind: List\nitems: [{a: 1}, {b: 2}]"),
              ElementsAre(R"({"a":1})", R"({"b":2})"));
}

TEST(ManifestDocumentsTest, AnchorsRepeatAndMergeKeysYieldToOwnKeys) {
  EXPECT_EQ(One("p: &p {a: 1, b: 2}\nq: *p\nr: {<<: *p, b: 3}"),
            R"({"p":{"a":1,"b":2},"q":{"a":1,"b":2},"r":{"a":1,"b":3}})");
}

TEST(ManifestDocumentsTest, AKeyTwiceNamesThePlace) {
  EXPECT_THAT(ManifestDocuments("a:\n  b: 1\n  b: 2\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line 3, column 3: key \"b\" stands twice")));
}

TEST(ManifestDocumentsTest, WhatIsNotYamlNamesThePlace) {
  EXPECT_THAT(ManifestDocuments("a: [1, 2\nb: 3\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("read YAML: line ")));
  EXPECT_THAT(ManifestDocuments("a: *nowhere"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ManifestDocuments("a: 1\n\tb: 2\n"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ManifestDocuments("? [a, b]\n: 1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a key is a text")));
}

TEST(ManifestDocumentsTest, InfinityIsRefusedNotTakenForText) {
  for (const char* yaml : {"a: .inf", "a: -.Inf", "a: .nan"}) {
    EXPECT_THAT(ManifestDocuments(yaml), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  HasSubstr("line 1, column 4: JSON has no")));
  }
  EXPECT_EQ(One("a: \".inf\""), R"({"a":".inf"})");
}

TEST(ManifestDocumentsTest, AnchorsCannotMakeASmallTextHuge) {
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) yaml += (k == 0 ? "" : ", ") + last;
    yaml += "]\n";
  }
  EXPECT_THAT(ManifestDocuments(yaml), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("more than 1000000 values")));
}

TEST(ManifestDocumentsTest, LimitsOfSizeAndDepth) {
  EXPECT_THAT(ManifestDocuments(std::string(kMaxManifestBytes + 1, ' ')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bytes")));
  EXPECT_THAT(ManifestDocuments(std::string(150, '[') + std::string(150, ']')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("100 levels")));
}

TEST(JsonToYamlTest, IsReadBackAsTheSameJson) {
  const std::string json =
      R"({"a":{"b":[1,2.5,"3","true",null,"null",""],"empty":[],"none":{}},)"
      R"("l":[[1,[2]],{"x":{"y":1},"z":[{"p":"q"},{}]}],"s":"- a: b # c","t":"two\nlines",)"
      R"("u":"x: y","v":"yes","w":"ends:","x":" margin ","y":"plain text","z":"äö","~":"0x1F"})";
  const auto yaml = JsonToYaml(json);
  ASSERT_THAT(yaml, IsOk());
  EXPECT_EQ(One(*yaml), json) << *yaml;
}

TEST(JsonToYamlTest, LooksLikeKubectlsOutput) {
  EXPECT_EQ(*JsonToYaml(R"({"kind":"A","spec":{"list":[{"name":"x","v":1},"y"],"on":true}})"),
            "kind: A\nspec:\n  list:\n  - name: x\n    v: 1\n  - \"y\"\n  \"on\": true\n");
}

TEST(JsonToYamlTest, WhatIsNoJsonIsAnError) { EXPECT_FALSE(JsonToYaml("{").ok()); }

}  // namespace
}  // namespace taas
