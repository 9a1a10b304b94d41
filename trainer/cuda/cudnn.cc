#include "trainer/cuda/cudnn.h"

#include <algorithm>
#include <utility>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas::cuda {
namespace {

// That cuDNN says of an error; it may be long.
constexpr size_t kTextBytesMax = 512;

// Of the functions to which those of the first library only lead.
constexpr char kGraphLibrary[] = "libcudnn_graph.so.9";

absl::StatusCode CodeOf(int status) {
  switch (status) {
    case kCudnnVersionMismatch:
    case kCudnnLoadingFailed:
    case kCudnnSublibraryUnavailable:
    case kCudnnPrerequisiteMissing: return absl::StatusCode::kFailedPrecondition;
    case kCudnnDeviceAllocationFailed: return absl::StatusCode::kResourceExhausted;
    default: break;
  }
  return status / 1000 == kCudnnNotSupported / 1000 ? absl::StatusCode::kUnimplemented
                                                    : absl::StatusCode::kUnavailable;
}

// What it mostly comes from and what helps.
std::string_view AdviceOn(int status) {
  switch (CodeOf(status)) {
    case absl::StatusCode::kFailedPrecondition:
      return "; all libcudnn_*.so.9 of one release must lie where the loader looks, and NVRTC and "
             "cuBLAS of the CUDA release that they are for";
    case absl::StatusCode::kResourceExhausted:
      return "; other processes may have the GPU's memory, else take a smaller batchSize";
    case absl::StatusCode::kUnimplemented: return "";  // Something else is tried.
    default:
      return "; CUDNN_LOGLEVEL_DBG=2 and CUDNN_LOGDEST_DBG=stderr in the environment make cuDNN "
             "say more";
  }
}

std::string_view NameOf(CudnnType type) {
  switch (type) {
    case CudnnType::kConvolution: return "a convolution";
    case CudnnType::kEngine: return "an engine";
    case CudnnType::kEngineConfig: return "an engine's configuration";
    case CudnnType::kHeuristics: return "heuristics";
    case CudnnType::kPlan: return "a plan";
    case CudnnType::kForward:
    case CudnnType::kBackwardFilter:
    case CudnnType::kBackwardData:
    case CudnnType::kPointwiseOperation:
    case CudnnType::kMatmulOperation:
    case CudnnType::kReductionOperation:
    case CudnnType::kReshape: return "an operation";
    case CudnnType::kPointwise: return "a pointwise function";
    case CudnnType::kMatmul: return "a product";
    case CudnnType::kReduction: return "a reduction";
    case CudnnType::kAttention: return "an attention";
    case CudnnType::kBandMask: return "a mask";
    case CudnnType::kSoftmax: return "a softmax";
    case CudnnType::kGraph: return "a graph";
    case CudnnType::kVariantPack: return "a variant pack";
    case CudnnType::kTensor: return "a tensor";
  }
  return "a descriptor";
}

}  // namespace

absl::Status CheckCudnnIsWhole(const std::string& path) {
  // Where the first looks, too.
  if (SharedLibrary::Open(DirName(path) + "/" + kGraphLibrary).ok()) return absl::OkStatus();
  const auto graph = SharedLibrary::Open(kGraphLibrary);
  if (graph.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(path + " needs another of cuDNN's libraries: " +
                                       std::string(graph.status().message()) +
                                       "; install all of one release");
}

Cudnn::Cudnn(SharedLibrary library) : library_(std::move(library)) {}

Cudnn::~Cudnn() {
  if (handle_ != nullptr) api_.Destroy(handle_);
}

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::Load(const std::string& name) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(name);
  if (!library.ok()) {
    return absl::NotFoundError("no cuDNN here: " + std::string(library.status().message()) +
                               "; the image for GPUs has it, else install NVIDIA's package");
  }
  std::unique_ptr<Cudnn> cudnn(new Cudnn(*std::move(library)));
  RETURN_IF_ERROR(cudnn->Start());
  return cudnn;
}

absl::Status Cudnn::Start() {
  RETURN_IF_ERROR(CheckCudnnIsWhole(path()));
  RETURN_IF_ERROR(library_.Find("cudnnGetVersion", &api_.GetVersion));
  version_ = static_cast<int>(api_.GetVersion());
  // Before the rest is looked for: what is too old may lack some.
  if (version_ < kCudnnVersionMin) {
    return absl::FailedPreconditionError(
        library_.path() + " is cuDNN " + LibraryVersion(version_) + ", and this trainer needs " +
        LibraryVersion(kCudnnVersionMin) + " or later: install a later one");
  }
#define FIND(function) RETURN_IF_ERROR(library_.Find("cudnn" #function, &api_.function))
  FIND(GetErrorString);
  FIND(GetLastErrorString);
  FIND(Create);
  FIND(Destroy);
  FIND(SetStream);
  FIND(BackendCreateDescriptor);
  FIND(BackendDestroyDescriptor);
  FIND(BackendSetAttribute);
  FIND(BackendGetAttribute);
  FIND(BackendFinalize);
  FIND(BackendExecute);
#undef FIND
  return Check("start", api_.Create(&handle_));
}

absl::Status Cudnn::ErrorOf(std::string_view what, int status) const {
  std::string text = "cuDNN " + LibraryVersion(version_) + ": " + std::string(what) + ": " +
                     api_.GetErrorString(status) + " (cudnnStatus_t " + std::to_string(status) +
                     ")";
  char last[kTextBytesMax] = "";
  api_.GetLastErrorString(last, sizeof(last));
  last[sizeof(last) - 1] = '\0';
  if (*last != '\0') text += ": " + std::string(last);
  return absl::Status(CodeOf(status), text + std::string(AdviceOn(status)));
}

CudnnDescriptor::CudnnDescriptor(const Cudnn& cudnn, CudnnType type)
    : cudnn_(cudnn),
      type_(type),
      made_(cudnn.Check("make " + std::string(cuda::NameOf(type)),
                        cudnn.api().BackendCreateDescriptor(static_cast<int>(type), &handle_))) {}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : cudnn_(other.cudnn_),
      type_(other.type_),
      handle_(std::exchange(other.handle_, nullptr)),
      made_(other.made_) {}

CudnnDescriptor::~CudnnDescriptor() {
  if (handle_ != nullptr) cudnn_.api().BackendDestroyDescriptor(handle_);
}

std::string CudnnDescriptor::NameOf(CudnnAttribute attribute) const {
  return "attribute " + std::to_string(static_cast<int>(attribute)) + " of " +
         std::string(cuda::NameOf(type_));
}

absl::Status CudnnDescriptor::Set(CudnnAttribute attribute, int type, int64_t count,
                                  const void* elements) {
  RETURN_IF_ERROR(made_);
  const int status = cudnn_.api().BackendSetAttribute(handle_, static_cast<int>(attribute), type,
                                                      count, elements);
  if (status == kCudnnSuccess) return absl::OkStatus();
  return cudnn_.Check("set " + NameOf(attribute), status);
}

absl::Status CudnnDescriptor::SetInts(CudnnAttribute attribute, std::span<const int64_t> values) {
  return Set(attribute, kCudnnOfInt64, static_cast<int64_t>(values.size()), values.data());
}

absl::Status CudnnDescriptor::SetEnum(CudnnAttribute attribute, int type, int value) {
  return Set(attribute, type, 1, &value);
}

absl::Status CudnnDescriptor::SetFloat(CudnnAttribute attribute, float value) {
  return Set(attribute, kCudnnOfFloat, 1, &value);
}

absl::Status CudnnDescriptor::SetBool(CudnnAttribute attribute, bool value) {
  return Set(attribute, kCudnnOfBool, 1, &value);
}

absl::Status CudnnDescriptor::SetPointers(CudnnAttribute attribute,
                                          std::span<void* const> values) {
  return Set(attribute, kCudnnOfPointer, static_cast<int64_t>(values.size()), values.data());
}

absl::Status CudnnDescriptor::SetText(CudnnAttribute attribute, std::string_view text) {
  return Set(attribute, kCudnnOfChar, static_cast<int64_t>(text.size()), text.data());
}

absl::Status CudnnDescriptor::SetDescriptor(CudnnAttribute attribute,
                                            const CudnnDescriptor& value) {
  return Set(attribute, kCudnnOfDescriptor, 1, &value.handle_);
}

absl::Status CudnnDescriptor::SetDescriptors(CudnnAttribute attribute,
                                             std::span<const CudnnDescriptor* const> values) {
  std::vector<CudnnDescriptorHandle> handles;
  for (const CudnnDescriptor* const value : values) handles.push_back(value->handle_);
  return Set(attribute, kCudnnOfDescriptor, static_cast<int64_t>(handles.size()), handles.data());
}

absl::Status CudnnDescriptor::SetHandle(CudnnAttribute attribute) {
  const CudnnHandle handle = cudnn_.handle();
  return Set(attribute, kCudnnOfHandle, 1, &handle);
}

absl::Status CudnnDescriptor::Finalize() {
  RETURN_IF_ERROR(made_);
  return cudnn_.Check("finalize " + std::string(cuda::NameOf(type_)),
                      cudnn_.api().BackendFinalize(handle_));
}

absl::StatusOr<int64_t> CudnnDescriptor::Get(CudnnAttribute attribute, int type, int64_t count,
                                             void* elements) const {
  RETURN_IF_ERROR(made_);
  int64_t got = 0;
  RETURN_IF_ERROR(cudnn_.Check(
      "ask for " + NameOf(attribute),
      cudnn_.api().BackendGetAttribute(handle_, static_cast<int>(attribute), type, count, &got,
                                       elements)));
  return got;
}

absl::StatusOr<int64_t> CudnnDescriptor::GetInt(CudnnAttribute attribute) const {
  int64_t value = 0;
  ASSIGN_OR_RETURN(const int64_t got, Get(attribute, kCudnnOfInt64, 1, &value));
  if (got == 1) return value;
  return absl::UnavailableError("cuDNN has no " + NameOf(attribute));
}

absl::StatusOr<std::vector<int>> CudnnDescriptor::GetNotes(CudnnAttribute attribute) const {
  std::vector<int> notes(kCudnnNotesMax);
  ASSIGN_OR_RETURN(const int64_t got, Get(attribute, kCudnnOfNote, kCudnnNotesMax, notes.data()));
  notes.resize(static_cast<size_t>(std::clamp<int64_t>(got, 0, kCudnnNotesMax)));
  return notes;
}

absl::StatusOr<std::string> CudnnDescriptor::GetText(CudnnAttribute attribute) const {
  ASSIGN_OR_RETURN(const int64_t count, Get(attribute, kCudnnOfChar, 0, nullptr));
  std::string text(static_cast<size_t>(std::max<int64_t>(count, 0)), '\0');
  if (text.empty()) return text;
  ASSIGN_OR_RETURN(const int64_t got, Get(attribute, kCudnnOfChar, count, text.data()));
  text.resize(static_cast<size_t>(std::clamp<int64_t>(got, 0, count)));
  return text;
}

absl::StatusOr<std::vector<CudnnDescriptor>> CudnnDescriptor::GetDescriptors(
    CudnnAttribute attribute, CudnnType type, int64_t most) const {
  std::vector<CudnnDescriptor> descriptors;
  std::vector<CudnnDescriptorHandle> handles;
  for (int64_t i = 0; i < most; ++i) {
    descriptors.emplace_back(cudnn_, type);
    RETURN_IF_ERROR(descriptors.back().made_);
    handles.push_back(descriptors.back().handle_);
  }
  ASSIGN_OR_RETURN(const int64_t got, Get(attribute, kCudnnOfDescriptor, most, handles.data()));
  while (static_cast<int64_t>(descriptors.size()) > got) descriptors.pop_back();
  return descriptors;
}

}  // namespace taas::cuda
