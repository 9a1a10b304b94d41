// y = max or mean of x over a window; dx = the sum of what each window gives to the element.
//
// One thread per element of the result: blocks along x go over a row of pixels and channels,
// neighbours side by side, those along y over the rows of all images, so that no thread divides by
// more than the channels. Gradients are gathered, each element from the windows that it is in, in
// their order: no atomics, nothing to clear, and the processor's bits. What windows share comes
// from the caches: 4 (1 + 1 / stride²) bytes per element of x, for the gradient of a maximum
// 4 (2 + 2 / stride²); bound by memory for usual windows.

#include "trainer/kernels/cuda/pooling.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

// From begin below end.
struct Span {
  int begin, end;
};

// The window of output `o` along an axis.
__device__ Span WindowOf(const PoolWindows& w, int axis, int o) {
  const int first = o * w.stride[axis] - w.before[axis];
  const int beyond = first + w.kernel[axis];
  return {first < 0 ? 0 : first, beyond < w.in[axis] ? beyond : w.in[axis]};
}

// The outputs in whose windows input `i` is along an axis.
__device__ Span OutputsOf(const PoolWindows& w, int axis, int i) {
  const int last = (i + w.before[axis]) / w.stride[axis];
  const int reach = i + w.before[axis] - w.kernel[axis];  // The last place that does not reach it.
  const int first = reach < 0 ? 0 : reach / w.stride[axis] + 1;
  return {first, last < w.out[axis] ? last + 1 : w.out[axis]};
}

// A row of pixels of all images, of `height` each, and this thread's element in it.
struct Element {
  int64_t image;
  int y, x, channel;
};

// Calls `visit(element)` for this thread's of images of that size.
template <typename Visit>
__device__ void ForPixels(const PoolWindows& w, const int size[2], const Visit& visit) {
  const int in_row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (in_row >= size[1] * w.channels) return;  // The last block of a row is partly idle.
  const int x = in_row / w.channels;
  for (int64_t row = blockIdx.y; row < w.images * size[0]; row += gridDim.y) {
    visit(Element{row / size[0], static_cast<int>(row % size[0]), x, in_row - x * w.channels});
  }
}

__device__ int64_t PlaceOf(const PoolWindows& w, const int size[2], const Element& at, int y,
                           int x) {
  return ((at.image * size[0] + y) * size[1] + x) * w.channels + at.channel;
}

__device__ bool SameBits(float a, float b) { return __float_as_uint(a) == __float_as_uint(b); }

// Of equal ones the first. A NaN stays, whichever it is: what diverged must be seen.
__device__ float Larger(float a, float b) {
  const float number = b > a ? b : a;  // `a` if that is a NaN.
  return b != b ? b : number;
}

// Whether an element of that window before (y, x) has the bits of `top`.
__device__ bool FoundBefore(const PoolGradParams& p, const Element& at, const Span& rows,
                            const Span& columns, float top) {
  for (int y = rows.begin; y <= at.y; ++y) {
    const int end = y == at.y ? at.x : columns.end;
    for (int x = columns.begin; x < end; ++x) {
      if (SameBits(p.x[PlaceOf(p.windows, p.windows.in, at, y, x)], top)) return true;
    }
  }
  return false;
}

}  // namespace

extern "C" __global__ void AvgPoolGradKernel(const PoolGradParams p) {
  const PoolWindows& w = p.windows;
  ForPixels(w, w.in, [&](const Element& at) {
    const Span rows = OutputsOf(w, 0, at.y), columns = OutputsOf(w, 1, at.x);
    float sum = 0;
    for (int y = rows.begin; y < rows.end; ++y) {
      const Span high = WindowOf(w, 0, y);
      for (int x = columns.begin; x < columns.end; ++x) {
        const Span wide = WindowOf(w, 1, x);
        const int pixels = (high.end - high.begin) * (wide.end - wide.begin);
        sum += 1.0f / static_cast<float>(pixels) * p.dy[PlaceOf(w, w.out, at, y, x)];
      }
    }
    p.dx[PlaceOf(w, w.in, at, at.y, at.x)] = sum;
  });
}

extern "C" __global__ void AvgPoolKernel(const PoolParams p) {
  const PoolWindows& w = p.windows;
  ForPixels(w, w.out, [&](const Element& at) {
    const Span rows = WindowOf(w, 0, at.y), columns = WindowOf(w, 1, at.x);
    float sum = 0;
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) sum += p.x[PlaceOf(w, w.in, at, y, x)];
    }
    const int pixels = (rows.end - rows.begin) * (columns.end - columns.begin);
    p.y[PlaceOf(w, w.out, at, at.y, at.x)] = sum * (1.0f / static_cast<float>(pixels));
  });
}

extern "C" __global__ void MaxPoolGradKernel(const PoolGradParams p) {
  const PoolWindows& w = p.windows;
  ForPixels(w, w.in, [&](const Element& at) {
    const int64_t place = PlaceOf(w, w.in, at, at.y, at.x);
    const float value = p.x[place];
    const Span rows = OutputsOf(w, 0, at.y), columns = OutputsOf(w, 1, at.x);
    float sum = 0;
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) {
        const int64_t out = PlaceOf(w, w.out, at, y, x);
        const float top = p.y[out];
        if (!SameBits(value, top) || (p.after_relu && !(top > 0.0f))) continue;
        if (FoundBefore(p, at, WindowOf(w, 0, y), WindowOf(w, 1, x), top)) continue;
        sum += p.dy[out];
      }
    }
    p.dx[place] = sum;
  });
}

extern "C" __global__ void MaxPoolKernel(const PoolParams p) {
  const PoolWindows& w = p.windows;
  ForPixels(w, w.out, [&](const Element& at) {
    const Span rows = WindowOf(w, 0, at.y), columns = WindowOf(w, 1, at.x);
    float most = p.x[PlaceOf(w, w.in, at, rows.begin, columns.begin)];
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) {
        most = Larger(most, p.x[PlaceOf(w, w.in, at, y, x)]);
      }
    }
    p.y[PlaceOf(w, w.out, at, at.y, at.x)] = most;
  });
}
