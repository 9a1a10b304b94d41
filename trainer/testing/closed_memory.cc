#include "trainer/testing/closed_memory.h"

#include <sys/mman.h>

#include "operator/base/check.h"

namespace taas {
namespace {

constexpr size_t kPage = 4096;

// With a page behind it that is never open.
size_t Mapped(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage + kPage; }

}  // namespace

void ClosedMemory::SetLimit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

uint64_t ClosedMemory::Allocate(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > limit_ - used_) return 0;
  void* const memory =
      mmap(nullptr, Mapped(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (open_ > 0) CHECK(mprotect(memory, Mapped(bytes) - kPage, Protection()) == 0) << "mprotect";
  const auto address = reinterpret_cast<uint64_t>(memory);
  sizes_[address] = bytes;
  used_ += bytes;
  return address;
}

bool ClosedMemory::Free(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = sizes_.find(address);
  if (found == sizes_.end()) return false;
  munmap(reinterpret_cast<void*>(address), Mapped(found->second));
  used_ -= found->second;
  sizes_.erase(found);
  return true;
}

bool ClosedMemory::Contains(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto after = sizes_.upper_bound(address);
  if (after == sizes_.begin()) return false;
  --after;
  return address + bytes <= after->first + after->second;
}

bool ClosedMemory::Touches(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto after = sizes_.lower_bound(address + bytes);
  if (after == sizes_.begin()) return false;
  --after;
  return address < after->first + Mapped(after->second);
}

size_t ClosedMemory::count() {
  const std::lock_guard lock(mutex_);
  return sizes_.size();
}

size_t ClosedMemory::bytes() {
  const std::lock_guard lock(mutex_);
  return used_;
}

size_t ClosedMemory::limit() {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void ClosedMemory::FlipBits() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, bytes] : sizes_) *reinterpret_cast<char*>(address + bytes / 2) ^= 1;
}

void ClosedMemory::Open() {
  const std::lock_guard lock(mutex_);
  if (++open_ == 1) Protect();
}

void ClosedMemory::Close() {
  const std::lock_guard lock(mutex_);
  if (--open_ == 0) Protect();
}

int ClosedMemory::Protection() const { return open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }

void ClosedMemory::Protect() {
  for (const auto& [address, bytes] : sizes_) {
    CHECK(mprotect(reinterpret_cast<void*>(address), Mapped(bytes) - kPage, Protection()) == 0)
        << "mprotect";
  }
}

}  // namespace taas
