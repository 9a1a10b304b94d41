// What flows along an edge of a graph: an element type and a shape, whose batch dimension may stay
// open until a session is compiled.
//
// Ownership: value types. Threads: const methods are safe from any thread. Errors: none; functions
// that combine shapes and can fail live with the ops (op_registry.h).
//
//   const TensorType features{DType::kFloat32, Shape({Shape::kBatch, 784})};
//   features.shape.ToString();          // "[batch, 784]"
//   features.shape.WithBatch(100).count();  // 78400

#ifndef TRAINER_GRAPH_TENSOR_TYPE_H_
#define TRAINER_GRAPH_TENSOR_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

// Numbers are float32; labels, and lists of rows, int32; ids of categories and tokens, and seeds,
// int64; pixels, as files have them, uint8.
enum class DType : uint8_t { kFloat32, kInt32, kInt64, kUint8 };

// In what the factors of a product (of matrices, of a convolution) are multiplied: with 24, 11 or 8
// bits. Tensors are float32 in each case, and so are sums.
enum class Precision : uint8_t { kFloat32, kTf32, kBFloat16 };

// "float32", "tf32", "bfloat16".
std::string_view NameOf(Precision precision);
// "float32", "int32", "int64", "uint8".
std::string_view NameOf(DType dtype);
// Bytes of one element.
size_t SizeOf(DType dtype);

class Shape {
 public:
  // A dimension that takes its size when a session is compiled; the same for the whole graph.
  static constexpr int64_t kBatch = -1;

  Shape() = default;  // A scalar.
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int axis) const { return dims_[static_cast<size_t>(axis)]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  bool has_batch() const;
  // The product of the dimensions; the shape has no open one.
  int64_t count() const;
  // The same with this for open ones, without making another shape.
  int64_t CountWithBatch(int64_t batch) const;
  Shape WithBatch(int64_t batch) const;
  // "[batch, 784]", "[]" for a scalar.
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) = default;

 private:
  std::vector<int64_t> dims_;
};

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;

  // "float32[batch, 784]".
  std::string ToString() const;
  friend bool operator==(const TensorType& a, const TensorType& b) = default;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_TENSOR_TYPE_H_
