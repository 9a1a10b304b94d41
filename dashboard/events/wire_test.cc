#include "dashboard/events/wire.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;

TEST(WireTest, EveryTypeOfFieldIsRead) {
  // 1: varint 300; 2: fixed64 1.5; 3: "ab"; 4: fixed32 -2.
  const std::string message(
      "\x08\xac\x02"
      "\x11\0\0\0\0\0\0\xf8\x3f"
      "\x1a\x02"
      "ab"
      "\x25\0\0\0\xc0",
      21);
  WireReader field(message);
  ASSERT_TRUE(field.Next());
  EXPECT_TRUE(field.Is(1, WireType::kVarint));
  EXPECT_FALSE(field.Is(1, WireType::kBytes));
  EXPECT_EQ(field.varint(), 300u);
  ASSERT_TRUE(field.Next());
  EXPECT_TRUE(field.Is(2, WireType::kFixed64));
  EXPECT_EQ(field.AsDouble(), 1.5);
  ASSERT_TRUE(field.Next());
  EXPECT_EQ(field.bytes(), "ab");
  ASSERT_TRUE(field.Next());
  EXPECT_EQ(field.AsFloat(), -2.0f);
  EXPECT_FALSE(field.Next());
  EXPECT_TRUE(field.ok());
}

TEST(WireTest, MessagesThatAreCutShortAreRefusedAtEveryByte) {
  const std::string message("\x11\0\0\0\0\0\0\xf8\x3f\x1a\x02"
                            "ab",
                            13);
  for (size_t size = 1; size < message.size(); ++size) {
    if (size == 9) continue;  // The end of the first field.
    WireReader field(std::string_view(message).substr(0, size));
    while (field.Next()) {
    }
    EXPECT_FALSE(field.ok()) << size;
  }
}

TEST(WireTest, LengthsBeyondTheEndAndEndlessNumbersAreRefused) {
  for (const std::string& message :
       {std::string("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), std::string(20, '\xff'),
        std::string("\x0b"), std::string("\x00\x00", 2)}) {
    WireReader field(message);
    EXPECT_FALSE(field.Next());
    EXPECT_FALSE(field.ok());
    EXPECT_FALSE(field.Next());
  }
}

TEST(WireTest, NumbersMayBePackedOrSingleButNotMoreThanAsked) {
  std::vector<double> doubles;
  WireReader packed(std::string_view("\x32\x10\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\x40", 18));
  ASSERT_TRUE(packed.Next());
  EXPECT_FALSE(packed.AppendFixed<double>(1, &doubles));
  EXPECT_TRUE(packed.AppendFixed<double>(2, &doubles));
  WireReader single(std::string_view("\x31\0\0\0\0\0\0\xf8\x3f", 9));
  ASSERT_TRUE(single.Next());
  EXPECT_FALSE(single.AppendFixed<double>(2, &doubles));
  EXPECT_TRUE(single.AppendFixed<double>(3, &doubles));
  EXPECT_THAT(doubles, ElementsAre(1.5, 2, 1.5));

  std::vector<uint64_t> numbers;
  WireReader varints("\x32\x03\x01\xac\x02");
  ASSERT_TRUE(varints.Next());
  EXPECT_TRUE(varints.AppendVarints(2, &numbers));
  EXPECT_FALSE(varints.AppendVarints(3, &numbers));
  EXPECT_EQ(numbers.size(), 3u);
}

TEST(WireTest, PackedNumbersThatAreCutShortAreRefused) {
  std::vector<double> doubles;
  WireReader odd(std::string_view("\x32\x03\0\0\0", 5));
  ASSERT_TRUE(odd.Next());
  EXPECT_FALSE(odd.AppendFixed<double>(9, &doubles));
  std::vector<uint64_t> numbers;
  WireReader cut("\x32\x01\xac");
  ASSERT_TRUE(cut.Next());
  EXPECT_FALSE(cut.AppendVarints(9, &numbers));
}

}  // namespace
}  // namespace taas::dashboard
