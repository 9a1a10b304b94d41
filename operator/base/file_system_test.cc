#include "operator/base/file_system.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::string TempDir(const std::string& name) {
  PosixFileSystem files;
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  EXPECT_TRUE(files.RemoveAll(dir).ok());
  EXPECT_TRUE(files.MakeDirs(dir).ok());
  return dir;
}

TEST(PosixFileSystemTest, WhatIsWrittenAtomicallyIsReadAndLeavesNoTemporary) {
  PosixFileSystem files;
  const std::string dir = TempDir("atomic");
  ASSERT_TRUE(files.WriteAtomically(dir + "/a", "one").ok());
  ASSERT_TRUE(files.WriteAtomically(dir + "/a", "two").ok());
  EXPECT_EQ(files.ReadAll(dir + "/a").value(), "two");
  EXPECT_EQ(files.List(dir).value(), std::vector<std::string>{"a"});
}

TEST(PosixFileSystemTest, FilesWithoutASizeAreReadWhole) {
  PosixFileSystem files;
  EXPECT_NE(files.ReadAll("/proc/self/status").value().find("VmRSS"), std::string::npos);
}

TEST(PosixFileSystemTest, AMissingFileIsNotFoundAndItsMessageNamesThePath) {
  PosixFileSystem files;
  const auto text = files.ReadAll("/nowhere/file");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(text.status().message(), "open /nowhere/file: No such file or directory");
  EXPECT_TRUE(files.Remove("/nowhere/file").ok());
}

TEST(PosixFileSystemTest, ADirectoryInPlaceOfAFileIsAnError) {
  PosixFileSystem files;
  const std::string dir = TempDir("dir");
  EXPECT_FALSE(files.WriteAtomically(dir, "x").ok());
  EXPECT_FALSE(files.ReadAll(dir).ok());
}

// Symptom: a pipe in place of a file hung whoever opened it, for ever.
TEST(PosixFileSystemTest, APipeInPlaceOfAFileIsAnErrorAndNoWait) {
  PosixFileSystem files;
  const std::string path = TempDir("pipe") + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(files.ReadAll(path).status().message(),
            "open " + path + ": it is a pipe, not a file");
}

TEST(PosixFileSystemTest, AppendKeepsWhatIsThereAndReadAtReadsTheMiddle) {
  PosixFileSystem files;
  const std::string path = TempDir("append") + "/a";
  for (const char* part : {"abc", "def"}) {
    auto file = files.OpenAppend(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append(part).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  char middle[16];
  auto file = files.OpenRead(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->ReadAt(2, 2, middle).value(), 2u);
  EXPECT_EQ(std::string(middle, 2), "cd");
  EXPECT_EQ((*file)->ReadAt(5, 16, middle).value(), 1u);
}

TEST(DirNameTest, NamesTheParent) {
  EXPECT_EQ(DirName("a/b/c"), "a/b");
  EXPECT_EQ(DirName("c"), ".");
  EXPECT_EQ(DirName("/c"), "/");
}

}  // namespace
}  // namespace taas
