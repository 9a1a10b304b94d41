#include "trainer/graph/window.h"

#include <algorithm>
#include <string>

#include "operator/base/status.h"

namespace taas {

std::vector<AttributeSpec> WindowAttributes() {
  return {{.name = "strides", .default_value = std::vector<int64_t>{1, 1}},
          {.name = "padding", .default_value = std::string("SAME")},
          {.name = "explicit_paddings", .default_value = std::vector<int64_t>{}}};
}

absl::StatusOr<Window::Pair> PairOf(const Attributes& attributes, const char* name) {
  const std::vector<int64_t>& values = attributes.Ints(name);
  if (values.size() != 2 || values[0] < 1 || values[1] < 1) {
    return absl::InvalidArgumentError(std::string(name) +
                                      " must be two numbers of at least 1, of height and width");
  }
  return Window::Pair{values[0], values[1]};
}

absl::StatusOr<Window> WindowOf(const Attributes& attributes, Window::Pair height_width,
                                Window::Pair kernel) {
  Window window{.in = height_width, .kernel = kernel};
  ASSIGN_OR_RETURN(window.stride, PairOf(attributes, "strides"));
  const std::string& padding = attributes.Text("padding");
  const std::vector<int64_t>& explicit_paddings = attributes.Ints("explicit_paddings");
  const bool is_explicit = padding == "EXPLICIT";
  if (!is_explicit && padding != "SAME" && padding != "VALID") {
    return absl::InvalidArgumentError("padding must be SAME, VALID or EXPLICIT, is " + padding);
  }
  if (explicit_paddings.size() != (is_explicit ? 4 : 0) ||
      std::ranges::any_of(explicit_paddings, [](int64_t pad) { return pad < 0; })) {
    return absl::InvalidArgumentError(
        "explicit_paddings must be {top, bottom, left, right} with padding EXPLICIT, else nothing");
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t in = height_width[axis];
    const int64_t stride = window.stride[axis];
    if (padding == "SAME") {
      const int64_t out = (in + stride - 1) / stride;
      const int64_t pad = std::max<int64_t>(0, (out - 1) * stride + kernel[axis] - in);
      window.before[axis] = pad / 2;
      window.after[axis] = pad - pad / 2;
    } else if (is_explicit) {
      window.before[axis] = explicit_paddings[2 * axis];
      window.after[axis] = explicit_paddings[2 * axis + 1];
    }
    const int64_t room = in + window.before[axis] + window.after[axis] - kernel[axis];
    if (in < 1 || kernel[axis] < 1 || room < 0) {
      return absl::InvalidArgumentError("a window of " + std::to_string(kernel[0]) + "x" +
                                        std::to_string(kernel[1]) + " does not fit into " +
                                        std::to_string(height_width[0]) + "x" +
                                        std::to_string(height_width[1]));
    }
    window.out[axis] = room / stride + 1;
  }
  return window;
}

absl::StatusOr<Window::Pair> ImageSize(const TensorType& type) {
  if (type.dtype != DType::kFloat32 || type.shape.rank() != 4 || type.shape.dim(3) < 1) {
    return absl::InvalidArgumentError("images must be float32[n, height, width, channels]");
  }
  return Window::Pair{type.shape.dim(1), type.shape.dim(2)};
}

}  // namespace taas
