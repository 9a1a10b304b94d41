#include "trainer/graph/tensor_ref.h"

#include <algorithm>
#include <cstring>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {
namespace {

template <typename T>
absl::StatusOr<std::span<const T>> SeenOrCopied(const TensorRef& tensor, std::span<T> seen,
                                                std::vector<T>* room) {
  if (tensor.host_sees()) return std::span<const T>(seen);
  room->resize(tensor.count());
  RETURN_IF_ERROR(tensor.Read(std::span<T>(*room)));
  return std::span<const T>(*room);
}

}  // namespace

TensorRef TensorRef::Part(size_t at, size_t count) const {
  CHECK(at <= count_ && count <= count_ - at)
      << "elements " << at << " to " << at + count << " of a tensor of " << count_;
  TensorRef part = *this;
  part.data_ = static_cast<std::byte*>(data_) + at * SizeOf(dtype_);
  part.count_ = count;
  return part;
}

absl::Status TensorRef::Read(std::span<float> to) const {
  Check(DType::kFloat32, to.size());
  return Copy(to.data(), data_);
}

absl::Status TensorRef::Read(std::span<int32_t> to) const {
  Check(DType::kInt32, to.size());
  return Copy(to.data(), data_);
}

absl::Status TensorRef::Write(std::span<const float> from) const {
  Check(DType::kFloat32, from.size());
  return Copy(data_, from.data());
}

absl::Status TensorRef::Write(std::span<const int32_t> from) const {
  Check(DType::kInt32, from.size());
  return Copy(data_, from.data());
}

absl::Status TensorRef::Fill(float value) const {
  if (!host_sees()) return Write(std::vector<float>(count_, value));
  std::ranges::fill(host(), value);
  return absl::OkStatus();
}

absl::Status TensorRef::CopyFrom(const TensorRef& from) const {
  Check(from.dtype_, from.count_);
  if (from.host_sees() || from.device_ == device_) return Copy(data_, from.data_);
  if (host_sees()) return from.Copy(data_, from.data_);
  // From one device to another.
  std::vector<std::byte> room(bytes());
  RETURN_IF_ERROR(from.Copy(room.data(), from.data_));
  return Copy(data_, room.data());
}

std::span<float> TensorRef::host() const {
  CHECK(host_sees()) << "the host does not see memory of " << device_->type();
  Check(DType::kFloat32, count_);
  return {static_cast<float*>(data_), count_};
}

std::span<int32_t> TensorRef::host_int32() const {
  CHECK(host_sees()) << "the host does not see memory of " << device_->type();
  Check(DType::kInt32, count_);
  return {static_cast<int32_t*>(data_), count_};
}

absl::Status TensorRef::Copy(void* to, const void* from) const {
  if (empty()) return absl::OkStatus();
  if (device_ != nullptr) return device_->Copy(to, from, bytes());
  std::memcpy(to, from, bytes());
  return absl::OkStatus();
}

void TensorRef::Check(DType dtype, size_t count) const {
  CHECK(dtype == dtype_ && count == count_)
      << count << " elements of " << NameOf(dtype) << " for a tensor of " << count_ << " of "
      << NameOf(dtype_);
}

std::vector<TensorRef> TensorsOf(std::span<std::vector<float>> values) {
  std::vector<TensorRef> tensors;
  for (std::vector<float>& tensor : values) tensors.emplace_back(tensor);
  return tensors;
}

std::vector<std::span<float>> HostSpans(std::span<const TensorRef> tensors) {
  std::vector<std::span<float>> spans;
  for (const TensorRef& tensor : tensors) {
    spans.push_back(tensor.empty() ? std::span<float>() : tensor.host());
  }
  return spans;
}

absl::StatusOr<std::span<const float>> OnHost(const TensorRef& tensor, std::vector<float>* room) {
  return SeenOrCopied(tensor, tensor.host_sees() ? tensor.host() : std::span<float>(), room);
}

absl::StatusOr<std::span<const int32_t>> OnHost(const TensorRef& tensor,
                                                std::vector<int32_t>* room) {
  return SeenOrCopied(tensor, tensor.host_sees() ? tensor.host_int32() : std::span<int32_t>(),
                      room);
}

}  // namespace taas
