#include "trainer/data/file_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FileListTest, StarsAndQuestionMarksMatch) {
  for (const auto& [name, pattern] : std::vector<std::pair<const char*, const char*>>{
           {"a", "*"}, {"", "*"}, {"train-1.csv", "train-*.csv"}, {"abcabd", "*abd"},
           {"abc", "a?c"}, {"abc", "**c"}, {"aXbXc", "a*b*c"}, {"abc", "abc*"}, {".a", ".*"},
           {"_a", "_*"}, {"a.crc", "*.crc"}, {"a_b", "*"}}) {
    EXPECT_TRUE(NameMatches(name, pattern)) << name << " " << pattern;
  }
  for (const auto& [name, pattern] : std::vector<std::pair<const char*, const char*>>{
           {"a", ""}, {"a", "?b"}, {"train-1.csv.gz", "train-*.csv"}, {"ac", "a?c"},
           {".hidden", "*"}, {"abc", "*b"}, {"", "?"}, {"_SUCCESS", "*"}, {"_SUCCESS", "?SUCCESS"},
           {".part-0.crc", "*"}, {"part-0.crc", "part-*"}}) {
    EXPECT_FALSE(NameMatches(name, pattern)) << name << " " << pattern;
  }
}

TEST(FileListTest, PatternsBecomeTheFilesInOrder) {
  PosixFileSystem files;
  const std::string dir = ::testing::TempDir() + "/list";
  ASSERT_THAT(files.MakeDirs(dir), IsOk());
  for (const char* name : {"b-2", "a-1", "b-1"}) {
    ASSERT_THAT(files.WriteAtomically(dir + "/" + name, "x"), IsOk());
  }
  const auto paths = ExpandFiles(files, {dir + "/b-*", "/none/plain", dir + "/?-1"});
  ASSERT_THAT(paths, IsOk());
  EXPECT_THAT(*paths, ElementsAre(dir + "/b-1", dir + "/b-2", "/none/plain", dir + "/a-1",
                                  dir + "/b-1"));
  EXPECT_THAT(ExpandFiles(files, {dir + "/c-*"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir + "/c-*: no file matches")));
  // Symptom: _SUCCESS of a directory of Spark's was read as an empty file, and ended the training.
  ASSERT_THAT(files.WriteAtomically(dir + "/_SUCCESS", ""), IsOk());
  ASSERT_THAT(files.WriteAtomically(dir + "/.b-1.crc", "crc"), IsOk());
  EXPECT_THAT(*ExpandFiles(files, {dir + "/*"}),
              ElementsAre(dir + "/a-1", dir + "/b-1", dir + "/b-2"));
  EXPECT_THAT(*ExpandFiles(files, {dir + "/_SUCCESS"}), ElementsAre(dir + "/_SUCCESS"));
  EXPECT_THAT(ExpandFiles(files, {dir + "/*S"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("1 that begin with . or _")));
  EXPECT_THAT(ExpandFiles(files, {"/none/here/*"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/here")));
}

}  // namespace
}  // namespace taas
