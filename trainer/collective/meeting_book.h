// Who has called this rank for which epoch: what a meeting (meeting.h) decides, without the calls.
//
// A `Caller` is whatever stands for a connection; the book closes one by destroying it.
//
// Pure. Ownership: owns the callers that it keeps. Threads: one at a time. Errors: as Meeting's.
//
//   if (book.Hears(epoch)) book.Keep(epoch, rank, std::move(caller));
//   RETURN_IF_ERROR(book.Open(epoch));
//   while (auto came = book.Take()) …

#ifndef TRAINER_COLLECTIVE_MEETING_BOOK_H_
#define TRAINER_COLLECTIVE_MEETING_BOOK_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taas::collective {

template <typename Caller>
class MeetingBook {
 public:
  // The latest that anybody came for.
  uint32_t epoch() const { return epoch_; }

  // Somebody comes for this epoch: false if it is over. With a later one the callers of the present
  // one are forgotten.
  bool Hears(uint32_t epoch) {
    if (epoch > epoch_) {
      callers_.clear();
      epoch_ = epoch;
    }
    return epoch == epoch_;
  }
  // The caller of an epoch that was heard of: closed if there is a later one by now. One that calls
  // again has lost its first connection.
  void Keep(uint32_t epoch, int rank, Caller caller) {
    if (epoch == epoch_) callers_.insert_or_assign(rank, std::move(caller));
  }

  // This rank itself begins the epoch.
  absl::Status Open(uint32_t epoch) {
    if (epoch <= cancelled_) return Over();
    if (epoch < epoch_) return Later(epoch);
    Hears(epoch);
    return absl::OkStatus();
  }
  // Whether what Open began goes on.
  absl::Status Stands(uint32_t epoch) const {
    if (epoch <= cancelled_) return Over();
    return epoch == epoch_ ? absl::OkStatus() : Later(epoch);
  }
  // One of those who have called, which the book does not have any more, with its rank.
  std::optional<std::pair<int, Caller>> Take() {
    if (callers_.empty()) return std::nullopt;
    auto first = callers_.extract(callers_.begin());
    return std::make_pair(first.key(), std::move(first.mapped()));
  }
  bool empty() const { return callers_.empty(); }
  // This epoch and those before it are over.
  void Cancel(uint32_t epoch) { cancelled_ = std::max(cancelled_, epoch); }

 private:
  static absl::Status Over() {
    return absl::AbortedError("meet the ranks: the epoch is over");
  }
  absl::Status Later(uint32_t epoch) const {
    return absl::FailedPreconditionError("meet the ranks of epoch " + std::to_string(epoch) +
                                         ": some are at epoch " + std::to_string(epoch_));
  }

  uint32_t epoch_ = 0;
  std::map<int, Caller> callers_;  // By rank.
  uint32_t cancelled_ = 0;
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_MEETING_BOOK_H_
