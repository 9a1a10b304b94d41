#include "dashboard/history/history_file.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HistoryFileTest : public testing::Test {
 protected:
  HistoryFileTest() {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    path_ = dir_ + "/deeper/history.db";
  }

  std::unique_ptr<SqlFile> OpenWell() {
    auto opened = OpenHistoryFile(path_);
    EXPECT_THAT(opened, IsOk());
    EXPECT_THAT(opened->set_aside, IsEmpty());
    return std::move(opened->file);
  }
  void WriteFile(const std::string& name, const std::string& text) {
    auto file = files_.OpenWrite(name);
    ASSERT_THAT(file, IsOk());
    ASSERT_THAT((*file)->Append(text), IsOk());
    ASSERT_THAT((*file)->Close(), IsOk());
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }
  std::vector<std::string> Names() { return *files_.List(dir_ + "/deeper"); }

  PosixFileSystem files_;
  std::string dir_ = testing::TempDir() + "/history.XXXXXX";
  std::string path_;
};

TEST_F(HistoryFileTest, IsForItsOwnerOnlyWithEverythingBesideIt) {
  const mode_t before = umask(0);
  const auto file = OpenWell();
  ASSERT_THAT(file->Run("INSERT INTO series VALUES (1, 'x')"), IsOk());
  umask(before);
  EXPECT_EQ(ModeOf(path_), 0600u);
  EXPECT_EQ(ModeOf(path_ + "-wal"), 0600u);
}

TEST_F(HistoryFileTest, AFileThatOthersCouldReadIsMadePrivate) {
  OpenWell().reset();
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  OpenWell();
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(HistoryFileTest, KeepsWhatWasWritten) {
  ASSERT_THAT(OpenWell()->Run("INSERT INTO series VALUES (7, 'x')"), IsOk());
  EXPECT_EQ(*OpenWell()->Number("SELECT job FROM series"), 7);
}

TEST_F(HistoryFileTest, ASecondProcessIsToldThatTheFileIsInUse) {
  const auto first = OpenWell();
  EXPECT_THAT(OpenHistoryFile(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another process")));
  EXPECT_THAT(Names(), ElementsAre("history.db", "history.db-wal"));
}

TEST_F(HistoryFileTest, AFileOfALaterVersionIsRefusedAndLeftAlone) {
  ASSERT_THAT(OpenWell()->Run("PRAGMA user_version = 1000"), IsOk());
  const std::string before = *files_.ReadAll(path_);
  EXPECT_THAT(OpenHistoryFile(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("later version")));
  EXPECT_EQ(*files_.ReadAll(path_), before);
  EXPECT_THAT(Names(), ElementsAre("history.db"));
}

TEST_F(HistoryFileTest, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  ASSERT_THAT(files_.MakeDirs(dir_ + "/deeper"), IsOk());
  ASSERT_THAT((*SqlFile::Open(path_))->Run("CREATE TABLE bookmarks (url TEXT)"), IsOk());
  const std::string before = *files_.ReadAll(path_);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  EXPECT_THAT(OpenHistoryFile(path_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                               HasSubstr("another program's database")));
  EXPECT_EQ(*files_.ReadAll(path_), before);
  EXPECT_EQ(ModeOf(path_), 0640u);
}

TEST_F(HistoryFileTest, WhatIsNoDatabaseIsPutAsideAndSaidSo) {
  ASSERT_THAT(files_.MakeDirs(dir_ + "/deeper"), IsOk());
  const std::string noise(5'000, 'n');
  WriteFile(path_, noise);
  {
    const auto opened = OpenHistoryFile(path_);
    ASSERT_THAT(opened, IsOk());
    EXPECT_THAT(opened->set_aside, HasSubstr("history.db.broken-1"));
    EXPECT_THAT(opened->set_aside, HasSubstr("not a database"));
    EXPECT_THAT(opened->file->Run("INSERT INTO series VALUES (1, 'x')"), IsOk());
  }
  EXPECT_EQ(*files_.ReadAll(path_ + ".broken-1"), noise);
}

TEST_F(HistoryFileTest, ItsLogIsPutAsideWithItSinceItIsNoneOfTheNewFiles) {
  ASSERT_THAT(files_.MakeDirs(dir_ + "/deeper"), IsOk());
  WriteFile(path_, "file");
  WriteFile(path_ + "-wal", "its log");
  EXPECT_EQ(*SetHistoryFileAside(path_), path_ + ".broken-1");
  EXPECT_EQ(*files_.ReadAll(path_ + ".broken-1-wal"), "its log");
  EXPECT_THAT(Names(), ElementsAre("history.db.broken-1", "history.db.broken-1-wal"));
}

TEST_F(HistoryFileTest, BrokenFilesDoNotFillTheDisk) {
  for (int i = 0; i < kBrokenFilesMax + 3; ++i) {
    ASSERT_THAT(files_.MakeDirs(dir_ + "/deeper"), IsOk());
    WriteFile(path_, std::string(5'000, static_cast<char>('a' + i)));
    ASSERT_THAT(OpenHistoryFile(path_), IsOk());
  }
  EXPECT_THAT(Names(), ElementsAre("history.db", "history.db.broken-1", "history.db.broken-2",
                                   "history.db.broken-3"));
  EXPECT_EQ((*files_.ReadAll(path_ + ".broken-3"))[0], 'a' + kBrokenFilesMax + 2);
}

TEST_F(HistoryFileTest, AFileWhoseTablesAreGoneIsPutAside) {
  ASSERT_THAT(OpenWell()->Run("DROP TABLE logs"), IsOk());
  EXPECT_THAT(OpenHistoryFile(path_)->set_aside, HasSubstr("tables of its format are missing"));
}

TEST_F(HistoryFileTest, APlaceThatCannotBeWrittenIsAnErrorWithItsPath) {
  WriteFile(dir_ + "/deeper", "a file");
  const auto opened = OpenHistoryFile(path_);
  EXPECT_FALSE(opened.ok());
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("deeper"));
}

class MigrateTest : public HistoryFileTest {
 protected:
  MigrateTest() : file_(*SqlFile::Open(dir_ + "/steps.db")) {}
  const std::unique_ptr<SqlFile> file_;
};

constexpr const char* kNames[] = {"CREATE TABLE people (name TEXT)",
                                  "ALTER TABLE people ADD COLUMN age INTEGER DEFAULT 30"};

TEST_F(MigrateTest, StepsThatAFileHasNotSeenAreRunOnceAndKeepItsRows) {
  ASSERT_THAT(Migrate(file_.get(), std::span(kNames, 1)), IsOk());
  ASSERT_THAT(file_->Run("INSERT INTO people VALUES ('ada')"), IsOk());
  for (int i = 0; i < 2; ++i) ASSERT_THAT(Migrate(file_.get(), kNames), IsOk());
  EXPECT_EQ(*file_->Number("SELECT age FROM people WHERE name = 'ada'"), 30);
  EXPECT_EQ(*file_->Number("PRAGMA user_version"), 2);
}

TEST_F(MigrateTest, AStepThatFailsLeavesTheFileAsItWas) {
  ASSERT_THAT(Migrate(file_.get(), std::span(kNames, 1)), IsOk());
  const char* const steps[] = {kNames[0], kNames[1], "DROP TABLE nothing_of_the_kind"};
  EXPECT_THAT(Migrate(file_.get(), steps),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("format 3")));
  EXPECT_EQ(*file_->Number("PRAGMA user_version"), 1);
  EXPECT_EQ(*file_->Number("SELECT count(*) FROM pragma_table_info('people')"), 1);
}

}  // namespace
}  // namespace taas::dashboard
