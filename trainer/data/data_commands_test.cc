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
  EXPECT_EQ(RunData({"fetch"}), 2);
  EXPECT_EQ(RunData({"fetch", "cifar", "/tmp"}), 2);
  EXPECT_EQ(RunData({"fetch", "mnist", "a", "b"}), 2);
  EXPECT_EQ(RunData({"fetch", "mnist", "a", "--frobnicate"}), 2);
  EXPECT_EQ(RunData({"inspect"}), 2);
  EXPECT_EQ(RunData({"inspect", "a", "--generate"}), 2);
  EXPECT_EQ(RunData({"inspect", "a", "--from", "idx"}), 2);
  EXPECT_EQ(RunData({"convert", "a", "b", "c"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "idx", "--to", "idx", "a", "b", "c"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "idx", "--to", "tfrecord", "a", "b"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "tfrecord", "--to", "tfrecord", "a", "b", "c"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "cifar10", "--to", "tfrecord", "a", "b", "c"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "cifar10", "--to", "cifar100", "a", "b"}), 2);
  EXPECT_EQ(RunData({"convert", "--from", "idx", "--to", "cifar10", "a", "b", "c"}), 2);
  EXPECT_EQ(RunData({"convert", "a", "b", "c", "--from"}), 2);
  EXPECT_EQ(RunData({"--help"}), 0);
  EXPECT_EQ(RunData({}), 0) << "as kubectl, it shows the help";
}

// It printed 25 lines of usage and no word of what was wrong.
TEST(DataCommandsTest, WhichWordIsWrongIsSaid) {
  const auto said = [](const std::vector<std::string>& words) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunData(words), 2);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({"fetch", "minst", "x"}),
            "data: fetch: there is no set \"minst\" to fetch; did you mean \"mnist\"?\n"
            "`data --help` has all forms\n");
  EXPECT_THAT(said({"fetch", "imagenet", "x"}),
              testing::HasSubstr("no set \"imagenet\" to fetch; there is mnist, cifar10, text, "
                                 "clicks\n"));
  EXPECT_THAT(said({"foo"}),
              testing::HasSubstr("no command \"foo\"; there is fetch, inspect, convert\n"));
  EXPECT_THAT(said({"fetsh"}), testing::HasSubstr("\"fetsh\"; did you mean \"fetch\"?"));
  EXPECT_THAT(said({"convert", "--from", "tfrecrod", "--to", "idx", "a", "b", "c"}),
              testing::HasSubstr("--from: there is no format \"tfrecrod\"; did you mean "
                                 "\"tfrecord\"?"));
  EXPECT_THAT(said({"fetch", "mnist", "x", "--genrate"}),
              testing::HasSubstr("no option --genrate; did you mean \"--generate\"?"));
  EXPECT_THAT(said({"fetch", "mnist"}), testing::HasSubstr("into which directory?"));
  EXPECT_THAT(said({"convert", "--from", "idx", "--to", "tfrecord", "a"}),
              testing::HasSubstr("takes 3 paths, not 1"));
  EXPECT_THAT(said({"inspect", "--frobnicate"}), testing::HasSubstr("option --frobnicate"));
}

TEST(DataCommandsTest, AFileOfNoKnownFormatIsNoSuccess) {
  PosixFileSystem files;
  const std::string path = ::testing::TempDir() + "/page";
  ASSERT_THAT(files.WriteAtomically(path, "<!doctype html><p>Not found"), IsOk());
  EXPECT_EQ(RunData({"inspect", path}), 1);
}

TEST(DataCommandsTest, GenerateLaysOutTheFilesWithoutANetwork) {
  PosixFileSystem files;
  const std::string dir = ::testing::TempDir() + "/generated";
  EXPECT_EQ(RunData({"fetch", "mnist", dir, "--generate"}), 0);
  EXPECT_THAT(*files.List(dir), ::testing::SizeIs(5));
  EXPECT_EQ(RunData({"fetch", "mnist", dir}), 0) << "complete: no download is tried";
}

TEST(DataCommandsTest, SetsAreConvertedAndInspected) {
  PosixFileSystem files;
  const std::string dir = ::testing::TempDir() + "/convert";
  ASSERT_EQ(RunData({"fetch", "mnist", dir, "--generate"}), 0);
  const std::string images = dir + "/test-images.gz", labels = dir + "/test-labels.gz";
  const std::string records = dir + "/test.tfrecord";
  EXPECT_EQ(RunData({"convert", "--from", "idx", "--to", "tfrecord", images, labels, records}), 0);
  EXPECT_EQ(RunData({"inspect", images, labels, records}), 0);
  EXPECT_EQ(RunData({"convert", "--to", "idx", "--from", "tfrecord", records, dir + "/x.gz",
                     dir + "/y.gz"}),
            0);
  EXPECT_EQ(*files.ReadAll(dir + "/x.gz"), *files.ReadAll(images));
  EXPECT_EQ(*files.ReadAll(dir + "/y.gz"), *files.ReadAll(labels));
  EXPECT_EQ(RunData({"convert", "--from", "tfrecord", "--to", "tfrecord", records, dir + "/r"}), 0);
  EXPECT_EQ(*files.ReadAll(dir + "/r"), *files.ReadAll(records));
  ASSERT_THAT(files.WriteAtomically(dir + "/c", std::string(2 * 3074, '\x05')), IsOk());
  EXPECT_EQ(RunData({"convert", "--from", "cifar100", "--to", "tfrecord", dir + "/c", dir + "/r"}),
            0);
  EXPECT_EQ(RunData({"convert", "--from", "tfrecord", "--to", "cifar100", dir + "/r", dir + "/d"}),
            0);
  EXPECT_EQ(*files.ReadAll(dir + "/d"), *files.ReadAll(dir + "/c"));
  EXPECT_EQ(RunData({"convert", "--from", "tfrecord", "--to", "cifar10", dir + "/r", dir + "/d"}),
            0);
  EXPECT_EQ(RunData({"convert", "--from", "cifar100", "--to", "tfrecord", dir + "/d", dir + "/r"}),
            1);
  std::string text = *files.ReadAll(records);
  text[text.size() / 2] ^= 1;
  ASSERT_THAT(files.WriteAtomically(records, text), IsOk());
  EXPECT_EQ(RunData({"inspect", records}), 1);
  EXPECT_EQ(RunData({"convert", "--from", "tfrecord", "--to", "idx", records, "a", "b"}), 1);
  EXPECT_EQ(RunData({"inspect", dir + "/none"}), 1);
}

TEST(DataCommandsTest, TargetThatCannotBeMadeIsAFailure) {
  PosixFileSystem files;
  const std::string file = ::testing::TempDir() + "/file";
  ASSERT_THAT(files.WriteAtomically(file, "x"), IsOk());
  EXPECT_EQ(RunData({"fetch", "mnist", file + "/dir", "--generate"}), 1);
}

}  // namespace
}  // namespace taas
