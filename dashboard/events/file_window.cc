#include "dashboard/events/file_window.h"

#include <algorithm>

#include "operator/base/status.h"

namespace taas::dashboard {

absl::StatusOr<std::string_view> FileWindow::At(uint64_t offset, size_t size) {
  const bool is_inside =
      offset >= begin_ && offset - begin_ <= filled_ && size <= filled_ - (offset - begin_);
  if (!is_inside) {
    const size_t wanted = std::max(size, kWindowBytes);
    // Gives a large buffer back as soon as a small one does again.
    if (buffer_.capacity < wanted || buffer_.capacity > 2 * wanted) {
      buffer_.bytes.reset();
      buffer_.bytes = std::make_unique_for_overwrite<char[]>(wanted);
      buffer_.capacity = wanted;
    }
    filled_ = 0;
    ASSIGN_OR_RETURN(filled_, file_.ReadAt(offset, wanted, buffer_.bytes.get()));
    begin_ = offset;
  }
  const size_t from = offset - begin_;
  return std::string_view(buffer_.bytes.get() + from, std::min(size, filled_ - from));
}

}  // namespace taas::dashboard
