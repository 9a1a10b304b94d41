// A model on parameter servers, each with a part of it.
//
// Ownership: borrows clock, stop flag and record; owns connections and a thread, which cuts a call
// off that still waits when the process was told to stop a while ago. Threads: one at a time.
// Errors: as ModelHolder.
//
//   ShardSet shards(clock, stop, {.layout = layout, .job = JobKey(job), …});

#ifndef TRAINER_CHIEF_SHARD_SET_H_
#define TRAINER_CHIEF_SHARD_SET_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/chief/model_holder.h"
#include "trainer/ps/commit_record.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard_client.h"
#include "trainer/retry/stop_flag.h"

namespace taas {

// Once told to stop, a parameter server that moves no byte for this long is left behind: 30 s later
// whoever told it kills the process.
constexpr std::chrono::milliseconds kPatienceAtStop{2'000};
// Likewise in the middle of a cut, since a stop may come then: nothing is lost by asking again. It
// hears every 2 s of a copy that takes long.
constexpr std::chrono::milliseconds kPatienceInACut{5'000};

class ShardSet : public ModelHolder {
 public:
  struct Options {
    ps::Layout layout;
    std::string job;        // Of ps::Shard::Options.
    std::string optimizer;  // JSON.
    int64_t max_steps = 0;
    int aggregate = 0;      // Gradients of one step; 0: asynchronous.
    std::optional<int64_t> max_staleness{};  // Of ps::ShardConfig.
    int64_t chief_pod = 0;
    ps::CommitRecord* record = nullptr;  // Of where generations begin; none without.
  };
  ShardSet(const Clock& clock, const StopFlag& stop, Options options);
  ~ShardSet() override;

  absl::Status Begin(const Generation& generation, Snapshot& cut) override;
  absl::Status Reconnect() override;
  absl::StatusOr<Progress> WaitStep(int64_t step, std::chrono::milliseconds hold) override;
  absl::Status Name(const std::set<Pusher>& members) override;
  absl::StatusOr<Progress> Fence(const Pusher& pusher) override;
  absl::Status ReadCut(Snapshot& cut) override;
  void Hurry() override;

 private:
  // A call that is cut off if it still waits kPatienceAtStop after a stop.
  template <typename Call>
  auto CutOffAtStop(ps::ShardControl& control, Call call) {
    SetUnderWay(&control);
    auto result = call();
    SetUnderWay(nullptr);
    return result;
  }
  void SetUnderWay(ps::ShardControl* control);
  void CutOffWhenStopped();
  absl::StatusOr<std::unique_ptr<ps::ShardControl>> ConnectAgain(const std::string& address);
  // Of `cut`, as parameter servers have it: where what is moved has no slot, a spare one.
  ps::ModelSpans SpansOf(Snapshot& cut);

  const Clock& clock_;
  const StopFlag& stop_;
  const Options options_;
  Generation generation_;
  std::vector<std::unique_ptr<ps::ShardControl>> controls_;
  std::vector<float> no_slot_;  // Goes over the wire where what is moved has no slot.
  std::chrono::milliseconds cut_patience_ = kPatienceInACut;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  ps::ShardControl* under_way_ = nullptr;
  std::thread cut_off_;
};

}  // namespace taas

#endif  // TRAINER_CHIEF_SHARD_SET_H_
