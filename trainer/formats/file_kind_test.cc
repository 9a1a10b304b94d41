#include "trainer/formats/file_kind.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

using std::literals::string_literals::operator""s;
using ::testing::HasSubstr;

// Symptom: of an error page, a pointer of Git LFS and a file packed twice alike it was said that
// "the checksum of its length is wrong".
TEST(FileKindTest, WhatIsOftenTakenForDataIsNamed) {
  const struct {
    std::string first;
    FileKind kind;
    const char* what;
  } cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0", FileKind::kPointer,
       "git lfs pull"},
      {"/annex/objects/SHA256E-s3--0", FileKind::kPointer, "git annex get"},
      {"\n <!DOCTYPE HTML><title>404", FileKind::kOther, "web page"},
      {"\xef\xbb\xbf<html>", FileKind::kOther, "web page"},
      {"<?xml version=\"1.0\"?><Error><Code>NoSuchKey", FileKind::kOther, "XML"},
      {"\x1f\x8b\x08\0"s, FileKind::kGzip, "packed with gzip"},
      {"\x78\x9c\x03\0"s, FileKind::kZlib, "packed with zlib"},
      {"PK\x03\x04rest", FileKind::kOther, "ZIP"},
      {std::string(257, 'a') + "ustar", FileKind::kOther, "tar archive"},
      {"PAR1\x15\x04", FileKind::kOther, "Parquet"},
      {"\0\0\x08\x03\0\0"s, FileKind::kIdx, "IDX"},
      {FrameRecord("one"), FileKind::kRecords, "TFRecord"},
      {"{\"a\": 1}", FileKind::kJson, "JSON"},
      {"a,b\n1,2\n", FileKind::kText, "text"},
      {std::string(600, '\0'), FileKind::kZeroes, "zeroes"},
      {"", FileKind::kEmpty, "empty"},
      {"\x01\x02\x03"s, FileKind::kUnknown, ""},
  };
  for (const auto& [first, kind, what] : cases) {
    EXPECT_EQ(KindOf(first).kind, kind) << what;
    EXPECT_THAT(std::string(KindOf(first).what), HasSubstr(what));
  }
}

// A record of 0x8b1f bytes begins as gzip does.
TEST(FileKindTest, ARecordIsOneWhateverItsLength) {
  const std::string record = FrameRecord(std::string(0x8b1f, 'x'));
  ASSERT_EQ(record.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(KindOf(record).kind, FileKind::kRecords);
}

TEST(FileKindTest, TheNoteSaysNothingOfWhatWasWanted) {
  EXPECT_EQ(KindNote("a,b\n", FileKind::kText), "");
  EXPECT_EQ(KindNote("[1],2\n", FileKind::kText), "");
  EXPECT_EQ(KindNote("\x01\x02", FileKind::kRecords), "");
  EXPECT_EQ(KindNote("a,b\n", FileKind::kUnknown), "");
  EXPECT_EQ(KindNote("a,b\n", FileKind::kRecords), "; it is text");
  EXPECT_EQ(KindNote("\x1f\x8b", FileKind::kRecords, true),
            "; what was packed in it is packed with gzip");
}

}  // namespace
}  // namespace taas
