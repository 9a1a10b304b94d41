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
                     .guarded = guarded,
                     .cells = std::vector<Cell>(bytes),
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
  const auto found = std::ranges::find_if(ranges_, [&](const Range& range) {
    return at >= range.begin && at + bytes <= range.begin + range.cells.size();
  });
  return found == ranges_.end() ? nullptr : &*found;
}

bool MemoryWatch::SetWritten(const void* address, size_t bytes) {
  Range* const range = RangeOf(address, bytes);
  if (range == nullptr) return false;
  const auto first = static_cast<size_t>(static_cast<const char*>(address) - range->begin);
  for (size_t i = 0; i < bytes; ++i) Fresh(*range, first + i).written = true;
  return true;
}

bool MemoryWatch::IsWritten(const void* address, size_t bytes) {
  Range* const range = RangeOf(address, bytes);
  if (range == nullptr) return false;
  const auto first = static_cast<size_t>(static_cast<const char*>(address) - range->begin);
  for (size_t i = 0; i < bytes; ++i) {
    if (!Fresh(*range, first + i).written) return false;
  }
  return true;
}

void MemoryWatch::Forget() {
  read_bytes_ = written_bytes_ = 0;
  ++launch_;
}

// Most cells are not touched between two launches, or two blocks.
MemoryWatch::Cell& MemoryWatch::Fresh(Range& range, size_t at) const {
  Cell& cell = range.cells[at];
  if (cell.set == range.set && cell.launch == launch_) return cell;
  cell.written = cell.set == range.set ? cell.written : range.all_written;
  cell.writer = cell.other_atomic = {};
  cell.readers.clear();
  cell.set = range.set;
  cell.launch = launch_;
  return cell;
}

int64_t MemoryWatch::FirstUnwritten(const void* data) const {
  const Range& range = *Find(data);
  const auto found = std::ranges::find_if(range.cells, [&](const Cell& cell) {
    return !(cell.set == range.set ? cell.written : range.all_written);
  });
  return found == range.cells.end() ? -1 : found - range.cells.begin();
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
  // Who is before this one is before all that comes after it.
  std::erase_if(cell.readers, [&](const Toucher& reader) { return Ordered(reader, by); });
  if (cell.readers.size() < kReadersMax) {
    cell.readers.push_back(by.toucher);
    return;
  }
  const auto of_its_block = std::ranges::find(cell.readers, by.toucher.block, &Toucher::block);
  *(of_its_block == cell.readers.end() ? cell.readers.begin() : of_its_block) = by.toucher;
}

std::string MemoryWatch::AccessByte(Cell& cell, bool writes, const By& by) {
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
  const Range* beside = nullptr;
  const auto what = [&](const Range& range) {
    return NameOf(by) + (writes ? " writes " : " reads ") + std::to_string(bytes) + " bytes at " +
           std::to_string(at - range.begin) + " of " + range.name;
  };
  for (Range& range : ranges_) {
    const char* const end = range.begin + range.cells.size();
    if (at < range.begin || at + bytes > end) {
      const bool near = at + kBesideBytes > range.begin && at < end + kBesideBytes;
      if (range.guarded && near) beside = &range;
      continue;
    }
    (writes ? written_bytes_ : read_bytes_) += static_cast<int64_t>(bytes);
    for (size_t i = 0; i < bytes; ++i) {
      Cell& cell = Fresh(range, static_cast<size_t>(at - range.begin) + i);
      const std::string wrong = AccessByte(cell, writes, {by, clock});
      if (!wrong.empty()) return what(range) + ", " + wrong;
    }
    return "";
  }
  if (beside == nullptr) return "";  // Its own stack, its arguments, constants.
  return what(*beside) + ", which has " + std::to_string(beside->cells.size());
}

}  // namespace taas::cuda::emulate
