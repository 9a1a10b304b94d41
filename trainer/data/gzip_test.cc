#include "trainer/data/gzip.h"

#include <cstddef>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GzipTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  PosixFileSystem files_;
};

std::string Text(size_t size) {
  SeededRandom random(1);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.Below(8));
  return text;
}

TEST_F(GzipTest, TextComesBackWhateverItsSize) {
  for (const size_t size : {0, 1, 1000, 256 << 10, 1'000'003}) {
    const std::string path = Write("text.gz", GzipCompress(Text(size)));
    const auto back = GunzipFile(files_, path);
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(*back, Text(size));
  }
}

TEST_F(GzipTest, SameTextGivesTheSameBytesWithoutATime) {
  const std::string once = GzipCompress("digits");
  EXPECT_EQ(once, GzipCompress("digits"));
  EXPECT_EQ(once.substr(4, 4), std::string(4, '\0'));  // The time in the header.
}

TEST_F(GzipTest, SmallReadsGiveTheWholeText) {
  const std::string text = Text(10'000);
  auto reader = GzipReader::Open(files_, Write("small.gz", GzipCompress(text)));
  ASSERT_THAT(reader, IsOk());
  std::string back;
  std::vector<uint8_t> part(7);
  for (;;) {
    const auto got = (*reader)->Read(part);
    ASSERT_THAT(got, IsOk());
    back.append(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < part.size()) break;
  }
  EXPECT_EQ(back, text);
}

TEST_F(GzipTest, MembersOfOneFileAreOneText) {
  const auto back =
      GunzipFile(files_, Write("two.gz", GzipCompress("first ") + GzipCompress("second")));
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(*back, "first second");
}

TEST_F(GzipTest, FileCutAnywhereIsTruncatedAndNamed) {
  const std::string whole = GzipCompress(Text(500));
  for (size_t size = 2; size < whole.size(); ++size) {
    const std::string path = Write("cut.gz", whole.substr(0, size));
    EXPECT_THAT(GunzipFile(files_, path),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(path), HasSubstr("truncated"))))
        << size;
  }
}

TEST_F(GzipTest, DamagedFileIsAnError) {
  std::string text = GzipCompress(Text(500));
  text[text.size() - 6] = static_cast<char>(~text[text.size() - 6]);  // In the checksum.
  EXPECT_THAT(GunzipFile(files_, Write("damaged.gz", text)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
}

TEST_F(GzipTest, FileThatClaimsToBeGzipMustBe) {
  EXPECT_THAT(GunzipFile(files_, Write("plain.gz", "plain text")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not a gzip file; it is text")));
  EXPECT_THAT(GunzipFile(files_, Write("page.gz", "<html><h1>Not Found</h1>")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("it is a web page")));
  const auto plain = GunzipFile(files_, Write("plain", "plain text"));
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(*plain, "plain text");
}

// Symptom: an empty part file of Spark among full ones ended the training, since it was no gzip.
TEST_F(GzipTest, AFileOfNoBytesHoldsNothing) {
  const std::string path = Write("empty.gz", "");
  for (const Compression compression :
       {Compression::kAuto, Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    auto reader = GzipReader::Open(files_, path, compression);
    ASSERT_THAT(reader, IsOk());
    uint8_t byte = 0;
    EXPECT_EQ(*(*reader)->Read({&byte, 1}), 0u);
  }
}

// Symptom: files of TFRecordOptions("ZLIB") could not be read.
TEST_F(GzipTest, FramingOfZlibIsReadWhereItIsSaid) {
  // zlib.compress(b"ab" * 20)
  const std::string packed("\x78\x9c\x4b\x4c\x4a\x24\x0a\x02\x00\x38\x7b\x0f\x3d", 13);
  const std::string path = Write("zlib", packed);
  auto reader = GzipReader::Open(files_, path, Compression::kZlib);
  ASSERT_THAT(reader, IsOk());
  EXPECT_STREQ((*reader)->framing(), "zlib");
  std::vector<uint8_t> text(100);
  ASSERT_EQ(*(*reader)->Read(text), 40u);
  EXPECT_EQ(std::string(text.begin(), text.begin() + 4), "abab");
  reader = GzipReader::Open(files_, Write("cut", packed.substr(0, 9)), Compression::kZlib);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->Read(text), StatusIs(absl::StatusCode::kDataLoss,
                                              HasSubstr("the zlib file is truncated after 9")));
  EXPECT_THAT(GzipReader::Open(files_, Write("none", "plain"), Compression::kZlib),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not packed with zlib; it is text")));
  EXPECT_EQ(*GunzipFile(files_, path), packed) << "a file of any bytes may begin so";
}

TEST_F(GzipTest, MissingFileIsNotFoundAndNamed) {
  EXPECT_THAT(GunzipFile(files_, "/nowhere/train-images.gz"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/train-images.gz")));
}

}  // namespace
}  // namespace taas
