#include "trainer/checkpoint/tensor.h"

#include <bit>
#include <cstring>
#include <utility>

namespace taas {
namespace {

static_assert(std::endian::native == std::endian::little,
              "checkpoints are little-endian and tensors are copied into them as they lie");

template <typename T>
TensorValue CopyTensor(std::string name, ElementType type, std::vector<int64_t> shape,
                       std::span<const T> values) {
  return {std::move(name), type, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes())};
}

}  // namespace

int64_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return 1;
    case ElementType::kInt16:
    case ElementType::kBfloat16:
    case ElementType::kFloat16:
      return 2;
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFloat64:
    case ElementType::kInt64:
      return 8;
    case ElementType::kString:
      return 0;
  }
  return 0;
}

std::string ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "float32";
    case ElementType::kFloat64: return "float64";
    case ElementType::kInt32: return "int32";
    case ElementType::kUint8: return "uint8";
    case ElementType::kInt16: return "int16";
    case ElementType::kInt8: return "int8";
    case ElementType::kString: return "string";
    case ElementType::kInt64: return "int64";
    case ElementType::kBool: return "bool";
    case ElementType::kBfloat16: return "bfloat16";
    case ElementType::kFloat16: return "float16";
  }
  return "type " + std::to_string(static_cast<int>(type));
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t size : shape) {
    if (text.size() > 1) text += ",";
    text += std::to_string(size);
  }
  return text + "]";
}

int64_t ElementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  }
  return count;
}

TensorView FloatTensor(std::string name, std::vector<int64_t> shape,
                       std::span<const float> values) {
  return {std::move(name), ElementType::kFloat32, std::move(shape),
          std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes())};
}

TensorValue Int64Tensor(std::string name, std::vector<int64_t> shape,
                        std::span<const int64_t> values) {
  return CopyTensor(std::move(name), ElementType::kInt64, std::move(shape), values);
}

TensorValue Uint8Tensor(std::string name, std::vector<int64_t> shape,
                        std::span<const uint8_t> values) {
  return CopyTensor(std::move(name), ElementType::kUint8, std::move(shape), values);
}

TensorValue StringTensor(std::string name, std::vector<int64_t> shape,
                         std::vector<std::string> values) {
  return {std::move(name), ElementType::kString, std::move(shape), "", std::move(values)};
}

}  // namespace taas
