// CRC-32C (Castagnoli), the checksum of checkpoints, TFRecords and event files, and TensorFlow's
// masked form.
//
// Ownership: pure functions. Threads: any. Errors: none.
//
//   const uint32_t stored = MaskedCrc32c(data);
//   if (MaskedCrc32c(data) != stored) { ... }

#ifndef OPERATOR_BASE_CRC32C_H_
#define OPERATOR_BASE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace taas {

// The checksum of `crc`'s text followed by `data`. Uses the processor's instruction where it has
// one.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view data);
inline uint32_t Crc32c(std::string_view data) { return ExtendCrc32c(0, data); }

// The same value by a table, on every processor: the twin that the tests compare with.
uint32_t ExtendCrc32cPortable(uint32_t crc, std::string_view data);

// The form that is stored. A checksum of data that holds plain checksums would be weak, so
// TensorFlow and LevelDB rotate and offset it.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t MaskedCrc32c(std::string_view data) { return MaskCrc32c(Crc32c(data)); }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace taas

#endif  // OPERATOR_BASE_CRC32C_H_
