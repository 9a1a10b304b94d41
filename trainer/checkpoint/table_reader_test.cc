#include "trainer/checkpoint/table_reader.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/sorted_table.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

template <typename T>
std::string Fixed(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string Entry(uint64_t shared, const std::string& key, const std::string& value) {
  return Varint(shared) + Varint(key.size()) + Varint(value.size()) + key + value;
}

// A table whose checksums are right, whatever it says.
class Crafted {
 public:
  // Adds a block of these entries and gives its handle.
  std::string Block(const std::string& entries) {
    return Packed(entries + Fixed<uint32_t>(0) + Fixed<uint32_t>(1), 0);
  }
  std::string Packed(const std::string& bytes, char kind) {
    const std::string handle = Varint(file_.size()) + Varint(bytes.size());
    const std::string checked = bytes + kind;
    file_ += checked + Fixed(MaskedCrc32c(checked));
    return handle;
  }
  std::string Finish(const std::string& index) const {
    std::string footer = Varint(0) + Varint(0) + index;
    footer.resize(40);
    return file_ + footer + Fixed(uint64_t{0xdb4775248b80fb57});
  }

 private:
  std::string file_;
};

TEST(TableReaderTest, ACraftedTableWithoutLiesIsRead) {
  Crafted table;
  const std::string first =
      table.Block(Entry(0, "", "h") + Entry(0, "ab", "1") + Entry(1, "c", ""));
  const std::string second = table.Block(Entry(0, "b", "2"));
  const std::string index = table.Block(Entry(0, "ad", first) + Entry(0, "c", second));
  const auto entries = ReadTable(table.Finish(index));
  ASSERT_THAT(entries, IsOk());
  EXPECT_EQ(*entries, (std::map<std::string, std::string>{
                          {"", "h"}, {"ab", "1"}, {"ac", ""}, {"b", "2"}}));
}

// Symptom: an index of 114 bytes ended the trainer, by SIGSEGV or for want of memory: LevelDB took
// as many bytes as a block was said to have, and five more.
TEST(TableReaderTest, SizesOfBlocksAreHeldAgainstTheFile) {
  for (const uint64_t size : {~uint64_t{0}, ~uint64_t{0} - 1, ~uint64_t{0} - 4, ~uint64_t{0} - 5,
                              uint64_t{1} << 63, uint64_t{1} << 40, uint64_t{1} << 33,
                              uint64_t{100}}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, ~size + 1}) {
      Crafted table;
      const std::string handle = Varint(offset) + Varint(size);
      EXPECT_THAT(ReadTable(table.Finish(handle)), StatusIs(Code::kDataLoss)) << "of the footer";
      const std::string index = table.Block(Entry(0, "z", handle));
      EXPECT_THAT(ReadTable(table.Finish(index)),
                  StatusIs(Code::kDataLoss, HasSubstr("bytes from byte")))
          << "of the index";
    }
  }
}

// A few bytes of index for each time that the same block is read.
TEST(TableReaderTest, OneBlockIsNotReadManyTimes) {
  Crafted table;
  const std::string block = table.Block(Entry(0, "a", "1"));
  const std::string index = table.Block(Entry(0, "b", block) + Entry(0, "c", block));
  EXPECT_THAT(ReadTable(table.Finish(index)), StatusIs(Code::kDataLoss, HasSubstr("overlap")));
}

// Four bytes of the file for a key as long as the one before it.
TEST(TableReaderTest, KeysThatShareMuchAreBounded) {
  Crafted table;
  std::string entries = Entry(0, std::string(1 << 20, 'k'), "");
  for (uint64_t i = 0; i < 1'000; ++i) entries += Entry((1 << 20) + i, "x", "");
  const std::string block = table.Block(entries);
  EXPECT_THAT(ReadTable(table.Finish(table.Block(Entry(0, "z", block)))),
              StatusIs(Code::kDataLoss, HasSubstr("more than 256 MiB")));
}

TEST(TableReaderTest, APackedBlockThatPromisesTooMuchIsRefused) {
  Crafted table;
  const std::string block = table.Packed(Varint(0xffffffff) + "abc", 1);
  EXPECT_THAT(ReadTable(table.Finish(table.Block(Entry(0, "z", block)))),
              StatusIs(Code::kDataLoss, HasSubstr("Snappy")));
  EXPECT_THAT(ReadTable(table.Finish(table.Packed("", 7))), StatusIs(Code::kDataLoss));
}

TEST(TableReaderTest, BlocksThatAreNoneAreRefused) {
  for (const std::string& block : {std::string(), Fixed<uint32_t>(0xffffffff),
                                   "\xff" + Fixed<uint32_t>(0), Entry(1, "a", "") + Fixed(0),
                                   Varint(0) + Varint(9) + Varint(9) + "abc" + Fixed(0)}) {
    Crafted table;
    EXPECT_THAT(ReadTable(table.Finish(table.Packed(block, 0))), StatusIs(Code::kDataLoss));
  }
}

TEST(TableReaderTest, AnyBytesAreReadOrRefused) {
  SeededRandom random(7);
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 40; ++i) entries["layer" + std::to_string(i)] = std::string(20, 'v');
  const std::string good = EncodeSortedTable(entries, TableCompression::kSnappy);
  for (int round = 0; round < 5'000; ++round) {
    std::string bad = good;
    for (int flips = 0; flips < 3; ++flips) {
      bad[random.Below(bad.size())] = static_cast<char>(random.Next());
    }
    const auto back = ReadTable(bad);
    EXPECT_TRUE(back.ok() || back.status().code() == Code::kDataLoss);
  }
}

}  // namespace
}  // namespace taas
