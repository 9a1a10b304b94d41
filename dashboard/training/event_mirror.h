// The event files of a training, copied from the replicas that serve them while somebody looks, and
// answers from the copies.
//
// A question to a job whose files were never copied waits for the first copy, at most kFirstWait;
// later ones are answered from what is there, and what has been written since is fetched beside
// them. What was copied stays when the replicas are gone. Where the volumes themselves can be seen,
// on one machine, files are read in place and nothing is copied.
//
// Ownership: transport, executor and disk outlive it; the shelf is of the disk's thread. Threads:
// the executor's only; `done` may be called inside the call. Errors: none; `About` says why there
// is nothing.
//
//   mirror.Ask(*job, pods, {.path = "/data/runs"}, [](const Answer& answer) { … });

#ifndef DASHBOARD_TRAINING_EVENT_MIRROR_H_
#define DASHBOARD_TRAINING_EVENT_MIRROR_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/events/answer.h"
#include "dashboard/server/watched.h"
#include "dashboard/training/event_shelf.h"
#include "dashboard/training/volume_folder.h"
#include "operator/base/executor.h"
#include "operator/kube/poll_transport.h"

namespace taas::dashboard {

class EventMirror {
 public:
  // Trainers write every so many seconds; twenty tabs on one job are one question.
  static constexpr std::chrono::seconds kLately{2};
  // A page that opens shows something within this, and the rest as it comes.
  static constexpr std::chrono::seconds kFirstWait{3};
  // Jobs of which it is known how their copying went.
  static constexpr size_t kJobsMax = 1'000;

  using Pods = std::vector<std::shared_ptr<const WatchedPod>>;
  using Done = std::function<void(Answer answer)>;
  struct Question {
    std::string path;  // "" asks about the copies themselves.
    std::vector<std::pair<std::string, std::string>> query;
  };

  EventMirror(PollTransport& transport, Executor& executor, Executor& disk, EventShelf& shelf,
              ClaimDir claim_dir = nullptr);
  ~EventMirror();

  void Ask(const WatchedJob& job, const Pods& pods, Question question, Done done);

 private:
  struct Source {
    std::string name;  // "chief-0"
    std::shared_ptr<const WatchedPod> pod;
  };
  struct Job {
    bool copying = false;
    bool copied = false;  // Once at least.
    Clock::Time at{};
    Clock::WallTime read_until{};
    std::string source;
    std::string message;
    uint64_t bytes_total = 0;
    std::vector<std::function<void()>> waiting;
  };
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;

  void Copy(const std::string& uid, const WatchedJob& job, const Pods& pods);
  void AskForList(RoundPtr round);
  void OnList(RoundPtr round, const Source& source, const absl::StatusOr<std::string>& body);
  void Plan(RoundPtr round);
  void FetchNext(RoundPtr round);
  void OnBytes(RoundPtr round, absl::StatusOr<std::string> bytes);
  void End(const RoundPtr& round, const std::string& message);
  std::string DirOf(const WatchedJob& job) const;
  void Reply(const std::string& uid, Question question, Done done);
  std::string AboutText(const Job& job, const EventShelf::Kept& kept) const;
  // Runs on the disk's thread, then `then` on the executor's, unless this is gone by then.
  template <typename Work, typename Then>
  void OnDisk(Work work, Then then);
  void MakeRoom();

  PollTransport& transport_;
  Executor& executor_;
  Executor& disk_;
  EventShelf& shelf_;
  const ClaimDir claim_dir_;
  std::map<std::string, Job> jobs_;  // By uid.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_EVENT_MIRROR_H_
