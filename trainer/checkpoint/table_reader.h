// Reads a sorted table of LevelDB's format (docs/formats.md) that anybody may have made.
//
// Not with LevelDB's own reader, which takes memory as the file says before it looks whether the
// file has so much: one of 114 bytes ended the process. Here each place is held against the file,
// blocks follow each other as every writer lays them, and what they say may not be more than an
// index can be.
//
// Ownership: pure. Threads: any. Errors: DataLoss for bytes that are no table, are damaged, or say
// more than kTableBytesMax.
//
//   ASSIGN_OR_RETURN(const auto entries, ReadTable(file));

#ifndef TRAINER_CHECKPOINT_TABLE_READER_H_
#define TRAINER_CHECKPOINT_TABLE_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

// Of the file, and of its keys and values: those of a million variables with names of a hundred
// bytes.
inline constexpr uint64_t kTableBytesMax = uint64_t{256} << 20;

absl::StatusOr<std::map<std::string, std::string>> ReadTable(std::string_view file);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_TABLE_READER_H_
