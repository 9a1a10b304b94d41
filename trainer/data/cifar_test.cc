#include "trainer/data/cifar.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class CifarTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  // The planes hold 10, 20 and 30, but for the second pixel of the first row.
  static std::string Record(const std::string& labels) {
    std::string planes = std::string(1024, 10) + std::string(1024, 20) + std::string(1024, 30);
    planes[1] = 1;
    planes[1024 + 1] = 2;
    planes[2048 + 1] = 3;
    return labels + planes;
  }
  PosixFileSystem files_;
};

TEST_F(CifarTest, PlanesBecomePixels) {
  const std::string one = Put("one.bin", Record("\x07") + Record("\x02"));
  const std::string two = Put("two.bin.gz", GzipCompress(Record("\x09")));
  const auto set = ReadCifar(files_, {one, two}, CifarLabels::kTen);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->classes(), 10);
  EXPECT_THAT(set->labels(), ElementsAre(7, 2, 9));
  EXPECT_EQ(set->image(), (ImageShape{32, 32, 3}));
  std::vector<float> row(3072);
  set->GatherFeatures(std::array<int64_t, 1>{2}, row.data());
  for (size_t i = 0; i < 9; ++i) {
    const float factor = i / 3 == 1 ? 1.0f : 10.0f;
    const float want = static_cast<float>(i % 3 + 1) * factor;
    EXPECT_THAT(row[i], FloatEq(want / 255)) << i;
  }
}

TEST_F(CifarTest, HundredHasTwoLabels) {
  const std::string path = Put("hundred.bin", Record("\x05\x63"));
  const auto fine = ReadCifar(files_, {path}, CifarLabels::kFine);
  ASSERT_THAT(fine, IsOk());
  EXPECT_EQ(fine->classes(), 100);
  EXPECT_THAT(fine->labels(), ElementsAre(99));
  const auto coarse = ReadCifar(files_, {path}, CifarLabels::kCoarse);
  ASSERT_THAT(coarse, IsOk());
  EXPECT_EQ(coarse->classes(), 20);
  EXPECT_THAT(coarse->labels(), ElementsAre(5));
}

TEST_F(CifarTest, FileAndRecordAreNamed) {
  const std::string cut = Put("cut.bin", Record("\x07") + Record("\x02").substr(0, 100));
  EXPECT_THAT(ReadCifar(files_, {cut}, CifarLabels::kTen),
              StatusIs(Code::kDataLoss, HasSubstr(cut + ": record 1: the file is truncated")));
  const std::string wild = Put("wild.bin", Record("\x07") + Record("\x0a"));
  EXPECT_THAT(ReadCifar(files_, {wild}, CifarLabels::kTen),
              StatusIs(Code::kInvalidArgument, HasSubstr(wild + ": record 1: label 10")));
  const std::string empty = Put("empty.bin", "");
  EXPECT_THAT(ReadCifar(files_, {empty}, CifarLabels::kTen),
              StatusIs(Code::kInvalidArgument, HasSubstr(empty + ": it has no examples")));
  const std::string one = Put("one.bin", Record("\x07"));
  EXPECT_THAT(ReadCifar(files_, {empty, one}, CifarLabels::kTen), IsOk());
  const std::string page = Put("page.bin", "<html>");
  EXPECT_THAT(ReadCifar(files_, {page}, CifarLabels::kTen),
              StatusIs(Code::kDataLoss, HasSubstr("6 of 3073 bytes; it is a web page")));
}

}  // namespace
}  // namespace taas
