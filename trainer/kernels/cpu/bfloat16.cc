#include "trainer/kernels/cpu/bfloat16.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace taas {

bool HasBFloat16() {
  static const bool kHas = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bf16") != 0;
  }();
  return kHas;
}

#ifdef __clang__  // Of `make fuzz`.
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512bf16,prefer-vector-width=512")
#endif

namespace {

// The first n of a register, n from 0 to kVector.
__mmask16 First(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }

__m512i Load(const void* from) { return _mm512_loadu_si512(from); }

// Element i: the rounded odd[i] above the rounded even[i].
__m512i PairsFrom(__m512 even, __m512 odd) {
  alignas(64) static constexpr std::array<uint16_t, 2 * kVector> kInterleaved = [] {
    std::array<uint16_t, 2 * kVector> order{};
    for (uint16_t i = 0; i < kVector; ++i) {
      order[2 * i] = i;
      order[2 * i + 1] = static_cast<uint16_t>(kVector + i);
    }
    return order;
  }();
  const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);
  return _mm512_permutexvar_epi16(Load(kInterleaved.data()), both);
}

// 32 numbers, of which the first n are there, as pairs of neighbours.
__m512i PairsOfRow(const float* x, int64_t n) {
  const __m512 first = _mm512_maskz_loadu_ps(First(std::min<int64_t>(n, kVector)), x);
  const int64_t rest = std::clamp<int64_t>(n - kVector, 0, kVector);
  const __m512 second = _mm512_maskz_loadu_ps(First(rest), x + kVector);
  return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}

// rows[i][j] and rows[j][i] change places.
void Transpose(__m512i rows[kVector]) {
  __m512i a[kVector];
  for (int i = 0; i < kVector; i += 2) {
    a[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    a[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < kVector; i += 4) {
    rows[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
  }
  // Now lane l of rows[4g + c] holds column 4l + c of rows 4g to 4g + 3.
  constexpr int kEvenLanes = 0x88, kOddLanes = 0xDD;
  for (int c = 0; c < 4; ++c) {
    const __m512i low02 = _mm512_shuffle_i32x4(rows[c], rows[4 + c], kEvenLanes);
    const __m512i low13 = _mm512_shuffle_i32x4(rows[c], rows[4 + c], kOddLanes);
    const __m512i high02 = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], kEvenLanes);
    const __m512i high13 = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], kOddLanes);
    a[c] = _mm512_shuffle_i32x4(low02, high02, kEvenLanes);
    a[8 + c] = _mm512_shuffle_i32x4(low02, high02, kOddLanes);
    a[4 + c] = _mm512_shuffle_i32x4(low13, high13, kEvenLanes);
    a[12 + c] = _mm512_shuffle_i32x4(low13, high13, kOddLanes);
  }
  for (int i = 0; i < kVector; ++i) rows[i] = a[i];
}

// A tile of R rows and V registers of columns.
template <int R, int V>
void MultiplyRows(const Tile& tile) {
  __m512 sums[R][V];
  __mmask16 masks[V];
  for (int v = 0; v < V; ++v) {
    masks[v] = First(std::min<int64_t>(tile.columns - v * kVector, kVector));
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      const float* const from = tile.out + r * tile.out_stride + v * kVector;
      sums[r][v] = tile.adds ? _mm512_maskz_loadu_ps(masks[v], from) : _mm512_setzero_ps();
    }
  }
  const BFloat16Pair* b = tile.b;
  const int64_t row = tile.a_row;
  for (int64_t segment = 0; segment < tile.segments; ++segment) {
    // Every third row has a pointer of its own: the two between are in reach of an address.
    const char* a = static_cast<const char*>(tile.a) + segment * tile.a_segment;
    const char* bases[(R + 2) / 3];
#pragma GCC unroll 4
    for (int i = 0; i < (R + 2) / 3; ++i) bases[i] = a + 3 * i * row;
    for (int64_t pair = 0; pair < tile.pairs; ++pair) {
      __m512bh columns[V];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) columns[v] = (__m512bh)Load(b + v * kVector);
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        int32_t left;
        std::memcpy(&left, bases[r / 3] + (r % 3) * row, sizeof(left));
        const __m512bh all = (__m512bh)_mm512_set1_epi32(left);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], all, columns[v]);
        }
      }
      b += V * kVector;
#pragma GCC unroll 4
      for (int i = 0; i < (R + 2) / 3; ++i) bases[i] += tile.a_pair;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      _mm512_mask_storeu_ps(tile.out + r * tile.out_stride + v * kVector, masks[v], sums[r][v]);
    }
  }
}

using MultiplyFunction = void (*)(const Tile&);

template <int V, int... R>
constexpr auto Functions(std::integer_sequence<int, R...>) {
  return std::array<MultiplyFunction, sizeof...(R)>{MultiplyRows<R + 1, V>...};
}

using AllRows = std::make_integer_sequence<int, kTileRows>;
constexpr auto kNarrow = Functions<1>(AllRows());
constexpr auto kWide = Functions<2>(AllRows());

}  // namespace

void RoundRow(const float* x, uint16_t* out, int64_t n) {
  int64_t i = 0;
  for (; i + 2 * kVector <= n; i += 2 * kVector) {
    _mm512_storeu_si512(out + i, PairsOfRow(x + i, 2 * kVector));
  }
  if (i == n) return;
  const __mmask32 rest = (uint32_t{1} << (n - i)) - 1;
  _mm512_mask_storeu_epi16(out + i, rest, PairsOfRow(x + i, n - i));
}

void PairRows(const float* even, const float* odd, BFloat16Pair* out, int64_t n) {
  int64_t i = 0;
  for (; i + kVector <= n && odd != nullptr; i += kVector) {
    _mm512_storeu_si512(out + i,
                        PairsFrom(_mm512_loadu_ps(even + i), _mm512_loadu_ps(odd + i)));
  }
  for (; i < n; i += kVector) {
    const __mmask16 here = First(std::min<int64_t>(n - i, kVector));
    const __m512 low = _mm512_maskz_loadu_ps(here, even + i);
    const __m512 high =
        odd == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(here, odd + i);
    _mm512_storeu_si512(out + i, PairsFrom(low, high));
  }
}

void PackRowPairs(const float* x, int64_t stride, int64_t rows, int64_t columns,
                  BFloat16Pair* out, int64_t out_step) {
  for (int64_t p = 0; p < PairsOf(rows); ++p) {
    const float* const even = x + 2 * p * stride;
    PairRows(even, 2 * p + 1 < rows ? even + stride : nullptr, out + p * out_step, columns);
  }
}

void PairColumns(const float* x, int64_t x_stride, int rows, BFloat16Pair* out, int64_t out_step,
                 int64_t n) {
  const int64_t pairs = PairsOf(n);
  for (int64_t first = 0; first < pairs; first += kVector) {
    __m512i block[kVector];
    for (int r = 0; r < kVector; ++r) {
      block[r] = r < rows ? PairsOfRow(x + r * x_stride + 2 * first, n - 2 * first)
                          : _mm512_setzero_si512();
    }
    Transpose(block);
    const int64_t count = std::min<int64_t>(pairs - first, kVector);
    for (int64_t p = 0; p < count; ++p) {
      _mm512_storeu_si512(out + (first + p) * out_step, block[p]);
    }
  }
}

void MultiplyTile(const Tile& tile) {
  const auto& functions = tile.columns > kVector ? kWide : kNarrow;
  functions[static_cast<size_t>(tile.rows - 1)](tile);
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace taas
