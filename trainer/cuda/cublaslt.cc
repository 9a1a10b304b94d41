#include "trainer/cuda/cublaslt.h"

#include <algorithm>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cuda/cublaslt_api.h"

namespace taas::cuda {

struct CublasLt::Api {
  int (*Create)(LtContext** handle);
  int (*Destroy)(LtContext* handle);
  int (*MatmulDescCreate)(void** description, int compute, int scale);
  int (*MatmulDescDestroy)(void* description);
  int (*MatmulDescSetAttribute)(void* description, int attribute, const void* value, size_t bytes);
  int (*MatrixLayoutCreate)(void** layout, int type, uint64_t rows, uint64_t columns,
                            int64_t leading);
  int (*MatrixLayoutDestroy)(void* layout);
  int (*MatrixLayoutSetAttribute)(void* layout, int attribute, const void* value, size_t bytes);
  int (*MatmulPreferenceCreate)(void** preference);
  int (*MatmulPreferenceDestroy)(void* preference);
  int (*MatmulPreferenceSetAttribute)(void* preference, int attribute, const void* value,
                                      size_t bytes);
  int (*MatmulAlgoGetHeuristic)(LtContext* handle, void* description, void* a, void* b, void* c,
                                void* d, void* preference, int asked, LtHeuristic* results,
                                int* found);
  int (*Matmul)(LtContext* handle, void* description, const void* alpha, const void* a,
                void* a_layout, const void* b, void* b_layout, const void* beta, const void* c,
                void* c_layout, void* d, void* d_layout, const LtAlgo* algo, void* workspace,
                size_t workspace_bytes, CuStream stream);
};

// The descriptions of a product, and the way that was chosen for it.
struct CublasLt::Plan {
  explicit Plan(const Api& api) : api(api) {}
  ~Plan() {
    if (description != nullptr) api.MatmulDescDestroy(description);
    for (void* const layout : {first, second, result}) {
      if (layout != nullptr) api.MatrixLayoutDestroy(layout);
    }
    if (preference != nullptr) api.MatmulPreferenceDestroy(preference);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Api& api;
  void* description = nullptr;
  void* first = nullptr;   // b^T
  void* second = nullptr;  // a^T
  void* result = nullptr;  // c^T
  void* preference = nullptr;
  LtAlgo algo{};
};

namespace {

// Of all matrices of a batch, up to what the library can make use of.
uint32_t AlignmentOf(const float* first, int64_t apart) {
  const auto bits = reinterpret_cast<uintptr_t>(first) |
                    static_cast<uintptr_t>(apart) * sizeof(float);
  return static_cast<uint32_t>(std::min<uintptr_t>(bits & -bits, 256));
}

// cublasComputeType_t.
int ComputeOf(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return kLtCompute32;
    case Precision::kTf32: return kLtComputeFastTf32;
    case Precision::kBFloat16: return kLtComputeFastBFloat16;
  }
  return kLtCompute32;
}

std::string TextOf(const Product& p) {
  constexpr const char* kWith[] = {"", " with a bias", " with a bias's gradient"};
  return std::to_string(p.m) + " × " + std::to_string(p.k) + " by " + std::to_string(p.k) +
         " × " + std::to_string(p.n) + kWith[static_cast<size_t>(p.epilogue)];
}

uint32_t LtEpilogueOf(Epilogue epilogue) {
  return epilogue == Epilogue::kBias ? kLtBias : kLtBiasGradA;
}

}  // namespace

CublasLt::CublasLt(SharedLibrary library)
    : library_(std::move(library)), api_(std::make_unique<Api>()) {}

CublasLt::~CublasLt() {
  plans_.clear();
  if (handle_ != nullptr) api_->Destroy(handle_);
}

absl::StatusOr<std::unique_ptr<CublasLt>> CublasLt::Load(const std::string& name) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(name);
  if (!library.ok()) {
    return absl::NotFoundError("no cuBLASLt here, which products of matrices need: " +
                               std::string(library.status().message()));
  }
  std::unique_ptr<CublasLt> loaded(new CublasLt(*std::move(library)));
  RETURN_IF_ERROR(loaded->Start());
  return loaded;
}

absl::Status CublasLt::Start() {
#define FIND(function) RETURN_IF_ERROR(library_.Find("cublasLt" #function, &api_->function))
  FIND(Create);
  FIND(Destroy);
  FIND(MatmulDescCreate);
  FIND(MatmulDescDestroy);
  FIND(MatmulDescSetAttribute);
  FIND(MatrixLayoutCreate);
  FIND(MatrixLayoutDestroy);
  FIND(MatrixLayoutSetAttribute);
  FIND(MatmulPreferenceCreate);
  FIND(MatmulPreferenceDestroy);
  FIND(MatmulPreferenceSetAttribute);
  FIND(MatmulAlgoGetHeuristic);
  FIND(Matmul);
#undef FIND
  return Check("start", api_->Create(&handle_));
}

absl::Status CublasLt::Check(const std::string& what, int result) const {
  if (result == kLtSuccess) return absl::OkStatus();
  return absl::FailedPreconditionError("cuBLASLt: " + what + ": error " + std::to_string(result) +
                                       " (cublasStatus_t), by " + library_.path());
}

absl::Status CublasLt::Multiply(const Product& product, CuStream stream) {
  std::unique_lock lock(mutex_);
  ASSIGN_OR_RETURN(const Plan* const plan, PlanFor(product));
  if (product.epilogue == Epilogue::kNone) {
    lock.unlock();
  } else {
    // The description has the address, and is everybody's: nobody else launches it meanwhile.
    RETURN_IF_ERROR(SetVector(product, *plan));
  }
  const float alpha = 1, beta = product.adds ? 1 : 0;
  const int result =
      api_->Matmul(handle_, plan->description, &alpha, product.b, plan->first, product.a,
                   plan->second, &beta, product.c, plan->result, product.c, plan->result,
                   &plan->algo, product.workspace, product.workspace_bytes, stream);
  return result == kLtSuccess ? absl::OkStatus() : Check("multiply " + TextOf(product), result);
}

absl::Status CublasLt::SetVector(const Product& product, const Plan& plan) const {
  const float* const tensors[] = {product.a, product.b, product.c, product.vector};
  for (const float* const tensor : tensors) {
    if (AlignmentOf(tensor, 0) >= kEpilogueAlignment) continue;
    return absl::InvalidArgumentError("cuBLASLt: multiply " + TextOf(product) +
                                      ": a tensor begins at no multiple of " +
                                      std::to_string(kEpilogueAlignment) + " bytes");
  }
  return Check("tell where a bias lies",
               api_->MatmulDescSetAttribute(plan.description, kLtBiasPointer, &product.vector,
                                            sizeof(product.vector)));
}

bool CublasLt::CanMultiply(const Product& product) {
  const std::lock_guard lock(mutex_);
  if (const auto known = plans_.find(KeyOf(product)); known != plans_.end()) {
    return known->second != nullptr;
  }
  const absl::StatusOr<const Plan*> plan = PlanFor(product);
  if (plan.ok()) return true;
  plans_[KeyOf(product)] = nullptr;
  Log(LogLevel::kInfo, "a product is computed without its bias, which follows it",
      {{"why", std::string(plan.status().message())}});
  return false;
}

CublasLt::Key CublasLt::KeyOf(const Product& p) {
  Key key{.m = p.m,
          .n = p.n,
          .k = p.k,
          .a_step = p.a_step(),
          .b_step = p.b_step(),
          .c_step = p.c_step(),
          .batch = p.batch,
          .a_apart = p.a_apart,
          .b_apart = p.b_apart,
          .c_apart = p.c_apart,
          .transpose_a = p.transpose_a,
          .transpose_b = p.transpose_b,
          .precision = p.precision,
          .epilogue = p.epilogue,
          .workspace_bytes = p.workspace_bytes,
          .alignments = {}};
  if (p.epilogue == Epilogue::kNone) {
    key.alignments = {AlignmentOf(p.a, p.a_apart), AlignmentOf(p.b, p.b_apart),
                      AlignmentOf(p.c, p.c_apart)};
  } else {
    key.alignments.fill(kEpilogueAlignment);
  }
  return key;
}

absl::StatusOr<const CublasLt::Plan*> CublasLt::PlanFor(const Product& p) {
  const Key key = KeyOf(p);
  std::unique_ptr<Plan>& plan = plans_[key];
  if (plan == nullptr) {
    absl::StatusOr<std::unique_ptr<Plan>> made = MakePlan(key);
    if (!made.ok()) {
      plans_.erase(key);
      return absl::Status(made.status().code(), std::string(made.status().message()) + ", for " +
                                                    TextOf(p));
    }
    plan = *std::move(made);
  }
  return plan.get();
}

absl::StatusOr<std::unique_ptr<CublasLt::Plan>> CublasLt::MakePlan(const Key& key) const {
  auto plan = std::make_unique<Plan>(*api_);
  RETURN_IF_ERROR(Check("describe a product", api_->MatmulDescCreate(&plan->description,
                                                                     ComputeOf(key.precision),
                                                                     kLtFloat)));
  for (const auto& [attribute, transposed] :
       {std::pair(kLtTransposeA, key.transpose_b), std::pair(kLtTransposeB, key.transpose_a)}) {
    const int32_t operation = transposed ? kLtTransposed : kLtPlain;
    RETURN_IF_ERROR(Check("transpose", api_->MatmulDescSetAttribute(
                                           plan->description, attribute, &operation,
                                           sizeof(operation))));
  }
  if (key.epilogue != Epilogue::kNone) {
    RETURN_IF_ERROR(SetEpilogue(key.epilogue, plan.get()));
  }
  struct Layout {
    void** layout;
    int64_t rows, columns;  // Of the matrix as it lies, by rows.
    int64_t step, apart;
  };
  for (const Layout& matrix :
       {Layout{&plan->first, key.transpose_b ? key.n : key.k, key.transpose_b ? key.k : key.n,
               key.b_step, key.b_apart},
        Layout{&plan->second, key.transpose_a ? key.k : key.m, key.transpose_a ? key.m : key.k,
               key.a_step, key.a_apart},
        Layout{&plan->result, key.m, key.n, key.c_step, key.c_apart}}) {
    RETURN_IF_ERROR(Check("describe a matrix",
                          api_->MatrixLayoutCreate(matrix.layout, kLtFloat,
                                                   static_cast<uint64_t>(matrix.columns),
                                                   static_cast<uint64_t>(matrix.rows),
                                                   matrix.step)));
    if (key.batch == 1) continue;
    const auto count = static_cast<int32_t>(key.batch);
    RETURN_IF_ERROR(Check("describe matrices", api_->MatrixLayoutSetAttribute(
                                                   *matrix.layout, kLtBatchCount, &count,
                                                   sizeof(count))));
    RETURN_IF_ERROR(Check("describe matrices", api_->MatrixLayoutSetAttribute(
                                                   *matrix.layout, kLtStridedBatchOffset,
                                                   &matrix.apart, sizeof(matrix.apart))));
  }
  RETURN_IF_ERROR(Choose(key, plan.get()));
  return plan;
}

absl::Status CublasLt::SetEpilogue(Epilogue epilogue, Plan* plan) const {
  const uint32_t number = LtEpilogueOf(epilogue);
  RETURN_IF_ERROR(Check("ask for an epilogue",
                        api_->MatmulDescSetAttribute(plan->description, kLtEpilogue, &number,
                                                     sizeof(number))));
  // A way is chosen by how it is aligned.
  const auto somewhere = uint64_t{kEpilogueAlignment};
  return Check("tell where a bias lies",
               api_->MatmulDescSetAttribute(plan->description, kLtBiasPointer, &somewhere,
                                            sizeof(somewhere)));
}

absl::Status CublasLt::Choose(const Key& key, Plan* plan) const {
  RETURN_IF_ERROR(Check("ask for a way", api_->MatmulPreferenceCreate(&plan->preference)));
  const uint64_t workspace = key.workspace_bytes;
  RETURN_IF_ERROR(Check("offer a workspace", api_->MatmulPreferenceSetAttribute(
                                                 plan->preference, kLtMaxWorkspaceBytes,
                                                 &workspace, sizeof(workspace))));
  const auto& [a, b, c] = key.alignments;
  for (const auto& [attribute, alignment] :
       {std::pair(kLtAlignmentA, b), std::pair(kLtAlignmentB, a), std::pair(kLtAlignmentC, c),
        std::pair(kLtAlignmentD, c)}) {
    RETURN_IF_ERROR(Check("tell an alignment", api_->MatmulPreferenceSetAttribute(
                                                   plan->preference, attribute, &alignment,
                                                   sizeof(alignment))));
  }
  LtHeuristic way{};
  int found = 0;
  RETURN_IF_ERROR(Check("ask for a way",
                        api_->MatmulAlgoGetHeuristic(handle_, plan->description, plan->first,
                                                     plan->second, plan->result, plan->result,
                                                     plan->preference, 1, &way, &found)));
  if (found == 0 || way.state != kLtSuccess) {
    return absl::FailedPreconditionError("cuBLASLt knows no way to multiply");
  }
  plan->algo = way.algo;
  return absl::OkStatus();
}

}  // namespace taas::cuda
