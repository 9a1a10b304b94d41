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

// Symptom: 1 MB of YAML, a long text with an anchor and 2,000 aliases of it, became 2 GB: whoever
// posted it ended the dashboard, and `taas validate` aborted.
TEST(ManifestDocumentsTest, AliasesCannotRepeatALongTextWithoutBound) {
  const std::string text(1 << 20, 'x');
  std::string list = "a: &a " + text + "\nb:\n";
  for (int i = 0; i < 2'000; ++i) list += "- *a\n";
  std::string keys = "a: &a " + text + "\nb:\n";
  for (int i = 0; i < 2'000; ++i) keys += "- {*a : 1}\n";
  std::string merges = "a: &a {k: " + text + "}\nb:\n";
  for (int i = 0; i < 2'000; ++i) merges += "- {<<: *a}\n";
  std::string lists_of_merges = "a: &a {k: " + text + "}\nb:\n";
  for (int i = 0; i < 2'000; ++i) lists_of_merges += "- {<<: [*a, *a]}\n";
  std::string documents;
  for (int i = 0; i < 200; ++i) {
    documents += "---\na: &a " + text.substr(0, 10'000) + "\nb: [*a, *a, *a, *a, *a, *a, *a, *a]\n";
  }
  // Each anchor holds all of what the ones in it hold.
  std::string anchors;
  for (int i = 0; i < 90; ++i) anchors += "&a" + std::to_string(i) + " [";
  anchors += text + std::string(90, ']');
  // A control character is six bytes of JSON.
  std::string controls = "a: &a \"";
  for (int i = 0; i < 100'000; ++i) controls += "\\x01";
  controls += "\"\nb:\n";
  for (int i = 0; i < 100; ++i) controls += "- *a\n";
  for (const std::string& yaml :
       {list, keys, merges, lists_of_merges, documents, anchors, controls}) {
    EXPECT_THAT(ManifestDocuments(yaml),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("aliases expand to more than 16777216 bytes")))
        << yaml.substr(0, 40);
  }
}

TEST(ManifestDocumentsTest, WhatAliasesRepeatWithinBoundsIsTaken) {
  EXPECT_EQ(One("a: &a {b: &b [1, &c {d: e}]}\nx: [*a, *b, *c]\n*b : 1"),
            "INVALID_ARGUMENT: read YAML: line 3, column 1: a key is a text, not a list or a "
            "mapping");
  EXPECT_EQ(One("a: &a {b: &b [1, &c {d: e}]}\nx: [*a, *b, *c]"),
            R"({"a":{"b":[1,{"d":"e"}]},"x":[{"b":[1,{"d":"e"}]},[1,{"d":"e"}],{"d":"e"}]})");
  EXPECT_EQ(One("k: &k name\nv: &n\n*k : *n"), R"({"k":"name","name":null,"v":null})");
  EXPECT_EQ(One("a: &a {x: 1, v: 1}\nb: &b {x: 2, z: 2}\nc: {v: 3, <<: [*a, *b]}"),
            R"({"a":{"v":1,"x":1},"b":{"x":2,"z":2},"c":{"v":3,"x":1,"z":2}})");
}

TEST(ManifestDocumentsTest, AnAliasOfWhatItStandsInIsRefused) {
  for (const char* yaml : {"a: &a [1, *a]", "&a {b: {c: *a}}", "&a {<<: *a}"}) {
    EXPECT_THAT(ManifestDocuments(yaml),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("an alias inside of what it stands for")));
  }
}

TEST(ManifestDocumentsTest, AliasesCannotNestDeeperThanTextMay) {
  std::string yaml = "a0: &a0 [x]\n";
  for (int i = 1; i < 150; ++i) {
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
            std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(ManifestDocuments(yaml), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("100 levels")));
}

// Symptom: 3 MB of brackets took 721 MB before they were found to be nested too deeply.
TEST(ManifestDocumentsTest, BracketsAreCountedBeforeTheyAreRead) {
  std::string lists = "[";
  for (int i = 0; i < 100'000; ++i) lists += "[],";
  for (const std::string& yaml : {std::string(kMaxManifestMarks + 1, '['), lists + "]"}) {
    EXPECT_THAT(ManifestDocuments(yaml), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  HasSubstr("brackets, braces and commas")));
  }
  std::string list = "[0";
  for (int i = 1; i < 100'000; ++i) list += "," + std::to_string(i);
  EXPECT_THAT(ManifestDocuments(list + "]"), IsOk());
}

TEST(ManifestDocumentsTest, AMessageNamesALongTextByItsBeginning) {
  const auto documents = ManifestDocuments("a: !!int " + std::string(100'000, 'x'));
  EXPECT_LT(documents.status().message().size(), 300u);
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
