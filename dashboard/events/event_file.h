// The records of one event file, read as they are written.
//
//   record = u64le length, u32le masked crc32c(length), data, u32le masked crc32c(data)
//
// What is whole is read, the place kept, and reading goes on there when the file has grown; a last
// record that is cut short is being written and no error. A record whose data do not match their
// checksum is passed over, since its length tells where the next begins (TensorBoard stops there
// for ever). If that is the last one, or a length does not match, reading stops before it and is
// tried again when the file has changed: on a network's disk bytes may come later than the size.
//
// Ownership: owns no file between calls. Threads: one at a time. Errors: of the system, after which
// the same call may be made again; what is wrong with the content stands in `Problems`.
//
//   EventFile file("events.out.tfevents.1");
//   if (file.IsReplaced(directory)) ...           // Everything read so far is of another file.
//   ASSIGN_OR_RETURN(uint64_t bytes, file.Read(directory, kMost, &buffer, on_record));

#ifndef DASHBOARD_EVENTS_EVENT_FILE_H_
#define DASHBOARD_EVENTS_EVENT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dashboard/events/file_window.h"
#include "operator/base/directory.h"

namespace taas::dashboard {

// Larger records are passed over unread: graphs of hundreds of megabytes stand in event files too,
// curves and histograms are far smaller.
inline constexpr uint64_t kRecordBytesMax = uint64_t{64} << 20;
// A protobuf message has at most 2 GiB; a greater length is damage that its checksum happens to
// match.
inline constexpr uint64_t kLengthMax = uint64_t{2} << 30;
// Of one file; a file that is damaged throughout need not be described throughout.
inline constexpr size_t kProblemsMax = 20;

struct Problem {
  std::string file;
  uint64_t byte = 0;  // Where in the file the record begins.
  std::string what;
};

class EventFile {
 public:
  // Gets a record's data; returns what is wrong with it, or nothing.
  using OnRecord = absl::FunctionRef<std::string(std::string_view data)>;

  explicit EventFile(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // Of a file that was read: that it is gone, has become shorter or is another one under this name.
  bool IsReplaced(const Directory& directory) const;
  // Reads what has come since the last call, but no more records once `most` bytes are read, and
  // returns how many bytes of records it passed. Aborted: the file has been replaced.
  absl::StatusOr<uint64_t> Read(const Directory& directory, uint64_t most, ReadBuffer* buffer,
                                OnRecord on_record);
  // Whether the last call stopped for `most`.
  bool has_more() const { return has_more_; }
  std::vector<Problem> Problems() const;

 private:
  enum class Step { kGoOn, kStop };
  absl::StatusOr<Step> ReadRecord(FileWindow* window, uint64_t size, OnRecord on_record);
  absl::StatusOr<Step> PassOver(FileWindow* window, uint64_t total, uint64_t size);
  absl::StatusOr<bool> IsContinued(FileWindow* window) const;
  void Note(std::string what);

  const std::string name_;
  std::optional<FileIdentity> identity_;  // When it was last read.
  uint64_t place_ = 0;                    // Where the next record begins.
  uint32_t last_checksum_ = 0;            // The four bytes before `place_`.
  bool has_more_ = false;
  std::vector<Problem> problems_;   // With records that are behind us.
  uint64_t more_problems_ = 0;      // That are not among them.
  std::optional<Problem> obstacle_;  // At `place_`.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_EVENT_FILE_H_
