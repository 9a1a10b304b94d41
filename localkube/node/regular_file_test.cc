#include "localkube/node/regular_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    std::string dir = testing::TempDir() + "/fileXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    path_ = dir + "/file";
  }
  PosixFileSystem disk_;
  std::string path_;
};

TEST_F(RegularFileTest, TheEndOfAFileIsReadAndSaidToBeOne) {
  ASSERT_THAT(disk_.WriteAtomically(path_, "0123456789"), IsOk());
  EXPECT_EQ(ReadEnd(path_, 4).text, "6789");
  EXPECT_TRUE(ReadEnd(path_, 4).cut);
  EXPECT_EQ(ReadEnd(path_, 10).text, "0123456789");
  EXPECT_FALSE(ReadEnd(path_, 10).cut);
  EXPECT_EQ(ReadEnd(path_ + "-none", 10).text, "");
}

// Symptom: a container that put a pipe where its termination message is read was never seen to end,
// and one that put a link there got another file's content into the status of its pod.
TEST_F(RegularFileTest, NeitherAPipeNorALinkNorADirectoryIsRead) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(OpenRegular(path_), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(ReadEnd(path_, 10).text, "");
  ASSERT_THAT(disk_.WriteAtomically(path_ + "-secret", "secret"), IsOk());
  ASSERT_THAT(disk_.Remove(path_), IsOk());
  ASSERT_EQ(::symlink((path_ + "-secret").c_str(), path_.c_str()), 0);
  EXPECT_FALSE(OpenRegular(path_).ok());
  EXPECT_EQ(ReadEnd(path_, 10).text, "");
  EXPECT_FALSE(OpenRegular(testing::TempDir()).ok());
}

// Symptom: a sparse file of terabytes in its place ended whoever read it for want of memory.
TEST_F(RegularFileTest, OfAFileOfTerabytesOnlyTheEndIsTaken) {
  ASSERT_THAT(disk_.WriteAtomically(path_, ""), IsOk());
  ASSERT_EQ(::truncate(path_.c_str(), off_t{10} << 40), 0);
  EXPECT_EQ(ReadEnd(path_, 3).text, std::string(3, '\0'));
}

}  // namespace
}  // namespace taas::localkube
