#include "dashboard/events/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace taas::dashboard {
namespace {

constexpr std::array<uint32_t, 256> kRemainders = [] {
  constexpr uint32_t kCastagnoliReflected = 0x82f63b78;
  std::array<uint32_t, 256> remainders{};
  for (uint32_t byte = 0; byte < remainders.size(); ++byte) {
    remainders[byte] = byte;
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (remainders[byte] & 1) != 0;
      remainders[byte] = remainders[byte] >> 1 ^ (carry ? kCastagnoliReflected : 0);
    }
  }
  return remainders;
}();

// A checksum of data that itself holds checksums would be weak; hence the rotation and the sum.
uint32_t Mask(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8; }

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ByInstruction(std::string_view data) {
  uint64_t wide = 0xffffffff;
  while (data.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data.data(), sizeof(word));
    wide = _mm_crc32_u64(wide, word);
    data.remove_prefix(sizeof(word));
  }
  auto crc = static_cast<uint32_t>(wide);
  for (const char byte : data) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(byte));
  return ~crc;
}
#endif

}  // namespace

uint32_t MaskedCrc32cByTable(std::string_view data) {
  uint32_t crc = 0xffffffff;
  for (const char byte : data) {
    crc = crc >> 8 ^ kRemainders[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  }
  return Mask(~crc);
}

uint32_t MaskedCrc32c(std::string_view data) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return Mask(ByInstruction(data));
#endif
  return MaskedCrc32cByTable(data);
}

}  // namespace taas::dashboard
