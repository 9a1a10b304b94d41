#include "operator/kube/frame_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FrameSplitterTest : public testing::Test {
 protected:
  absl::Status Add(std::string_view chunk) {
    return splitter_.Add(chunk, [this](std::string_view frame) {
      frames_.emplace_back(frame);
      return absl::OkStatus();
    });
  }

  FrameSplitter splitter_;
  std::vector<std::string> frames_;
};

TEST_F(FrameSplitterTest, FramesAreCutWhereverTheChunksEnd) {
  const std::string stream = "\0\0\0\3abc\0\0\0\0\0\0\1\2"s + std::string(258, 'x');
  for (size_t chunk = 1; chunk <= stream.size(); ++chunk) {
    splitter_ = FrameSplitter();
    frames_.clear();
    for (size_t at = 0; at < stream.size(); at += chunk) {
      ASSERT_THAT(Add(stream.substr(at, chunk)), IsOk());
    }
    EXPECT_THAT(frames_, ElementsAre("abc", "", std::string(258, 'x'))) << chunk;
  }
}

TEST_F(FrameSplitterTest, AFrameThatIsTooLongIsRefusedByItsLength) {
  EXPECT_THAT(Add("\0\x80\0\0"s), IsOk());  // As long as it may be.
  splitter_ = FrameSplitter();
  EXPECT_THAT(Add("\0\x80\0\1"s), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(frames_, IsEmpty());
}

TEST_F(FrameSplitterTest, AnErrorOfTheCallerEndsTheChunk) {
  int calls = 0;
  const absl::Status status = splitter_.Add("\0\0\0\1a\0\0\0\1b"s, [&](std::string_view) {
    ++calls;
    return absl::DataLossError("stop");
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace taas
