// Products of matrices by NVIDIA's cuBLASLt, loaded while the program runs.
//
// Matrices by rows are to it their transposes by columns, so it is asked for c^T = b^T a^T. For
// each shape the first way that the library proposes is kept: the same products give the same bits
// from run to run on one kind of GPU.
//
// Functions and numbers: cuBLAS library documentation, "Using the cuBLASLt API" (13.0).
//
// Ownership: one for each device, which it outlives; the library stays loaded. Threads: any.
// Errors: NotFound without the library, FailedPrecondition for what it refuses.
//
// A product with an epilogue is planned before it is launched, for tensors that are aligned to
// kEpilogueAlignment, since the library need not have a way for it.
//
//   ASSIGN_OR_RETURN(auto products, CublasLt::Load());   // In the context of the device.
//   RETURN_IF_ERROR(products->Multiply(product, stream));

#ifndef TRAINER_CUDA_CUBLASLT_H_
#define TRAINER_CUDA_CUBLASLT_H_

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/shared_library.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

class CublasLt {
 public:
  static constexpr char kLibrary[] = "libcublasLt.so.13";

  static absl::StatusOr<std::unique_ptr<CublasLt>> Load(const std::string& library = kLibrary);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // By a thread that has entered the device's context.
  absl::Status Multiply(const Product& product, CuStream stream);
  // By such a thread; see GpuDevice.
  bool CanMultiply(const Product& product);

 private:
  // What a way is chosen by.
  struct Key {
    int64_t m, n, k, a_step, b_step, c_step, batch, a_apart, b_apart, c_apart;
    bool transpose_a, transpose_b;
    Precision precision;
    Epilogue epilogue;
    size_t workspace_bytes;
    std::array<uint32_t, 3> alignments;  // Of a, b, c.
    auto operator<=>(const Key&) const = default;
  };
  struct Api;
  struct Plan;

  explicit CublasLt(SharedLibrary library);
  absl::Status Start();
  absl::Status Check(const std::string& what, int result) const;
  static Key KeyOf(const Product& product);
  // Under mutex_.
  absl::StatusOr<const Plan*> PlanFor(const Product& product);
  absl::StatusOr<std::unique_ptr<Plan>> MakePlan(const Key& key) const;
  absl::Status SetEpilogue(Epilogue epilogue, Plan* plan) const;
  absl::Status SetVector(const Product& product, const Plan& plan) const;
  absl::Status Choose(const Key& key, Plan* plan) const;

  const SharedLibrary library_;
  const std::unique_ptr<Api> api_;
  struct LtContext* handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Plan>> plans_;  // Null: none with this epilogue.
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUBLASLT_H_
