// y = max or mean of x over a window; dx = the sum of what each window gives to the element.
//
// One thread per element of the result, or per four channels (places.h): blocks along x go over a
// row of pixels and channels, neighbours side by side, those along y over the rows of all images,
// so that no thread divides by more than the channels. Gradients are gathered, each element from
// the windows that it is in, in their order: no atomics, nothing to clear, and the processor's
// bits. What windows share comes from the caches: 4 (1 + 1 / stride²) bytes per element of x, for
// the gradient of a maximum 4 (2 + 2 / stride²); bound by memory for usual windows.

#include "trainer/kernels/cuda/pooling.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

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

// A row of pixels of all images, of `height` each, and this thread's element in it, or its first.
struct Element {
  int64_t image;
  int y, x, channel;
};

// Calls `visit(element)` for this thread's of images of that size.
template <typename V, typename Visit>
__device__ void ForPixels(const PoolWindows& w, const int size[2], const Visit& visit) {
  constexpr int kWidth = sizeof(V) / sizeof(float);
  const int groups = w.channels / kWidth;
  const int in_row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (in_row >= size[1] * groups) return;  // The last block of a row is partly idle.
  const int x = in_row / groups;
  for (int64_t row = blockIdx.y; row < w.images * size[0]; row += gridDim.y) {
    visit(Element{row / size[0], static_cast<int>(row % size[0]), x,
                  (in_row - x * groups) * kWidth});
  }
}

template <typename V>
__device__ Place<V> PlaceOf(const PoolWindows& w, const int size[2], const Element& at, int y,
                            int x) {
  return {((at.image * size[0] + y) * size[1] + x) * w.channels + at.channel};
}

__device__ bool SameBits(float a, float b) { return __float_as_uint(a) == __float_as_uint(b); }

// Of equal ones the first. A NaN stays, whichever it is: what diverged must be seen.
struct Larger {
  __device__ float operator()(float a, float b) const {
    const float number = b > a ? b : a;  // `a` if that is a NaN.
    return b != b ? b : number;
  }
};

template <typename V>
__device__ bool None(V hits) {
  bool none = true;
  Each([&none](float hit) { none = none && hit == 0; return hit; }, hits);
  return none;
}

// `hits` less those of whose maximum an element of that window before (y, x) has the bits.
template <typename V>
__device__ V NotBefore(const PoolGradParams& p, const Element& at, const Span& rows,
                       const Span& columns, V top, V hits) {
  for (int y = rows.begin; y <= at.y; ++y) {
    const int end = y == at.y ? at.x : columns.end;
    for (int x = columns.begin; x < end; ++x) {
      if (None(hits)) return hits;
      const V other = PlaceOf<V>(p.windows, p.windows.in, at, y, x).Load(p.x);
      hits = Each([](float hit, float a, float b) { return SameBits(a, b) ? 0.0f : hit; }, hits,
                  other, top);
    }
  }
  return hits;
}

template <typename V>
__device__ void AvgPoolGrad(const PoolGradParams& p) {
  const PoolWindows& w = p.windows;
  ForPixels<V>(w, w.in, [&](const Element& at) {
    const Span rows = OutputsOf(w, 0, at.y), columns = OutputsOf(w, 1, at.x);
    V sum = {};
    for (int y = rows.begin; y < rows.end; ++y) {
      const Span high = WindowOf(w, 0, y);
      for (int x = columns.begin; x < columns.end; ++x) {
        const Span wide = WindowOf(w, 1, x);
        const int pixels = (high.end - high.begin) * (wide.end - wide.begin);
        const float share = 1.0f / static_cast<float>(pixels);
        sum = Each([share](float to, float dy) { return to + share * dy; }, sum,
                   PlaceOf<V>(w, w.out, at, y, x).Load(p.dy));
      }
    }
    PlaceOf<V>(w, w.in, at, at.y, at.x).Store(p.dx, sum);
  });
}

template <typename V>
__device__ void AvgPool(const PoolParams& p) {
  const PoolWindows& w = p.windows;
  ForPixels<V>(w, w.out, [&](const Element& at) {
    const Span rows = WindowOf(w, 0, at.y), columns = WindowOf(w, 1, at.x);
    V sum = {};
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) {
        sum = Each(Plus(), sum, PlaceOf<V>(w, w.in, at, y, x).Load(p.x));
      }
    }
    const int pixels = (rows.end - rows.begin) * (columns.end - columns.begin);
    const float share = 1.0f / static_cast<float>(pixels);
    PlaceOf<V>(w, w.out, at, at.y, at.x)
        .Store(p.y, Each([share](float all) { return all * share; }, sum));
  });
}

template <typename V>
__device__ void MaxPoolGrad(const PoolGradParams& p) {
  const PoolWindows& w = p.windows;
  const bool after_relu = p.after_relu;
  ForPixels<V>(w, w.in, [&](const Element& at) {
    const Place<V> place = PlaceOf<V>(w, w.in, at, at.y, at.x);
    const V value = place.Load(p.x);
    const Span rows = OutputsOf(w, 0, at.y), columns = OutputsOf(w, 1, at.x);
    V sum = {};
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) {
        const Place<V> out = PlaceOf<V>(w, w.out, at, y, x);
        const V top = out.Load(p.y);
        V hits = Each(
            [after_relu](float of, float most) {
              return SameBits(of, most) && (!after_relu || most > 0.0f) ? 1.0f : 0.0f;
            },
            value, top);
        hits = NotBefore(p, at, WindowOf(w, 0, y), WindowOf(w, 1, x), top, hits);
        if (None(hits)) continue;
        sum = Each([](float to, float hit, float dy) { return hit == 0 ? to : to + dy; }, sum,
                   hits, out.Load(p.dy));
      }
    }
    place.Store(p.dx, sum);
  });
}

template <typename V>
__device__ void MaxPool(const PoolParams& p) {
  const PoolWindows& w = p.windows;
  ForPixels<V>(w, w.out, [&](const Element& at) {
    const Span rows = WindowOf(w, 0, at.y), columns = WindowOf(w, 1, at.x);
    V most = PlaceOf<V>(w, w.in, at, rows.begin, columns.begin).Load(p.x);
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int x = columns.begin; x < columns.end; ++x) {
        most = Each(Larger(), most, PlaceOf<V>(w, w.in, at, y, x).Load(p.x));
      }
    }
    PlaceOf<V>(w, w.out, at, at.y, at.x).Store(p.y, most);
  });
}

}  // namespace

extern "C" __global__ void AvgPoolGradKernel(const PoolGradParams p) {
  p.windows.by_fours ? AvgPoolGrad<float4>(p) : AvgPoolGrad<float>(p);
}

extern "C" __global__ void AvgPoolKernel(const PoolParams p) {
  p.windows.by_fours ? AvgPool<float4>(p) : AvgPool<float>(p);
}

extern "C" __global__ void MaxPoolGradKernel(const PoolGradParams p) {
  p.windows.by_fours ? MaxPoolGrad<float4>(p) : MaxPoolGrad<float>(p);
}

extern "C" __global__ void MaxPoolKernel(const PoolParams p) {
  p.windows.by_fours ? MaxPool<float4>(p) : MaxPool<float>(p);
}
