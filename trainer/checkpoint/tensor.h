// A named tensor on its way into or out of a checkpoint: type, shape and little-endian bytes.
//
// Ownership: TensorView borrows its bytes, TensorValue owns them. Threads: values. Errors: none.
//
//   const TensorView view = FloatTensor("hidden1/weights", {784, 500}, weights);
//   const TensorValue step = Int64Tensor("global_step", {}, std::array{int64_t{1000}});

#ifndef TRAINER_CHECKPOINT_TENSOR_H_
#define TRAINER_CHECKPOINT_TENSOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

// TensorFlow's numbers, because they are what a checkpoint stores.
enum class ElementType : int {
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kFloat16 = 19,
};

// Bytes of one element; 0 for strings and for types that this tree does not know.
int64_t ElementBytes(ElementType type);
// "float32"; "type 23" for a type that this tree does not know.
std::string ElementTypeName(ElementType type);

// "[784,500]", "[]" for a scalar.
std::string ShapeText(std::span<const int64_t> shape);
// The product of the dimensions; 1 for a scalar. -1 if a dimension is negative or the product
// overflows.
int64_t ElementCount(std::span<const int64_t> shape);

struct TensorView {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<int64_t> shape;
  std::string_view bytes;  // ElementCount · ElementBytes; unused for strings.
  std::span<const std::string> strings = {};  // kString only, one per element.
};

struct TensorValue {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<int64_t> shape;
  std::string bytes;
  std::vector<std::string> strings = {};

  TensorView View() const { return {name, type, shape, bytes, strings}; }
};

TensorView FloatTensor(std::string name, std::vector<int64_t> shape, std::span<const float> values);
// These copy: they are for small tensors such as the step and the data cursor.
TensorValue Int64Tensor(std::string name, std::vector<int64_t> shape,
                        std::span<const int64_t> values);
TensorValue Uint8Tensor(std::string name, std::vector<int64_t> shape,
                        std::span<const uint8_t> values);
TensorValue StringTensor(std::string name, std::vector<int64_t> shape,
                         std::vector<std::string> values);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_TENSOR_H_
