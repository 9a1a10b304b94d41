#include "trainer/use/test_data.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Of(const char* data, const TestFiles& test) {
  const auto text = WithTestFiles(data, test);
  EXPECT_THAT(text, IsOk());
  return json::parse(text.value_or("{}"));
}

// Symptom: to evaluate a model of texts with a held-out file one needed the text that it was
// trained on, and a folder in which both had the names of the training.
TEST(TestDataTest, TheTestSetIsAnotherAndTheRestAsItWas) {
  EXPECT_EQ(Of(R"({"format": "text", "train": {"files": ["/data/train.txt"]},
                   "text": {"context": 8}})", {.input = "held-out.txt"}),
            json::parse(R"({"format": "text", "train": {"files": ["/data/train.txt"]},
                            "test": {"files": ["held-out.txt"]}, "text": {"context": 8}})"));
  EXPECT_EQ(Of(R"({"format": "csv", "train": {"files": ["a"]}, "test": {"files": ["b"]}})",
               {.input = "c"}),
            json::parse(R"({"format": "csv", "train": {"files": ["a"]},
                            "test": {"files": ["c"]}})"));
  EXPECT_EQ(Of(R"({"train": {"images": "a", "labels": "b"}})", {.input = "c", .labels = "d"}),
            json::parse(R"({"train": {"images": "a", "labels": "b"},
                            "test": {"images": "c", "labels": "d"}})"));
}

TEST(TestDataTest, AFlagThatIsMissingOrTooMuchIsNamed) {
  const auto error = [](const char* data, const TestFiles& test) {
    return std::string(WithTestFiles(data, test).status().message());
  };
  EXPECT_THAT(error("{}", {.input = "a"}), HasSubstr("--labels is required beside --input"));
  EXPECT_THAT(error(R"({"format": "raw"})", {.input = "a"}), HasSubstr("of format raw"));
  EXPECT_THAT(error(R"({"format": "text"})", {.input = "a", .labels = "b"}),
              HasSubstr("leave it out"));
  EXPECT_THAT(error(R"({"format": "generated"})", {.input = "a"}), HasSubstr("have no files"));
  EXPECT_THAT(error("[]", {.input = "a"}), HasSubstr("must be an object"));
}

}  // namespace
}  // namespace taas
