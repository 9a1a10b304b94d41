// Plans in a folder, so that the next process need not make them: a file for each, named after what
// it is for.
//
// A file that is not whole, of another program, or of another plan whose name happens to be the
// same, is as none, but for a line of the log; it is written anew. Files may be removed at any
// time.
//
//   taas-gpu-plan 1\n KEY\n CRC32C of the plan, its bytes\n PLAN
//
// Ownership: borrows the file system. Threads: any. Errors: none: without a file a plan is made,
// and one that cannot be kept is a line of the log.
//
//   const PlanStore store(files, "/var/cache/taas-plans");
//   if (const auto plan = store.Read(key)) …
//   store.Write(key, plan);

#ifndef TRAINER_CUDA_PLAN_STORE_H_
#define TRAINER_CUDA_PLAN_STORE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "operator/base/file_system.h"

namespace taas::cuda {

class PlanStore {
 public:
  // Those of cuDNN 9.28 have 2 kB; others may have the machine code of their kernels in them.
  static constexpr size_t kFileBytesMax = 4 << 20;

  // No folder: nothing is kept.
  PlanStore(FileSystem& files, std::string folder)
      : files_(files), folder_(std::move(folder)) {}

  // `key` is a line: all that a plan depends on.
  std::optional<std::string> Read(const std::string& key) const;
  void Write(const std::string& key, std::string_view plan) const;

  const std::string& folder() const { return folder_; }
  std::string PathOf(const std::string& key) const;

 private:
  FileSystem& files_;
  const std::string folder_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_PLAN_STORE_H_
