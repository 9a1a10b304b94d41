#include "operator/base/file_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace taas {
namespace {

// A segment that was never writable is as it stands in the file: what the linker has to relocate is
// elsewhere in all code that is independent of its position.
int GiveBackReadOnlySegments(dl_phdr_info* object, size_t, void*) {
  const uintptr_t page = sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const uintptr_t first = begin / page * page;
    madvise(reinterpret_cast<void*>(first), begin + segment.p_memsz - first, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void GiveBackFilePages() { dl_iterate_phdr(GiveBackReadOnlySegments, nullptr); }

}  // namespace taas
