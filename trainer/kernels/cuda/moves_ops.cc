#include "trainer/kernels/cuda/moves_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// A tensor as rows in front of one axis; `inner` elements lie behind it.
struct Around {
  int64_t rows = 1;
  int64_t inner = 1;
};

Around AroundAxis(const Shape& shape, int64_t axis) {
  Around around;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i < axis) around.rows *= shape.dim(i);
    if (i > axis) around.inner *= shape.dim(i);
  }
  return around;
}

// What is joined, in bytes; pieces of no width are left out.
struct Joined {
  std::vector<Piece> pieces;
  int64_t rows = 0;
  int64_t width = 0;  // Of a row of y.

  void Add(const void* x, int64_t stride, int64_t bytes) {
    if (bytes > 0) pieces.push_back({.x = x, .stride = stride, .begin = width});
    width += bytes;
  }
};

// The largest unit of which all that is moved is made.
int64_t UnitOf(const Joined& joined, const void* y) {
  int64_t bits = joined.width;
  int64_t unit = AlignmentOf({y});
  for (const Piece& piece : joined.pieces) {
    bits |= piece.begin;
    if (piece.x == nullptr) continue;
    bits |= piece.stride;
    unit = std::min(unit, AlignmentOf({piece.x}));
  }
  while (bits % unit != 0) unit /= 2;
  return unit;
}

// Pieces [begin, end) into their columns.
absl::Status JoinSome(const KernelCall& call, const Joined& joined, size_t begin, size_t end,
                      int64_t unit) {
  const auto first = joined.pieces[begin].begin;
  const int64_t last = end == joined.pieces.size() ? joined.width : joined.pieces[end].begin;
  JoinParams p{.pieces = {},
               .count_of_pieces = static_cast<int>(end - begin),
               .y = static_cast<char*>(call.outputs[0]) + first,
               .rows = joined.rows,
               .columns = (last - first) / unit,
               .stride = joined.width / unit,
               .unit_bytes = static_cast<int>(unit)};
  for (size_t i = begin; i < end; ++i) {
    const Piece& piece = joined.pieces[i];
    p.pieces[i - begin] = {
        .x = piece.x, .stride = piece.stride / unit, .begin = (piece.begin - first) / unit};
  }
  return Launch(call, kJoinKernel, ForElements(p.rows * p.columns, 4), p);
}

absl::Status Join(const KernelCall& call, const Joined& joined) {
  const int64_t unit = UnitOf(joined, call.outputs[0]);
  const size_t count = joined.pieces.size();
  for (size_t begin = 0; begin < count; begin += JoinParams::kPiecesMax) {
    const size_t end = std::min<size_t>(count, begin + JoinParams::kPiecesMax);
    RETURN_IF_ERROR(JoinSome(call, joined, begin, end, unit));
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> Concat(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  std::vector<int64_t> widths;  // Bytes of a row of each input.
  for (const TensorType& type : spec.inputs) {
    widths.push_back(type.shape.dim(static_cast<int>(axis)) * around.inner *
                     static_cast<int64_t>(SizeOf(type.dtype)));
  }
  return Kernel{.run = [widths = std::move(widths), rows = around.rows](const KernelCall& call) {
    Joined joined{.pieces = {}, .rows = rows};
    for (size_t i = 0; i < widths.size(); ++i) joined.Add(call.inputs[i], widths[i], widths[i]);
    return Join(call, joined);
  }};
}

absl::StatusOr<Kernel> Slice(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  const int64_t bytes = around.inner * static_cast<int64_t>(SizeOf(spec.inputs[0].dtype));
  const int64_t whole = spec.inputs[0].shape.dim(static_cast<int>(axis)) * bytes;
  const int64_t begin = spec.attributes.Int("begin") * bytes;
  const int64_t size = spec.attributes.Int("size") * bytes;
  return Kernel{.run = [rows = around.rows, whole, begin, size](const KernelCall& call) {
    Joined joined{.pieces = {}, .rows = rows};
    joined.Add(static_cast<const char*>(call.inputs[0]) + begin, whole, size);
    return Join(call, joined);
  }};
}

absl::StatusOr<Kernel> Pad(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  const int64_t bytes = around.inner * static_cast<int64_t>(SizeOf(spec.inputs[0].dtype));
  const int64_t width = spec.inputs[0].shape.dim(static_cast<int>(axis)) * bytes;
  const int64_t before = spec.attributes.Int("before") * bytes;
  const int64_t after = spec.attributes.Int("after") * bytes;
  return Kernel{.run = [rows = around.rows, width, before, after](const KernelCall& call) {
    Joined joined{.pieces = {}, .rows = rows};
    joined.Add(nullptr, 0, before);
    joined.Add(call.inputs[0], width, width);
    joined.Add(nullptr, 0, after);
    return Join(call, joined);
  }};
}

absl::StatusOr<Kernel> SwapLeading(const KernelSpec& spec) {
  const Shape& x = spec.inputs[0].shape;
  const int64_t rows = x.dim(0), columns = x.dim(1), count = x.count();
  const int64_t inner = count == 0 ? 0 : count / (rows * columns);
  return Kernel{.run = [rows, columns, inner, count](const KernelCall& call) {
    if (inner == 1) return Transpose(call, call.in(0), call.out(), rows, columns);
    int64_t unit = AlignmentOf({call.in(0), call.out()});
    const int64_t bytes = inner * static_cast<int64_t>(sizeof(float));
    while (bytes % unit != 0) unit /= 2;
    const int64_t units = count * static_cast<int64_t>(sizeof(float)) / unit;
    return Launch(call, kSwapKernel, ForElements(units, 4),
                  {.x = call.in(0),
                   .y = call.out(),
                   .count = units,
                   .rows = rows,
                   .columns = columns,
                   .inner = bytes / unit,
                   .unit_bytes = static_cast<int>(unit)});
  }};
}

}  // namespace

absl::Status Transpose(const KernelCall& call, const float* from, float* to, int64_t rows,
                       int64_t columns) {
  const int64_t across = (columns + 31) / 32, down = (rows + 31) / 32;
  return Launch(call, kSwapTilesKernel, {.x = static_cast<unsigned>(across * down)},
                {.x = from,
                 .y = to,
                 .rows = rows,
                 .columns = columns,
                 .tiles_of_columns = across});
}

void AddMoveKernels(KernelRegistry* kernels) {
  kernels->Add("Concat", kGpu, DType::kFloat32, Concat);
  kernels->Add("Pad", kGpu, DType::kFloat32, Pad);
  kernels->Add("Slice", kGpu, DType::kFloat32, Slice);
  kernels->Add("Slice", kGpu, DType::kInt64, Slice);
  kernels->Add("SwapLeading", kGpu, DType::kFloat32, SwapLeading);
}

}  // namespace taas::cuda
