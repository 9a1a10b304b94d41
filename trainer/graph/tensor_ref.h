// Where a tensor lies: elements of one type in memory of a device, or of the host.
//
// It is handed out instead of a span, since the host may not see the memory of a device: whoever
// wants the elements reads them, writes them, or asks for a view where there is one.
//
// Ownership: borrows memory and device. Threads: a value; reads and writes of the elements are the
// caller's to order: no kernel writes what is read, nor uses what is written. Errors: those of the
// device's copies; an element type or a number of elements that is not the tensor's is a programmer
// error (CHECK).
//
//   RETURN_IF_ERROR(session->variable(0).Write(values));
//   std::vector<float> room;
//   ASSIGN_OR_RETURN(const std::span<const float> seen, OnHost(session->output("logits"), &room));

#ifndef TRAINER_GRAPH_TENSOR_REF_H_
#define TRAINER_GRAPH_TENSOR_REF_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/device.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

class TensorRef {
 public:
  TensorRef() = default;  // Of no tensor.
  TensorRef(Device& device, void* data, DType dtype, size_t count)
      : device_(&device), data_(data), dtype_(dtype), count_(count) {}
  // In memory of the host.
  explicit TensorRef(std::span<float> values) : data_(values.data()), count_(values.size()) {}

  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * SizeOf(dtype_); }
  DType dtype() const { return dtype_; }
  // For kernels and copies of its device.
  void* data() const { return data_; }
  // Null: the host.
  Device* device() const { return device_; }
  // `count` elements from `at` on.
  TensorRef Part(size_t at, size_t count) const;

  // All elements; return when they are copied.
  absl::Status Read(std::span<float> to) const;
  absl::Status Read(std::span<int32_t> to) const;
  absl::Status Write(std::span<const float> from) const;
  absl::Status Write(std::span<const int32_t> from) const;
  absl::Status Fill(float value) const;
  // As Write of the elements of `from`, which is as long and lies anywhere.
  absl::Status CopyFrom(const TensorRef& from) const;

  bool host_sees() const { return device_ == nullptr || device_->host_sees_memory(); }
  // The elements themselves, which the host sees.
  std::span<float> host() const;
  std::span<int32_t> host_int32() const;

 private:
  absl::Status Copy(void* to, const void* from) const;
  void Check(DType dtype, size_t count) const;

  Device* device_ = nullptr;
  void* data_ = nullptr;
  DType dtype_ = DType::kFloat32;
  size_t count_ = 0;
};

// Of values that the host has.
std::vector<TensorRef> TensorsOf(std::span<std::vector<float>> values);

// The elements of each, which the host sees.
std::vector<std::span<float>> HostSpans(std::span<const TensorRef> tensors);

// The elements as the host sees them: where they lie, or a copy in `room`.
absl::StatusOr<std::span<const float>> OnHost(const TensorRef& tensor, std::vector<float>* room);
absl::StatusOr<std::span<const int32_t>> OnHost(const TensorRef& tensor,
                                                std::vector<int32_t>* room);

}  // namespace taas

#endif  // TRAINER_GRAPH_TENSOR_REF_H_
