#include "localkube/api/json_path.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

const json kObject = json::parse(R"({
  "spec": {"replicas": 3, "list": [{"n": "a"}, {"n": "b"}]},
  "metadata": {"labels": {"a.b/c": "x"}},
  "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}]}})");

struct Case {
  const char* name;
  const char* path;
  const char* want;  // Null: nothing is found.
};

class JsonPathTest : public testing::TestWithParam<Case> {};

TEST_P(JsonPathTest, FindsWhatAPrinterColumnWouldShow) {
  const json* found = FindJsonPath(kObject, GetParam().path);
  if (GetParam().want == nullptr) {
    EXPECT_EQ(found, nullptr);
  } else {
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->dump(), GetParam().want);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonPathTest,
    testing::Values(Case{"Field", ".spec.replicas", "3"}, Case{"Braces", "{.spec.replicas}", "3"},
                    Case{"QuotedKey", ".metadata.labels['a.b/c']", "\"x\""},
                    Case{"EscapedDots", ".metadata.labels.a\\.b/c", "\"x\""},
                    Case{"Index", ".spec.list[1].n", "\"b\""},
                    Case{"Last", ".spec.list[-1:].n", "\"b\""},
                    Case{"LastOfOneName", ".spec.list[-1].n", "\"b\""},
                    Case{"LastOfNone", ".metadata.labels[-1:]", nullptr},
                    Case{"Filter", ".status.conditions[?(@.type==\"Ready\")].status", "\"True\""},
                    Case{"Absent", ".spec.color", nullptr},
                    Case{"IndexBeyondTheEnd", ".spec.list[2]", nullptr},
                    Case{"FieldOfANumber", ".spec.replicas.x", nullptr},
                    Case{"OpenBracket", ".spec.list[", nullptr},
                    Case{"FilterWithoutMatch", ".status.conditions[?(@.type=='No')].status",
                         nullptr}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas::localkube
