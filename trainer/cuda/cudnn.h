// NVIDIA's cuDNN, which convolves and attends: its library, loaded while the program runs, a handle
// of one device, and descriptors, of which its backend is made.
//
// What is allowed when: the cuDNN backend API reference (9.6 to 9.28).
//
// Ownership: a Cudnn outlives its descriptors; the library stays loaded. Threads: one at a time, of
// those that have entered the device's context. Errors: NotFound without the library,
// FailedPrecondition for one that is too old or not whole, Unimplemented for what it does not
// support, ResourceExhausted without memory, Unavailable for what fails; all say what was
// attempted, what cuDNN says itself, and what to do.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<Cudnn> cudnn, Cudnn::Load());
//   CudnnDescriptor graph(*cudnn, CudnnType::kGraph);
//   RETURN_IF_ERROR(graph.SetHandle(CudnnAttribute::kGraphHandle));
//   RETURN_IF_ERROR(graph.Finalize());

#ifndef TRAINER_CUDA_CUDNN_H_
#define TRAINER_CUDA_CUDNN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/shared_library.h"

namespace taas::cuda {

// That the numbers of cudnn_api.h are those of its headers was looked up from this one on.
constexpr int kCudnnVersionMin = 90'600;

// Before anything of the library at `path` is called: its functions end the process where it does
// not find the libraries to which they lead. FailedPrecondition with what is missing.
absl::Status CheckCudnnIsWhole(const std::string& path);

// Dimensions, and how far apart elements lie in memory in each, in elements.
struct CudnnTensorShape {
  std::array<int64_t, 4> dimensions{}, strides{};
};

class Cudnn {
 public:
  static constexpr char kLibrary[] = "libcudnn.so.9";

  static absl::StatusOr<std::unique_ptr<Cudnn>> Load(const std::string& library = kLibrary);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  int version() const { return version_; }
  const std::string& path() const { return library_.path(); }
  const CudnnApi& api() const { return api_; }
  CudnnHandle handle() const { return handle_; }
  // `what` is an infinitive.
  absl::Status Check(std::string_view what, int status) const {
    return status == kCudnnSuccess ? absl::OkStatus() : ErrorOf(what, status);
  }

 private:
  explicit Cudnn(SharedLibrary library);
  absl::Status Start();
  absl::Status ErrorOf(std::string_view what, int status) const;

  const SharedLibrary library_;
  CudnnApi api_{};
  int version_ = 0;
  CudnnHandle handle_ = nullptr;
};

// One that could not be made says why at its first use.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const Cudnn& cudnn, CudnnType type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  absl::Status SetInts(CudnnAttribute attribute, std::span<const int64_t> values);
  absl::Status SetInt(CudnnAttribute attribute, int64_t value) {
    return SetInts(attribute, {&value, 1});
  }
  // `type` is a cudnnBackendAttributeType_t of numbers.
  absl::Status SetEnum(CudnnAttribute attribute, int type, int value);
  absl::Status SetFloat(CudnnAttribute attribute, float value);
  absl::Status SetBool(CudnnAttribute attribute, bool value);
  absl::Status SetPointers(CudnnAttribute attribute, std::span<void* const> values);
  absl::Status SetText(CudnnAttribute attribute, std::string_view text);
  absl::Status SetDescriptor(CudnnAttribute attribute, const CudnnDescriptor& value);
  absl::Status SetDescriptors(CudnnAttribute attribute,
                              std::span<const CudnnDescriptor* const> values);
  absl::Status SetHandle(CudnnAttribute attribute);  // The Cudnn's.
  absl::Status Finalize();

  absl::StatusOr<int64_t> GetInt(CudnnAttribute attribute) const;
  absl::StatusOr<std::vector<int>> GetNotes(CudnnAttribute attribute) const;
  absl::StatusOr<std::string> GetText(CudnnAttribute attribute) const;
  // At most `most`, each of `type`.
  absl::StatusOr<std::vector<CudnnDescriptor>> GetDescriptors(CudnnAttribute attribute,
                                                              CudnnType type, int64_t most) const;

  CudnnDescriptorHandle handle() const { return handle_; }

 private:
  absl::Status Set(CudnnAttribute attribute, int type, int64_t count, const void* elements);
  absl::StatusOr<int64_t> Get(CudnnAttribute attribute, int type, int64_t count,
                              void* elements) const;
  std::string NameOf(CudnnAttribute attribute) const;

  const Cudnn& cudnn_;
  const CudnnType type_;
  CudnnDescriptorHandle handle_ = nullptr;
  absl::Status made_;  // Behind what is made.
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDNN_H_
