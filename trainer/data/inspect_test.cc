#include "trainer/data/inspect.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Code = absl::StatusCode;

class InspectTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, std::string_view text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  std::string TextOf(const std::string& path, bool damaged = false) {
    const auto found = InspectFile(files_, path);
    EXPECT_THAT(found, IsOk());
    if (!found.ok()) return "";
    EXPECT_EQ(found->damaged, damaged) << found->text;
    return found->text;
  }
  std::string Records(const std::string& name) {
    const std::string path = ::testing::TempDir() + "/" + name;
    auto writer = RecordWriter::Open(files_, path);
    EXPECT_THAT(writer, IsOk());
    ExampleBuilder builder;
    builder.AddBytes("image", "ab\0\xff"sv);
    builder.AddFloats("weights", std::array{0.5f, 2.0f});
    builder.AddInts("label", std::array<int64_t, 1>{7});
    EXPECT_THAT((*writer)->Append(builder.Take()), IsOk());
    builder.AddBytes("image", "abc");
    builder.AddInts("label", std::array<int64_t, 1>{8});
    EXPECT_THAT((*writer)->Append(builder.Take()), IsOk());
    EXPECT_THAT((*writer)->Close(), IsOk());
    return path;
  }
  PosixFileSystem files_;
};

TEST_F(InspectTest, RecordsTellTheirFeatures) {
  const std::string want =
      "2 records, checksums right\n"
      "  image: bytes, 1 value of 3 to 4 bytes; the first: \"ab\\x00\\xff\"\n"
      "  label: int64, 1 value; the first: 7\n"
      "  weights: float, 2 values, in 1 records; the first: 0.5, 2\n";
  const std::string plain = Records("plain");
  EXPECT_EQ(TextOf(plain), plain + ": TFRecord, not compressed, " + want);
  const std::string packed = Records("packed.gz");
  EXPECT_EQ(TextOf(packed), packed + ": TFRecord, gzip, " + want);
}

TEST_F(InspectTest, DamageIsToldAndCounted) {
  const std::string path = Records("plain");
  std::string text = *files_.ReadAll(path);
  text[20] ^= 1;
  EXPECT_THAT(TextOf(Put("bad", text), true),
              AllOf(HasSubstr("1 records, 1 damaged\n  read "),
                    HasSubstr("record 0 at offset 0: the checksum of its data is wrong"),
                    HasSubstr("the first: 8")));
  text[20] ^= 1;
  text.pop_back();
  EXPECT_THAT(TextOf(Put("cut", text), true),
              AllOf(HasSubstr("1 records, 1 damaged"), HasSubstr("truncated")));
  EXPECT_THAT(TextOf(Put("none.tfrecord", "no records here"), true),
              HasSubstr("not a file of records"));
  EXPECT_THAT(TextOf(Put("empty.tfrecord", "")), HasSubstr("0 records, checksums right"));
}

// Symptom: a file of 9 MB, packed, held one record of 2 GiB: the program took 2 GB, and aborted.
TEST_F(InspectTest, ARecordTooLongToBeShownIsNotTaken) {
  const uint64_t length = uint64_t{2} << 30;
  std::string head(reinterpret_cast<const char*>(&length), sizeof(length));
  const uint32_t crc = MaskedCrc32c(head);
  head.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
  EXPECT_THAT(TextOf(Put("long.gz", GzipCompress(head + std::string(1000, 'x'))), true),
              HasSubstr("record 0 at offset 0: it has 2147483648 bytes, more than 268435456"));
}

TEST_F(InspectTest, RecordsThatAreNoExamplesAreCounted) {
  auto writer = RecordWriter::Open(files_, ::testing::TempDir() + "/others");
  ASSERT_THAT((*writer)->Append("text"), IsOk());
  ASSERT_THAT((*writer)->Close(), IsOk());
  EXPECT_THAT(TextOf(::testing::TempDir() + "/others"),
              HasSubstr("1 records are no tf.train.Example"));
}

TEST_F(InspectTest, OtherFormatsAreTold) {
  EXPECT_THAT(TextOf(Put("x.gz", GzipCompress(EncodeIdx(std::array<int64_t, 2>{4, 2},
                                                        "\1\2\3\4\5\6\7\10"sv)))),
              HasSubstr("x.gz: IDX, uint8, 4 × 2\n  the first: 1, 2, 3, 4, 5, 6, …\n"));
  EXPECT_THAT(TextOf(Put("t.csv", "a,\"b c\"\n1,2\n3,4\n")),
              HasSubstr("CSV, 3 lines, 2 columns\n  a: the first: 1\n  b c: the first: 2\n"));
  EXPECT_THAT(TextOf(Put("ten.bin", "\3" + std::string(3072, 'x'))),
              HasSubstr("CIFAR-10, 1 records, images of 32 × 32 × 3\n  the first label: 3\n"));
  EXPECT_THAT(TextOf(Put("hundred.bin", "\3\x20" + std::string(3072, 'x'))),
              HasSubstr("CIFAR-100, 1 records, images of 32 × 32 × 3\n"
                        "  the first label: 3 (coarse), 32 (fine)\n"));
  EXPECT_THAT(TextOf(Put("other", "GIF89a")),
              HasSubstr("no format that is known, 6 bytes; it is a GIF image\n"
                        "  the first: \"GIF89a\"\n"));
  EXPECT_THAT(TextOf(Put("lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:0")),
              HasSubstr("it is a pointer of Git LFS: `git lfs pull`"));
  EXPECT_THAT(InspectFile(files_, "/none"), StatusIs(Code::kNotFound, HasSubstr("/none")));
  EXPECT_THAT(InspectFile(files_, Put("cut.gz", GzipCompress(std::string(99, 'x')).substr(0, 15))),
              StatusIs(Code::kDataLoss, HasSubstr("cut.gz")));
}

TEST_F(InspectTest, DamagedFilesAreToldOrRefused) {
  const std::string good = *files_.ReadAll(Records("plain"));
  SeededRandom random(2);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good.substr(0, random.Below(good.size()) + 1);
    bad[random.Below(bad.size())] = static_cast<char>(random.Next());
    const auto found = InspectFile(files_, Put("fuzz", bad));
    if (!found.ok()) continue;
    EXPECT_THAT(found->text, StartsWith(::testing::TempDir()));
  }
}

// Symptom: the text that a model of language trains on was of "no format that is known".
TEST_F(InspectTest, ATextTellsItsSizeAndItsFirstLine) {
  const std::string text = TextOf(Put("play.txt", "First Citizen:\nBefore we proceed\n"));
  EXPECT_THAT(text, HasSubstr("play.txt: text, 33 bytes, 2 ends of lines\n"
                              "  the first line: \"First Citizen:\"\n"));
  EXPECT_THAT(text, HasSubstr("data of format text"));
  EXPECT_TRUE(InspectFile(files_, Put("play.txt", "a"))->known);
  EXPECT_FALSE(InspectFile(files_, Put("page", "<!doctype html><p>"))->known);
}

}  // namespace
}  // namespace taas
