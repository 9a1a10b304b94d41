#include "dashboard/logs/log_splitter.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> LinesOf(const std::string& text, size_t chunk, std::string* rest) {
  LogSplitter splitter;
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size(); at += chunk) {
    splitter.Add(std::string_view(text).substr(at, chunk), [&](const LogSplitter::Line& line) {
      out.push_back(std::string(line.text) + line.Mark());
    });
  }
  if (const auto left = splitter.rest()) *rest = std::string(left->text) + left->Mark();
  return out;
}

TEST(LogSplitterTest, LinesAreTheSameInChunksOfAnySize) {
  const std::string text = "first\n\nthird\r\nlast";
  for (size_t chunk = 1; chunk <= text.size(); ++chunk) {
    std::string rest;
    EXPECT_THAT(LinesOf(text, chunk, &rest), ElementsAre("first", "", "third")) << chunk;
    EXPECT_EQ(rest, "last");
  }
}

TEST(LogSplitterTest, OfALongLineTheBeginningStaysAndAMarkSaysHowMuchDoesNot) {
  const std::string line(kLogLineBytesMax + 1'000, 'x');
  for (const size_t chunk : {size_t{700}, size_t{1 << 20}}) {
    std::string rest;
    const auto lines = LinesOf(line + "\nnext\n" + line, chunk, &rest);
    const std::string cut = std::string(kLogLineBytesMax, 'x') + " […+1000 bytes]";
    EXPECT_THAT(lines, ElementsAre(cut, "next"));
    EXPECT_EQ(rest, cut);
  }
}

TEST(LogSplitterTest, ACutIsNeverWithinACharacter) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string line(shift, 'x');
    while (line.size() <= kLogLineBytesMax) line += "😀";
    std::string rest;
    const std::string cut = LinesOf(line + "\n", 1'000, &rest)[0];
    EXPECT_EQ((cut.find(" […") - shift) % 4, 0u) << shift;
  }
}

}  // namespace
}  // namespace taas::dashboard
