#include "operator/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace taas {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, reflected.

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendSse42(uint32_t crc, std::string_view data) {
  uint64_t state = ~crc;
  const char* next = data.data();
  size_t left = data.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), next += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, next, sizeof(word));
    state = _mm_crc32_u64(state, word);
  }
  uint32_t small = static_cast<uint32_t>(state);
  for (; left > 0; --left, ++next) small = _mm_crc32_u8(small, static_cast<uint8_t>(*next));
  return ~small;
}
#endif

}  // namespace

uint32_t ExtendCrc32cPortable(uint32_t crc, std::string_view data) {
  uint32_t state = ~crc;
  for (const char byte : data) {
    state = (state >> 8) ^ kTable[(state ^ static_cast<uint8_t>(byte)) & 0xff];
  }
  return ~state;
}

uint32_t ExtendCrc32c(uint32_t crc, std::string_view data) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ExtendSse42(crc, data);
#endif
  return ExtendCrc32cPortable(crc, data);
}

}  // namespace taas
