#include "trainer/formats/record_frame.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::literals;

// What TensorFlow 2.21 wrote as a file of the one record "abc".
constexpr std::string_view kAbc =
    "\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
    "abc"
    "\x6e\x57\xf1\x21"sv;

TEST(RecordFrameTest, BytesAreTensorFlows) { EXPECT_EQ(FrameRecord("abc"), kAbc); }

TEST(RecordFrameTest, RecordsFollowEachOther) {
  std::string text;
  AppendRecord("abc", &text);
  AppendRecord("", &text);
  EXPECT_EQ(text, std::string(kAbc) + FrameRecord(""));
}

TEST(RecordFrameTest, LengthWithAWrongChecksumIsNone) {
  EXPECT_EQ(RecordLength(kAbc.data()), 3u);
  for (size_t at = 0; at < kRecordHeadBytes; ++at) {
    std::string head(kAbc.substr(0, kRecordHeadBytes));
    head[at] = static_cast<char>(head[at] ^ 0x10);
    EXPECT_EQ(RecordLength(head.data()), std::nullopt) << at;
  }
}

TEST(RecordFrameTest, DataWithAWrongChecksumIsNotWhole) {
  const std::string_view foot = kAbc.substr(kRecordHeadBytes + 3);
  EXPECT_TRUE(RecordDataIsWhole("abc", foot.data()));
  EXPECT_FALSE(RecordDataIsWhole("abd", foot.data()));
  EXPECT_FALSE(RecordDataIsWhole("ab", foot.data()));
}

}  // namespace
}  // namespace taas
