#include "operator/base/file_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace taas {
namespace {

// Whether the linker wrote into segments that are not writable, as it must where code depends on
// its position; such pages are no longer as the file has them.
bool HasTextRelocations(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const uintptr_t at = object.dlpi_addr + object.dlpi_phdr[i].p_vaddr;
    for (auto entry = reinterpret_cast<const ElfW(Dyn)*>(at); entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
    }
  }
  return false;
}

int GiveBackReadOnlySegments(dl_phdr_info* object, size_t, void*) {
  if (HasTextRelocations(*object)) return 0;
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
