#include "trainer/data/csv.h"

#include <array>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class CsvTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  absl::StatusOr<Dataset> Read(const std::string& text, const CsvOptions& options) {
    return ReadCsv(files_, {Put("table.csv", text)}, options);
  }
  static std::vector<float> Row(const Dataset& set, int64_t index) {
    std::vector<float> out(static_cast<size_t>(set.features() - set.ids()));
    set.GatherFeatures(std::array{index}, out.data());
    return out;
  }
  static std::vector<int64_t> IdsOf(const Dataset& set, int64_t index) {
    std::vector<int64_t> out(static_cast<size_t>(set.ids()));
    set.GatherIds(std::array{index}, out.data());
    return out;
  }
  PosixFileSystem files_;
};

TEST_F(CsvTest, HeaderNamesTheColumns) {
  const auto set = Read("a,\"b,c\",y\r\n1.5,-2e3,0\r\n\r\n +3 ,.25,1\r\n", {.label_column = "y"});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(set->labels(), ElementsAre(0, 1));
  EXPECT_THAT(Row(*set, 0), ElementsAre(1.5f, -2000));
  EXPECT_THAT(Row(*set, 1), ElementsAre(3, 0.25f));
  const auto one = Read("a,\"b,c\",y\n1,2,0\n", {.columns = {"b,c"}, .label_column = "y"});
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT(Row(*one, 0), ElementsAre(2));
}

TEST_F(CsvTest, IdsAreWholeNumbersOfAnySize) {
  const CsvOptions options{.label_column = "y", .ids = true};
  const auto set = Read("a,b,y\n16777217, 7 ,0\n4611686018427387905,+3.0,1\n", options);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->ids(), 2);
  EXPECT_THAT(IdsOf(*set, 0), ElementsAre(16'777'217, 7));
  EXPECT_THAT(IdsOf(*set, 1), ElementsAre(4'611'686'018'427'387'905, 3));
  EXPECT_THAT(Read("a,y\n1.5,0\n", options),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("line 2, column \"a\": want a whole number, it is \"1.5\"")));
  EXPECT_THAT(Read("a,y\nx,0\n", options),
              StatusIs(Code::kInvalidArgument, HasSubstr("want a number, it is \"x\"")));
}

TEST_F(CsvTest, ColumnsWithoutAHeaderAreNumbers) {
  const auto set = Read("1;2;0\n3;4;1\n",
                        {.header = false, .delimiter = ';', .columns = {"1"}, .label_column = "2"});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(set->labels(), ElementsAre(0, 1));
  EXPECT_THAT(Row(*set, 1), ElementsAre(4));
}

TEST_F(CsvTest, FilesMayHaveTheirColumnsInAnyOrder) {
  const auto set = ReadCsv(files_, {Put("1.csv", "a,b,y\n1,2,0\n"),
                                    Put("2.csv.gz", GzipCompress("y,b,a\n1,4,3\n"))},
                           {.label_column = "y"});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(set->labels(), ElementsAre(0, 1));
  EXPECT_THAT(Row(*set, 1), ElementsAre(3, 4));
}

TEST_F(CsvTest, NoClassesAreARegression) {
  const auto set = Read("a,y\n1,0.5\n2,-7\n", {.label_column = "y", .classes = 0});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->classes(), 0);
  float target = 0;
  set->GatherTargets(std::array<int64_t, 1>{1}, &target);
  EXPECT_EQ(target, -7);
}

TEST_F(CsvTest, MistakesNameFileLineAndColumn) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : {
           Case{"a,y\n1,0\n,1\n", "table.csv: line 3, column \"a\": the value is missing"},
           Case{"a,y\n1,0\n\n2, \n", "table.csv: line 4, column \"y\": the value is missing"},
           Case{"a,y\nred,0\n", "line 2, column \"a\": want a number, it is \"red\"; texts become "
                                 "numbers by data.columns (type vocabulary or hashed)"},
           Case{"a,y\n1x,0\n", "want a number, it is \"1x\""},
           Case{"a,y\nnan,0\n", "want a number, it is \"nan\""},
           Case{"a,y\n1e39,0\n", "line 2, column \"a\": want a finite number, it is infinite"},
           Case{"a,y\n1e999,0\n", "want a number, it is \"1e999\""},
           Case{"a,y\n1,0.5\n", "line 2, column \"y\": label 0.5 is out of range"},
           Case{"a,y\n1\n", "line 2: it has 1 values, want 2"},
           Case{"a,y\n1,2,3\n", "line 2: it has 3 values, want 2"},
           Case{"a,y\n\"1,0\n", "line 2: a quote is not closed"},
           Case{"a,a,y\n1,2,0\n", "line 1: two columns are called \"a\""},
           Case{"a,b\n1,0\n", "table.csv: it has no column \"y\""},
           Case{"a,Y\n1,0\n", "no column \"y\" (did you mean \"Y\"?); its first line has \"a\", "
                              "\"Y\""},
           Case{"a;b;y\n1;2;0\n", "its first line has \"a;b;y\"; is data.csv.delimiter \";\"?"},
           Case{"a\ty\n1\t0\n", "is data.csv.delimiter \"\\t\"?"},
           Case{"1,2,0\n3,4,1\n", "if it is no header, set data.csv.header: false"},
           Case{"a,y\n1,yes\n", "column \"y\": want a number, it is \"yes\"; labels are whole "
                                "numbers from 0"},
           Case{"y\n1\n", "it has no column but the label"},
           Case{"a,y\n", "it has no examples"},
           Case{"", "it has no examples"},
           Case{"\n\n", "it has no examples"},
           Case{"<!DOCTYPE html>\n<title>x</title>", "it is a web page (HTML)"},
           Case{"version https://git-lfs.github.com/spec/v1\noid x\n", "; it is a pointer of Git"},
       }) {
    EXPECT_THAT(Read(c.text, {.label_column = "y"}),
                StatusIs(Code::kInvalidArgument, HasSubstr(c.want)))
        << c.text;
  }
  EXPECT_THAT(Read("1,2\n", {.header = false, .label_column = "2"}),
              StatusIs(Code::kInvalidArgument, HasSubstr("numbers from 0 to 1")));
}

// Symptom: a part file of Spark with a header and no lines ended the training.
TEST_F(CsvTest, FilesWithoutExamplesCountForNothing) {
  const auto set = ReadCsv(files_,
                           {Put("head.csv", "other,y\n"), Put("a.csv", "a,y\n1,0\n"),
                            Put("none.csv", ""), Put("none.csv.gz", GzipCompress("")),
                            Put("b.csv.gz", GzipCompress("a,y\n2,1\n")), Put("zero.csv.gz", "")},
                           {.label_column = "y"});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(set->labels(), ElementsAre(0, 1));
}

TEST_F(CsvTest, DamagedTextIsReadOrRefused) {
  SeededRandom random(5);
  for (int round = 0; round < 2'000; ++round) {
    std::string text = "a,b,y\n1.5,2,0\n-3e2,\"4\",1\n";
    for (int flips = 0; flips < 3; ++flips) {
      text[random.Below(text.size())] = static_cast<char>(random.Next());
    }
    const auto set = Read(text, {.label_column = "y"});
    EXPECT_TRUE(set.ok() || set.status().code() == Code::kInvalidArgument) << set.status();
  }
}

TEST_F(CsvTest, FeatureColumnsReadTextsAndMissingValues) {
  const auto columns = FeatureColumns::Parse(nlohmann::json::parse(R"([
      {"name": "age", "type": "numeric", "default": 40},
      {"name": "group", "type": "bucketized", "source": "age", "boundaries": [18, 35],
       "default": 40},
      {"name": "job", "type": "vocabulary", "values": ["cook, chief", "guard"]}])"),
                                             "columns");
  ASSERT_THAT(columns, IsOk());
  const CsvOptions options{.label_column = "y", .feature_columns =
                               std::make_shared<const FeatureColumns>(*columns)};
  const auto set = Read("y,job,unused,age\n1,\"cook, chief\",x, 17 \n0, guard,,\n", options);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->columns(), columns->shapes());
  EXPECT_THAT(set->labels(), ElementsAre(1, 0));
  EXPECT_THAT(Row(*set, 0), ElementsAre(17));
  EXPECT_THAT(IdsOf(*set, 0), ElementsAre(0, 0));
  EXPECT_THAT(Row(*set, 1), ElementsAre(40));
  EXPECT_THAT(IdsOf(*set, 1), ElementsAre(2, 1));
  EXPECT_THAT(Read("y,job,age\n1,guard,2\n1,,2\n", options),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("line 3: column \"job\" of feature \"job\": the value is")));
  EXPECT_THAT(Read("y,age\n1,2\n", options),
              StatusIs(Code::kInvalidArgument, HasSubstr("it has no column \"job\"")));
}

}  // namespace
}  // namespace taas
