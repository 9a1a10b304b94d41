#include "operator/base/crc32c.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas {
namespace {

TEST(Crc32cTest, KnownTextsGiveThePublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32cTest, MaskedFormIsTensorFlows) {
  EXPECT_EQ(MaskedCrc32c("\x1a\x11" "CRC test, one two"), 0x5794d08au);
  // RFC 3720, B.4, has 0x46dd794e before it is masked.
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(MaskedCrc32c(ascending), 0x951f7892u);
}

TEST(Crc32cTest, UnmaskUndoesMask) {
  SeededRandom random(7);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t crc = static_cast<uint32_t>(random.Next());
    EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
  }
}

TEST(Crc32cTest, InstructionAndTableAgreeAtEveryLengthAndAlignment) {
  SeededRandom random(8);
  std::string text(300, '\0');
  for (char& byte : text) byte = static_cast<char>(random.Next());
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; begin + size <= text.size(); ++size) {
      const std::string_view part = std::string_view(text).substr(begin, size);
      ASSERT_EQ(ExtendCrc32c(5, part), ExtendCrc32cPortable(5, part)) << begin << "+" << size;
    }
  }
}

TEST(Crc32cTest, PartsExtendToTheChecksumOfTheWhole) {
  EXPECT_EQ(ExtendCrc32c(Crc32c("1234"), "56789"), Crc32c("123456789"));
}

}  // namespace
}  // namespace taas
