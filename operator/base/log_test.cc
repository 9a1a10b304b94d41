#include "operator/base/log.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

TEST(LogTest, FieldsWithSpacesOrQuotesAreQuotedAndOthersAreBare) {
  EXPECT_EQ(FormatLogFields({{"job", "ns/a"}, {"cause", "no \"node\""}, {"empty", ""}}),
            R"( job=ns/a cause="no \"node\"" empty="")");
}

TEST(LogTest, JsonLinesParseAndKeepHostileTextInsideItsField) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/log";
  SetLogFile(path);
  SetLogFormat(LogFormat::kJson);
  Log(LogLevel::kDebug, "dropped: below the level");
  Log(LogLevel::kInfo, "pod {} %v created\n", {{"pod", "a\",\"level\":\"x"}, {"bytes", "\xff"}});
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto line = nlohmann::json::parse(text.str());
  EXPECT_EQ(line["message"], "pod {} %v created\n");
  EXPECT_EQ(line["pod"], "a\",\"level\":\"x");
  EXPECT_EQ(line["level"], "info");
}

}  // namespace
}  // namespace taas
