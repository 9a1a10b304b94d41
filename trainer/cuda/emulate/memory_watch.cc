#include "trainer/cuda/emulate/memory_watch.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace taas::cuda::emulate {
namespace {

constexpr int kWarp = 32;
// Of a byte that many read: a block's thread that writes it then is found by one of them as by all,
// but of its own warp, whose lanes are ordered one by one.
constexpr size_t kReadersMax = 2 * kWarp;

bool Same(const Toucher& one, const Toucher& other) {
  return one.block == other.block && one.thread == other.thread;
}

std::string NameOf(const Toucher& by) {
  return "thread " + std::to_string(by.thread) + " of block " + std::to_string(by.block);
}

}  // namespace

void MemoryWatch::Add(std::string name, void* data, size_t bytes, bool written, bool guarded) {
  ranges_.push_back({.name = std::move(name),
                     .begin = static_cast<const char*>(data),
                     .bytes = bytes,
                     .guarded = guarded,
                     .words = std::vector<Word>((bytes + kWordBytes - 1) / kWordBytes),
                     .all_written = written});
}

void MemoryWatch::Remove(const void* data) {
  std::erase_if(ranges_, [&](const Range& range) { return range.begin == data; });
}

MemoryWatch::Range* MemoryWatch::Find(const void* data) {
  const auto found = std::ranges::find(ranges_, data, [](const Range& range) {
    return static_cast<const void*>(range.begin);
  });
  CHECK(found != ranges_.end()) << "a range that is not watched";
  return &*found;
}

const MemoryWatch::Range* MemoryWatch::Find(const void* data) const {
  return const_cast<MemoryWatch*>(this)->Find(data);
}

void MemoryWatch::SetWritten(const void* data, bool written) {
  Range& range = *Find(data);
  range.all_written = written;
  ++range.set;
}

MemoryWatch::Range* MemoryWatch::RangeOf(const void* address, size_t bytes) {
  const char* const at = static_cast<const char*>(address);
  // Most accesses are where the last was, or in one of a few others.
  if (last_ < ranges_.size() && ranges_[last_].has(at, bytes)) return &ranges_[last_];
  const auto found = std::ranges::find_if(
      ranges_, [&](const Range& range) { return range.has(at, bytes); });
  if (found == ranges_.end()) return nullptr;
  last_ = static_cast<size_t>(found - ranges_.begin());
  return &*found;
}

void MemoryWatch::Split(Word& word) {
  if (word.each != nullptr) return;
  word.each = std::make_unique<Bytes>();
  word.each->fill(word.all);
}

template <typename Look>
void MemoryWatch::ForCells(Range& range, const void* address, size_t bytes, Look look) const {
  const auto first = static_cast<size_t>(static_cast<const char*>(address) - range.begin);
  for (size_t at = first; at < first + bytes;) {
    Word& word = range.words[at / kWordBytes];
    const bool whole = at % kWordBytes == 0 && at + kWordBytes <= first + bytes;
    if (word.each != nullptr && whole && std::ranges::none_of(*word.each, [&](const Cell& cell) {
          return cell.set == range.set;
        })) {
      word = {};  // SetWritten has said of its bytes what it says of all.
    }
    if (whole && word.each == nullptr) {
      if (!look(Fresh(range, word.all))) return;
      at += kWordBytes;
      continue;
    }
    Split(word);
    if (!look(Fresh(range, (*word.each)[at % kWordBytes]))) return;
    ++at;
  }
}

bool MemoryWatch::SetWritten(const void* address, size_t bytes) {
  Range* const range = RangeOf(address, bytes);
  if (range == nullptr) return false;
  ForCells(*range, address, bytes, [](Cell& cell) { return cell.written = true; });
  return true;
}

bool MemoryWatch::IsWritten(const void* address, size_t bytes) {
  Range* const range = RangeOf(address, bytes);
  if (range == nullptr) return false;
  bool all = true;
  ForCells(*range, address, bytes, [&](const Cell& cell) { return all = cell.written; });
  return all;
}

void MemoryWatch::Forget() {
  read_bytes_ = written_bytes_ = 0;
  ++launch_;
}

bool MemoryWatch::IsWritten(const Range& range, const Cell& cell) {
  return cell.set == range.set ? cell.written : range.all_written;
}

// Most cells are not touched between two launches, or two blocks.
MemoryWatch::Cell& MemoryWatch::Fresh(const Range& range, Cell& cell) const {
  if (cell.set == range.set && cell.launch == launch_) return cell;
  cell.written = IsWritten(range, cell);
  cell.writer = cell.other_atomic = {};
  cell.readers.clear();
  cell.set = range.set;
  cell.launch = launch_;
  return cell;
}

int64_t MemoryWatch::FirstUnwritten(const void* data) const {
  const Range& range = *Find(data);
  for (size_t at = 0; at < range.bytes; ++at) {
    const Word& word = range.words[at / kWordBytes];
    const Cell& cell = word.each == nullptr ? word.all : (*word.each)[at % kWordBytes];
    if (!IsWritten(range, cell)) return static_cast<int64_t>(at);
  }
  return -1;
}

// Whether `earlier` comes before what is done now for every order of the threads, or need not.
bool MemoryWatch::Ordered(const Toucher& earlier, const By& by) {
  const Toucher& now = by.toucher;
  if (earlier.thread < 0 || Same(earlier, now)) return true;
  if (earlier.atomically && now.atomically) return true;
  if (earlier.block != now.block) return false;
  if (earlier.block_barriers < now.block_barriers) return true;
  return earlier.thread / kWarp == now.thread / kWarp &&
         earlier.warp_barriers < by.clock[static_cast<size_t>(earlier.thread % kWarp)];
}

void MemoryWatch::AddReader(Cell& cell, const By& by) {
  // It has passed no barrier since, so it is after nobody that it was not after then.
  if (!cell.readers.empty() && cell.readers.back() == by.toucher) return;
  // Who is before this one is before all that comes after it.
  std::erase_if(cell.readers, [&](const Toucher& reader) { return Ordered(reader, by); });
  if (cell.readers.size() < kReadersMax) {
    cell.readers.push_back(by.toucher);
    return;
  }
  const auto of_its_block = std::ranges::find(cell.readers, by.toucher.block, &Toucher::block);
  *(of_its_block == cell.readers.end() ? cell.readers.begin() : of_its_block) = by.toucher;
}

std::string MemoryWatch::AccessCell(Cell& cell, bool writes, const By& by) {
  const bool atomic = by.toucher.atomically;
  if ((!writes || atomic) && !cell.written) return "which nobody has written";
  for (const Toucher* writer : {&cell.writer, &cell.other_atomic}) {
    if (!Ordered(*writer, by)) return "which " + NameOf(*writer) + " writes at the same time";
  }
  if (!writes) {
    // The reading half of an atomic access is part of it.
    if (!atomic) AddReader(cell, by);
    return "";
  }
  for (const Toucher& reader : cell.readers) {
    if (!Ordered(reader, by)) return "which " + NameOf(reader) + " reads at the same time";
  }
  cell.written = true;
  if (!atomic) {
    // Who races with those before races with this one, too.
    cell.readers.clear();
    cell.other_atomic = {};
  } else if (cell.writer.atomically && !Same(cell.writer, by.toucher)) {
    cell.other_atomic = cell.writer;
  }
  cell.writer = by.toucher;
  return "";
}

std::string MemoryWatch::Access(const void* address, size_t bytes, bool writes,
                                const Toucher& by, const WarpClock& clock) {
  const char* const at = static_cast<const char*>(address);
  const auto what = [&](const Range& range) {
    return NameOf(by) + (writes ? " writes " : " reads ") + std::to_string(bytes) + " bytes at " +
           std::to_string(at - range.begin) + " of " + range.name;
  };
  if (Range* const range = RangeOf(address, bytes); range != nullptr) {
    (writes ? written_bytes_ : read_bytes_) += static_cast<int64_t>(bytes);
    std::string wrong;
    ForCells(*range, address, bytes, [&](Cell& cell) {
      wrong = AccessCell(cell, writes, {by, clock});
      return wrong.empty();
    });
    return wrong.empty() ? "" : what(*range) + ", " + wrong;
  }
  const Range* beside = nullptr;
  for (const Range& range : ranges_) {
    const bool near = at + kBesideBytes > range.begin && at < range.end() + kBesideBytes;
    if (range.guarded && near) beside = &range;
  }
  if (beside == nullptr) return "";  // Its own stack, its arguments, constants.
  return what(*beside) + ", which has " + std::to_string(beside->bytes);
}

}  // namespace taas::cuda::emulate
