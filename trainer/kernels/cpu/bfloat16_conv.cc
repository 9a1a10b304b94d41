#include "trainer/kernels/cpu/bfloat16_conv.h"

#include <algorithm>

#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/kernels/cpu/scratch.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// Of images in order for the gradient of the weights, with several threads: threads meet twice for
// so much, and two of them have it in their second caches.
constexpr size_t kGroupBytes = size_t{1} << 20;

int64_t Rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
int64_t PanelsOf(int64_t columns) { return (columns + kTileColumns - 1) / kTileColumns; }

struct Panel {
  int64_t first = 0;  // Its first column.
  int columns = 0;
  int width = 0;
};

Panel PanelAt(int64_t columns, int64_t index) {
  Panel panel{.first = index * kTileColumns};
  panel.columns = static_cast<int>(std::min<int64_t>(kTileColumns, columns - panel.first));
  panel.width = PanelWidth(panel.columns);
  return panel;
}

// A convolution with padding around the images and weights in panels: both the forward one and that
// of the gradient of the inputs.
struct Sliding {
  int64_t images = 0;
  int64_t from[2] = {};    // Height and width of the images.
  int64_t offset[2] = {};  // Where they begin within their padding.
  int64_t channels = 0;    // Of them, as they are in memory,
  int64_t room = 0;        // and as they are rounded.
  int64_t kernel[2] = {};
  int64_t stride[2] = {1, 1};
  int64_t to[2] = {};  // Height and width of the result.
  int64_t columns = 0;  // Its channels.

  int64_t padded(int axis) const { return (to[axis] - 1) * stride[axis] + kernel[axis]; }
  // Of a row of the padded image, in numbers.
  int64_t pitch() const { return padded(1) * room; }
  // Of one row of the window.
  int64_t pairs() const { return PairsOf(kernel[1] * room); }
  int64_t panel_pairs() const { return kernel[0] * pairs() * kTileColumns; }
  size_t weights_bytes() const {
    return static_cast<size_t>(PanelsOf(columns) * panel_pairs()) * sizeof(BFloat16Pair);
  }
  // One number more: the last pair of a window may reach there.
  size_t image_bytes() const {
    return Aligned(static_cast<size_t>(padded(0) * pitch() + 1) * sizeof(uint16_t));
  }
  size_t scratch_bytes(int threads) const {
    return weights_bytes() + static_cast<size_t>(threads) * image_bytes();
  }
};

// Into the middle of zeros.
void RoundImage(const Sliding& s, const float* image, uint16_t* out) {
  const int64_t rows = std::min(s.from[0], s.padded(0) - s.offset[0]);
  const int64_t pixels = std::min(s.from[1], s.padded(1) - s.offset[1]);
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = image + row * s.from[1] * s.channels;
    uint16_t* to = out + (row + s.offset[0]) * s.pitch() + s.offset[1] * s.room;
    if (s.room == s.channels) {
      RoundRow(from, to, pixels * s.channels);
      continue;
    }
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      RoundRow(from + pixel * s.channels, to + pixel * s.room, s.channels);
    }
  }
}

void SlideOver(const Sliding& s, const uint16_t* image, const BFloat16Pair* weights, float* out) {
  // Tiles of a row are of one size, or one less: none is left with a pixel or two.
  const int64_t tiles = (s.to[1] + kTileRows - 1) / kTileRows;
  for (int64_t index = 0; index < PanelsOf(s.columns); ++index) {
    const Panel panel = PanelAt(s.columns, index);
    for (int64_t row = 0; row < s.to[0]; ++row) {
      for (int64_t at = 0; at < tiles; ++at) {
        const Range pixels = ShareOf(s.to[1], tiles, at);
        const int64_t first = row * s.stride[0] * s.pitch() + pixels.begin * s.stride[1] * s.room;
        MultiplyTile({.a = image + first,
                      .a_row = s.stride[1] * s.room * int64_t{sizeof(uint16_t)},
                      .a_segment = s.pitch() * int64_t{sizeof(uint16_t)},
                      .segments = s.kernel[0],
                      .pairs = s.pairs(),
                      .b = weights + index * s.panel_pairs(),
                      .out = out + (row * s.to[1] + pixels.begin) * s.columns + panel.first,
                      .out_stride = s.columns,
                      .rows = static_cast<int>(pixels.size()),
                      .columns = panel.columns});
      }
    }
  }
}

// `scratch` begins with the weights in their panels.
void Slide(const Sliding& s, const float* from, float* to, void* scratch, int threads) {
  const auto* const weights = static_cast<const BFloat16Pair*>(scratch);
  auto* const room = static_cast<std::byte*>(scratch) + s.weights_bytes();
  const int64_t shares = std::min<int64_t>(threads, s.images);
  ParallelFor(threads, shares, [&](int64_t share) {
    auto* const image =
        reinterpret_cast<uint16_t*>(room + static_cast<size_t>(share) * s.image_bytes());
    std::fill_n(image, s.image_bytes() / sizeof(uint16_t), uint16_t{0});
    const Range images = ShareOf(s.images, shares, share);
    for (int64_t i = images.begin; i < images.end; ++i) {
      RoundImage(s, from + i * s.from[0] * s.from[1] * s.channels, image);
      SlideOver(s, image, weights, to + i * s.to[0] * s.to[1] * s.columns);
    }
  });
}

Sliding ForwardOf(const BFloat16Convolution& conv) {
  const Window& w = conv.window;
  return {.images = conv.images,
          .from = {w.in[0], w.in[1]},
          .offset = {w.before[0], w.before[1]},
          .channels = conv.in,
          .room = conv.in,
          .kernel = {w.kernel[0], w.kernel[1]},
          .stride = {w.stride[0], w.stride[1]},
          .to = {w.out[0], w.out[1]},
          .columns = conv.out};
}

// dx at a pixel sums dy over the outputs whose windows hold it: those from kernel - 1 before it on.
// An even number of channels, so that pairs are of one pixel, as they are in the weights.
Sliding InputGradOf(const BFloat16Convolution& conv) {
  const Window& w = conv.window;
  return {.images = conv.images,
          .from = {w.out[0], w.out[1]},
          .offset = {w.kernel[0] - 1 - w.before[0], w.kernel[1] - 1 - w.before[1]},
          .channels = conv.out,
          .room = 2 * PairsOf(conv.out),
          .kernel = {w.kernel[0], w.kernel[1]},
          .to = {w.in[0], w.in[1]},
          .columns = conv.in};
}

// Each row of the window is a matrix [width · in, out].
void PackWeights(const BFloat16Convolution& conv, const Sliding& s, const float* w,
                 BFloat16Pair* out) {
  const int64_t rows = s.kernel[1] * conv.in;
  for (int64_t index = 0; index < PanelsOf(s.columns); ++index) {
    const Panel panel = PanelAt(s.columns, index);
    BFloat16Pair* to = out + index * s.panel_pairs();
    for (int64_t y = 0; y < s.kernel[0]; ++y) {
      PackRowPairs(w + y * rows * conv.out + panel.first, conv.out, rows, panel.columns, to,
                   panel.width);
      to += s.pairs() * panel.width;
    }
  }
}

// Turned around, and with the channels of x as columns.
void PackTurnedWeights(const BFloat16Convolution& conv, const Sliding& s, const float* w,
                       BFloat16Pair* out) {
  for (int64_t index = 0; index < PanelsOf(s.columns); ++index) {
    const Panel panel = PanelAt(s.columns, index);
    BFloat16Pair* to = out + index * s.panel_pairs();
    for (int64_t at = s.kernel[0] * s.kernel[1]; at-- > 0;) {
      const float* const matrix = w + (at * conv.in + panel.first) * conv.out;
      for (int first = 0; first < panel.columns; first += kVector) {
        PairColumns(matrix + first * conv.out, conv.out,
                    std::min(kVector, panel.columns - first), to + first, panel.width, conv.out);
      }
      to += PairsOf(conv.out) * panel.width;
    }
  }
}

// The gradient of the weights: its tiles are of (pixel of a window's row, channel of x) by channels
// of y, and its pairs of two neighbouring outputs. Of x each pixel is paired with the one a stride
// behind it, which serves all pixels of the windows.
struct WeightsSum {
  const BFloat16Convolution& conv;

  int64_t stride() const { return conv.window.stride[1]; }
  // Of a row of outputs.
  int64_t pixel_pairs() const { return PairsOf(conv.window.out[1]); }
  // Of one row of a window.
  int64_t rows() const { return conv.window.kernel[1] * conv.in; }
  int64_t row_tiles() const { return (rows() + kTileRows - 1) / kTileRows; }
  int64_t tiles() const { return conv.window.kernel[0] * row_tiles(); }
  // Rows of x with their padding, and the numbers in one of them that begin a pair.
  int64_t padded_rows() const {
    return (conv.window.out[0] - 1) * conv.window.stride[0] + conv.window.kernel[0];
  }
  int64_t row_numbers() const {
    return (2 * (pixel_pairs() - 1) * stride() + conv.window.kernel[1]) * conv.in;
  }
  int64_t pitch() const { return Rounded(row_numbers(), kVector); }
  // Of one image, in pairs: x, then dy.
  int64_t x_pairs() const { return padded_rows() * pitch(); }
  int64_t panel_pairs() const { return conv.window.out[0] * pixel_pairs() * kTileColumns; }
  int64_t image_pairs() const { return x_pairs() + PanelsOf(conv.out) * panel_pairs(); }
  // One row of x with its padding.
  int64_t row_floats() const { return Rounded(row_numbers() + stride() * conv.in, kVector); }
  // All of one image.
  size_t share_bytes() const {
    return static_cast<size_t>(image_pairs()) * sizeof(BFloat16Pair) +
           static_cast<size_t>(row_floats()) * sizeof(float);
  }
  // Images at a time.
  int64_t group(int threads) const {
    if (threads == 1) return 1;
    const int64_t fit = static_cast<int64_t>(kGroupBytes / share_bytes());
    return std::clamp<int64_t>(fit, threads, std::max<int64_t>(threads, conv.images));
  }
};

// out[row][pixel][channel]
void PackPixels(const WeightsSum& sum, const float* image, float* row, BFloat16Pair* out) {
  const Window& w = sum.conv.window;
  const int64_t channels = sum.conv.in;
  const int64_t used = (w.out[1] - 1) * sum.stride() + w.kernel[1] - w.before[1];
  const int64_t pixels = std::clamp<int64_t>(used, 0, w.in[1]);
  std::fill_n(row, sum.row_floats(), 0.0f);
  for (int64_t y = 0; y < sum.padded_rows(); ++y) {
    BFloat16Pair* const to = out + y * sum.pitch();
    const int64_t from = y - w.before[0];
    if (from < 0 || from >= w.in[0]) {
      std::fill_n(to, sum.pitch(), BFloat16Pair{0});
      continue;
    }
    std::copy_n(image + from * w.in[1] * channels, pixels * channels,
                row + w.before[1] * channels);
    PairRows(row, row + sum.stride() * channels, to, sum.row_numbers());
  }
}

// out[panel][row][pair of outputs][channel]
void PackOutputs(const WeightsSum& sum, const float* dy, BFloat16Pair* out) {
  const Window& w = sum.conv.window;
  for (int64_t index = 0; index < PanelsOf(sum.conv.out); ++index) {
    const Panel panel = PanelAt(sum.conv.out, index);
    BFloat16Pair* to = out + index * sum.panel_pairs();
    for (int64_t y = 0; y < w.out[0]; ++y) {
      PackRowPairs(dy + y * w.out[1] * sum.conv.out + panel.first, sum.conv.out, w.out[1],
                   panel.columns, to, panel.width);
      to += sum.pixel_pairs() * panel.width;
    }
  }
}

// Adds what one image gives to tile `at` of the rows of all windows.
void AddImage(const WeightsSum& sum, const BFloat16Pair* packed, int64_t at, bool adds,
              float* dw) {
  constexpr int64_t kBytes = sizeof(BFloat16Pair);
  const Window& w = sum.conv.window;
  const int64_t columns = sum.conv.out;
  const int64_t y = at / sum.row_tiles();
  const Range rows = ShareOf(sum.rows(), sum.row_tiles(), at % sum.row_tiles());
  for (int64_t index = 0; index < PanelsOf(columns); ++index) {
    const Panel panel = PanelAt(columns, index);
    MultiplyTile({.a = packed + y * sum.pitch() + rows.begin,
                  .a_row = kBytes,
                  .a_pair = 2 * sum.stride() * sum.conv.in * kBytes,
                  .a_segment = w.stride[0] * sum.pitch() * kBytes,
                  .segments = w.out[0],
                  .pairs = sum.pixel_pairs(),
                  .b = packed + sum.x_pairs() + index * sum.panel_pairs(),
                  .out = dw + (y * sum.rows() + rows.begin) * columns + panel.first,
                  .out_stride = columns,
                  .rows = static_cast<int>(rows.size()),
                  .columns = panel.columns,
                  .adds = adds});
  }
}

}  // namespace

size_t ConvolveScratch(const BFloat16Convolution& conv, int threads) {
  return ForwardOf(conv).scratch_bytes(threads);
}

void Convolve(const BFloat16Convolution& conv, const float* x, const float* w, float* y,
              void* scratch, int threads) {
  const Sliding s = ForwardOf(conv);
  PackWeights(conv, s, w, static_cast<BFloat16Pair*>(scratch));
  Slide(s, x, y, scratch, threads);
}

bool HasInputGrad(const BFloat16Convolution& conv) {
  const Window& w = conv.window;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (w.stride[axis] != 1 || w.before[axis] >= w.kernel[axis]) return false;
  }
  return true;
}

size_t InputGradScratch(const BFloat16Convolution& conv, int threads) {
  return InputGradOf(conv).scratch_bytes(threads);
}

void ConvolveInputGrad(const BFloat16Convolution& conv, const float* dy, const float* w, float* dx,
                       void* scratch, int threads) {
  const Sliding s = InputGradOf(conv);
  PackTurnedWeights(conv, s, w, static_cast<BFloat16Pair*>(scratch));
  Slide(s, dy, dx, scratch, threads);
}

bool HasWeightsGrad(const BFloat16Convolution& conv) {
  const Window& w = conv.window;
  return w.kernel[0] >= w.stride[0] && w.kernel[1] >= w.stride[1];
}

size_t WeightsGradScratch(const BFloat16Convolution& conv, int threads) {
  const WeightsSum sum{conv};
  return static_cast<size_t>(sum.group(threads)) * sum.share_bytes();
}

// A group of images at a time: threads put them in order, each some of them, then all add up what
// these images give, each to tiles of its own.
void ConvolveWeightsGrad(const BFloat16Convolution& conv, const float* x, const float* dy,
                         float* dw, void* scratch, int threads) {
  const WeightsSum sum{conv};
  const Window& w = conv.window;
  const auto packed = [&](int64_t place) {
    return reinterpret_cast<BFloat16Pair*>(static_cast<std::byte*>(scratch) +
                                           static_cast<size_t>(place) * sum.share_bytes());
  };
  const int64_t group = sum.group(threads);
  for (int64_t first = 0; first < conv.images; first += group) {
    const int64_t count = std::min(group, conv.images - first);
    ParallelFor(threads, count, [&](int64_t place) {
      BFloat16Pair* const to = packed(place);
      auto* const row = reinterpret_cast<float*>(to + sum.image_pairs());
      const int64_t image = first + place;
      PackPixels(sum, x + image * w.in[0] * w.in[1] * conv.in, row, to);
      PackOutputs(sum, dy + image * w.out[0] * w.out[1] * conv.out, to + sum.x_pairs());
    });
    ParallelFor(threads, sum.tiles(), [&](int64_t tile) {
      for (int64_t place = 0; place < count; ++place) {
        AddImage(sum, packed(place), tile, first + place > 0, dw);
      }
    });
  }
}

}  // namespace taas
