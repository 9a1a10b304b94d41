#include "trainer/data/fetch/fetch_mnist.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class FetchMnistTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string root = ::testing::TempDir() + "/" +
                             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.RemoveAll(root), IsOk());
    target_ = root + "/target";
    data_ = root + "/data";
    ASSERT_THAT(files_.MakeDirs(data_), IsOk());
  }

  FetchOptions Options() {
    FetchOptions options;
    options.target = target_;
    options.progress = [this](const std::string& text) { said_ += text + "\n"; };
    return options;
  }

  // `count` images of 1 × 2 pixels whose pixels and labels tell their number.
  void WriteData(const std::string& set, int count) {
    std::string pixels;
    std::string labels;
    for (int i = 0; i < count; ++i) {
      pixels += {static_cast<char>(i), static_cast<char>(i)};
      labels += static_cast<char>(i % 10);
    }
    const std::array<int64_t, 3> images{count, 1, 2};
    const std::array<int64_t, 1> one{count};
    ASSERT_THAT(files_.WriteAtomically(data_ + "/" + set + "-images-idx3-ubyte.gz",
                                       GzipCompress(EncodeIdx(images, pixels))),
                IsOk());
    ASSERT_THAT(files_.WriteAtomically(data_ + "/" + set + "-labels-idx1-ubyte.gz",
                                       GzipCompress(EncodeIdx(one, labels))),
                IsOk());
  }

  Dataset MustRead(const std::string& set) {
    auto read = ReadLabelledIdx(files_, target_ + "/" + set + "-images.gz",
                                target_ + "/" + set + "-labels.gz", {.classes = 10});
    EXPECT_THAT(read, IsOk());
    return *std::move(read);
  }

  PosixFileSystem files_;
  std::string target_;
  std::string data_;
  std::string said_;
};

TEST_F(FetchMnistTest, TwoClassicFilesAreSplitNineToOneInOrder) {
  WriteData("t10k", 20);
  FetchOptions options = Options();
  options.data_dir = data_;
  const auto fetched = FetchMnist(files_, options);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_FALSE(fetched->was_complete);
  EXPECT_THAT(fetched->source, HasSubstr("IDX files of " + data_)) << "these are not MNIST";
  const Dataset train = MustRead("train");
  const Dataset test = MustRead("test");
  EXPECT_EQ(train.examples(), 18);
  EXPECT_EQ(test.examples(), 2);
  std::array<float, 4> features{};
  const std::array<int64_t, 2> both{0, 1};
  test.GatherFeatures(both, features.data());
  EXPECT_FLOAT_EQ(features[0] * 255, 18);
  EXPECT_FLOAT_EQ(features[2] * 255, 19);
  EXPECT_EQ(test.labels()[1], 9);
  EXPECT_THAT(*files_.List(target_),
              ElementsAre("source.txt", "test-images.gz", "test-labels.gz", "train-images.gz",
                          "train-labels.gz"));
}

TEST_F(FetchMnistTest, FourClassicFilesAreUsedAsTheyAre) {
  WriteData("t10k", 4);
  WriteData("train", 30);
  FetchOptions options = Options();
  options.data_dir = data_;
  ASSERT_THAT(FetchMnist(files_, options), IsOk());
  EXPECT_EQ(MustRead("train").examples(), 30);
  EXPECT_EQ(MustRead("test").examples(), 4);
  EXPECT_EQ(*files_.ReadAll(target_ + "/test-images.gz"),
            *files_.ReadAll(data_ + "/t10k-images-idx3-ubyte.gz"));
}

TEST_F(FetchMnistTest, CompleteDirectoryIsLeftAloneAndAnotherSourceReplacesIt) {
  WriteData("t10k", 20);
  FetchOptions options = Options();
  options.data_dir = data_;
  ASSERT_THAT(FetchMnist(files_, options), IsOk());
  const auto again = FetchMnist(files_, options);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->was_complete);
  WriteData("train", 30);
  const auto other = FetchMnist(files_, options);
  ASSERT_THAT(other, IsOk());
  EXPECT_FALSE(other->was_complete);
  EXPECT_EQ(MustRead("train").examples(), 30);
  EXPECT_TRUE(FetchMnist(files_, Options())->was_complete) << "any source will do";
}

TEST_F(FetchMnistTest, InterruptedFetchIsDoneAgain) {
  WriteData("t10k", 20);
  FetchOptions options = Options();
  options.data_dir = data_;
  ASSERT_THAT(FetchMnist(files_, options), IsOk());
  ASSERT_THAT(files_.Remove(target_ + "/source.txt"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(target_ + "/train-images.gz", "half"), IsOk());
  ASSERT_THAT(FetchMnist(files_, options), IsOk());
  EXPECT_EQ(MustRead("train").examples(), 18);
}

TEST_F(FetchMnistTest, DataDirectoryWithoutTheFilesIsNamed) {
  FetchOptions options = Options();
  options.data_dir = data_;
  EXPECT_THAT(FetchMnist(files_, options),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(data_), HasSubstr("t10k-images-idx3-ubyte.gz"))));
}

TEST_F(FetchMnistTest, WithoutANetworkItSaysSoAndGeneratesTheSameDigitsEachTime) {
  FetchOptions options = Options();
  std::vector<std::string> asked;
  options.download = [&](const std::string& url) -> absl::StatusOr<std::string> {
    asked.push_back(url);
    return absl::UnavailableError("get " + url + ": no route");
  };
  const auto fetched = FetchMnist(files_, options);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_THAT(said_, AllOf(HasSubstr("no route"), HasSubstr("generated instead")));
  EXPECT_THAT(fetched->source, HasSubstr("generated digits"));
  EXPECT_EQ(asked.size(), 2u) << "each mirror once, not once per file";
  EXPECT_THAT(asked, Each(HasSubstr("https://")));
  const Dataset train = MustRead("train");
  EXPECT_EQ(train.examples(), 9'000);
  EXPECT_EQ(train.features(), 784);
  EXPECT_EQ(MustRead("test").examples(), 1'000);
  const std::string once = *files_.ReadAll(target_ + "/test-images.gz");
  ASSERT_THAT(files_.RemoveAll(target_), IsOk());
  ASSERT_THAT(FetchMnist(files_, options), IsOk());
  EXPECT_EQ(*files_.ReadAll(target_ + "/test-images.gz"), once);
}

TEST_F(FetchMnistTest, DownloadWithAnotherChecksumIsNotUsed) {
  FetchOptions options = Options();
  options.download = [](const std::string&) -> absl::StatusOr<std::string> {
    return std::string("<html>log in to this network</html>");
  };
  const auto fetched = FetchMnist(files_, options);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_THAT(said_, HasSubstr("SHA-256 is"));
  EXPECT_THAT(fetched->source, HasSubstr("generated digits"));
}

}  // namespace
}  // namespace taas
