#include "localkube/cluster/cluster_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ClusterDirectoryTest : public testing::Test {
 protected:
  ClusterDirectoryTest() {
    top_ = testing::TempDir() + "/directoryXXXXXX";
    EXPECT_NE(::mkdtemp(top_.data()), nullptr);
    dir_ = top_ + "/d";
  }
  ~ClusterDirectoryTest() override { EXPECT_THAT(disk_.RemoveAll(top_), IsOk()); }

  void MakeOld(mode_t mode) {
    ASSERT_EQ(::mkdir(dir_.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(dir_.c_str(), mode), 0);
    for (const char* name : {"lock", "pid"}) {
      ASSERT_THAT(disk_.WriteAtomically(dir_ + "/" + name, "1"), IsOk());
    }
    ASSERT_EQ(::mkdir((dir_ + "/api").c_str(), 0700), 0);
  }
  mode_t Mode(const std::string& name) {
    struct stat info {};
    EXPECT_EQ(::lstat((dir_ + name).c_str(), &info), 0) << name;
    return info.st_mode & 07777;
  }
  absl::Status Make() { return MakeClusterDirectory(disk_, dir_); }

  PosixFileSystem disk_;
  std::string top_;
  std::string dir_;
};

TEST_F(ClusterDirectoryTest, ANewOneIsPrivate) {
  ASSERT_THAT(Make(), IsOk());
  EXPECT_EQ(Mode(""), 0700u);
  EXPECT_THAT(Make(), IsOk()) << "and is taken again";
}

// Another user had made the directory, with a token of his in it; the cluster took it, and he had
// the rights of whoever ran `taas local up --dir`.
TEST_F(ClusterDirectoryTest, WhatBelongsToAnotherUserIsRefused) {
  MakeOld(0700);
  const auto refused = AllOf(HasSubstr("belongs to the user with the number " +
                                       std::to_string(::geteuid())),
                             HasSubstr("name a directory of your own with --dir"));
  EXPECT_THAT(CheckClusterDirectory(disk_, dir_, ::geteuid() + 1),
              StatusIs(absl::StatusCode::kFailedPrecondition, refused));
  EXPECT_EQ(Mode(""), 0700u);
}

TEST_F(ClusterDirectoryTest, AFileInItThatBelongsToAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs: root";  // Only root can give files away.
  MakeOld(0700);
  ASSERT_THAT(disk_.WriteAtomically(dir_ + "/api/token", std::string(64, '7')), IsOk());
  ASSERT_EQ(::chown((dir_ + "/api/token").c_str(), 65534, 65534), 0);
  EXPECT_THAT(Make(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/api/token")));
}

TEST_F(ClusterDirectoryTest, ModesThatAreTooWideAreNarrowed) {
  MakeOld(0777);
  ASSERT_EQ(::chmod((dir_ + "/pid").c_str(), 0666), 0);
  ASSERT_EQ(::chmod((dir_ + "/api").c_str(), 0775), 0);
  ASSERT_THAT(Make(), IsOk());
  EXPECT_EQ(Mode(""), 0700u);
  EXPECT_EQ(Mode("/pid"), 0644u);
  EXPECT_EQ(Mode("/api"), 0755u);
}

// The log was appended to whatever a link of that name led to.
TEST_F(ClusterDirectoryTest, LinksAreNotFollowed) {
  MakeOld(0700);
  const std::string victim = top_ + "/victim";
  ASSERT_THAT(disk_.WriteAtomically(victim, "mine"), IsOk());
  for (const char* name : {"/taas.log", "/pid", "/api/token"}) {
    const std::string path = dir_ + name;
    ::unlink(path.c_str());
    ASSERT_EQ(::symlink(victim.c_str(), path.c_str()), 0);
    EXPECT_THAT(Make(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is a link")));
    ::unlink(path.c_str());
    ASSERT_EQ(::link(victim.c_str(), path.c_str()), 0);
    EXPECT_THAT(Make(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("hard links")));
    ::unlink(path.c_str());
    ASSERT_THAT(disk_.WriteAtomically(dir_ + "/pid", "1"), IsOk());
  }
  ASSERT_EQ(::symlink(victim.c_str(), LogPath(dir_).c_str()), 0);
  EXPECT_FALSE(MakeLogFile(LogPath(dir_)).ok());
  EXPECT_EQ(*disk_.ReadAll(victim), "mine");
}

TEST_F(ClusterDirectoryTest, AUsersOwnLinkToALargeDiskIsFollowed) {
  MakeOld(0700);
  ASSERT_EQ(::mkdir((top_ + "/large").c_str(), 0700), 0);
  ASSERT_EQ(::symlink((top_ + "/large").c_str(), (dir_ + "/volumes").c_str()), 0);
  EXPECT_THAT(Make(), IsOk());
  ASSERT_EQ(::symlink(dir_.c_str(), (top_ + "/link").c_str()), 0);
  EXPECT_THAT(MakeClusterDirectory(disk_, top_ + "/link"), IsOk());
}

TEST_F(ClusterDirectoryTest, TheLogIsTheUsersAlone) {
  ASSERT_THAT(Make(), IsOk());
  const mode_t before = ::umask(0);
  EXPECT_THAT(MakeLogFile(LogPath(dir_)), IsOk());
  ::umask(before);
  EXPECT_EQ(Mode("/taas.log"), 0600u);
  ASSERT_EQ(::chmod(LogPath(dir_).c_str(), 0666), 0);
  EXPECT_THAT(MakeLogFile(LogPath(dir_)), IsOk());
  EXPECT_EQ(Mode("/taas.log"), 0600u);
}

}  // namespace
}  // namespace taas::localkube
