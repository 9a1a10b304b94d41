#include "operator/kube/line_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// C1 and C3: a chunk may end anywhere, also inside a character of several bytes.
TEST(LineSplitterTest, LinesComeOutWholeWhereverTheChunkIsCut) {
  const std::string text = "{\"a\":\"ä€\"}\n\n{\"b\":1}\r\nlast";
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      LineSplitter splitter;
      std::vector<std::string> lines;
      const auto keep = [&](std::string_view line) {
        lines.emplace_back(line);
        return absl::OkStatus();
      };
      ASSERT_THAT(splitter.Add(text.substr(0, first), keep), IsOk());
      ASSERT_THAT(splitter.Add(text.substr(first, second - first), keep), IsOk());
      ASSERT_THAT(splitter.Add(text.substr(second), keep), IsOk());
      ASSERT_THAT(lines, ElementsAre("{\"a\":\"ä€\"}", "{\"b\":1}")) << first << " " << second;
      ASSERT_EQ(splitter.rest(), "last");
    }
  }
}

// C4.
TEST(LineSplitterTest, ALineOfTheLimitPassesAndOneByteMoreIsRefused) {
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  for (const bool in_one_chunk : {true, false}) {
    LineSplitter splitter(8);
    const std::string line(8, 'x');
    EXPECT_THAT(splitter.Add(line + "\n", ignore), IsOk());
    if (in_one_chunk) {
      EXPECT_THAT(splitter.Add(line + "x\n", ignore),
                  StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("8 bytes")));
    } else {
      EXPECT_THAT(splitter.Add(line, ignore), IsOk());
      EXPECT_THAT(splitter.Add("x", ignore), StatusIs(absl::StatusCode::kResourceExhausted));
    }
  }
}

TEST(LineSplitterTest, AnErrorOfTheCallerEndsTheChunk) {
  LineSplitter splitter;
  int calls = 0;
  EXPECT_THAT(splitter.Add("a\nb\n",
                           [&](std::string_view) {
                             ++calls;
                             return absl::AbortedError("enough");
                           }),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace taas
