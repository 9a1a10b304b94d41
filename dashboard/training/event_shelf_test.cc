#include "dashboard/training/event_shelf.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string FileOf(float loss) {
  return FramedRecord(FileVersionEvent(1)) +
         FramedRecord(SummaryEvent(2, 10, {SimpleValue("loss", loss)}));
}

class EventShelfTest : public testing::Test {
 protected:
  EventShelf& Shelf(EventShelf::Options options = {}) {
    options.dir = dir_;
    return shelf_.emplace(files_, options);
  }
  static std::vector<std::string> Texts(const std::vector<EventShelf::Part>& parts) {
    std::vector<std::string> out;
    for (const EventShelf::Part& part : parts) {
      out.push_back(part.path + " " + std::to_string(part.from) + ".." + std::to_string(part.to));
    }
    return out;
  }
  // What a chief that serves `bytes` under one name has, all of it.
  static void Keep(EventShelf& shelf, const std::string& uid, const std::string& bytes,
                   const std::string& name = "tfevents.1") {
    for (const EventShelf::Part& part :
         shelf.Missing(uid, {{.run = ".", .file = name, .bytes = bytes.size()}}, true)) {
      ASSERT_THAT(shelf.Append(uid, part.path, part.from,
                               bytes.substr(part.from, part.to - part.from)),
                  IsOk());
    }
  }

  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  std::optional<EventShelf> shelf_;
};

TEST_F(EventShelfTest, AsksForWhatIsMissingAndAnswersFromWhatIsThere) {
  EventShelf& shelf = Shelf();
  const std::string whole = FileOf(0.5);
  EXPECT_THAT(Texts(shelf.Missing("u", {{".", "tfevents.1", whole.size()},
                                        {"eval", "tfevents.2", 5}}, true)),
              ElementsAre("./tfevents.1 0.." + std::to_string(whole.size()),
                          "eval/tfevents.2 0..5"));
  ASSERT_THAT(shelf.Append("u", "./tfevents.1", 0, whole.substr(0, 30)), IsOk());
  EXPECT_THAT(Texts(shelf.Missing("u", {{".", "tfevents.1", whole.size()}}, true)),
              ElementsAre("./tfevents.1 30.." + std::to_string(whole.size())));
  EXPECT_EQ(shelf.Ask("u", "/data/plugin/scalars/tags", {}).body.find("loss"), std::string::npos);
  ASSERT_THAT(shelf.Append("u", "./tfevents.1", 30, whole.substr(30)), IsOk());
  EXPECT_THAT(shelf.Ask("u", "/data/plugin/scalars/tags", {}).body, HasSubstr("loss"));
  EXPECT_EQ(shelf.Ask("u", "/data/histograms/tags", {}).status, 200);
  EXPECT_EQ(shelf.Ask("u", "/data/nothing", {}).status, 404);
  EXPECT_THAT(shelf.Append("u", "./tfevents.1", 3, "x"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(EventShelfTest, JobsAreApart) {
  EventShelf& shelf = Shelf();
  Keep(shelf, "u", FileOf(0.5));
  EXPECT_THAT(shelf.Ask("v", "/data/plugin/scalars/tags", {}).body, "{}");
  EXPECT_EQ(shelf.About("u").files, 1u);
  EXPECT_EQ(shelf.About("u").runs, 1u);
  EXPECT_EQ(shelf.About("v").files, 0u);
}

TEST_F(EventShelfTest, FileThatIsGoneOrShorterIsReadAnew) {
  EventShelf& shelf = Shelf();
  Keep(shelf, "u", FileOf(0.5) + FileOf(0.5));
  Keep(shelf, "u", FileOf(0.25));
  EXPECT_EQ(shelf.About("u").bytes, FileOf(0.25).size());
  EXPECT_THAT(shelf.Ask("u", "/data/plugin/scalars/scalars",
                        std::vector<std::pair<std::string, std::string>>{{"run", "."},
                                                                         {"tag", "loss"}})
                  .body,
              HasSubstr("0.25"));
  // Of one replica of two nothing is known: its files stay.
  EXPECT_THAT(Texts(shelf.Missing("u", {}, false)), IsEmpty());
  EXPECT_EQ(shelf.About("u").files, 1u);
  EXPECT_THAT(Texts(shelf.Missing("u", {}, true)), IsEmpty());
  EXPECT_EQ(shelf.About("u").files, 0u);
}

TEST_F(EventShelfTest, OfOneJobNoMoreIsKeptThanTheMost) {
  EventShelf& shelf = Shelf({.job_bytes_max = 10});
  EXPECT_THAT(Texts(shelf.Missing("u", {{".", "tfevents.1", 8}, {".", "tfevents.2", 8}}, true)),
              ElementsAre("./tfevents.1 0..8", "./tfevents.2 0..2"));
  ASSERT_THAT(shelf.Append("u", "./tfevents.1", 0, "12345678"), IsOk());
  EXPECT_THAT(Texts(shelf.Missing("u", {{".", "tfevents.1", 20}}, true)),
              ElementsAre("./tfevents.1 8..10"));
}

TEST_F(EventShelfTest, WhatWasNotAskedForLongestGoesWhenThereIsTooMuch) {
  EventShelf& shelf = Shelf({.bytes_max = 3 * FileOf(1).size()});
  for (const char* uid : {"a", "b", "c"}) Keep(shelf, uid, FileOf(1));
  EXPECT_EQ(shelf.About("a").files, 1u);
  Keep(shelf, "d", FileOf(1));
  EXPECT_EQ(shelf.About("b").files, 0u);
  EXPECT_EQ(shelf.About("a").files, 1u);
  EXPECT_EQ(shelf.About("d").files, 1u);
}

TEST_F(EventShelfTest, RunsThatWereClosedForOthersAreReadAgain) {
  EventShelf& shelf = Shelf({.open_max = 1});
  for (const char* uid : {"a", "b", "c"}) {
    Keep(shelf, uid, FileOf(1));
    EXPECT_THAT(shelf.Ask(uid, "/data/runs", {}).body, HasSubstr("."));
  }
  EXPECT_THAT(shelf.Ask("a", "/data/plugin/scalars/tags", {}).body, HasSubstr("loss"));
}

TEST_F(EventShelfTest, FilesThatCanBeSeenAreReadInPlaceAndLeftAlone) {
  const std::string own = dir_ + "-own";
  ASSERT_THAT(files_.MakeDirs(own + "/eval"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(own + "/events.out.tfevents.1", FileOf(1)), IsOk());
  ASSERT_THAT(files_.WriteAtomically(own + "/eval/events.out.tfevents.2", FileOf(2)), IsOk());
  EventShelf& shelf = Shelf({.jobs_max = 1});
  shelf.ReadInPlace("u", own);
  EXPECT_THAT(shelf.Ask("u", "/data/runs", {}).body, HasSubstr("eval"));
  EXPECT_EQ(shelf.About("u").files, 2u);
  EXPECT_EQ(shelf.About("u").bytes, FileOf(1).size() + FileOf(2).size());
  Keep(shelf, "v", FileOf(1));  // No room for more than one.
  shelf_.reset();
  EXPECT_TRUE(*files_.Exists(own + "/events.out.tfevents.1"));
}

// Symptom: of two jobs with one summaries.dir, as two learning rates are compared, each had points
// of the other in its curves once it was over.
TEST_F(EventShelfTest, FilesOfAnotherJobInTheDirectoryAreNotRead) {
  const std::string own = dir_ + "-own";
  ASSERT_THAT(files_.MakeDirs(own), IsOk());
  const std::string first = own + "/events.out.tfevents.1.host.7.0";
  ASSERT_THAT(files_.WriteAtomically(first + ".of_ml_slow", FileOf(1)), IsOk());
  ASSERT_THAT(files_.WriteAtomically(own + "/events.out.tfevents.2.host.7.0.of_ml_fast", FileOf(9)),
              IsOk());
  EventShelf& shelf = Shelf();
  shelf.ReadInPlace("u", own, "ml/slow");
  EXPECT_EQ(nlohmann::json::parse(shelf.Ask("u", EventShelf::kCurvesPath, {}).body)["series"],
            nlohmann::json::parse(R"({"loss": [[10, 2.0, 1.0]]})"));
  EXPECT_EQ(shelf.About("u").files, 1u);
}

TEST_F(EventShelfTest, CurvesAreThoseOfTheTrainingAndOfTheEvaluator) {
  EventShelf& shelf = Shelf();
  Keep(shelf, "u", FileOf(0.5));
  EXPECT_EQ(nlohmann::json::parse(shelf.Ask("u", EventShelf::kCurvesPath, {}).body),
            nlohmann::json::parse(R"({"series": {"loss": [[10, 2.0, 0.5]]}, "evaluator": {}})"));
  EXPECT_EQ(nlohmann::json::parse(shelf.Ask("none", EventShelf::kCurvesPath, {}).body),
            nlohmann::json::parse(R"({"series": {}, "evaluator": {}})"));
}

// Symptom: one named pipe among the event files of a job, and no question about any job's event
// files was answered any more; a link led to files of somebody else.
TEST_F(EventShelfTest, PipesAndLinksInAVolumeAreNotOpened) {
  const std::string own = dir_ + "-own";
  ASSERT_THAT(files_.MakeDirs(own), IsOk());
  ASSERT_THAT(files_.WriteAtomically(own + "/events.out.tfevents.1", FileOf(1)), IsOk());
  ASSERT_EQ(::mkfifo((own + "/events.out.tfevents.2").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (own + "/events.out.tfevents.3").c_str()), 0);
  EventShelf& shelf = Shelf();
  shelf.ReadInPlace("u", own);
  EXPECT_EQ(shelf.About("u").files, 1u);
  EXPECT_EQ(shelf.About("u").bytes, FileOf(1).size());
}

TEST_F(EventShelfTest, FolderIsEmptyAtTheBeginningAndAtTheEnd) {
  ASSERT_THAT(files_.MakeDirs(dir_ + "/7"), IsOk());
  Keep(Shelf(), "u", FileOf(1));
  EXPECT_THAT(*files_.List(dir_), ElementsAre("1"));
  shelf_.reset();
  EXPECT_FALSE(*files_.Exists(dir_));
}

}  // namespace
}  // namespace taas::dashboard
