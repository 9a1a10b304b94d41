#include "dashboard/events/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

// RFC 3720, B.4, has 0x8a9136aa and 0x46dd794e before they are masked.
TEST(Crc32cTest, TextsOfTheStandardGiveItsValuesMasked) {
  EXPECT_EQ(MaskedCrc32c(std::string(32, '\0')), 0x0fd7fffau);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(MaskedCrc32c(ascending), 0x951f7892u);
}

TEST(Crc32cTest, InstructionAndTableAgreeAtEveryLengthAndPlace) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; begin + size <= text.size(); ++size) {
      const std::string_view part = std::string_view(text).substr(begin, size);
      ASSERT_EQ(MaskedCrc32c(part), MaskedCrc32cByTable(part)) << begin << "+" << size;
    }
  }
}

}  // namespace
}  // namespace taas::dashboard
