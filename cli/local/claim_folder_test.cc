#include "cli/local/claim_folder.h"

#include <cstdlib>

#include "gtest/gtest.h"
#include "cli/local/last_time.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

TEST(ClaimFolderTest, ItIsWhatUpWasGivenElseTheClustersOwn) {
  PosixFileSystem files;
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/cluster";
  ASSERT_THAT(files.MakeDirs(dir), IsOk());
  EXPECT_EQ(LocalClaimFolder(dir + "/kubeconfig", "ns", "out"), "") << "no local cluster is there";
  for (const char* file : {"/lock", "/port", "/pid"}) {
    ASSERT_THAT(files.WriteAtomically(dir + file, "1"), IsOk());
  }
  EXPECT_EQ(LocalClaimFolder(dir + "/kubeconfig", "ns", "out"), dir + "/volumes/ns/out");
  ClusterShape shape;
  shape.volumes = {{"out", "/home/me/out"}};
  ASSERT_THAT(SaveForNextTime(files, dir, shape), IsOk());
  EXPECT_EQ(LocalClaimFolder(dir + "/kubeconfig", "ns", "out"), "/home/me/out");
  EXPECT_EQ(LocalClaimFolder(dir + "/kubeconfig", "ns", "other"), dir + "/volumes/ns/other");
}

}  // namespace
}  // namespace taas
