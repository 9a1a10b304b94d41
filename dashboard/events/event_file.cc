#include "dashboard/events/event_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/crc32c.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

constexpr uint64_t kLengthBytes = sizeof(uint64_t);
constexpr uint64_t kChecksumBytes = sizeof(uint32_t);
constexpr uint64_t kHeadBytes = kLengthBytes + kChecksumBytes;

// Little-endian, as is every machine that this tree is built for.
template <typename T>
T Load(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

bool IsAllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

void EventFile::Note(std::string what) {
  if (problems_.size() < kProblemsMax) {
    problems_.push_back({.file = name_, .byte = place_, .what = std::move(what)});
  } else {
    ++more_problems_;
  }
}

std::vector<Problem> EventFile::Problems() const {
  std::vector<Problem> all = problems_;
  if (more_problems_ > 0) {
    all.push_back({.file = name_,
                   .byte = place_,
                   .what = "and " + std::to_string(more_problems_) + " more in this file"});
  }
  if (obstacle_) all.push_back(*obstacle_);
  return all;
}

bool EventFile::IsReplaced(const Directory& directory) const {
  if (!identity_) return false;
  const absl::StatusOr<FileIdentity> now = directory.IdentityOf(name_);
  if (absl::IsNotFound(now.status())) return true;
  // Of a disk that does not answer nothing is known; what was read stays.
  return now.ok() && (!now->IsSameFileAs(*identity_) || now->size < place_);
}

absl::StatusOr<uint64_t> EventFile::Read(const Directory& directory, uint64_t most,
                                         ReadBuffer* buffer, OnRecord on_record) {
  if (identity_ && !has_more_) {
    ASSIGN_OR_RETURN(const FileIdentity seen, directory.IdentityOf(name_));
    if (seen == *identity_) return uint64_t{0};
  }
  ASSIGN_OR_RETURN(const OpenFile file, directory.OpenFileIn(name_));
  ASSIGN_OR_RETURN(const FileIdentity now, file.Identity());
  FileWindow window(file, buffer);
  bool is_continued = !identity_ || (now.IsSameFileAs(*identity_) && now.size >= place_);
  if (is_continued) {
    ASSIGN_OR_RETURN(is_continued, IsContinued(&window));
  }
  if (!is_continued) {
    return absl::AbortedError("read " + name_ + ": it has been replaced; read the run anew");
  }
  const uint64_t begin = place_;
  obstacle_.reset();
  identity_ = now;
  // Until the end is reached: an error on the way must not look like it.
  has_more_ = true;
  while (place_ - begin < most) {
    ASSIGN_OR_RETURN(const Step step, ReadRecord(&window, now.size, on_record));
    if (step == Step::kStop) {
      has_more_ = false;
      break;
    }
  }
  return place_ - begin;
}

// A file that was emptied and written anew to at least the same length keeps its inode, but hardly
// the checksum before our place.
absl::StatusOr<bool> EventFile::IsContinued(FileWindow* window) const {
  if (place_ == 0) return true;
  ASSIGN_OR_RETURN(const std::string_view before,
                   window->At(place_ - kChecksumBytes, kChecksumBytes));
  return before.size() == kChecksumBytes && Load<uint32_t>(before) == last_checksum_;
}

absl::StatusOr<EventFile::Step> EventFile::ReadRecord(FileWindow* window, uint64_t size,
                                                      OnRecord on_record) {
  const auto stop = [this](std::string what) {
    obstacle_ = {.file = name_, .byte = place_, .what = std::move(what)};
    return Step::kStop;
  };
  ASSIGN_OR_RETURN(const std::string_view head, window->At(place_, kHeadBytes));
  if (head.size() < kHeadBytes) return Step::kStop;
  const auto length = Load<uint64_t>(head);
  const auto length_checksum = Load<uint32_t>(head.substr(kLengthBytes));
  if (MaskedCrc32c(head.substr(0, kLengthBytes)) != length_checksum || length > kLengthMax) {
    return stop(IsAllZero(head)
                    ? "zeros stand where a record should begin: the file was made longer but not "
                      "written; what follows cannot be read"
                    : "the length of this record is damaged, so that what follows it in this file "
                      "cannot be found");
  }
  const uint64_t total = kHeadBytes + length + kChecksumBytes;
  if (length > kRecordBytesMax) return PassOver(window, total, size);
  ASSIGN_OR_RETURN(const std::string_view body,
                   window->At(place_ + kHeadBytes, length + kChecksumBytes));
  if (body.size() < length + kChecksumBytes) return Step::kStop;
  const std::string_view data = body.substr(0, length);
  const auto checksum = Load<uint32_t>(body.substr(length));
  if (MaskedCrc32c(data) != checksum) {
    constexpr char kDamaged[] = "the data of this record do not match their checksum";
    if (place_ + total >= size) return stop(kDamaged);
    Note(std::string(kDamaged) + "; it is left out");
  } else if (std::string problem = on_record(data); !problem.empty()) {
    Note(std::move(problem));
  }
  place_ += total;
  last_checksum_ = checksum;
  return Step::kGoOn;
}

absl::StatusOr<EventFile::Step> EventFile::PassOver(FileWindow* window, uint64_t total,
                                                    uint64_t size) {
  if (place_ + total > size) return Step::kStop;
  ASSIGN_OR_RETURN(const std::string_view end,
                   window->At(place_ + total - kChecksumBytes, kChecksumBytes));
  if (end.size() < kChecksumBytes) return Step::kStop;
  Note("this record has " + std::to_string(total) + " bytes, more than any curve or histogram " +
       "needs, and is left out");
  last_checksum_ = Load<uint32_t>(end);
  place_ += total;
  return Step::kGoOn;
}

}  // namespace taas::dashboard
