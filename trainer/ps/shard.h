// One parameter server: serves the pieces of the model that the chief gave it.
//
// It is nothing until the chief configures it with a generation and values; every later frame names
// the generation, and one of another is refused, so that nobody trains on a model that was
// replaced. The commit rule is in commit_core.h, the values are in version_store.h; this class
// connects both to the wire. shard_pushes.cc serves replicas, shard_orders.cc the chief,
// shard_stream.cc connects shards.
//
// Ownership: owns its model and, as shard k ≠ 0, a thread that follows shard 0. Threads: Serve from
// any number of threads, one per connection; Close wakes them. Errors: a request that cannot be
// served is refused with a sentence; a broken connection ends Serve.
//
//   Shard shard;
//   auto listener = Listener::Open({}, [&](Channel& channel) { shard.Serve(channel); });

#ifndef TRAINER_PS_SHARD_H_
#define TRAINER_PS_SHARD_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/greeting.h"
#include "trainer/ps/commit_core.h"
#include "trainer/ps/commit_record.h"

namespace taas::wire {
class ConfigureRequest;
}

namespace taas::ps {

struct Gradient;

class Shard {
 public:
  struct Stats {
    int64_t generation = 0;  // 0: not configured, or given up.
    int shard = 0;
    int64_t step = 0;
    int64_t bytes = 0;  // Of values; what a replica pulls.
    // What lies here besides: gradients that wait for their decision or for their step, memory for
    // the next ones, and versions of values and slots, of which readers hold some.
    int64_t staged = 0;
    int64_t staged_bytes = 0;
    int64_t spare_bytes = 0;
    int64_t versions = 0;
  };

  struct Options {
    // A cut's place in the stream is at most this far behind the chief's request for its values.
    std::chrono::milliseconds cut_patience{10'000};
    // GreetingText: callers of another job, or without its token, are refused. Empty: anybody is
    // served.
    std::string job;
    CommitRecord* record = nullptr;  // Of what is applied; none without.
    // Who has not said in this time of which job it is, goes: connections are counted.
    std::chrono::milliseconds greeting_max{5'000};
    // How often a caller that waits for others is looked at: one that has gone holds a thread, a
    // connection and perhaps a turn.
    std::chrono::milliseconds look_every{1'000};
    // How often the chief hears that its answer takes long: well below its patience of 15 s.
    std::chrono::milliseconds tell_every{2'000};
  };

  Shard();
  explicit Shard(Options options);
  ~Shard();

  void Serve(comm::Channel& channel);
  void Close();
  Stats stats() const;

 private:
  struct Model;
  using Lock = std::unique_lock<std::mutex>;

  // OK once the caller has said that it is of this job.
  absl::Status Greet(comm::Channel& channel);
  absl::Status Handle(comm::Channel& channel, const comm::FrameHead& head);
  void Detach(comm::Channel& channel);
  absl::Status Configure(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Push(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status PushRows(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Pull(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Fence(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Cut(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status ReadCut(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status ReleaseCut(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status WaitStep(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Named(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status Ask(comm::Channel& channel);
  absl::Status ServePeer(comm::Channel& channel, const comm::FrameHead& head);
  absl::Status AnswerSequencer(comm::Channel& channel, Model& model);

  // The model of the generation in `head`, else the payload is thrown away and the sender refused
  // (null). A null result with OK means refused; an error means broken.
  absl::StatusOr<std::shared_ptr<Model>> ModelFor(comm::Channel& channel,
                                                  const comm::FrameHead& head);
  // Likewise for who pushes or pulls, if the chief has named it.
  absl::StatusOr<std::shared_ptr<Model>> ModelForPusher(comm::Channel& channel,
                                                        const comm::FrameHead& head);
  // Ends the model that is in force. Lets the lock go meanwhile: look at the state again.
  void Retire(Lock& lock);
  // Makes way for what `request` describes: OK, a sentence for who is refused, or Unavailable.
  absl::StatusOr<std::string> MakeWay(Lock& lock, const wire::ConfigureRequest& request);
  void Install(const std::shared_ptr<Model>& model);
  // Does `work` while the caller, if it `hears` that, is told now and then that it goes on.
  absl::Status DoAloud(comm::Channel& channel, bool hears, const std::function<void()>& work);

  enum class Awaited { kDone, kNotInTime, kCallerGone };
  // Until `done`, at most for `limit`, if there is one; looks at the caller meanwhile.
  Awaited Await(Lock& lock, std::condition_variable& woken, comm::Channel& channel,
                std::optional<std::chrono::milliseconds> limit, absl::FunctionRef<bool()> done);
  // The same for `pusher`, who is woken by what is decided about it.
  Awaited AwaitAs(Lock& lock, const Pusher& pusher, comm::Channel& channel,
                  absl::FunctionRef<bool()> done);
  void Wake(const Pusher& pusher);
  void WakePushers();

  absl::StatusOr<Gradient> ReceiveGradient(comm::Channel& channel, Model& model, bool narrow);
  // Counts `gradient`, which came with `head`, once, and answers: with what changed after the step
  // that its sender says to `have`, if it says one.
  absl::Status Stage(comm::Channel& channel, const std::shared_ptr<Model>& model,
                     const comm::FrameHead& head, Gradient gradient,
                     std::optional<int64_t> have = std::nullopt);
  // Waits until `push` is settled or banked, then answers it.
  absl::Status AnswerPush(comm::Channel& channel, const std::shared_ptr<Model>& shared,
                          const PushId& push, std::optional<int64_t> have, Lock lock);
  absl::Status AnswerOver(comm::Channel& channel, const Model& model, const Pusher& pusher,
                          Lock lock);

  // With the lock held.
  // `pusher` is there, by `channel` and no other from now on.
  void Attach(Model& model, const Pusher& pusher, comm::Channel& channel);
  // Whether `pusher` gets no answer by `channel` any more: it must not take a turn for somebody who
  // has gone or has come by another connection.
  bool Gone(const Model& model, const Pusher& pusher, const comm::Channel& channel) const;
  // Or because this shard is closing.
  bool Over(const Model& model, const Pusher& pusher, const comm::Channel& channel) const;
  // Whether `pusher` need not wait for a batch; which, if this shard gives them.
  static bool HasTurn(Model& model, const Pusher& pusher, std::optional<int64_t>* batch);
  // Of a bound on staleness, which this shard watches over: what its values may be of.
  static std::optional<int64_t> OldestFor(const Model& model, const Pusher& pusher);
  void OnStaged(Model& model, int shard, const StagedPush& push);
  void Broadcast(Model& model, const std::vector<Decision>& decisions);
  void CarryOut(Model& model, const Decision& decision);
  void GiveUp(Model& model, const absl::Status& why);
  void WakeAll();

  // The thread of shard k ≠ 0.
  void FollowShardZero(std::shared_ptr<Model> model);
  absl::Status FollowOnce(Model& model);

  const Options options_;
  const comm::Greeting own_;  // Of Options.job.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Who waits for a step is woken at the lowest awaited one only, not at each.
  std::condition_variable reached_;
  std::multiset<int64_t> awaited_;
  // Who waits for an answer to a push or pull: woken when something is decided about it, not with
  // every update.
  std::multimap<Pusher, std::condition_variable*> waiting_;
  int64_t chief_pod_ = 0;  // The highest that has configured this process.
  bool closing_ = false;
  int answers_ = 0;  // To pushes: that are waited for, or on their way.
  std::shared_ptr<Model> model_;
  std::chrono::steady_clock::time_point next_complaint_{};
};

}  // namespace taas::ps

#endif  // TRAINER_PS_SHARD_H_
