#include "trainer/summary/event_pages.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

class EventPagesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_THAT(files_.MakeDirs(DirName(dir_ + "/" + name)), IsOk());
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
  }
  // "run/file bytes" of each.
  static std::vector<std::string> Listed(const EventPages& pages) {
    const auto list = pages.List();
    EXPECT_THAT(list, IsOk());
    std::vector<std::string> out;
    const auto files = nlohmann::json::parse(*list)["files"];
    for (const auto& entry : files) {
      out.push_back(entry["run"].get<std::string>() + "/" + entry["file"].get<std::string>() +
                    " " + std::to_string(entry["bytes"].get<int>()));
    }
    return out;
  }

  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  EventPages pages_{dir_};
};

TEST_F(EventPagesTest, ListsEventFilesOfTheTopAndOneLevelBelow) {
  EXPECT_THAT(Listed(pages_), ElementsAre());  // There is no directory yet.
  Write("events.out.tfevents.1.host", "12345");
  Write("eval/events.out.tfevents.2.host", "12");
  Write("eval/deeper/events.out.tfevents.3.host", "1");
  Write("model.ckpt-10.index", "1");
  Write("events.out.tfevents.4 space", "1");
  EXPECT_THAT(Listed(pages_), ElementsAre("./events.out.tfevents.1.host 5",
                                          "eval/events.out.tfevents.2.host 2"));
  EXPECT_THAT(Listed(EventPages("")), ElementsAre());
}

// Symptom: histograms of the job before, which had written to the same directory.
TEST_F(EventPagesTest, FilesOfOtherJobsAreNotListed) {
  Write("events.out.tfevents.1.host.7.0", "1");
  Write("events.out.tfevents.2.host.7.0.of_team_a", "1");
  Write("eval/events.out.tfevents.3.host.7.0.of_team_b", "1");
  EXPECT_THAT(Listed(EventPages(dir_, "team/a")),
              ElementsAre("./events.out.tfevents.1.host.7.0 1",
                          "./events.out.tfevents.2.host.7.0.of_team_a 1"));
  EXPECT_EQ(Listed(pages_).size(), 3u);
}

TEST_F(EventPagesTest, GivesBytesFromAPlaceOnAndNoMoreThanAPage) {
  Write("events.out.tfevents.1", "12345");
  Write("eval/events.out.tfevents.2", std::string(EventPages::kBytesMax + 1, 'x'));
  EXPECT_EQ(*pages_.Data("file=./events.out.tfevents.1&from=0"), "12345");
  EXPECT_EQ(*pages_.Data("file=./events.out.tfevents.1&from=3"), "45");
  EXPECT_EQ(*pages_.Data("file=./events.out.tfevents.1&from=5"), "");
  EXPECT_EQ(pages_.Data("file=eval/events.out.tfevents.2&from=0")->size(),
            EventPages::kBytesMax);
}

TEST_F(EventPagesTest, ReadsNothingButEventFilesBelowItsDirectory) {
  Write("secret", "1");
  Write("events.out.tfevents.1", "1");
  ASSERT_THAT(files_.WriteAtomically(dir_ + "-events.out.tfevents.9", "1"), IsOk());
  for (const char* query :
       {"", "file=./secret&from=0", "file=../events.out.tfevents.9", "file=events.out.tfevents.1",
        "file=./events.out.tfevents.1/../secret", "file=%2e%2e/events.out.tfevents.1",
        "file=a/b/events.out.tfevents.1", "file=./events.out.tfevents.1&from=-1",
        "file=./events.out.tfevents.1&from=x", "file=/events.out.tfevents.1"}) {
    EXPECT_THAT(pages_.Data(query), StatusIs(absl::StatusCode::kInvalidArgument)) << query;
  }
  EXPECT_THAT(pages_.Data("file=./events.out.tfevents.2&from=0"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(EventPages("").Data("file=./events.out.tfevents.1&from=0"),
              StatusIs(absl::StatusCode::kNotFound));
}

// Symptom: whoever could write to the volume read any file of the pod, or of the user on the local
// cluster, through a link at a port that asks for nothing.
TEST_F(EventPagesTest, LinksAreNotFollowed) {
  Write("eval/events.out.tfevents.1", "12345");
  const std::string secret = dir_ + "-secret";
  ASSERT_THAT(files_.MakeDirs(secret), IsOk());
  ASSERT_THAT(files_.WriteAtomically(secret + "/events.out.tfevents.9", "secret"), IsOk());
  ASSERT_EQ(symlink((secret + "/events.out.tfevents.9").c_str(),
                    (dir_ + "/events.out.tfevents.2.link").c_str()), 0);
  ASSERT_EQ(symlink(secret.c_str(), (dir_ + "/linked").c_str()), 0);
  EXPECT_THAT(Listed(pages_), ElementsAre("eval/events.out.tfevents.1 5"));
  for (const char* file : {"./events.out.tfevents.2.link", "linked/events.out.tfevents.9"}) {
    EXPECT_FALSE(pages_.Data("file=" + std::string(file) + "&from=0").ok()) << file;
  }
}

// Symptom: with a pipe in the directory one question made /status silent for ever.
TEST_F(EventPagesTest, WhatIsNoRegularFileIsPassedOverAndBlocksNobody) {
  Write("events.out.tfevents.1", "12345");
  ASSERT_EQ(mkfifo((dir_ + "/events.out.tfevents.2.fifo").c_str(), 0600), 0);
  ASSERT_THAT(files_.MakeDirs(dir_ + "/events.out.tfevents.3"), IsOk());
  EXPECT_THAT(Listed(pages_), ElementsAre("./events.out.tfevents.1 5"));
  for (const char* file : {"./events.out.tfevents.2.fifo", "./events.out.tfevents.3"}) {
    EXPECT_THAT(pages_.Data("file=" + std::string(file) + "&from=0"),
                StatusIs(absl::StatusCode::kFailedPrecondition))
        << file;
  }
}

}  // namespace
}  // namespace taas
