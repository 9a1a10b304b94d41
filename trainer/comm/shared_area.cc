#include "trainer/comm/shared_area.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace taas::comm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// The mapping that is there by now stays writable. An earlier kernel knows no such seal.
bool Seal(int descriptor) {
#ifdef F_SEAL_FUTURE_WRITE
  if (fcntl(descriptor, F_ADD_SEALS, kSeals | F_SEAL_FUTURE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
#endif
  return fcntl(descriptor, F_ADD_SEALS, kSeals) == 0;
}

absl::Status NoMemory(const char* call, size_t bytes, int error) {
  return absl::ResourceExhaustedError("share " + std::to_string(bytes) + " bytes of memory: " +
                                      call + ": " + std::strerror(error));
}

}  // namespace

absl::StatusOr<SharedArea> SharedArea::Make(size_t bytes) {
  const int fd = memfd_create("taas-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return NoMemory("memfd_create", bytes, errno);
  SharedArea area(fd);
  int error = 0;
  do {  // Gigabytes take seconds, in which a signal may come.
    error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) return NoMemory("fallocate", bytes, error);
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return NoMemory("mmap", bytes, errno);
  area.data_ = static_cast<char*>(data);
  area.size_ = bytes;
  if (!Seal(fd)) return NoMemory("seal", bytes, errno);
  static std::atomic<uint64_t> last_id = 0;
  area.id_ = ++last_id;
  return area;
}

absl::StatusOr<SharedArea> SharedArea::Adopt(int descriptor, const Readers& readers) {
  SharedArea area(descriptor);
  const int seals = fcntl(descriptor, F_GET_SEALS);
  struct stat found {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &found) != 0 ||
      found.st_size <= 0) {
    return absl::DataLossError("the descriptor is not of memory that stays as large as it is");
  }
  // Pages that the writer never touched would be taken in this process's name.
  if (found.st_size > static_cast<off_t>(readers.bytes_max)) {
    return absl::DataLossError("shared memory of " + std::to_string(found.st_size) +
                               " bytes is above the limit of " +
                               std::to_string(readers.bytes_max));
  }
  const size_t bytes = static_cast<size_t>(found.st_size);
  void* data = mmap(nullptr, bytes, PROT_READ,
                    MAP_SHARED | (readers.at_once ? MAP_POPULATE : 0), descriptor, 0);
  if (data == MAP_FAILED) return NoMemory("mmap", bytes, errno);
  area.data_ = static_cast<char*>(data);
  area.size_ = bytes;
  area.CloseDescriptor();
  return area;
}

void SharedArea::CloseDescriptor() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

void SharedArea::LetPagesGo() const {
  if (data_ != nullptr) madvise(data_, size_, MADV_DONTNEED);
}

SharedArea::SharedArea(SharedArea&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      id_(std::exchange(other.id_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedArea& SharedArea::operator=(SharedArea&& other) noexcept {
  SharedArea old(std::move(*this));
  std::swap(descriptor_, other.descriptor_);
  std::swap(id_, other.id_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedArea::~SharedArea() {
  if (data_ != nullptr) munmap(data_, size_);
  CloseDescriptor();
}

}  // namespace taas::comm
