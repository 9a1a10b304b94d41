// Files of records that real TensorFlow wrote, plain and gzip, read record by record. TAAS_FIXTURES
// names the directory with r0.tfrecord and tf2.21/manifest.json; without it there is nothing to
// test (tensorflow_test lets the TensorFlow of the tests write some).

#include <openssl/sha.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/data/example.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using nlohmann::json;

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", byte);
    text += two;
  }
  return text;
}

class RecordFixturesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* dir = std::getenv("TAAS_FIXTURES");
    if (dir == nullptr) GTEST_SKIP() << "needs: TAAS_FIXTURES";
    root_ = std::string(dir) + "/";
  }
  std::vector<std::string> Read(const std::string& path, bool is_plain) {
    std::vector<std::string> records;
    auto reader = RecordReader::Open(files_, path, {});
    EXPECT_THAT(reader, IsOk());
    if (!reader.ok()) return records;
    EXPECT_EQ((*reader)->is_plain(), is_plain);
    for (;;) {
      const auto record = (*reader)->Next();
      EXPECT_THAT(record, IsOk());
      if (!record.ok() || !*record) return records;
      records.emplace_back(**record);
    }
  }

  PosixFileSystem files_;
  std::string root_;
};

TEST_F(RecordFixturesTest, ImagesAndLabelsAreThoseThatTensorFlowWrote) {
  const json manifest = json::parse(*files_.ReadAll(root_ + "tf2.21/manifest.json"));
  EXPECT_EQ(manifest["tfrecords"].size(), 2u);
  for (const auto& [name, want] : manifest["tfrecords"].items()) {
    SCOPED_TRACE(name);
    std::vector<int64_t> labels;
    std::vector<std::string> digests;
    for (const std::string& record :
         Read(root_ + "tf2.21/" + name, want["compression"] == "none")) {
      std::vector<ExampleFeature> features;
      ASSERT_THAT(FindFeatures(record, &features), IsOk());
      std::map<std::string, FeatureValues> values;
      for (const ExampleFeature& feature : features) {
        ASSERT_THAT(ReadFeature(feature.value, &values[std::string(feature.name)]), IsOk());
      }
      ASSERT_EQ(values.size(), 3u);
      EXPECT_THAT(values["pixels"].ints, ElementsAre(want["pixels"].get<int64_t>()));
      ASSERT_EQ(values["label"].ints.size(), 1u);
      labels.push_back(values["label"].ints[0]);
      ASSERT_EQ(values["image_raw"].bytes.size(), 1u);
      digests.push_back(Sha256(values["image_raw"].bytes[0]));
    }
    EXPECT_EQ(labels, want["labels"].get<std::vector<int64_t>>());
    EXPECT_EQ(digests, want["image_raw_sha256"].get<std::vector<std::string>>());
  }
}

TEST_F(RecordFixturesTest, RecordsOfAnOlderReleaseAreWholeAndWrittenAgainTheSame) {
  const std::string path = root_ + "r0.tfrecord";
  const std::vector<std::string> records = Read(path, /*is_plain=*/true);
  ASSERT_EQ(records.size(), 64u);
  EXPECT_EQ(records[0], *files_.ReadAll(root_ + "rec0.pb"));
  const std::string again = ::testing::TempDir() + "/again";
  auto writer = RecordWriter::Open(files_, again);
  ASSERT_THAT(writer, IsOk());
  for (const std::string& record : records) ASSERT_THAT((*writer)->Append(record), IsOk());
  ASSERT_THAT((*writer)->Close(), IsOk());
  EXPECT_TRUE(*files_.ReadAll(again) == *files_.ReadAll(path));
}

}  // namespace
}  // namespace taas
