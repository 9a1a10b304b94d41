#include "trainer/summary/event_pages.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
  EventPages pages_{files_, dir_};
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
  EXPECT_THAT(Listed(EventPages(files_, "")), ElementsAre());
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
  EXPECT_THAT(EventPages(files_, "").Data("file=./events.out.tfevents.1&from=0"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace taas
