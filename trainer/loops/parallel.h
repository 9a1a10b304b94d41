// A loop over independent parts, on the threads that oneDNN has as well (OpenMP's).
//
// What a part computes must not depend on the number of threads: then neither does the result.
//
// Ownership: none. Threads: blocks until all parts are done. Errors: none; `part` does not throw.
//
//   ParallelFor(call.threads, heads, [&](int64_t head) { … });

#ifndef TRAINER_LOOPS_PARALLEL_H_
#define TRAINER_LOOPS_PARALLEL_H_

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
// Shares of rows of which each has sums of its own: their number decides the order of additions, so
// it follows from the size of the work, never from the threads.
inline constexpr int64_t kSharesMax = 16;
// Work is split so far that a part outweighs its start: some microseconds of passing over memory.
inline constexpr int64_t kPartElements = int64_t{1} << 15;

inline int64_t SharesOf(int64_t elements) {
  return std::clamp<int64_t>(elements / kPartElements, 1, kSharesMax);
}

inline Range ShareOf(int64_t count, int64_t parts, int64_t part) {
  return {count * part / parts, count * (part + 1) / parts};
}

// Calls `part(begin, count)` for parts of n elements.
template <typename Part>
void ForParts(int threads, int64_t n, Part part) {
  const int64_t parts = (n + kPartElements - 1) / kPartElements;
  ParallelFor(threads, parts, [&](int64_t i) {
    const int64_t begin = i * kPartElements;
    part(begin, std::min(kPartElements, n - begin));
  });
}

// Calls `share(rows)` for shares of rows of `columns` elements.
template <typename Share>
void ForRows(int threads, int64_t rows, int64_t columns, Share share) {
  const int64_t shares = SharesOf(rows * columns);
  ParallelFor(threads, shares, [&](int64_t i) { share(ShareOf(rows, shares, i)); });
}

}  // namespace taas

#endif  // TRAINER_LOOPS_PARALLEL_H_
