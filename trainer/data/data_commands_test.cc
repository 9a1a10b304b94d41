#include "trainer/data/data_commands.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

int RunData(std::vector<std::string> words) {
  words.insert(words.begin(), "data");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return RunDataCommand(static_cast<int>(argv.size()), argv.data());
}

TEST(DataCommandsTest, WrongUsageIsTwo) {
  EXPECT_EQ(RunData({}), 2);
  EXPECT_EQ(RunData({"fetch"}), 2);
  EXPECT_EQ(RunData({"fetch", "cifar", "/tmp"}), 2);
  EXPECT_EQ(RunData({"fetch", "mnist", "a", "b"}), 2);
  EXPECT_EQ(RunData({"fetch", "mnist", "a", "--frobnicate"}), 2);
  EXPECT_EQ(RunData({"--help"}), 0);
}

TEST(DataCommandsTest, GenerateLaysOutTheFilesWithoutANetwork) {
  PosixFileSystem files;
  const std::string dir = ::testing::TempDir() + "/generated";
  EXPECT_EQ(RunData({"fetch", "mnist", dir, "--generate"}), 0);
  EXPECT_THAT(*files.List(dir), ::testing::SizeIs(5));
  EXPECT_EQ(RunData({"fetch", "mnist", dir}), 0) << "complete: no download is tried";
}

TEST(DataCommandsTest, TargetThatCannotBeMadeIsAFailure) {
  PosixFileSystem files;
  const std::string file = ::testing::TempDir() + "/file";
  ASSERT_THAT(files.WriteAtomically(file, "x"), IsOk());
  EXPECT_EQ(RunData({"fetch", "mnist", file + "/dir", "--generate"}), 1);
}

}  // namespace
}  // namespace taas
