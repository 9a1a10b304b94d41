#include "dashboard/logs/log_text.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

std::string RecordOf(const LogEntry& entry, std::string_view replica = "worker-0") {
  std::string out;
  AppendLogRecord({.replica = replica, .pod_number = 3, .entry = entry}, &out);
  return out;
}

TEST(LogTextTest, ALineIsOneObjectWithItsTimeAsLongAsItHasToBe) {
  EXPECT_EQ(RecordOf({.line = {"2026-11-21T05:54:17.250000000", "step 10"}}),
            "{\"t\":\"2026-11-21T05:54:17.25Z\",\"r\":\"worker-0\",\"l\":\"step 10\"}\n");
  EXPECT_EQ(RecordOf({.line = {"2026-11-21T05:54:10.000000000", ""}}),
            "{\"t\":\"2026-11-21T05:54:10Z\",\"r\":\"worker-0\",\"l\":\"\"}\n");
  EXPECT_EQ(RecordOf({.line = {"", "x"}}), "{\"t\":\"\",\"r\":\"worker-0\",\"l\":\"x\"}\n");
}

TEST(LogTextTest, NotesSayWhatAndWhy) {
  EXPECT_EQ(RecordOf({.note = LogNote::kBegin}),
            "{\"r\":\"worker-0\",\"note\":\"begin\",\"podNumber\":3}\n");
  EXPECT_EQ(RecordOf({.line = {"", "why"}, .note = LogNote::kError}, ""),
            "{\"r\":\"\",\"note\":\"error\",\"message\":\"why\"}\n");
}

// What programs write must neither break the JSON nor a line.
TEST(LogTextTest, AnyBytesAreOneValidTextOfOneLine) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text :
       {all, std::string("\x1b[31mred\x1b[0m \"quoted\" \\ \t"), std::string("日本 😀 \xff\xc0\x80"),
        std::string("\xe6\x97"), std::string("\xed\xa0\x80")}) {
    std::string json;
    AppendJsonText(text, &json);
    EXPECT_EQ(json.find('\n'), std::string::npos);
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    ASSERT_TRUE(parsed.is_string()) << json;
  }
  std::string json;
  AppendJsonText("a\"\\\t\x1b日\xff", &json);
  EXPECT_EQ(json, "\"a\\\"\\\\\\t\\u001b日\xEF\xBF\xBD\"");
}

TEST(LogTextTest, ADownloadHasTimeReplicaAndText) {
  std::string out;
  const LogEntry line{.line = {"2026-11-21T05:54:17.250000000", "step 10"}};
  AppendLogText({.replica = "ps-0", .entry = line}, &out);
  const LogEntry note{.line = {"", "exit code 1"}, .note = LogNote::kEnd};
  AppendLogText({.replica = "ps-0", .entry = note}, &out);
  EXPECT_EQ(out, "2026-11-21T05:54:17.25Z ps-0 step 10\n# ps-0 end: exit code 1\n");
}

TEST(LogTextTest, ANameOfAFileHasNothingThatAHeaderOrAShellUnderstands) {
  EXPECT_EQ(SafeFileName("ns_mnist-1.a"), "ns_mnist-1.a");
  EXPECT_EQ(SafeFileName("a\"\r\n;/..日"), "a_____..___");
}

}  // namespace
}  // namespace taas::dashboard
