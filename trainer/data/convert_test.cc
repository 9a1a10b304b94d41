#include "trainer/data/convert.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/cifar.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/record_data.h"
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

TEST_F(ConvertTest, ADiskThatFailsLeavesAPairOrNone) {
  const auto put = [this](const char* name, const std::string& label) {
    const std::string path = dir_ + name;
    EXPECT_THAT(IdxToRecords(files_,
                             {Put("x", "\0\0\x08\3\0\0\0\1\0\0\0\1\0\0\0\1"s + label),
                              Put("y", "\0\0\x08\1\0\0\0\1"s + label)},
                             path),
                IsOk());
    return path;
  };
  const std::string first = put("first", "\1"), second = put("second", "\2");
  const IdxFiles target{dir_ + "x3", dir_ + "y3"};
  const auto pair = [&] {
    return files_.ReadAll(target.images).value_or("") + files_.ReadAll(target.labels).value_or("");
  };
  ASSERT_THAT(RecordsToIdx(files_, second, target), IsOk());
  const std::string after = pair();
  FaultFileSystem faulty(files_);
  int mixed = 0, kept = 0;
  for (int operation = 1;; ++operation) {
    ASSERT_THAT(RecordsToIdx(files_, first, target), IsOk());
    const std::string before = pair();
    faulty.FailAt(operation, FaultFileSystem::Kind::kOnce);
    if (RecordsToIdx(faulty, second, target).ok()) break;
    kept += pair() == before ? 1 : 0;
    mixed += pair() != before && pair() != after ? 1 : 0;
    EXPECT_FALSE(*files_.Exists(target.images + ".next")) << operation;
  }
  EXPECT_GE(kept, 10);
  EXPECT_EQ(mixed, 1);  // A name that cannot be given, after the other was.
}

// Records of the labels and an image of which no two planes and no two rows are alike.
std::string Cifar(std::string_view labels) {
  std::string text(labels);
  for (int i = 0; i < 3 * 32 * 32; ++i) {
    text.push_back(static_cast<char>(i + i / 32 * 7 + labels.back()));
  }
  return text;
}

TEST_F(ConvertTest, CifarThereAndBackGivesTheSameBytes) {
  const struct {
    CifarFormat format;
    CifarLabels labels;
    std::string text;
  } cases[] = {{CifarFormat::kTen, CifarLabels::kTen, Cifar("\x09"sv) + Cifar("\0"sv)},
               {CifarFormat::kHundred, CifarLabels::kFine, Cifar("\x13\x63"sv) + Cifar("\0\1"sv)}};
  for (const auto& [format, labels, text] : cases) {
    for (const std::string end : {"", ".gz"}) {
      const std::string source = Put("c" + end, end.empty() ? text : GzipCompress(text));
      const std::string records = dir_ + "records" + end;
      const auto there = CifarToRecords(files_, source, format, records);
      ASSERT_THAT(there, IsOk());
      EXPECT_EQ(*there, 2);
      const auto back = RecordsToCifar(files_, records, format, dir_ + "back" + end);
      ASSERT_THAT(back, IsOk());
      EXPECT_EQ(*back, 2);
      EXPECT_EQ(*files_.ReadAll(dir_ + "back" + end), *files_.ReadAll(source));
      // As a data set the records are what the file is.
      const FeatureSpec image{.name = "image_raw", .kind = FeatureKind::kBytes,
                              .shape = {32, 32, 3}, .raw = RawType::kUint8};
      const auto read = ReadRecords(
          files_, {records},
          {.features = {image, {.name = "label", .kind = FeatureKind::kInt64}}, .label = "label",
           .classes = 100});
      ASSERT_THAT(read, IsOk());
      const auto want = ReadCifar(files_, {source}, labels);
      ASSERT_THAT(want, IsOk());
      EXPECT_THAT(read->set.labels(), testing::ElementsAreArray(want->labels()));
      std::vector<float> got_row(3072), want_row(3072);
      read->set.GatherFeatures(std::array<int64_t, 1>{1}, got_row.data());
      want->GatherFeatures(std::array<int64_t, 1>{1}, want_row.data());
      EXPECT_EQ(got_row, want_row);
    }
  }
}

TEST_F(ConvertTest, ImagesOfIdxFilesBecomeCifar) {
  std::string pixels;
  for (int i = 0; i < 32 * 32; ++i) pixels += "RGB";
  const IdxFiles source{Put("x", EncodeIdx(std::array<int64_t, 4>{1, 32, 32, 3}, pixels)),
                        Put("y", EncodeIdx(std::array<int64_t, 1>{1}, "\x07"))};
  ASSERT_THAT(IdxToRecords(files_, source, dir_ + "records"), IsOk());
  ASSERT_THAT(RecordsToCifar(files_, dir_ + "records", CifarFormat::kTen, dir_ + "cifar"), IsOk());
  EXPECT_EQ(*files_.ReadAll(dir_ + "cifar"), "\x07" + std::string(1024, 'R') +
                                                 std::string(1024, 'G') + std::string(1024, 'B'));
}

TEST_F(ConvertTest, WhatIsNoneOfCifarIsRefused) {
  const auto records = [&](std::string_view labels, CifarFormat format) {
    EXPECT_THAT(CifarToRecords(files_, Put("c", Cifar(labels)), format, dir_ + "r"), IsOk());
    return dir_ + "r";
  };
  const auto expect = [&](const std::string& path, CifarFormat format, const std::string& text) {
    EXPECT_THAT(RecordsToCifar(files_, path, format, dir_ + "target"),
                StatusIs(Code::kInvalidArgument,
                         "read " + path + ": record 0 at offset 0: " + text));
  };
  expect(records("\x0a"sv, CifarFormat::kTen), CifarFormat::kTen,
         "feature \"label\": 10 is out of range, want 0 to 9");
  expect(records("\x14\x63"sv, CifarFormat::kHundred), CifarFormat::kHundred,
         "feature \"coarse_label\": 20 is out of range, want 0 to 19");
  expect(records("\x01"sv, CifarFormat::kTen), CifarFormat::kHundred,
         "feature \"coarse_label\": want int64, the record does not have it");
  const std::string grey = Put("x", EncodeIdx(std::array<int64_t, 3>{1, 2, 3}, "abcdef"));
  ASSERT_THAT(IdxToRecords(files_, {grey, Put("y", EncodeIdx(std::array<int64_t, 1>{1}, "\1"))},
                           dir_ + "grey"),
              IsOk());
  expect(dir_ + "grey", CifarFormat::kTen,
         "feature \"image_raw\": want 3072 bytes of shape [32, 32, 3] of uint8, it has 6");
  const std::string wide =
      Put("x", EncodeIdx(std::array<int64_t, 4>{1, 16, 64, 3}, std::string(3072, 'a')));
  ASSERT_THAT(IdxToRecords(files_, {wide, dir_ + "y"}, dir_ + "wide"), IsOk());
  expect(dir_ + "wide", CifarFormat::kTen,
         "an image of 16 × 64 × 3 is none of CIFAR, whose are 32 × 32 × 3");
  EXPECT_THAT(CifarToRecords(files_, Put("cut", Cifar("\1").substr(1)), CifarFormat::kTen,
                             dir_ + "of_cut"),
              StatusIs(Code::kDataLoss, HasSubstr("cut: record 0: the file is truncated")));
  EXPECT_FALSE(*files_.Exists(dir_ + "of_cut"));
  EXPECT_FALSE(*files_.Exists(dir_ + "target"));
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
