#include "third_party/json.h"
#include "trainer/data/load_data.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class LoadDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }
  void Write(const std::string& name, std::vector<int64_t> shape, const std::string& bytes) {
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/" + name, GzipCompress(EncodeIdx(shape, bytes))),
                IsOk());
  }
  json Spec() {
    Write("x.gz", {3, 1, 2}, "abcdef");
    Write("y.gz", {3}, std::string("\0\1\2", 3));
    Write("tx.gz", {1, 1, 2}, "gh");
    Write("ty.gz", {1}, std::string("\1", 1));
    return {{"format", "idx"},
            {"train", {{"images", dir_ + "/x.gz"}, {"labels", dir_ + "/y.gz"}}},
            {"test", {{"images", dir_ + "/tx.gz"}, {"labels", dir_ + "/ty.gz"}}}};
  }
  PosixFileSystem files_;
  std::string dir_;
};

TEST_F(LoadDataTest, IdxFilesBecomeTrainAndTestSets) {
  const auto sets = LoadData(files_, Spec());
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->train.examples(), 3);
  EXPECT_EQ(sets->train.classes(), 3);
  ASSERT_TRUE(sets->test.has_value());
  EXPECT_EQ(sets->test->examples(), 1);
  EXPECT_EQ(sets->test->classes(), 3) << "as many as in training, whatever the test set holds";
  EXPECT_EQ(sets->source, dir_ + "/x.gz");
}

TEST_F(LoadDataTest, SourceIsWhatStandsBesideTheImages) {
  const json spec = Spec();
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/source.txt", "MNIST, downloaded\nmore\n"), IsOk());
  const auto sets = LoadData(files_, spec);
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->source, "MNIST, downloaded");
}

TEST_F(LoadDataTest, TestLabelThatTrainingNeverSawIsOutOfRange) {
  const json spec = Spec();
  Write("ty.gz", {1}, "\3");
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(dir_ + "/ty.gz"), HasSubstr("label 3 of example 0"))));
}

TEST_F(LoadDataTest, TestImagesOfAnotherSizeAreRefused) {
  const json spec = Spec();
  Write("tx.gz", {1, 1, 3}, "ghi");
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(dir_ + "/tx.gz"), HasSubstr("3 features"))));
}

TEST_F(LoadDataTest, EveryMistakeInTheSpecificationNamesItsField) {
  struct Case {
    const char* spec;
    const char* text;
  };
  for (const Case& c : {
           Case{R"([])", "data: must be an object"},
           Case{R"({"format":"csv"})", "data.format: unknown format \"csv\""},
           Case{R"({"format":1})", "data.format"},
           Case{R"({})", "data.train: is missing"},
           Case{R"({"trian":{}})", "data.trian: unknown field"},
           Case{R"({"train":{"images":"a"}})", "data.train.labels: is missing"},
           Case{R"({"train":{"images":"","labels":"b"}})", "data.train.images"},
           Case{R"({"train":{"images":"a","labels":"b","x":1}})", "data.train.x: unknown field"},
           Case{R"({"format":"generated","train":{}})", "data.train: unknown field"},
           Case{R"({"format":"generated","generated":{"examples":0}})", "data.generated.examples"},
           Case{R"({"format":"generated","generated":{"classes":1.5}})",
                "data.generated.classes"},
           Case{R"({"format":"generated","generated":{"rows":1}})", "data.generated.rows"},
       }) {
    EXPECT_THAT(LoadData(files_, json::parse(c.spec)),
                StatusIs(Code::kInvalidArgument, HasSubstr(c.text)))
        << c.spec;
  }
}

TEST_F(LoadDataTest, GeneratedDataNeedsNoFiles) {
  const auto sets = LoadData(files_, json::parse(R"({"format":"generated","generated":
      {"examples":20,"testExamples":5,"features":4,"classes":3}})"), 7);
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->train.examples(), 20);
  EXPECT_EQ(sets->train.classes(), 3);
  EXPECT_EQ(sets->test->examples(), 5);
  EXPECT_THAT(sets->source, HasSubstr("seed 7"));
  const auto regression = LoadData(files_, json::parse(R"({"format":"generated","generated":
      {"examples":20,"testExamples":0,"classes":0}})"));
  ASSERT_THAT(regression, IsOk());
  EXPECT_EQ(regression->train.target_width(), 1);
  EXPECT_FALSE(regression->test.has_value());
}

}  // namespace
}  // namespace taas
