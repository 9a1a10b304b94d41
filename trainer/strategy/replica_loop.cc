#include "trainer/strategy/replica_loop.h"

#include <chrono>
#include <cmath>
#include <memory>

#include "operator/base/status.h"
#include "trainer/ps/shard_client.h"

namespace taas {
namespace {

// A shard that refuses a generation which the chief still calls current is being replaced; the
// chief notices within a tenth of a second.
constexpr std::chrono::milliseconds kDisagreementPause{50};

// One replica between two calls of Next.
class Replica {
 public:
  Replica(WorkSource& source, TrainingTask& task, int shards, const ReplicaObserver& observer)
      : source_(source), task_(task), observer_(observer), shards_(shards) {}

  absl::Status Run() {
    for (;;) {
      ASSIGN_OR_RETURN(const Work work, source_.Next());
      if (work.done) return absl::OkStatus();
      absl::Status status = Attach(work);
      for (size_t i = 0; i < work.batches.size() && status.ok(); ++i) {
        status = Step(work, work.batches[i]);
      }
      if (status.ok()) continue;
      exchange_ = nullptr;
      // Another generation, or this replica's place is taken: the source knows what is next.
      if (absl::IsAborted(status) || absl::IsFailedPrecondition(status)) continue;
      return status;
    }
  }

 private:
  // Connects to the shards of the work's generation and takes their values.
  absl::Status Attach(const Work& work) {
    if (exchange_ != nullptr && generation_ == work.generation && pusher_ == work.pusher) {
      return absl::OkStatus();
    }
    generation_ = work.generation;
    pusher_ = work.pusher;
    return Insist(work, [&] {
      exchange_ = std::make_unique<ps::Exchange>(
          ps::Exchange::Options{work.pusher, work.generation, work.shards,
                                ps::SplitByBytes(SizesOf(task_.session()), shards_)},
          VariablesOf(task_.session()), GradientsOf(task_.session()));
      return exchange_->Pull([&] { return Wanted(work); });
    }).status();
  }

  absl::Status Step(const Work& work, int64_t batch) {
    RETURN_IF_ERROR(task_.FillBatch(batch));
    RETURN_IF_ERROR(task_.session().Run(RunKind::kTrain));
    const float loss = task_.session().loss();
    RETURN_IF_ERROR(CheckLoss(loss, batch));
    ++sequence_;
    ASSIGN_OR_RETURN(const ps::Exchange::Result result, Insist(work, [&] {
                       return exchange_->Push(sequence_, batch, [&] { return Wanted(work); });
                     }));
    if (troubled_) observer_.on_trouble("");
    troubled_ = false;
    if (result.applied) observer_.on_step({result.step, loss});
    return absl::OkStatus();
  }

  // Repeats `call` while a shard and the chief disagree on the generation: batches that were lent
  // in it must not be dropped as long as it stands.
  template <typename Call>
  absl::StatusOr<ps::Exchange::Result> Insist(const Work& work, Call call) {
    for (;;) {
      const auto result = call();
      if (result.ok() || !absl::IsAborted(result.status()) ||
          !source_.StillCurrent(work.generation, work.pusher)) {
        return result;
      }
      Tell(std::string(result.status().message()));
      comm::WaitReadable({}, kDisagreementPause);
    }
  }

  bool Wanted(const Work& work) {
    if (!exchange_->trouble().empty()) Tell(exchange_->trouble());
    return source_.StillCurrent(work.generation, work.pusher);
  }

  void Tell(const std::string& why) {
    observer_.on_trouble("waiting for a parameter server: " + why);
    troubled_ = true;
  }

  WorkSource& source_;
  TrainingTask& task_;
  const ReplicaObserver& observer_;
  const int shards_;
  std::unique_ptr<ps::Exchange> exchange_;
  int64_t generation_ = 0;
  ps::Pusher pusher_;
  // Grows over generations too: no two pushes of a process have one number.
  uint64_t sequence_ = 0;
  bool troubled_ = false;
};

}  // namespace

absl::Status CheckLoss(float loss, int64_t batch) {
  if (std::isfinite(loss)) return absl::OkStatus();
  return absl::InvalidArgumentError("Model diverged with loss = " +
                                    std::string(std::isnan(loss) ? "NaN" : "infinity") +
                                    " in batch " + std::to_string(batch) +
                                    "; a lower learning rate may help");
}

absl::Status RunReplica(WorkSource& source, TrainingTask& task, int shards,
                        const ReplicaObserver& observer) {
  return Replica(source, task, shards, observer).Run();
}

}  // namespace taas
