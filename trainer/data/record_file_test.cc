#include "trainer/data/record_file.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Records = std::vector<std::string>;

class RecordFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }
  std::string Put(const std::string& name, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
    return dir_ + "/" + name;
  }
  // As many as can be read, and how it ended.
  absl::Status Read(const std::string& path, RecordReader::Options options, Records* records) {
    auto reader = RecordReader::Open(files_, path, options);
    if (!reader.ok()) return reader.status();
    for (;;) {
      const auto record = (*reader)->Next();
      skipped_ = (*reader)->skipped();
      if (!record.ok()) return record.status();
      if (!*record) return absl::OkStatus();
      records->emplace_back(**record);
    }
  }
  Records ReadAll(const std::string& path, RecordReader::Options options = {}) {
    Records records;
    EXPECT_THAT(Read(path, options, &records), IsOk());
    return records;
  }
  absl::Status Fails(const std::string& path, RecordReader::Options options = {}) {
    Records records;
    return Read(path, options, &records);
  }

  PosixFileSystem files_;
  std::string dir_;
  int64_t skipped_ = 0;
};

Records ManySizes() {
  SeededRandom random(3);
  Records records;
  // Around the size of the buffer, where a record is moved or the buffer grows.
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}, size_t{262'127}, size_t{262'128},
                            size_t{262'129}, size_t{262'144}, size_t{1'000'003}, size_t{7}}) {
    std::string& record = records.emplace_back(size, '\0');
    for (char& c : record) c = static_cast<char>(random.Below(40));
  }
  return records;
}

TEST_F(RecordFileTest, WhatIsWrittenIsReadPlainAndCompressed) {
  for (const std::string name : {"a.tfrecord", "a.tfrecord.gz"}) {
    const std::string path = dir_ + "/" + name;
    auto writer = RecordWriter::Open(files_, path);
    ASSERT_THAT(writer, IsOk());
    for (const std::string& record : ManySizes()) {
      ASSERT_THAT((*writer)->Append(record), IsOk());
    }
    ASSERT_THAT((*writer)->Close(), IsOk());
    EXPECT_EQ(ReadAll(path), ManySizes()) << name;
    const bool gzip = files_.ReadAll(path)->substr(0, 2) == "\x1f\x8b";
    EXPECT_EQ(gzip, name == "a.tfrecord.gz");
    EXPECT_THAT(*files_.List(dir_), ::testing::Not(::testing::Contains(HasSubstr(".tmp"))));
  }
}

TEST_F(RecordFileTest, WriterThatIsNotClosedLeavesNothing) {
  {
    auto writer = RecordWriter::Open(files_, dir_ + "/half");
    ASSERT_THAT((*writer)->Append("record"), IsOk());
  }
  EXPECT_THAT(*files_.List(dir_), ElementsAre());
}

TEST_F(RecordFileTest, PlainFileThatBeginsAsGzipDoesIsPlain) {
  const std::string record(0x088b1f, 'x');
  const std::string text = FrameRecord(record);
  ASSERT_EQ(text.substr(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ(ReadAll(Put("odd", text)), Records{record});
}

TEST_F(RecordFileTest, CompressionThatIsSaidIsWhatIsRead) {
  const std::string plain = Put("plain", FrameRecord("a"));
  const std::string packed = Put("packed", GzipCompress(FrameRecord("a")));
  EXPECT_THAT(ReadAll(plain, {.compression = Compression::kNone}), ElementsAre("a"));
  EXPECT_THAT(ReadAll(packed, {.compression = Compression::kGzip}), ElementsAre("a"));
  EXPECT_THAT(Fails(plain, {.compression = Compression::kGzip}),
              StatusIs(Code::kDataLoss, AllOf(HasSubstr(plain), HasSubstr("not a gzip file"))));
  EXPECT_THAT(Fails(packed, {.compression = Compression::kNone}),
              StatusIs(Code::kDataLoss, HasSubstr("not a file of records")));
}

std::string Zlib(const std::string& text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

// Symptom: of files of TFRecordOptions("ZLIB") "the checksum of its length is wrong".
TEST_F(RecordFileTest, FilesPackedWithZlibAreRead) {
  const std::string path = Put("zlib", Zlib(FrameRecord("one") + FrameRecord("two")));
  EXPECT_THAT(ReadAll(path), ElementsAre("one", "two"));
  EXPECT_THAT(ReadAll(path, {.compression = Compression::kZlib}), ElementsAre("one", "two"));
  EXPECT_THAT(ReadAll(Put("none", Zlib(""))), ElementsAre());
  EXPECT_THAT(Fails(path, {.compression = Compression::kGzip}),
              StatusIs(Code::kDataLoss, HasSubstr("not a gzip file; it is packed with zlib")));
  const std::string record(0x5e78, 'x');
  const std::string odd = FrameRecord(record);
  ASSERT_EQ(odd.substr(0, 2), "\x78\x5e");
  EXPECT_EQ(ReadAll(Put("odd", odd)), Records{record}) << "a record may begin as zlib does";
}

// Symptom: of an error page, a pointer of Git LFS and a file packed twice alike it was said that
// "the checksum of its length is wrong".
TEST_F(RecordFileTest, WhatIsNoFileOfRecordsIsNamedForWhatItIs) {
  const struct {
    std::string text;
    const char* what;
  } cases[] = {
      {"version https://git-lfs.github.com/spec/v1\n", "; it is a pointer of Git LFS"},
      {"<!DOCTYPE html><html>", "; it is a web page"},
      {GzipCompress(GzipCompress(FrameRecord("a"))), "; what was packed in it is packed with gzip"},
      {GzipCompress("<html><body>none"), "; what was packed in it is a web page"},
      {"a,b,c\n1,2,3\n4,5,6\n", "; it is text"},
      {"PAR1 and then", "; it is a Parquet file"},
  };
  for (const auto& [text, what] : cases) {
    EXPECT_THAT(Fails(Put("other", text)),
                StatusIs(Code::kDataLoss, AllOf(HasSubstr("not a file of records"),
                                                HasSubstr(what))));
  }
}

TEST_F(RecordFileTest, WhoOnlyLooksNeedNotTakeALongRecord) {
  const std::string path = Put("long", FrameRecord(std::string(1000, 'x')));
  EXPECT_THAT(Fails(path, {.record_bytes_max = 999}),
              StatusIs(Code::kResourceExhausted, HasSubstr("it has 1000 bytes, more than 999")));
  EXPECT_THAT(ReadAll(path, {.record_bytes_max = 1000}), ::testing::SizeIs(1));
}

TEST_F(RecordFileTest, EmptyFileHasNoRecords) {
  EXPECT_THAT(ReadAll(Put("empty", "")), ElementsAre());
  EXPECT_THAT(ReadAll(Put("empty.gz", GzipCompress(""))), ElementsAre());
}

TEST_F(RecordFileTest, WrongChecksumOfDataNamesTheRecordOrIsPassedOver) {
  std::string text = FrameRecord("one") + FrameRecord("two") + FrameRecord("three");
  text[19 + 12] ^= 1;
  for (const std::string& path : {Put("bad", text), Put("bad.gz", GzipCompress(text))}) {
    EXPECT_THAT(Fails(path),
                StatusIs(Code::kDataLoss,
                         HasSubstr("read " + path +
                                   ": record 1 at offset 19: the checksum of its data is wrong")));
    EXPECT_THAT(ReadAll(path, {.skip_bad = true}), ElementsAre("one", "three"));
    EXPECT_EQ(skipped_, 1);
  }
}

TEST_F(RecordFileTest, WrongChecksumOfALengthIsAlwaysAnError) {
  std::string text = FrameRecord("one") + FrameRecord("two");
  text[19] ^= 1;
  const std::string path = Put("bad", text);
  for (const bool skip : {false, true}) {
    EXPECT_THAT(Fails(path, {.skip_bad = skip}),
                StatusIs(Code::kDataLoss, HasSubstr(path + ": record 1 at offset 19: the checksum "
                                                           "of its length is wrong")));
  }
}

TEST_F(RecordFileTest, TruncatedTailNamesTheRecordOrIsPassedOver) {
  const std::string text = FrameRecord("one") + FrameRecord("two");
  for (size_t size = 20; size < text.size(); ++size) {
    const std::string path = Put("cut", text.substr(0, size));
    const std::string want = size < 31 ? "12" : "19";
    EXPECT_THAT(Fails(path),
                StatusIs(Code::kDataLoss,
                         AllOf(HasSubstr(path + ": record 1 at offset 19: the file is truncated"),
                               HasSubstr(std::to_string(size - 19) + " of its " + want))));
    EXPECT_THAT(ReadAll(path, {.skip_bad = true}), ElementsAre("one"));
    EXPECT_EQ(skipped_, 1);
  }
}

TEST_F(RecordFileTest, TruncatedGzipFileNamesTheRecord) {
  const std::string packed = GzipCompress(FrameRecord("one") + FrameRecord("two"));
  const std::string path = Put("cut.gz", packed.substr(0, packed.size() - 9));
  EXPECT_THAT(Fails(path, {.skip_bad = true}),
              StatusIs(Code::kDataLoss, AllOf(HasSubstr(path), HasSubstr("truncated"),
                                              HasSubstr("record "))));
}

// With a right checksum, as of a file that was made to harm.
std::string HeadOf(uint64_t length) {
  std::string head(reinterpret_cast<const char*>(&length), sizeof(length));
  const uint32_t crc = MaskedCrc32c(head);
  return head.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
}

TEST_F(RecordFileTest, LengthThatLiesCostsNoMemory) {
  EXPECT_THAT(Fails(Put("huge", HeadOf(UINT64_MAX) + "x")),
              StatusIs(Code::kResourceExhausted, HasSubstr("record 0 at offset 0: it has 18446")));
  EXPECT_THAT(Fails(Put("large", HeadOf(INT32_MAX) + "x")),
              StatusIs(Code::kDataLoss, HasSubstr("has 13 of its 2147483663 bytes")));
}

TEST_F(RecordFileTest, MissingFileIsNamed) {
  EXPECT_THAT(Fails(dir_ + "/none"), StatusIs(Code::kNotFound, HasSubstr(dir_ + "/none")));
}

// Whatever byte is wrong, the reader ends, and gives no record that was not written.
TEST_F(RecordFileTest, FlippedBytesNeverGiveAWrongRecord) {
  const Records written = {"one", "", std::string(50, 'x'), "four"};
  std::string text;
  for (const std::string& record : written) AppendRecord(record, &text);
  for (const bool gzip : {false, true}) {
    const std::string good = gzip ? GzipCompress(text) : text;
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] ^= static_cast<char>(1 << (at % 8));
      const std::string path = Put("flipped", bad);
      for (const bool skip : {false, true}) {
        Records records;
        const absl::Status end = Read(path, {.skip_bad = skip}, &records);
        // Of gzip's header a few bytes mean nothing, such as the time.
        EXPECT_TRUE(!end.ok() || skipped_ > 0 || gzip) << at;
        EXPECT_THAT(records, ::testing::Each(::testing::AnyOfArray(written))) << at;
      }
    }
  }
}

}  // namespace
}  // namespace taas
