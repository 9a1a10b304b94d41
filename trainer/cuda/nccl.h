// NVIDIA's NCCL, which lets GPUs sum what each has: its functions, loaded while the program runs.
//
// Functions, numbers and what is allowed when: the NCCL user guide and nccl.h (2.20 to 2.28).
//
// Ownership: the library stays loaded for the life of the process. Threads: any, of what is const.
// Errors: NotFound without the library, FailedPrecondition for one that is too old, Unavailable for
// what it refuses; all say what to do.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<Nccl> nccl, Nccl::Load());
//   RETURN_IF_ERROR(nccl->Check("begin a group", nccl->api().GroupStart()));

#ifndef TRAINER_CUDA_NCCL_H_
#define TRAINER_CUDA_NCCL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/nccl_api.h"
#include "trainer/cuda/shared_library.h"

namespace taas::cuda {

// Communicators that do not block, and are ended by CommFinalize, with the members of NcclConfig.
constexpr int kNcclVersionMin = NcclVersion(2, 20, 0);

class Nccl {
 public:
  static constexpr char kLibrary[] = "libnccl.so.2";

  static absl::StatusOr<std::unique_ptr<Nccl>> Load(const std::string& library = kLibrary);

  int version() const { return version_; }
  const NcclApi& api() const { return api_; }
  // `what` is an infinitive. What has begun and goes on is no error.
  absl::Status Check(std::string_view what, int result) const {
    const bool well = result == kNcclSuccess || result == kNcclInProgress;
    return well ? absl::OkStatus() : ErrorOf(what, result);
  }

 private:
  explicit Nccl(SharedLibrary library);
  absl::Status Start();
  absl::Status ErrorOf(std::string_view what, int result) const;

  const SharedLibrary library_;
  NcclApi api_{};
  int version_ = 0;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_NCCL_H_
