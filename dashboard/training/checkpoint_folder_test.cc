#include "dashboard/training/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr time_t kSavedAt = 1'795'273'616;

class CheckpointFolderTest : public testing::Test {
 protected:
  CheckpointFolderTest() {
    EXPECT_NE(mkdtemp(top_.data()), nullptr);
    EXPECT_THAT(files_.MakeDirs(top_ + "/out/ckpt"), IsOk());
  }
  void Put(const std::string& name, size_t bytes) {
    const std::string path = top_ + "/out/ckpt/" + name;
    ASSERT_THAT(files_.WriteAtomically(path, std::string(bytes, 'x')), IsOk());
    const timespec times[2] = {{kSavedAt, 0}, {kSavedAt, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  void PutCheckpoint(int64_t step, size_t bytes) {
    const std::string name = "model.ckpt-" + std::to_string(step);
    Put(name + ".index", 10);
    Put(name + ".data-00000-of-00002", bytes);
    Put(name + ".data-00001-of-00002", bytes);
  }
  std::vector<SavedCheckpoint> List(const std::string& below = "out/ckpt") {
    const auto list = ListCheckpointFolder(top_, below);
    EXPECT_THAT(list, IsOk());
    return list.value_or(std::vector<SavedCheckpoint>());
  }

  PosixFileSystem files_;
  std::string top_ = testing::TempDir() + "/folder.XXXXXX";
};

TEST_F(CheckpointFolderTest, TheNewestComesFirstWithTheBytesOfAllItsFiles) {
  PutCheckpoint(9, 1);
  PutCheckpoint(1000, 500);
  Put("checkpoint", 7);
  Put(".owner", 7);
  const Clock::WallTime at{std::chrono::seconds(kSavedAt)};
  EXPECT_THAT(List(), ElementsAre(SavedCheckpoint{.step = 1000, .bytes = 1010, .saved_at = at},
                                  SavedCheckpoint{.step = 9, .bytes = 12, .saved_at = at}));
  EXPECT_THAT(List("/out//./ckpt/"), SizeIs(2));
}

TEST_F(CheckpointFolderTest, WhatIsNoWholeCheckpointIsLeftOut) {
  Put("model.ckpt-5.data-00000-of-00001", 1);
  for (const char* name : {"model.ckpt-.index", "model.ckpt-5", "model.ckpt--7.index",
                           "model.ckpt-007.index", "model.ckpt--0.index", "model.ckpt-+7.index",
                           "model.ckpt-99999999999999999999.index", "x.ckpt-5.index"}) {
    Put(name, 1);
  }
  ASSERT_EQ(mkdir((top_ + "/out/ckpt/model.ckpt-8.index").c_str(), 0700), 0);
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(CheckpointFolderTest, OfManyTheNewestAreListed) {
  for (int step = 1; step <= 30; ++step) PutCheckpoint(step, 1);
  const auto list = List();
  ASSERT_THAT(list, SizeIs(CheckpointReader::kCheckpointsMax));
  EXPECT_EQ(list.front().step, 30);
  EXPECT_EQ(list.back().step, 21);
}

TEST(CheckpointPartTest, IsTheIndexOrAShardAndNothingElse) {
  for (const char* part : {"index", "data-00000-of-00001", "data-00012-of-12345"}) {
    EXPECT_TRUE(IsCheckpointPart(part)) << part;
  }
  for (const char* part : {"", "meta", "index ", "index.tempstate1", "data-", "data-0-of-1",
                           "data-00000-of-00001x", "data-0000a-of-00001", "data-00000of-00001",
                           "x\"\r\nX: y"}) {
    EXPECT_FALSE(IsCheckpointPart(part)) << part;
  }
}

// Who writes into a volume could have any folder of the machine listed.
TEST_F(CheckpointFolderTest, ALinkBelowTheVolumeIsNotFollowed) {
  PutCheckpoint(5, 1);
  ASSERT_EQ(symlink((top_ + "/out/ckpt").c_str(), (top_ + "/link").c_str()), 0);
  ASSERT_EQ(symlink((top_ + "/out").c_str(), (top_ + "/up").c_str()), 0);
  EXPECT_FALSE(ListCheckpointFolder(top_, "link").ok());
  EXPECT_FALSE(ListCheckpointFolder(top_, "up/ckpt").ok());
  EXPECT_FALSE(ListCheckpointFolder(top_, "not/there").ok());
}

}  // namespace
}  // namespace taas::dashboard
