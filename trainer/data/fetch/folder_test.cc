#include "trainer/data/fetch/folder.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    target_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.RemoveAll(target_), IsOk());
  }

  FetchOptions Options(bool network) {
    FetchOptions options{.target = target_};
    options.progress = [this](const std::string& text) { said_ += text + "\n"; };
    if (network) {
      options.download = [this](const std::string& url) -> absl::StatusOr<std::string> {
        asked_.push_back(url);
        if (url == "https://second/set") return served_;
        return absl::UnavailableError("get " + url + ": no route");
      };
    }
    return options;
  }
  SetSource Source() {
    return {.name = "A set",
            .files = {"one", "two"},
            .mirrors = {"https://first/", "https://second/"},
            .published = {"set", kAbc},
            .unpack =
                [](const std::string& text) {
                  return FolderContent{{{"one", text}, {"two", "2"}}, ""};
                },
            .make = [] { return FolderContent{{{"one", "made"}, {"two", "2"}}, "a made set"}; }};
  }
  std::string Read(const std::string& name) { return *files_.ReadAll(target_ + "/" + name); }

  PosixFileSystem files_;
  std::string target_, said_, served_ = "abc";
  std::vector<std::string> asked_;
};

TEST_F(FolderTest, TheFirstMirrorThatHasTheFileCounts) {
  const auto fetched = FetchSet(files_, Options(true), Source());
  ASSERT_THAT(fetched, IsOk());
  EXPECT_EQ(fetched->source, "A set, downloaded");
  EXPECT_FALSE(fetched->was_complete);
  EXPECT_EQ(Read("one"), "abc");
  EXPECT_EQ(Read("source.txt"), "A set, downloaded\n");
  EXPECT_THAT(asked_, ElementsAre("https://first/set", "https://second/set"));
  EXPECT_EQ(said_, "downloaded set\n");
}

TEST_F(FolderTest, WhatIsNotWhatWasPublishedIsNotUsed) {
  served_ = "<html>log in to this network</html>";
  const auto fetched = FetchSet(files_, Options(true), Source());
  ASSERT_THAT(fetched, IsOk());
  EXPECT_EQ(Read("one"), "made");
  EXPECT_THAT(said_, AllOf(HasSubstr("A set cannot be downloaded"), HasSubstr("no route"),
                           HasSubstr("SHA-256 is"), HasSubstr("instead there is a made set")));
}

TEST_F(FolderTest, WithoutANetworkOrAPublishedFileItIsMade) {
  const auto fetched = FetchSet(files_, Options(false), Source());
  ASSERT_THAT(fetched, IsOk());
  EXPECT_EQ(fetched->source, "a made set");
  EXPECT_EQ(said_, "") << "nothing was wrong";
  ASSERT_THAT(files_.RemoveAll(target_), IsOk());
  SetSource source = Source();
  source.published = {};
  EXPECT_EQ(FetchSet(files_, Options(true), source)->source, "a made set");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(FolderTest, ACompleteFolderIsLeftAloneAndAnInterruptedOneFilledAnew) {
  ASSERT_THAT(FetchSet(files_, Options(false), Source()), IsOk());
  const auto again = FetchSet(files_, Options(true), Source());
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->was_complete);
  EXPECT_EQ(again->source, "a made set");
  EXPECT_TRUE(asked_.empty());
  for (const char* lost : {"two", "source.txt"}) {
    ASSERT_THAT(files_.Remove(target_ + "/" + lost), IsOk());
    const auto anew = FetchSet(files_, Options(true), Source());
    ASSERT_THAT(anew, IsOk());
    EXPECT_FALSE(anew->was_complete) << lost;
    EXPECT_EQ(anew->source, "A set, downloaded");
  }
  EXPECT_THAT(*files_.List(target_), ElementsAre("one", "source.txt", "two"));
}

TEST_F(FolderTest, WhatCannotBeMadeIsAnError) {
  SetSource source = Source();
  source.make = []() -> absl::StatusOr<FolderContent> { return absl::InternalError("no"); };
  EXPECT_THAT(FetchSet(files_, Options(false), source), StatusIs(Code::kInternal));
  EXPECT_THAT(*files_.List(target_), ElementsAre());
}

TEST(Sha256HexTest, KnownTextGivesThePublishedValue) { EXPECT_EQ(Sha256Hex("abc"), kAbc); }

}  // namespace
}  // namespace taas
