// A sorted table of keys and values as one file: the index of a checkpoint, in LevelDB's format.
//
// Written as TensorFlow writes it (keys as they are in byte order, no filter, blocks of 262,144
// bytes, no compression unless asked for), read with or without Snappy.
//
// Ownership: pure functions over memory; an index has kilobytes. Threads: any. Errors: DataLoss for
// bytes that are no table or whose checksums are wrong.
//
//   const std::string file = EncodeSortedTable({{"", header}, {"hidden1/weights", entry}});
//   ASSIGN_OR_RETURN(const auto entries, DecodeSortedTable(file));

#ifndef TRAINER_CHECKPOINT_SORTED_TABLE_H_
#define TRAINER_CHECKPOINT_SORTED_TABLE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

enum class TableCompression { kNone, kSnappy };

std::string EncodeSortedTable(const std::map<std::string, std::string>& entries,
                              TableCompression compression = TableCompression::kNone);
absl::StatusOr<std::map<std::string, std::string>> DecodeSortedTable(std::string_view file);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_SORTED_TABLE_H_
