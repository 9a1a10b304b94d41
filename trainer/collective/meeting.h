// Where the ranks of an epoch find each other: a rank calls those before it, and is called by those
// behind it. What comes of it is a link to each.
//
// A rank that calls before this one knows of the epoch is kept until it does; one of an epoch that
// is over is refused, and told of the present one (meeting_book.h decides). One whose terms are not
// those of this rank is refused with both: what each is going to send would be added to other
// numbers than it is of. What else a rank has to say of itself, in which it may differ, is its
// note, which each tells all others.
//
// Ownership: borrows channels while Serve lasts; the links are the caller's. Threads: Serve on any,
// Meet from one at a time, Cancel from any. Errors: Unavailable, naming the rank that could not be
// called or has not called in time; FailedPrecondition where a peer is at a later epoch, or has
// other terms; InvalidArgument where rank 0 has, whose terms count; Aborted after Cancel.
//
//   Meeting meeting({.job = JobKey(job)});
//   auto listener = comm::Listener::Open({}, [&](comm::Channel& c) { meeting.Serve(c); });
//   ASSIGN_OR_RETURN(auto links, meeting.Meet({.epoch = 3, .rank = 1, .addresses = addresses}));

#ifndef TRAINER_COLLECTIVE_MEETING_H_
#define TRAINER_COLLECTIVE_MEETING_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/link.h"
#include "trainer/collective/meeting_book.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {

class Meeting {
 public:
  struct Options {
    std::string job;  // As the greeting of a caller has it (trainer/comm/greeting.h).
    // All of an epoch learn of it within a heartbeat, and are on their way at once then.
    std::chrono::milliseconds patience{5'000};
    // What links to processes of this machine may lend (memory_link.h); it outlives them. Null:
    // nothing.
    const comm::SharedArea* lent = nullptr;
  };
  struct Call {
    uint32_t epoch = 0;
    int rank = 0;
    std::vector<std::string> addresses;  // Of all ranks.
  };
  explicit Meeting(Options options) : options_(std::move(options)) {}
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // A line that must be the same on all ranks that meet; before anybody calls.
  void SetTerms(std::string terms);
  // While this rank is in no epoch: all whom it meets in one are told the same.
  void SetNote(std::string note);
  // Until the caller is known and its connection kept, or refused.
  void Serve(comm::Channel& channel);
  // By rank; none at the own place.
  absl::StatusOr<std::vector<std::unique_ptr<Link>>> Meet(const Call& call);
  // Of the last Meet, if it is OK: by rank, with the own one. By the thread that calls it.
  const std::vector<std::string>& notes() const { return notes_; }
  // Ends a Meet of this epoch or an earlier one, whether it is under way or comes.
  void Cancel(uint32_t epoch);

 private:
  class Caller {
   public:
    // Takes the socket over.
    Caller(int socket, std::string name, std::string note)
        : socket_(socket), name_(std::move(name)), note_(std::move(note)) {}
    Caller(Caller&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          name_(std::move(other.name_)),
          note_(std::move(other.note_)) {}
    Caller& operator=(Caller&& other) noexcept {
      std::swap(socket_, other.socket_);
      name_ = std::move(other.name_);
      note_ = std::move(other.note_);
      return *this;
    }
    ~Caller();

    const std::string& name() const { return name_; }
    const std::string& note() const { return note_; }
    int TakeSocket() { return std::exchange(socket_, -1); }

   private:
    int socket_;
    std::string name_, note_;
  };
  using Links = std::vector<std::unique_ptr<Link>>;

  std::string terms() const;
  std::string note() const;
  absl::Status Admit(comm::Channel& channel);
  absl::Status Keep(comm::Channel& channel, const Call& theirs, std::string note);
  // And what it notes.
  absl::StatusOr<std::unique_ptr<Link>> CallRank(const Call& call, int rank,
                                                 std::string* note) const;
  // One that has called and has no link yet; its rank.
  absl::StatusOr<std::pair<int, Caller>> AwaitCaller(
      const Call& call, const Links& links, std::chrono::steady_clock::time_point until);
  // Takes the socket over.
  absl::StatusOr<std::unique_ptr<Link>> MakeLink(int socket, std::string name) const;

  const Options options_;
  mutable std::mutex mutex_;  // Of what follows.
  std::condition_variable changed_;
  std::string terms_, note_;
  MeetingBook<Caller> book_;
  std::vector<std::string> notes_;  // Of Meet's thread.
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_MEETING_H_
