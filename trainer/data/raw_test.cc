#include "trainer/data/raw.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

using namespace std::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class RawTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, std::string_view text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  PosixFileSystem files_;
};

TEST_F(RawTest, BytesAreImagesWhereTheShapeIsOne) {
  const auto set = ReadRaw(files_, Put("x.bin", "\0\xff\x33\0"sv), Put("y.bin", "\1\0"sv),
                           {.shape = {1, 2, 1}});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(set->labels(), ElementsAre(1, 0));
  EXPECT_EQ(set->image(), (ImageShape{1, 2, 1}));
  std::array<float, 2> row{};
  set->GatherFeatures(std::array<int64_t, 1>{0}, row.data());
  EXPECT_THAT(row, ElementsAre(0, 1));
  EXPECT_EQ(ImageOfShape({2}), ImageShape());
  EXPECT_EQ(ImageOfShape({2, 3}), (ImageShape{2, 3, 1}));
}

TEST_F(RawTest, NumbersAreLittleEndian) {
  const std::string x = Put("x.bin", GzipCompress("\0\0\x80\x3f\0\0\0\xc0"sv));
  struct Case {
    RawNumber type;
    std::string_view text;
  };
  for (const Case& c : {Case{RawNumber::kUint8, "\2\1"sv},
                        Case{RawNumber::kInt32, "\2\0\0\0\1\0\0\0"sv},
                        Case{RawNumber::kInt64, "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"sv},
                        Case{RawNumber::kFloat32, "\0\0\0\x40\0\0\x80\x3f"sv}}) {
    const auto set = ReadRaw(files_, x, Put("y.bin", c.text),
                             {.type = RawNumber::kFloat32, .shape = {1}, .label_type = c.type});
    ASSERT_THAT(set, IsOk());
    EXPECT_THAT(set->labels(), ElementsAre(2, 1));
    std::array<float, 2> rows{};
    set->GatherFeatures(std::array<int64_t, 2>{0, 1}, rows.data());
    EXPECT_THAT(rows, ElementsAre(1, -2));
  }
}

// Trained on, each would make a model of NaN.
TEST_F(RawTest, NumbersThatAreNotFiniteAreNamed) {
  const std::string one("\0\0\x80\x3f"s), nan("\0\0\xc0\x7f"s), least("\0\0\x80\xff"s);
  const RawOptions options{.type = RawNumber::kFloat32, .shape = {3},
                           .label_type = RawNumber::kFloat32, .classes = 0};
  const std::string x = Put("x.bin", one + one + one + one + one + nan);
  const std::string y = Put("y.bin", one + one);
  EXPECT_THAT(ReadRaw(files_, x, y, options),
              StatusIs(Code::kInvalidArgument, "read " + x + ": example 1, value 2: want a finite "
                                               "number, it is NaN"));
  Put("x.bin", one + one + one + one + one + one);
  ASSERT_THAT(ReadRaw(files_, x, y, options), IsOk());
  Put("y.bin", one + least);
  EXPECT_THAT(ReadRaw(files_, x, y, options),
              StatusIs(Code::kInvalidArgument,
                       "read " + y + ": example 1: want a finite number, it is infinite"));
}

TEST_F(RawTest, MistakesNameTheFile) {
  const std::string x = Put("x.bin", "abcde");
  const std::string y = Put("y.bin", "\0\1"sv);
  EXPECT_THAT(ReadRaw(files_, x, y, {.shape = {2}}),
              StatusIs(Code::kDataLoss, HasSubstr(x + ": example 2 is truncated: it has 1 of 2")));
  EXPECT_THAT(ReadRaw(files_, x, y, {.shape = {5}}),
              StatusIs(Code::kInvalidArgument, HasSubstr(x + ": it has 1 examples, but " + y)));
  EXPECT_THAT(ReadRaw(files_, Put("x.bin", "ab"), y, {.shape = {1}, .classes = 1}),
              StatusIs(Code::kInvalidArgument, HasSubstr(y + ": example 1: label 1")));
  EXPECT_THAT(ReadRaw(files_, Put("x.bin", ""), Put("y.bin", ""), {.shape = {1}}),
              StatusIs(Code::kInvalidArgument, HasSubstr(x + ": it has no examples")));
}

}  // namespace
}  // namespace taas
