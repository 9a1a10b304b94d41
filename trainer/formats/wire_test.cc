#include "trainer/formats/wire.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::literals;

TEST(WireTest, VarintsComeBack) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{300},
                               uint64_t{1} << 63, UINT64_MAX}) {
    std::string text;
    AppendVarint(value, &text);
    std::string_view rest = text;
    uint64_t back = 1;
    EXPECT_TRUE(TakeVarint(&rest, &back));
    EXPECT_EQ(back, value);
    EXPECT_TRUE(rest.empty());
    rest = std::string_view(text).substr(0, text.size() - 1);
    EXPECT_FALSE(TakeVarint(&rest, &back)) << "cut short";
  }
}

TEST(WireTest, FieldsOfEveryWidthAreFound) {
  WireReader reader("\x08\x96\x01" "\x12\x02hi" "\x1d" "abcd" "\x21" "abcdefgh"sv);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), 1u);
  EXPECT_EQ(reader.varint(), 150u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), 2u);
  EXPECT_EQ(reader.bytes(), "hi");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.type(), WireType::kFixed32);
  EXPECT_EQ(reader.bytes(), "abcd");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.bytes(), "abcdefgh");
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.ok());
}

TEST(WireTest, BytesThatAreNoMessageAreAnError) {
  for (const std::string_view bad :
       {"\x08"sv, "\x12\x03hi"sv, "\x1d" "abc"sv, "\x21" "abcdefg"sv, "\x0b"sv, "\x02\x00"sv,
        "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv}) {
    WireReader reader(bad);
    while (reader.Next()) {
    }
    EXPECT_FALSE(reader.ok()) << testing::PrintToString(bad);
  }
}

}  // namespace
}  // namespace taas
