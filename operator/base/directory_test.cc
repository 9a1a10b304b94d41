#include "operator/base/directory.h"

#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_directory.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Directory::Entry::Kind;

std::vector<std::pair<std::string, Kind>> ListOf(const Directory& directory) {
  std::vector<std::pair<std::string, Kind>> out;
  const auto entries = directory.List(100);
  EXPECT_THAT(entries, IsOk());
  if (!entries.ok()) return out;
  for (const Directory::Entry& entry : *entries) out.emplace_back(entry.name, entry.kind);
  return out;
}

TEST(DirectoryTest, FilesAreListedByNameAndReadAtAnyPlace) {
  const FakeDirectory fake;
  fake.Write("b", "0123456789");
  fake.Write("a/inner", "x");
  const auto top = Directory::Open(fake.path(), Links::kRefused);
  ASSERT_THAT(top, IsOk());
  EXPECT_THAT(ListOf(*top), ElementsAre(std::pair("a", Kind::kDirectory),
                                        std::pair("b", Kind::kFile)));
  EXPECT_THAT(top->OpenDirectoryIn("a"), IsOk());
  const auto file = top->OpenFileIn("b");
  ASSERT_THAT(file, IsOk());
  char bytes[8];
  EXPECT_EQ(file->ReadAt(7, sizeof(bytes), bytes).value(), 3u);
  EXPECT_EQ(std::string(bytes, 3), "789");
  EXPECT_EQ(file->ReadAt(11, sizeof(bytes), bytes).value(), 0u);
  EXPECT_EQ(file->Identity()->size, 10u);
  EXPECT_EQ(*file->Identity(), *top->IdentityOf("b"));
}

TEST(DirectoryTest, AReplacedFileIsAnotherOneAndAChangedOneIsNot) {
  const FakeDirectory fake;
  fake.Write("a", "1");
  const auto top = Directory::Open(fake.path(), Links::kRefused);
  const FileIdentity before = top->IdentityOf("a").value();
  fake.Append("a", "2");
  const FileIdentity grown = top->IdentityOf("a").value();
  EXPECT_TRUE(grown.IsSameFileAs(before));
  EXPECT_FALSE(grown == before);
  fake.Replace("a", "12");
  EXPECT_FALSE(top->IdentityOf("a")->IsSameFileAs(grown));
}

TEST(DirectoryTest, LinksAreRefusedUnlessAskedFor) {
  const FakeDirectory outside, fake;
  outside.Write("secret", "x");
  fake.Link("to_file", outside.path() + "/secret");
  fake.Link("to_directory", outside.path());
  fake.Link("to_nowhere", "/no/such");
  const auto refusing = Directory::Open(fake.path(), Links::kRefused);
  EXPECT_THAT(ListOf(*refusing), ElementsAre(std::pair("to_directory", Kind::kRefusedLink),
                                             std::pair("to_file", Kind::kFile),
                                             std::pair("to_nowhere", Kind::kFile)));
  EXPECT_THAT(refusing->OpenFileIn("to_file"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("symbolic link")));
  EXPECT_THAT(refusing->IdentityOf("to_file"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_FALSE(refusing->OpenDirectoryIn("to_directory").ok());

  const auto following = Directory::Open(fake.path(), Links::kFollowed);
  EXPECT_THAT(following->OpenFileIn("to_file"), IsOk());
  EXPECT_THAT(following->OpenDirectoryIn("to_directory"), IsOk());
  EXPECT_EQ(ListOf(*following)[0], std::pair(std::string("to_directory"), Kind::kDirectory));
}

TEST(DirectoryTest, APipeIsRefusedAndBlocksNobody) {
  const FakeDirectory fake;
  ASSERT_EQ(::mkfifo((fake.path() + "/pipe").c_str(), 0600), 0);
  const auto top = Directory::Open(fake.path(), Links::kRefused);
  EXPECT_THAT(top->OpenFileIn("pipe"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                HasSubstr("no regular file")));
}

TEST(DirectoryTest, TooManyFilesAreAnError) {
  const FakeDirectory fake;
  fake.Write("a", "");
  fake.Write("b", "");
  const auto top = Directory::Open(fake.path(), Links::kRefused);
  EXPECT_THAT(top->List(2), IsOk());
  EXPECT_THAT(top->List(1), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(DirectoryTest, ErrorsNameThePath) {
  const FakeDirectory fake;
  EXPECT_THAT(Directory::Open(fake.path() + "/none", Links::kRefused),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none")));
  const auto top = Directory::Open(fake.path(), Links::kRefused);
  EXPECT_THAT(top->OpenFileIn("none"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none")));
  EXPECT_THAT(top->IdentityOf("none"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace taas
