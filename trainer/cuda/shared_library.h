// A shared library of this machine, loaded while the program runs.
//
// It stays loaded for the life of the process: NVIDIA's libraries have threads and handlers at exit
// of their own.
//
// Ownership: value type. Threads: any. Errors: NotFound, in the loader's words, where the library
// or what it needs is not there; Unavailable where it lacks a function.
//
//   ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::Open("libnccl.so.2"));
//   RETURN_IF_ERROR(library.Find("ncclGetVersion", &version));

#ifndef TRAINER_CUDA_SHARED_LIBRARY_H_
#define TRAINER_CUDA_SHARED_LIBRARY_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas::cuda {

// "2.28.9" of 22809, as cuBLASLt, cuDNN (since 9) and NCCL (since 2.9) count.
std::string LibraryVersion(int number);

class SharedLibrary {
 public:
  // `name` is looked for where the loader looks, unless it has a slash.
  static absl::StatusOr<SharedLibrary> Open(const std::string& name);

  // Of the file that was loaded.
  const std::string& path() const { return path_; }
  template <typename Function>
  absl::Status Find(const char* symbol, Function** function) const {
    return Find(symbol, reinterpret_cast<void**>(function));
  }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  absl::Status Find(const char* symbol, void** function) const;

  void* handle_;
  std::string path_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_SHARED_LIBRARY_H_
