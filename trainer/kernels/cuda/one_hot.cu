// y[i, j] = 1 where j is ids[i], else 0. Four elements a thread, in blocks of 256 (places.h): each
// is written once, without zeros first, and an id stays in the caches. Bound by memory: 4 bytes per
// element. One more block, the last, looks for ids that are none (report.h), whose rows are zeros.

#include "trainer/kernels/cuda/one_hot.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas;
using namespace taas::cuda;

namespace {

__device__ float Ones(Place<float>, int64_t column, int64_t id) {
  return column == id ? 1.0f : 0.0f;
}
__device__ float4 Ones(Place<float4>, int64_t column, int64_t id) {
  return make_float4(column == id ? 1.0f : 0.0f, column + 1 == id ? 1.0f : 0.0f,
                     column + 2 == id ? 1.0f : 0.0f, column + 3 == id ? 1.0f : 0.0f);
}

}  // namespace

extern "C" __global__ void OneHotKernel(const OneHotParams p) {
  __shared__ unsigned long long first;
  if (blockIdx.x + 1 == gridDim.x) {
    ReportFirstOutside(p.report, Fault::Kind::kId, p.ids, p.rows, p.columns, &first);
    return;
  }
  ForPlaces(p.rows * p.columns, p.by_fours, [&](auto place) {
    const int64_t row = place.i / p.columns;
    place.Store(p.y, Ones(place, place.i - row * p.columns, p.ids[row]));
  });
}
