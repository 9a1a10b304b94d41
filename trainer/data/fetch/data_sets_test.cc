// Each data set, made without a network, is what the trainer reads under its name.

#include "trainer/data/fetch/data_sets.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/cifar.h"
#include "trainer/data/fetch/fetch_cifar.h"
#include "trainer/data/fetch/tar_entry.h"
#include "trainer/data/gzip.h"
#include "trainer/data/text.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DataSetsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    target_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.RemoveAll(target_), IsOk());
  }
  std::string Path(const std::string& name) { return target_ + "/" + name; }
  Dataset Cifar(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(Path(name));
    auto set = ReadCifar(files_, paths, CifarLabels::kTen);
    EXPECT_THAT(set, IsOk());
    return *std::move(set);
  }

  PosixFileSystem files_;
  std::string target_;
};

TEST_F(DataSetsTest, EachHasANameOfItsOwnAndASentence) {
  std::set<std::string> names;
  for (const DataSet& set : DataSets()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name;
    EXPECT_NE(std::string(set.what), "");
  }
  EXPECT_EQ(names, (std::set<std::string>{"cifar10", "clicks", "mnist", "text"}));
}

TEST_F(DataSetsTest, DrawnPicturesAreFilesOfCifar10) {
  const auto fetched = FetchCifar10(files_, {.target = target_});
  ASSERT_THAT(fetched, IsOk());
  EXPECT_THAT(fetched->source, StartsWith("drawn pictures (no CIFAR-10): 4000 to train, 500"));
  const Dataset train = Cifar({"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                               "data_batch_4.bin", "data_batch_5.bin"});
  EXPECT_EQ(train.examples(), 4'000);
  EXPECT_EQ(train.classes(), 10);
  const Dataset test = Cifar({"test_batch.bin"});
  EXPECT_EQ(test.examples(), 500);
  std::map<int32_t, int> counts;
  for (const int32_t label : test.labels()) ++counts[label];
  EXPECT_EQ(counts.size(), 10u) << "each class is there";
  std::vector<uint8_t> one(3'072), other(3'072);
  const int64_t first = 0, second = 1;
  test.GatherPixels(std::span(&first, 1), one.data());
  test.GatherPixels(std::span(&second, 1), other.data());
  EXPECT_NE(one, other);
  const auto [least, most] = std::ranges::minmax(one);
  EXPECT_LT(least, 80);
  EXPECT_GT(most, 176);
}

TEST_F(DataSetsTest, TheArchiveOfCifar10IsUnpackedIntoItsFiles) {
  std::string archive = TarEntry("cifar-10-batches-bin/", "", '5');
  for (const char* name : {"data_batch_5.bin", "data_batch_1.bin", "readme.html",
                           "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin"}) {
    archive += TarEntry(std::string("cifar-10-batches-bin/") + name, name);
  }
  const std::string test = TarEntry("cifar-10-batches-bin/test_batch.bin", "the test");
  ASSERT_THAT(files_.MakeDirs(target_), IsOk());
  const auto content = UnpackCifar10(files_, target_, GzipCompress(archive + test + kTarEnd));
  ASSERT_THAT(content, IsOk());
  ASSERT_EQ(content->files.size(), 6u);
  EXPECT_EQ(content->files[0], std::pair(std::string("data_batch_1.bin"),
                                         std::string("data_batch_1.bin")));
  EXPECT_EQ(content->files[5].second, "the test");
  EXPECT_THAT(UnpackCifar10(files_, target_, GzipCompress(archive + kTarEnd)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has no test_batch.bin")));
  EXPECT_THAT(*files_.List(target_), ::testing::IsEmpty());
}

TEST_F(DataSetsTest, AnArchiveOfAnotherChecksumIsNotCifar10) {
  FetchOptions options{.target = target_};
  std::string said;
  options.progress = [&](const std::string& text) { said += text; };
  options.download = [](const std::string&) -> absl::StatusOr<std::string> {
    return GzipCompress("no archive");
  };
  const auto fetched = FetchCifar10(files_, options);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_THAT(said, AllOf(HasSubstr("CIFAR-10 cannot be downloaded"), HasSubstr("SHA-256")));
  EXPECT_THAT(fetched->source, HasSubstr("no CIFAR-10"));
}

TEST_F(DataSetsTest, MadeTextIsSplitNineToOneAndTheSameEachTime) {
  ASSERT_THAT(FetchText(files_, {.target = target_}), IsOk());
  const std::string train = *files_.ReadAll(Path("train.txt"));
  const std::string test = *files_.ReadAll(Path("test.txt"));
  EXPECT_GE(train.size() + test.size(), 400'000u);
  EXPECT_NEAR(static_cast<double>(train.size()), 9.0 * static_cast<double>(test.size()), 2'000);
  EXPECT_EQ(train.back(), '\n');
  EXPECT_THAT(ReadText(files_, {Path("train.txt")}, 64), IsOk());
  ASSERT_THAT(files_.RemoveAll(target_), IsOk());
  ASSERT_THAT(FetchText(files_, {.target = target_}), IsOk());
  EXPECT_EQ(*files_.ReadAll(Path("test.txt")), test);
}

TEST_F(DataSetsTest, ClicksAreATableAndTheLeastLossIsSaid) {
  const auto fetched = FetchClicks(files_, {.target = target_});
  ASSERT_THAT(fetched, IsOk());
  EXPECT_THAT(fetched->source, HasSubstr("no model's loss on the test set is below 0.5"));
  const std::string test = *files_.ReadAll(Path("test.csv"));
  EXPECT_THAT(test, StartsWith("ad,age,hour,income,site,click\nad-"));
  EXPECT_EQ(std::ranges::count(test, '\n'), 20'001);
  const std::string train = *files_.ReadAll(Path("train.csv"));
  EXPECT_EQ(train.find(test.substr(30, 200)), std::string::npos) << "no example is in both";
}

}  // namespace
}  // namespace taas
