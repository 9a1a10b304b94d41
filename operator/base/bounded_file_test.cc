#include "operator/base/bounded_file.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

// `truncate -s 10T f; KUBECONFIG=f taas list` died of std::bad_alloc.
TEST(ReadBoundedTest, OfAFileThatIsTooLongNoMoreIsReadThanTheLimit) {
  PosixFileSystem files;
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/long";
  ASSERT_THAT(files.WriteAtomically(path, "begins"), IsOk());
  ASSERT_EQ(::truncate(path.c_str(), int64_t{1} << 40), 0);
  EXPECT_THAT(ReadBounded(files, path, 2 << 20).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("long: longer than 2 MiB")));
  ASSERT_EQ(::truncate(path.c_str(), 200'001), 0);
  EXPECT_THAT(ReadBounded(files, path, 200'000).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("200000 bytes")));
  const absl::StatusOr<std::string> whole = ReadBounded(files, path, 200'001);
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(whole->size(), 200'001u);
  EXPECT_EQ(whole->substr(0, 6), "begins");
}

TEST(ReadBoundedTest, WhatSaysNothingOfItsLengthIsReadToo) {
  PosixFileSystem files;
  const absl::StatusOr<std::string> status = ReadBounded(files, "/proc/self/status", 1 << 20);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(*status, HasSubstr("Pid:"));
  EXPECT_FALSE(ReadBounded(files, "/dev/zero", 1 << 20).ok());
  EXPECT_FALSE(ReadBounded(files, "/no/such/file", 1 << 20).ok());
}

}  // namespace
}  // namespace taas
