// Memory that one process writes and another on the same machine reads.
//
// Anonymous (memfd), so that nothing is left behind however a process ends, and sealed against
// shrinking, so that a reader cannot be made to fault by its writer. All of it is reserved at once:
// a machine without memory says so here, not at the first write.
//
// Ownership: owns its mapping and its descriptor. Threads: any, for different bytes. Errors:
// ResourceExhausted (no memory, no descriptor), DataLoss (Adopt: not such memory, or too small).
//
//   ASSIGN_OR_RETURN(SharedArea mine, SharedArea::Make(bytes));   // send mine.descriptor()
//   ASSIGN_OR_RETURN(SharedArea theirs, SharedArea::Adopt(descriptor));

#ifndef TRAINER_COMM_SHARED_AREA_H_
#define TRAINER_COMM_SHARED_AREA_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace taas::comm {

class SharedArea {
 public:
  static absl::StatusOr<SharedArea> Make(size_t bytes);
  // To read only. Takes `descriptor` over, also if it fails.
  static absl::StatusOr<SharedArea> Adopt(int descriptor);

  SharedArea() = default;
  SharedArea(SharedArea&& other) noexcept;
  SharedArea& operator=(SharedArea&& other) noexcept;
  ~SharedArea();

  char* data() const { return data_; }
  size_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  SharedArea(int descriptor, char* data, size_t size)
      : descriptor_(descriptor), data_(data), size_(size) {}

  int descriptor_ = -1;
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace taas::comm

#endif  // TRAINER_COMM_SHARED_AREA_H_
