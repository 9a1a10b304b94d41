// What is known of each byte that a kernel's threads share: whether anybody has written it, and who
// touched it last. So reads of what nobody wrote, races and accesses beside a buffer are found.
//
// Two threads race if both touch a byte, one of them writes, not both atomically, and nothing comes
// between that orders them: a barrier of their block, or barriers of their warp, by clocks of its
// lanes. Threads of different blocks are ordered by nothing.
//
// Ownership: borrows the memory that it watches. Threads: one at a time. Errors: the first thing
// that is wrong, in words; "" while nothing is.
//
//   watch.Add("y", y.data(), y.bytes(), /*written=*/false);
//   const std::string wrong = watch.Access(address, 4, /*writes=*/true, by);

#ifndef TRAINER_CUDA_EMULATE_MEMORY_WATCH_H_
#define TRAINER_CUDA_EMULATE_MEMORY_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taas::cuda::emulate {

// Behind and before a watched range an access is one beside it: as far as an index that is wrong by
// a row or a block goes.
constexpr size_t kBesideBytes = 1 << 16;

// Of the lanes of a warp: how many of its own barriers of the warp each has passed, as far as who
// has the clock knows.
using WarpClock = std::array<uint32_t, 32>;

// Who touches a byte, and when.
struct Toucher {
  int64_t block = -1;
  int32_t thread = -1;  // In the block.
  uint32_t block_barriers = 0;  // That it has passed.
  uint32_t warp_barriers = 0;  // Its own place in its clock.
  bool atomically = false;

  bool operator==(const Toucher&) const = default;
};

class MemoryWatch {
 public:
  // `written`: by the host. Beside a `guarded` range lie kBesideBytes that are nobody's.
  void Add(std::string name, void* data, size_t bytes, bool written, bool guarded);
  void Remove(const void* data);
  // Of a range: as if nobody had written it, or somebody had.
  void SetWritten(const void* data, bool written);
  // What is not watched has written these bytes; false where they are not of one range.
  bool SetWritten(const void* address, size_t bytes);
  // Whether all of them were written, in one range.
  bool IsWritten(const void* address, size_t bytes);
  // A launch begins: what was before it is ordered before it.
  void Forget();

  std::string Access(const void* address, size_t bytes, bool writes, const Toucher& by,
                     const WarpClock& clock);
  int64_t read_bytes() const { return read_bytes_; }
  int64_t written_bytes() const { return written_bytes_; }
  // The first byte of a range that nobody has written; -1 for none.
  int64_t FirstUnwritten(const void* data) const;

 private:
  struct Cell {
    // Of which launch what is known is, and of which SetWritten: else it is as these leave it.
    uint32_t launch = 0, set = 0;
    bool written = false;
    Toucher writer;
    Toucher other_atomic;  // Of another thread than the last, which wrote atomically, too.
    std::vector<Toucher> readers;  // That nothing orders before the last.
  };
  static constexpr size_t kWordBytes = 4;
  using Bytes = std::array<Cell, kWordBytes>;
  // One cell for all bytes, as long as nobody touches some of them without the others.
  struct Word {
    Cell all;
    std::unique_ptr<Bytes> each;
  };
  struct Range {
    std::string name;
    const char* begin;
    size_t bytes;
    bool guarded;  // What lies beside it is its own.
    std::vector<Word> words;
    bool all_written;  // At the last SetWritten.
    uint32_t set = 1;

    const char* end() const { return begin + bytes; }
    bool has(const char* at, size_t count) const { return at >= begin && at + count <= end(); }
  };
  Range* Find(const void* data);
  const Range* Find(const void* data) const;
  static bool IsWritten(const Range& range, const Cell& cell);
  struct By {
    const Toucher& toucher;
    const WarpClock& clock;
  };
  static bool Ordered(const Toucher& earlier, const By& by);
  static std::string AccessCell(Cell& cell, bool writes, const By& by);
  static void AddReader(Cell& cell, const By& by);

  // Calls `look` with the cells of these bytes, in their order, until it says false.
  template <typename Look>
  void ForCells(Range& range, const void* address, size_t bytes, Look look) const;
  Cell& Fresh(const Range& range, Cell& cell) const;
  static void Split(Word& word);
  Range* RangeOf(const void* address, size_t bytes);

  std::vector<Range> ranges_;
  size_t last_ = 0;  // Of ranges_, in which the last access was.
  uint32_t launch_ = 1;
  int64_t read_bytes_ = 0, written_bytes_ = 0;
};

}  // namespace taas::cuda::emulate

#endif  // TRAINER_CUDA_EMULATE_MEMORY_WATCH_H_
