// Memory that one process writes and another on the same machine reads.
//
// Anonymous (memfd), so that nothing is left behind however a process ends, and sealed against
// shrinking, so that a reader cannot be made to fault by its writer. All of it is reserved at once:
// a machine without memory says so here, not at the first write.
//
// Ownership: owns its mapping and, if made here, its descriptor. Threads: any, for different bytes.
// Errors: ResourceExhausted (no memory, no descriptor), DataLoss (Adopt: not such memory, or too
// large).
//
//   ASSIGN_OR_RETURN(SharedArea mine, SharedArea::Make(bytes));   // send mine.descriptor()
//   ASSIGN_OR_RETURN(SharedArea theirs, SharedArea::Adopt(descriptor));

#ifndef TRAINER_COMM_SHARED_AREA_H_
#define TRAINER_COMM_SHARED_AREA_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace taas::comm {

// Smaller payloads are as fast by the socket.
constexpr size_t kSharedBytesMin = 16 << 10;
// Each connection keeps such memory for each direction: a parameter server of a large model must
// not need its size again for every replica. Nobody can make a reader map more.
constexpr size_t kSharedBytesMax = 64 << 20;

class SharedArea {
 public:
  static absl::StatusOr<SharedArea> Make(size_t bytes);
  // To read only. Closes `descriptor`, also if it fails.
  static absl::StatusOr<SharedArea> Adopt(int descriptor) { return Adopt(descriptor, {}); }
  struct Readers {
    size_t bytes_max = kSharedBytesMax;
    // All of it is mapped at once; else what is read, when it is.
    bool at_once = true;
  };
  static absl::StatusOr<SharedArea> Adopt(int descriptor, const Readers& readers);

  SharedArea() = default;
  SharedArea(SharedArea&& other) noexcept;
  SharedArea& operator=(SharedArea&& other) noexcept;
  ~SharedArea();

  char* data() const { return data_; }
  size_t size() const { return size_; }
  // -1 once it was closed.
  int descriptor() const { return descriptor_; }
  // The memory stays; it can be sent to nobody else.
  void CloseDescriptor();
  // The bytes stay as they are and can be read again, but until then their pages are not this
  // process's: it has what it reads seldom in its memory while it reads.
  void LetPagesGo() const;
  // No other area that this process made has it; 0 for none and for adopted ones.
  uint64_t id() const { return id_; }

 private:
  explicit SharedArea(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
  uint64_t id_ = 0;
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace taas::comm

#endif  // TRAINER_COMM_SHARED_AREA_H_
