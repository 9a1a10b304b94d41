// Where a window of an image op (convolution, pooling) lies: sizes, strides and padding of height
// and width, of images in NHWC order.
//
// SAME and VALID are TensorFlow's: SAME gives ceil(in / stride) outputs and pads as much at the end
// as at the beginning, or one more; VALID pads nothing. EXPLICIT takes "explicit_paddings" {top,
// bottom, left, right}.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what no window fits.
//
//   ASSIGN_OR_RETURN(const Window window, WindowOf(call.attributes, shape, kernel));
//   window.out[0];  // Height of the output.

#ifndef TRAINER_GRAPH_WINDOW_H_
#define TRAINER_GRAPH_WINDOW_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/op_registry.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

struct Window {
  using Pair = std::array<int64_t, 2>;  // Of height and width.
  Pair in{}, kernel{}, stride{}, before{}, after{}, out{};
};

// The attributes strides {1, 1}, padding "SAME" and explicit_paddings {}.
std::vector<AttributeSpec> WindowAttributes();

// `height_width` is of the images that the window slides over.
absl::StatusOr<Window> WindowOf(const Attributes& attributes, Window::Pair height_width,
                                Window::Pair kernel);

// Height and width of float32[n, height, width, channels]; InvalidArgument for another type.
absl::StatusOr<Window::Pair> ImageSize(const TensorType& type);

// The two numbers of an attribute such as strides; InvalidArgument unless both are at least 1.
absl::StatusOr<Window::Pair> PairOf(const Attributes& attributes, const char* name);

}  // namespace taas

#endif  // TRAINER_GRAPH_WINDOW_H_
