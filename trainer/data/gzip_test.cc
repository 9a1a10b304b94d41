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
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not a gzip file")));
  EXPECT_THAT(GunzipFile(files_, Write("empty.gz", "")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("it is empty")));
  const auto plain = GunzipFile(files_, Write("plain", "plain text"));
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(*plain, "plain text");
}

TEST_F(GzipTest, MissingFileIsNotFoundAndNamed) {
  EXPECT_THAT(GunzipFile(files_, "/nowhere/train-images.gz"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/train-images.gz")));
}

}  // namespace
}  // namespace taas
