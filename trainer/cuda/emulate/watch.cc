// What code that was compiled with -fsanitize=thread calls, here for the emulator instead of
// ThreadSanitizer's library: each load and store of memory that other threads may see.
//
// Source: the names are those of GCC's instrumentation (gcc/sanitizer.def).

#include "trainer/cuda/emulate/watch.h"

#include <cstdint>

using taas::cuda::emulate::OnAccess;

namespace {

void OnAligned(const void* at, size_t bytes, bool writes) {
  if (reinterpret_cast<uintptr_t>(at) % bytes != 0) {
    taas::cuda::emulate::OnMisaligned(at, bytes);
  }
  OnAccess(at, bytes, writes);
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}

void __tsan_read1(void* at) { OnAccess(at, 1, false); }
void __tsan_read2(void* at) { OnAligned(at, 2, false); }
void __tsan_read4(void* at) { OnAligned(at, 4, false); }
void __tsan_read8(void* at) { OnAligned(at, 8, false); }
void __tsan_read16(void* at) { OnAligned(at, 16, false); }
void __tsan_write1(void* at) { OnAccess(at, 1, true); }
void __tsan_write2(void* at) { OnAligned(at, 2, true); }
void __tsan_write4(void* at) { OnAligned(at, 4, true); }
void __tsan_write8(void* at) { OnAligned(at, 8, true); }
void __tsan_write16(void* at) { OnAligned(at, 16, true); }
void __tsan_unaligned_read2(void* at) { OnAccess(at, 2, false); }
void __tsan_unaligned_read4(void* at) { OnAccess(at, 4, false); }
void __tsan_unaligned_read8(void* at) { OnAccess(at, 8, false); }
void __tsan_unaligned_read16(void* at) { OnAccess(at, 16, false); }
void __tsan_unaligned_write2(void* at) { OnAccess(at, 2, true); }
void __tsan_unaligned_write4(void* at) { OnAccess(at, 4, true); }
void __tsan_unaligned_write8(void* at) { OnAccess(at, 8, true); }
void __tsan_unaligned_write16(void* at) { OnAccess(at, 16, true); }
void __tsan_read_range(void* at, unsigned long bytes) { OnAccess(at, bytes, false); }
void __tsan_write_range(void* at, unsigned long bytes) { OnAccess(at, bytes, true); }

}  // extern "C"
