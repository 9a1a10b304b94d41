#include "trainer/checkpoint/sorted_table.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "leveldb/env.h"
#include "leveldb/table_builder.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/table_reader.h"

namespace taas {
namespace {

std::map<std::string, std::string> ManyEntries(int count, size_t value_bytes) {
  std::map<std::string, std::string> entries{{"", "header"}};
  for (int i = 0; i < count; ++i) {
    entries["layer" + std::to_string(i) + "/weights"] =
        std::string(value_bytes, static_cast<char>('a' + i % 26));
  }
  return entries;
}

// What a TensorFlow release does that compresses its index.
std::string Compressed(const std::map<std::string, std::string>& entries) {
  class Sink : public leveldb::WritableFile {
   public:
    leveldb::Status Append(const leveldb::Slice& data) override {
      text.append(data.data(), data.size());
      return leveldb::Status::OK();
    }
    leveldb::Status Close() override { return leveldb::Status::OK(); }
    leveldb::Status Flush() override { return leveldb::Status::OK(); }
    leveldb::Status Sync() override { return leveldb::Status::OK(); }
    std::string text;
  } sink;
  leveldb::Options options;
  options.compression = leveldb::kSnappyCompression;
  leveldb::TableBuilder builder(options, &sink);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  EXPECT_TRUE(builder.Finish().ok());
  return sink.text;
}

TEST(SortedTableTest, EntriesComeBackAlsoOverSeveralBlocks) {
  for (const int count : {0, 1, 16, 17, 300}) {
    const auto entries = ManyEntries(count, 5'000);  // 300 × 5,000 bytes: six blocks.
    const auto back = ReadTable(EncodeSortedTable(entries));
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(*back, entries) << count;
  }
}

TEST(SortedTableTest, OutputIsNotCompressed) {
  EXPECT_GT(EncodeSortedTable(ManyEntries(10, 10'000)).size(), 100'000u);
}

TEST(SortedTableTest, OutputIsCompressedIfAskedFor) {
  const auto entries = ManyEntries(100, 1'000);
  const std::string file = EncodeSortedTable(entries, TableCompression::kSnappy);
  EXPECT_LT(file.size(), 50'000u);
  EXPECT_EQ(*ReadTable(file), entries);
}

TEST(SortedTableTest, SnappyBlocksAreRead) {
  const auto entries = ManyEntries(100, 1'000);
  const std::string file = Compressed(entries);
  ASSERT_LT(file.size(), 50'000u) << "the library compresses";
  const auto back = ReadTable(file);
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(*back, entries);
}

TEST(SortedTableTest, EveryFlippedBitAndEveryCutIsAnErrorOrHarmless) {
  const auto entries = ManyEntries(3, 20);
  const std::string file = EncodeSortedTable(entries);
  for (size_t i = 0; i < file.size(); ++i) {
    EXPECT_FALSE(ReadTable(file.substr(0, i)).ok()) << "cut at " << i;
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const auto back = ReadTable(damaged);
    // The footer's padding carries nothing.
    if (back.ok()) {
      EXPECT_EQ(*back, entries) << "bit in byte " << i;
    }
  }
}

}  // namespace
}  // namespace taas
