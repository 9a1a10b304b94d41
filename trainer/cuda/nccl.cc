#include "trainer/cuda/nccl.h"

#include <utility>

#include "operator/base/status.h"

namespace taas::cuda {
namespace {

// Of ncclResult_t, what it mostly comes from and what helps.
std::string_view AdviceOn(int result) {
  switch (result) {
    case kNcclSystemError:
      return "; in a container /dev/shm is often too small: give the pod an emptyDir of medium "
             "Memory there, of 1 GiB; between pods each must reach all ports of the others, and "
             "NCCL_SOCKET_IFNAME, where it is set, name an interface that they have; "
             "NCCL_DEBUG=INFO in the environment makes NCCL say more";
    default: return "; NCCL_DEBUG=INFO in the environment makes NCCL say more";
  }
}

}  // namespace

Nccl::Nccl(SharedLibrary library) : library_(std::move(library)) {}

absl::StatusOr<std::unique_ptr<Nccl>> Nccl::Load(const std::string& name) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(name);
  if (!library.ok()) {
    return absl::NotFoundError("no NCCL here, by which several GPUs sum their gradients: " +
                               std::string(library.status().message()) +
                               "; the image for GPUs has it, else install NVIDIA's package");
  }
  std::unique_ptr<Nccl> nccl(new Nccl(*std::move(library)));
  RETURN_IF_ERROR(nccl->Start());
  return nccl;
}

absl::Status Nccl::Start() {
  RETURN_IF_ERROR(library_.Find("ncclGetVersion", &api_.GetVersion));
  RETURN_IF_ERROR(library_.Find("ncclGetErrorString", &api_.GetErrorString));
  RETURN_IF_ERROR(library_.Find("ncclGetLastError", &api_.GetLastError));
  RETURN_IF_ERROR(Check("ask for the version", api_.GetVersion(&version_)));
  // Before the rest is looked for: what is too old may lack some.
  if (version_ < kNcclVersionMin) {
    return absl::FailedPreconditionError(
        library_.path() + " is NCCL " + LibraryVersion(version_) + ", and this trainer needs " +
        LibraryVersion(kNcclVersionMin) + " or later: install a later one");
  }
#define FIND(function) RETURN_IF_ERROR(library_.Find("nccl" #function, &api_.function))
  FIND(GetUniqueId);
  FIND(CommInitRankConfig);
  FIND(CommGetAsyncError);
  FIND(CommFinalize);
  FIND(CommDestroy);
  FIND(CommAbort);
  FIND(GroupStart);
  FIND(GroupEnd);
  FIND(AllReduce);
  FIND(Broadcast);
#undef FIND
  return absl::OkStatus();
}

absl::Status Nccl::ErrorOf(std::string_view what, int result) const {
  std::string text = "NCCL: " + std::string(what) + ": " + api_.GetErrorString(result) +
                     " (ncclResult_t " + std::to_string(result) + ")";
  const char* const last = api_.GetLastError(nullptr);
  if (last != nullptr && *last != '\0') text += ": " + std::string(last);
  return absl::UnavailableError(text + std::string(AdviceOn(result)));
}

}  // namespace taas::cuda
