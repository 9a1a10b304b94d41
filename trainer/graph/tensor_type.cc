#include "trainer/graph/tensor_type.h"

#include <algorithm>

#include "operator/base/check.h"

namespace taas {

std::string_view NameOf(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return "float32";
    case Precision::kTf32: return "tf32";
    case Precision::kBFloat16: return "bfloat16";
  }
  return "";
}

std::string_view NameOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kUint8:
      return "uint8";
  }
  CHECK(false) << "no such dtype: " << static_cast<int>(dtype);
  return "";
}

size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return sizeof(float);
    case DType::kInt32:
      return sizeof(int32_t);
    case DType::kInt64:
      return sizeof(int64_t);
    case DType::kUint8:
      return sizeof(uint8_t);
  }
  CHECK(false) << "no such dtype: " << static_cast<int>(dtype);
  return 0;
}

bool Shape::has_batch() const { return std::ranges::count(dims_, kBatch) > 0; }

int64_t Shape::count() const {
  int64_t count = 1;
  for (const int64_t dim : dims_) {
    CHECK(dim != kBatch) << "the shape " << ToString() << " has no count before its batch is set";
    count *= dim;
  }
  return count;
}

int64_t Shape::CountWithBatch(int64_t batch) const {
  int64_t count = 1;
  for (const int64_t dim : dims_) count *= dim == kBatch ? batch : dim;
  return count;
}

Shape Shape::WithBatch(int64_t batch) const {
  Shape out = *this;
  std::ranges::replace(out.dims_, kBatch, batch);
  return out;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (const int64_t dim : dims_) {
    if (text.size() > 1) text += ", ";
    text += dim == kBatch ? "batch" : std::to_string(dim);
  }
  return text + "]";
}

std::string TensorType::ToString() const { return std::string(NameOf(dtype)) + shape.ToString(); }

}  // namespace taas
