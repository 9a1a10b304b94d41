// The random numbers of Python's random.Random(0), since TensorBoard draws by them which points of
// a long series it keeps: the same numbers keep the same points.
//
// Mersenne Twister (Matsumoto, Nishimura 1998) seeded from a list of one zero; whole numbers below
// a limit by drawing as many bits as the limit has until they are below it.
//
// Ownership: value type of 2.5 KB. Threads: one at a time. Errors: none.
//
//   PythonRandom random;
//   const uint64_t index = random.Below(seen + 1);  // random.randint(0, seen)
//   const std::vector<size_t> chosen = SortedSample(499, 50);

#ifndef DASHBOARD_EVENTS_PYTHON_RANDOM_H_
#define DASHBOARD_EVENTS_PYTHON_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace taas::dashboard {

class PythonRandom {
 public:
  PythonRandom();
  // Uniform in [0, limit); `limit` is not 0.
  uint64_t Below(uint64_t limit);

 private:
  static constexpr size_t kWords = 624;
  uint32_t NextWord();
  void Twist();

  std::array<uint32_t, kWords> state_;
  size_t used_ = kWords;
};

// sorted(random.Random(0).sample(range(size), count)); `count` is at most `size`.
std::vector<size_t> SortedSample(size_t size, size_t count);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_PYTHON_RANDOM_H_
