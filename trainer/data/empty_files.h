// The files of a data set that hold no examples, such as Spark and Hive leave among full ones: they
// count for nothing, and are told of once.
//
// Ownership: a value. Threads: one at a time. Errors: InvalidArgument if all files are such.
//
//   EmptyFiles empty;
//   for (const std::string& path : paths) if (Read(path) == 0) empty.Add(path);
//   RETURN_IF_ERROR(empty.Tell(paths.size()));

#ifndef TRAINER_DATA_EMPTY_FILES_H_
#define TRAINER_DATA_EMPTY_FILES_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace taas {

class EmptyFiles {
 public:
  void Add(const std::string& path);
  // `files` is how many there are in all. One warning in the log if some of them are empty.
  absl::Status Tell(size_t files) const;

  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
  std::string first_;
};

}  // namespace taas

#endif  // TRAINER_DATA_EMPTY_FILES_H_
