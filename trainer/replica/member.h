// A replica's standing with the chief: joins, sends heartbeats, and as a WorkSource fetches
// batches, or as an EpochSource epochs of an all-reduce.
//
// The chief may be late, restart or move: calls are repeated with a growing pause for as long as it
// takes (at the start up to a deadline), and a chief that does not know this process is joined anew
// under a new start number. Who is waited for and since when stands on the board.
//
// Ownership: owns a heartbeat thread; borrows clock, board and stop flag. Threads: Next from one,
// the rest from any. Errors: FailedPrecondition (refused or replaced: end with 1), Cancelled (told
// to stop), DeadlineExceeded (no chief came: try again).
//
//   Member member(clock, {.chief_address = …}, board, stop);
//   RETURN_IF_ERROR(member.Start());
//   RETURN_IF_ERROR(member.WaitForEnd());   // a parameter server has no more to do

#ifndef TRAINER_REPLICA_MEMBER_H_
#define TRAINER_REPLICA_MEMBER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "trainer/cluster/chief_client.h"
#include "trainer/cluster/membership.h"
#include "trainer/replica/work_source.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/retry/try_on.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/epoch_source.h"
#include "trainer/ring/epoch_watch.h"
#include "trainer/status/status_board.h"

namespace taas {

// How long a parameter server that is told to stop serves on, so that a chief which was told in the
// same moment can take its last cut: below the 30 s after which a pod is killed.
constexpr Clock::Duration kServeAfterStop = std::chrono::seconds(20);

class Member : public WorkSource, public EpochSource {
 public:
  struct Options {
    std::string chief_name;  // "chief-0", for messages.
    std::string chief_address;
    JobIdentity job;
    ReplicaId self;
    Incarnation incarnation;
    int rank = -1;  // -1: not a training replica.
    std::string config_hash;
    std::string data_identity;  // Of a training replica.
    std::string bulk_address;
    // For a chief that does not come at the start. One that gets ready, or goes later, is waited
    // for.
    Clock::Duration start_deadline = kStartDeadline;
    // Brings the board up to date before it is reported.
    std::function<void()> before_report = [] {};
    // The generation this process serves, for a chief that starts anew.
    std::function<int64_t()> generation = [] { return int64_t{0}; };
    // Of a rank: a chief of which nothing is heard for so long leads no epoch any more.
    Clock::Duration silence = kSilenceLimit;
    // The epoch that this rank is in is over; with the member's lock held.
    std::function<void(uint32_t epoch)> on_over = [](uint32_t) {};
  };
  Member(const Clock& clock, Options options, StatusBoard& board, const StopFlag& stop);
  ~Member() override;

  // Joins, then keeps the heartbeat going.
  absl::Status Start();
  // Until the chief announces the end. Once told to stop: until the chief has gone or lets this
  // process go, at most for kServeAfterStop; then Cancelled.
  absl::Status WaitForEnd();
  // Tells the chief that this process goes: after the end was announced, or before, and then others
  // do what it has not done.
  void Leave(std::chrono::milliseconds patience = std::chrono::seconds(1));
  // After the end was announced: the last step.
  int64_t end_step() const;

  absl::StatusOr<Work> Next() override;
  absl::StatusOr<std::optional<Epoch>> Next(const Standing& standing,
                                            std::optional<int> lost) override;
  void Outlast() override;
  bool StillCurrent(int64_t generation, const Pusher& pusher) override;

 private:
  // Without `limit` for as long as it takes.
  absl::Status JoinChief(std::optional<Clock::Duration> limit);
  void ShowWaiting(const std::string& why);
  enum class Answer { kNone, kGettingReady, kJoined };
  // `answer` is what the chief made of the call, whatever the status.
  absl::Status JoinOnce(Answer* answer);
  void HeartbeatLoop();
  // Takes a reply in; joins again if the chief says so. With an error the member is over.
  absl::Status Learn(const wire::BeatReply& reply, uint64_t asked_start);
  wire::Identity Identity();
  absl::StatusOr<wire::BeatReply> Beat(const wire::BeatRequest& request);
  // A chief that answers at once although it has no news must not be asked without a pause.
  void PauseWithoutNews(const wire::BeatRequest& request, const wire::BeatReply& reply,
                        Clock::Time asked);
  // Whether the chief has all that this process holds, or is gone itself.
  absl::StatusOr<bool> AskToGo();
  wire::Report MakeReport() const;
  Pusher PusherNow() const;  // With the lock held.
  // A call for work or an epoch that the chief did not answer: says so, and pauses.
  void ShowTrouble(const absl::Status& error);
  void NoteTrouble(const absl::Status& error);
  std::string WaitingText(Clock::Time since, const absl::Status& why) const;
  bool Closing() const;
  void End(const absl::Status& status);

  const Clock& clock_;
  const Options options_;
  StatusBoard& board_;
  const StopFlag& stop_;
  ChiefClient chief_;
  SystemRandom random_;

  std::mutex join_mutex_;  // One join at a time.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Incarnation incarnation_;
  wire::BeatReply view_;
  bool done_ = false;
  bool closing_ = false;
  absl::Status ended_;
  Clock::Time heard_{};  // Of the chief.
  Clock::Time trouble_since_{};
  bool in_trouble_ = false;
  uint64_t lease_sequence_ = 0;
  EpochWatch watch_;
  Clock::Time wait_logged_{};  // Of the thread that calls Next.
  std::thread heartbeat_;
};

}  // namespace taas

#endif  // TRAINER_REPLICA_MEMBER_H_
