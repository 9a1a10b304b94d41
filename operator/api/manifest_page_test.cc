// docs/manifest.md is what users read: it must name the fields that the schemas have, with their
// defaults, and its examples must be manifests that a server accepts.

#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/manifest.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

std::string Page(const std::string& path = "docs/manifest.md") {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Everything that is written in the tables of one part of the page: field and default.
std::map<std::string, std::string> Listed(const std::string& part) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(part);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const size_t end = line.find("` | ", 3);
    const size_t next = line.find(" | ", end + 4);
    if (end == std::string::npos || next == std::string::npos) continue;
    fields[line.substr(3, end - 3)] = line.substr(end + 4, next - end - 4);
  }
  return fields;
}

// As the page writes it: one entry for the roles, and a volume's source as a whole.
std::string OnPage(std::string path) {
  for (const std::string role : {"chief", "ps", "worker", "evaluator"}) {
    const std::string at = "spec.roles." + role;
    if (path == at || path.rfind(at + ".", 0) == 0) path.replace(0, at.size(), "spec.roles.ROLE");
  }
  if (const size_t at = path.find("{}"); at != std::string::npos) path.replace(at, 2, ".ROLE");
  const std::string source = "spec.volumes[].source";
  return path.rfind(source, 0) == 0 ? source : path;
}

// Defaults stand in backticks as JSON; a dash is none.
void Defaults(const Json& schema, const std::string& path,
              std::map<std::string, std::string>* out) {
  const std::string at = OnPage(path);
  if (at != "spec") {
    (*out)[at] = schema.contains("default") ? "`" + schema["default"].dump() + "`" : "–";
  }
  if (at == "spec.volumes[].source") return;
  const auto below = [&](const Json& object, const std::string& suffix) {
    const Json properties = object.value("properties", Json::object());
    for (const auto& [name, child] : properties.items()) {
      Defaults(child, path + suffix + "." + name, out);
    }
  };
  below(schema, "");
  if (schema.contains("items")) below(schema["items"], "[]");
  if (schema.contains("additionalProperties")) below(schema["additionalProperties"], "{}");
}

std::map<std::string, std::string> InSchema(const std::string& crd) {
  const Json version = Json::parse(crd)["spec"]["versions"][0];
  std::map<std::string, std::string> fields;
  Defaults(version["schema"]["openAPIV3Schema"]["properties"]["spec"], "spec", &fields);
  return fields;
}

class ManifestPageTest : public testing::Test {
 protected:
  ManifestPageTest() : page_(Page()), tfjob_(page_.find("\n## TFJob\n")) {}

  void SetUp() override { ASSERT_NE(tfjob_, std::string::npos); }

  const std::string page_;
  const size_t tfjob_;
};

TEST_F(ManifestPageTest, FieldsAndDefaultsAreThoseOfTheSchemas) {
  EXPECT_EQ(Listed(page_.substr(0, tfjob_)), InSchema(TrainingJobCrdJson()));
  EXPECT_EQ(Listed(page_.substr(tfjob_)), InSchema(TfJobCrdJson()));
}

// The page of the trainer says in words what the table has in rows.
TEST_F(ManifestPageTest, ThePageOfTheTrainerNamesEachOfItsFields) {
  const std::string trainer = Page("docs/trainer.md");
  std::set<std::string> words;
  for (size_t tick = trainer.find('`'); tick != std::string::npos; tick = trainer.find('`', tick)) {
    const size_t end = trainer.find('`', tick + 1);
    ASSERT_NE(end, std::string::npos);
    std::string word;
    for (size_t i = tick + 1; i <= end; ++i) {
      if (std::isalnum(static_cast<unsigned char>(trainer[i])) != 0) {
        word += trainer[i];
      } else if (!word.empty()) {
        words.insert(std::exchange(word, ""));
      }
    }
    tick = end + 1;
  }
  for (const auto& [path, ignored] : InSchema(TrainingJobCrdJson())) {
    if (path.rfind("spec.trainer.", 0) != 0) continue;
    EXPECT_TRUE(words.contains(path.substr(path.rfind('.') + 1))) << path;
  }
}

TEST_F(ManifestPageTest, TheSchemaKnowsNoFieldThatThisTestDoesNotSee) {
  const auto seen = InSchema(TrainingJobCrdJson());
  for (const std::string& path : TrainingJobSchema().FieldPaths()) {
    if (path.rfind("spec.", 0) != 0) continue;
    EXPECT_EQ(seen.count(OnPage(path)), 1u) << path;
  }
  const auto seen_of_tfjobs = InSchema(TfJobCrdJson());
  for (const std::string& path : TfJobSchema().FieldPaths()) {
    if (path.rfind("spec.", 0) != 0) continue;
    EXPECT_EQ(seen_of_tfjobs.count(OnPage(path)), 1u) << path;
  }
}

TEST_F(ManifestPageTest, EachExampleIsAccepted) {
  int examples = 0;
  const std::string fence = "\n```yaml\n";
  for (size_t at = page_.find(fence); at != std::string::npos; at = page_.find(fence, at + 1)) {
    const size_t begin = at + fence.size();
    const auto documents = ManifestDocuments(page_.substr(begin, page_.find("```", begin) - begin));
    ASSERT_THAT(documents, IsOk());
    for (const std::string& text : *documents) {
      const auto kind = KindOfManifest(text);
      ASSERT_TRUE(kind.has_value()) << text;
      EXPECT_EQ(FormatFieldErrors(Validate(*kind, text)), "");
      EXPECT_EQ(FormatFieldErrors(ValidateTrainer(text)), "");
      ++examples;
    }
  }
  EXPECT_EQ(examples, 4);
}

}  // namespace
}  // namespace taas
