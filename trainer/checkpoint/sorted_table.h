// A sorted table of keys and values as one file: the index of a checkpoint, in LevelDB's format.
//
// Written as TensorFlow writes it (keys as they are in byte order, no filter, blocks of 262,144
// bytes, no compression unless asked for). table_reader.h reads it.
//
// Ownership: a pure function over memory; an index has kilobytes. Threads: any. Errors: none.
//
//   const std::string file = EncodeSortedTable({{"", header}, {"hidden1/weights", entry}});

#ifndef TRAINER_CHECKPOINT_SORTED_TABLE_H_
#define TRAINER_CHECKPOINT_SORTED_TABLE_H_

#include <map>
#include <string>

namespace taas {

enum class TableCompression { kNone, kSnappy };

std::string EncodeSortedTable(const std::map<std::string, std::string>& entries,
                              TableCompression compression = TableCompression::kNone);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_SORTED_TABLE_H_
