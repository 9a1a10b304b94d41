#include "trainer/data/line_reader.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LineReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(path_, text), IsOk());
    auto reader = LineReader::Open(files_, path_, 300'000);
    EXPECT_THAT(reader, IsOk());
    std::vector<std::string> lines;
    for (;;) {
      const auto line = (*reader)->Next();
      if (!line.ok()) {
        lines.emplace_back(line.status().message());
        return lines;
      }
      if (!*line) return lines;
      lines.emplace_back(**line);
      EXPECT_EQ((*reader)->number(), std::ssize(lines));
    }
  }
  PosixFileSystem files_;
  const std::string path_ = ::testing::TempDir() + "/lines";
};

TEST_F(LineReaderTest, EndsOfLinesAreTakenAway) {
  EXPECT_THAT(Lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(Lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(Lines("\xef\xbb\xbf" "a\n"), ElementsAre("a"));
  EXPECT_THAT(Lines(""), ElementsAre());
}

TEST_F(LineReaderTest, LinesLongerThanTheBufferAreWhole) {
  const std::string line(200'000, 'x');
  EXPECT_THAT(Lines(line + "\nb\n" + line), ElementsAre(line, "b", line));
  EXPECT_THAT(Lines(GzipCompress(line + "\nb\n" + line)), ElementsAre(line, "b", line));
}

TEST_F(LineReaderTest, LineThatIsTooLongIsNamed) {
  EXPECT_THAT(Lines("a\n" + std::string(300'001, 'x')),
              ElementsAre("a", HasSubstr(path_ + ": line 2 has more than 300000 bytes")));
}

}  // namespace
}  // namespace taas
