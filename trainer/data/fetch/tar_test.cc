#include "trainer/data/fetch/tar.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/fetch/tar_entry.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

TEST(TarTest, FilesAreFoundAndFoldersPassedOver) {
  const std::string archive =
      TarEntry("set/", "", '5') + TarEntry("set/a.bin", "abc") +
      TarEntry("set/long", std::string(1'000, 'x')) + TarEntry("set/none", "") + kTarEnd;
  const auto files = ReadTar(archive);
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].name, "set/a.bin");
  EXPECT_EQ((*files)[0].content, "abc");
  EXPECT_EQ((*files)[1].content.size(), 1'000u);
  EXPECT_EQ((*files)[2].content, "");
}

TEST(TarTest, OneThatIsCutOrIsNoneIsRefusedWithThePlace) {
  const std::string whole = TarEntry("a", std::string(600, 'x'));
  EXPECT_THAT(ReadTar(whole.substr(0, 1'000)),
              StatusIs(Code::kDataLoss, HasSubstr("ends within a file, after 1000 bytes")));
  EXPECT_THAT(ReadTar(whole), StatusIs(Code::kDataLoss)) << "no end";
  EXPECT_THAT(ReadTar(whole + std::string(512, 'y') + kTarEnd),
              StatusIs(Code::kDataLoss, HasSubstr("no header at byte 1536")));
  std::string changed = whole + kTarEnd;
  changed[0] = 'b';
  EXPECT_THAT(ReadTar(changed), StatusIs(Code::kDataLoss, HasSubstr("no header at byte 0")));
  std::string huge = TarEntry("a", "x");
  huge.replace(124, 12, "777777777777");
  EXPECT_THAT(ReadTar(huge + kTarEnd), StatusIs(Code::kDataLoss));
  EXPECT_THAT(ReadTar(""), StatusIs(Code::kDataLoss));
}

}  // namespace
}  // namespace taas
