#include "trainer/loops/parallel.h"

namespace taas {

void ParallelFor(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> part) {
  if (threads <= 1 || parts <= 1) {
    for (int64_t i = 0; i < parts; ++i) part(i);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t i = 0; i < parts; ++i) part(i);
}

}  // namespace taas
