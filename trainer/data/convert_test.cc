#include "trainer/data/convert.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class ConvertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }
  std::string Put(const std::string& name, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(dir_ + name, text), IsOk());
    return dir_ + name;
  }
  std::string PutRecord(const std::string& record) {
    auto writer = RecordWriter::Open(files_, dir_ + "records");
    EXPECT_THAT((*writer)->Append(record), IsOk());
    EXPECT_THAT((*writer)->Close(), IsOk());
    return dir_ + "records";
  }
  static std::string Record(std::string_view image, int64_t label, int64_t height) {
    ExampleBuilder builder;
    const int64_t width = 2;
    builder.AddBytes("image_raw", image);
    builder.AddInts("label", {&label, 1});
    builder.AddInts("height", {&height, 1});
    builder.AddInts("width", {&width, 1});
    return builder.Take();
  }
  PosixFileSystem files_;
  std::string dir_;
};

TEST_F(ConvertTest, RecordsAreUnpackedAndCompressedAsTheyAre) {
  const std::string plain = PutRecord(Record("ab", 1, 1));
  ASSERT_THAT(RecordsToRecords(files_, plain, dir_ + "small.gz"), IsOk());
  const auto count = RecordsToRecords(files_, dir_ + "small.gz", dir_ + "again");
  ASSERT_THAT(count, IsOk());
  EXPECT_EQ(*count, 1);
  EXPECT_EQ(*files_.ReadAll(dir_ + "again"), *files_.ReadAll(plain));
  EXPECT_NE(*files_.ReadAll(dir_ + "small.gz"), *files_.ReadAll(plain));
  EXPECT_THAT(RecordsToRecords(files_, Put("none", ""), dir_ + "of_none"),
              StatusIs(Code::kInvalidArgument, HasSubstr("none: it has no records")));
  EXPECT_FALSE(*files_.Exists(dir_ + "of_none"));
}

TEST_F(ConvertTest, ThereAndBackGivesTheSameBytes) {
  const std::string labels = EncodeIdx(std::array<int64_t, 1>{2}, "\xff\x01"sv);
  const std::string grey = EncodeIdx(std::array<int64_t, 3>{2, 2, 3}, "abcdefghi\0\xff\n"sv);
  const std::string colour = EncodeIdx(std::array<int64_t, 4>{2, 1, 2, 3}, "abcdefghijkl");
  for (const std::string& images : {grey, colour}) {
    for (const std::string end : {"", ".gz"}) {
      const IdxFiles source{Put("x", images), Put("y.gz", GzipCompress(labels))};
      const std::string records = dir_ + "records" + end;
      ASSERT_THAT(IdxToRecords(files_, source, records), IsOk());
      const auto count = RecordsToIdx(files_, records, {dir_ + "x2", dir_ + "y2.gz"});
      ASSERT_THAT(count, IsOk());
      EXPECT_EQ(*count, 2);
      EXPECT_EQ(*files_.ReadAll(dir_ + "x2"), images);
      EXPECT_EQ(*files_.ReadAll(dir_ + "y2.gz"), GzipCompress(labels));
    }
  }
}

TEST_F(ConvertTest, IdxFilesThatAreNoImageSetAreRefused) {
  const std::string images = Put("x", EncodeIdx(std::array<int64_t, 3>{2, 1, 1}, "ab"));
  const std::string flat = Put("flat", EncodeIdx(std::array<int64_t, 2>{2, 1}, "ab"));
  const std::string labels = Put("y", EncodeIdx(std::array<int64_t, 1>{2}, "ab"));
  const std::string three = Put("three", EncodeIdx(std::array<int64_t, 1>{3}, "abc"));
  const std::string floats = Put("floats", "\0\0\x0d\x01\0\0\0\x01\0\0\0\0"s);
  EXPECT_THAT(IdxToRecords(files_, {flat, labels}, dir_ + "r"),
              StatusIs(Code::kInvalidArgument, HasSubstr(flat + ": it has 2 dimensions")));
  EXPECT_THAT(IdxToRecords(files_, {images, three}, dir_ + "r"),
              StatusIs(Code::kInvalidArgument, HasSubstr(three + ": want 2 labels")));
  EXPECT_THAT(IdxToRecords(files_, {images, floats}, dir_ + "r"),
              StatusIs(Code::kInvalidArgument, HasSubstr(floats + ": only IDX files of uint8")));
  EXPECT_EQ(*files_.Exists(dir_ + "r"), false);
}

TEST_F(ConvertTest, RecordsThatAreNoImageSetAreRefused) {
  struct Case {
    std::string record;
    const char* text;
  };
  for (const Case& c : {Case{Record("abc", 1, 2), "3 bytes are no image of 2 × 2 × 1"},
                        Case{Record("", 1, 0), "an image of such sizes is none"},
                        Case{Record("ab", 1, INT64_MAX), "an image of such sizes is none"},
                        Case{Record("ab", 256, 1), "256 does not fit into a byte"},
                        Case{"\x0a\0"s, "feature \"image_raw\": want bytes"}}) {
    EXPECT_THAT(RecordsToIdx(files_, PutRecord(c.record), {dir_ + "x", dir_ + "y"}),
                StatusIs(Code::kInvalidArgument,
                         ::testing::AllOf(HasSubstr("record 0"), HasSubstr(c.text))));
  }
  auto writer = RecordWriter::Open(files_, dir_ + "two");
  ASSERT_THAT((*writer)->Append(Record("ab", 1, 1)), IsOk());
  ASSERT_THAT((*writer)->Append(Record("abcd", 1, 2)), IsOk());
  ASSERT_THAT((*writer)->Close(), IsOk());
  EXPECT_THAT(RecordsToIdx(files_, dir_ + "two", {dir_ + "x", dir_ + "y"}),
              StatusIs(Code::kInvalidArgument, HasSubstr("record 1 at offset")));
  EXPECT_THAT(RecordsToIdx(files_, Put("empty", ""), {dir_ + "x", dir_ + "y"}),
              StatusIs(Code::kInvalidArgument, HasSubstr("it has no records")));
  EXPECT_EQ(*files_.Exists(dir_ + "x"), false);
}

}  // namespace
}  // namespace taas
