// A loop over independent parts, on the threads that oneDNN has as well (OpenMP's).
//
// What a part computes must not depend on the number of threads: then neither does the result.
//
// Ownership: none. Threads: blocks until all parts are done. Errors: none; `part` does not throw.
//
//   ParallelFor(call.threads, heads, [&](int64_t head) { … });

#ifndef TRAINER_KERNELS_CPU_PARALLEL_H_
#define TRAINER_KERNELS_CPU_PARALLEL_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace taas {

void ParallelFor(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> part);

// The part's share of `count` rows.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};
inline Range ShareOf(int64_t count, int64_t parts, int64_t part) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_PARALLEL_H_
