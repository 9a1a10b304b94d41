#include "trainer/data/data_identity.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class DataIdentityTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, const std::string& text) {
    const std::string dir = ::testing::TempDir() + "/" + name.substr(0, name.find('/'));
    EXPECT_THAT(files_.MakeDirs(dir), IsOk());
    EXPECT_THAT(files_.WriteAtomically(::testing::TempDir() + "/" + name, text), IsOk());
    return ::testing::TempDir() + "/" + name;
  }
  std::string Of(const std::vector<std::string>& paths, int64_t examples = 7) {
    const auto identity = IdentifyFiles(files_, paths, examples);
    EXPECT_THAT(identity, IsOk());
    return identity.value_or("");
  }

  PosixFileSystem files_;
};

TEST_F(DataIdentityTest, APersonSeesWhichDataItIs) {
  const std::string a = Put("one/a", "abc"), b = Put("one/b", "defg");
  EXPECT_THAT(Of({a, b}),
              StartsWith("7 examples in 2 files, a to b, 7 bytes, fingerprint "));
  EXPECT_THAT(Of({a}), StartsWith("7 examples in file a, 3 bytes, fingerprint "));
}

// Symptom: a file that was added between two runs, or a listing out of date on one replica, gave
// another order of examples, and nobody saw it.
TEST_F(DataIdentityTest, WhatMattersChangesIt) {
  const std::string large(20'000, 'x');
  const std::string a = Put("one/a", large), b = Put("one/b", "defg");
  const std::string same = Of({a, b});
  EXPECT_EQ(Of({a, b}), same);
  EXPECT_EQ(Of({Put("two/a", large), Put("two/b", "defg")}), same) << "mounted elsewhere";
  EXPECT_NE(Of({b, a}), same) << "another order";
  EXPECT_NE(Of({a}), same) << "a file is missing";
  EXPECT_NE(Of({a, b, Put("one/c", "")}), same) << "a file was added";
  EXPECT_NE(Of({a, b}, 8), same) << "another number of examples";
  EXPECT_NE(Of({a, Put("three/c", "defg")}), same) << "another name";
  EXPECT_NE(Of({a, Put("three/b", "defgh")}), same) << "another size";
  EXPECT_NE(Of({a, Put("three/b", "DEFG")}), same) << "another beginning";
  EXPECT_NE(Of({Put("three/a", large.substr(1) + "y"), b}), same) << "another end";
}

TEST_F(DataIdentityTest, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(IdentifyFiles(files_, {"/none/x"}, 1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/x")));
}

}  // namespace
}  // namespace taas
