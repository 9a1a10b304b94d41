// Bundles that real TensorFlow wrote, read and written again. TAAS_FIXTURES names the directory
// with tf2.21/manifest.json; without it there is nothing to test (the byte vectors of
// bundle_writer_test stand for the format then).

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/bundle_writer.h"

namespace taas {
namespace {

using nlohmann::json;

class TensorflowFixturesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* dir = std::getenv("TAAS_FIXTURES");
    if (dir == nullptr) GTEST_SKIP() << "needs: TAAS_FIXTURES";
    root_ = std::string(dir) + "/tf2.21/";
    manifest_ = json::parse(*files_.ReadAll(root_ + "manifest.json"));
  }

  // Its tensors, written in the order of their places, make the bytes of the files of `prefix`.
  void ExpectRewrittenAlike(const BundleReader& reader, const std::string& prefix) {
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [key, entry] : reader.entries()) order.emplace_back(entry.offset, key);
    std::ranges::sort(order);
    const std::string again = ::testing::TempDir() + "/again";
    auto writer = BundleWriter::Open(files_, again);
    ASSERT_THAT(writer, IsOk());
    for (const auto& [offset, key] : order) {
      const auto value = reader.Read(key);
      ASSERT_THAT(value, IsOk());
      ASSERT_THAT((*writer)->Add(value->View()), IsOk());
    }
    ASSERT_THAT((*writer)->Finish(), IsOk());
    EXPECT_EQ(*files_.ReadAll(BundleIndexPath(again)), *files_.ReadAll(BundleIndexPath(prefix)));
    EXPECT_EQ(*files_.ReadAll(BundleDataPath(again)), *files_.ReadAll(BundleDataPath(prefix)));
  }

  PosixFileSystem files_;
  std::string root_;
  json manifest_;
};

TEST_F(TensorflowFixturesTest, EveryTensorIsReadAndItsChecksumIsRight) {
  int tensors = 0;
  for (const auto& [prefix, checkpoint] : manifest_["checkpoints"].items()) {
    auto reader = BundleReader::Open(files_, root_ + prefix);
    ASSERT_THAT(reader, IsOk());
    EXPECT_THAT((*reader)->VerifyAll(), IsOk()) << prefix;
    for (const auto& [name, entry] : checkpoint["entries"].items()) {
      if (name.empty() || !(*reader)->Has(name)) continue;
      const BundleReader::Entry& got = (*reader)->entries().at(name);
      EXPECT_EQ(static_cast<int>(got.type), entry["dtype_enum"].get<int>()) << name;
      EXPECT_EQ(got.shape, entry["shape"].get<std::vector<int64_t>>()) << name;
      EXPECT_EQ(got.masked_crc, entry["masked_crc32c"].get<uint32_t>()) << name;
      if (!got.partitioned) {
        EXPECT_THAT((*reader)->Read(name), IsOk());
      }
      ++tensors;
    }
  }
  EXPECT_GT(tensors, 20);
}

TEST_F(TensorflowFixturesTest, StringsAreTensorFlows) {
  auto reader = BundleReader::Open(files_, root_ + "one_shard/model.ckpt-1000");
  ASSERT_THAT(reader, IsOk());
  const auto names = (*reader)->Read("names");
  ASSERT_THAT(names, IsOk());
  EXPECT_THAT(names->strings, ::testing::ElementsAre("zero", "", "drei \u00fc"));
}

TEST_F(TensorflowFixturesTest, OurWriterGivesTheSameBytesAsTensorFlow) {
  for (const char* name : {"one_shard/model.ckpt-1000", "mnist_mlp/model.ckpt-1000"}) {
    auto reader = BundleReader::Open(files_, root_ + name);
    ASSERT_THAT(reader, IsOk());
    ExpectRewrittenAlike(**reader, root_ + name);
  }
}

// Files of several older releases, as PREFIX.index and PREFIX.data; s2 and s2tf2 are compressed,
// which our writer does not do.
TEST_F(TensorflowFixturesTest, FilesOfOlderReleasesAreReadAndWritten) {
  for (const char* name : {"d0.13.8", "d0.17.6", "mkl", "s0", "s1", "s2", "s2tf2"}) {
    const std::string source = root_ + "../" + name;
    const std::string prefix = ::testing::TempDir() + "/" + name;
    ASSERT_THAT(files_.WriteAtomically(BundleIndexPath(prefix), *files_.ReadAll(source + ".index")),
                IsOk());
    ASSERT_THAT(files_.WriteAtomically(BundleDataPath(prefix), *files_.ReadAll(source + ".data")),
                IsOk());
    auto reader = BundleReader::Open(files_, prefix);
    ASSERT_THAT(reader, IsOk());
    EXPECT_FALSE((*reader)->entries().empty());
    EXPECT_THAT((*reader)->VerifyAll(), IsOk()) << name;
    SCOPED_TRACE(name);
    if (std::string_view(name).starts_with("s2")) continue;
    ExpectRewrittenAlike(**reader, prefix);
  }
}

}  // namespace
}  // namespace taas
