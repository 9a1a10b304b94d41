// The files that a list of paths and patterns names.
//
// In the last part of a path "*" stands for any text and "?" for any character. What the writers of
// data sets leave beside the data matches only a pattern that says so: a name that begins with a
// dot or with "_" (_SUCCESS, _temporary of Spark and Hive) one that does, and a checksum of
// Hadoop's (".crc") one that ends so. Directories have no patterns: what is meant by a data set is
// one directory, and a walk of a shared volume could take long.
//
// Ownership: borrows the FileSystem. Threads: any. Errors: NotFound for a pattern that no file
// matches, which says so of names that it passed over; the FileSystem's.
//
//   ASSIGN_OR_RETURN(const auto paths, ExpandFiles(files, {"/data/train-*.tfrecord"}));

#ifndef TRAINER_DATA_FILE_LIST_H_
#define TRAINER_DATA_FILE_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

// In the order of `patterns`; those that match one in the order of their names. A path without a
// pattern is given back unseen.
absl::StatusOr<std::vector<std::string>> ExpandFiles(FileSystem& files,
                                                     const std::vector<std::string>& patterns);

bool NameMatches(std::string_view name, std::string_view pattern);

}  // namespace taas

#endif  // TRAINER_DATA_FILE_LIST_H_
