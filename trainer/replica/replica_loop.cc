#include "trainer/replica/replica_loop.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "operator/base/status.h"
#include "trainer/batches/batch_source.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/ps/shard_client.h"
#include "trainer/replica/host_model.h"

namespace taas {
namespace {

// A shard that refuses a generation which the chief still calls current is being replaced; the
// chief notices within a tenth of a second.
constexpr std::chrono::milliseconds kDisagreementPause{50};

// Between looks for the end of the job: bounds what it adds to the last step.
constexpr std::chrono::milliseconds kEndPause{5};

// One replica between two calls of Next.
class Replica {
 public:
  Replica(WorkSource& source, TrainingTask& task, const ReplicaObserver& observer,
          const ReplicaOptions& options)
      : source_(source),
        task_(task),
        observer_(observer),
        options_(options),
        model_(task.session()) {}

  absl::Status Run() {
    for (;;) {
      ASSIGN_OR_RETURN(const Work work, source_.Next());
      if (work.done) return absl::OkStatus();
      const absl::Status status = Train(work);
      if (status.ok()) continue;
      if (!own_error_.ok()) return own_error_;
      exchange_ = nullptr;
      // Another generation, or this replica's place is taken: the source knows what is next.
      if (absl::IsAborted(status) || absl::IsFailedPrecondition(status)) continue;
      return status;
    }
  }

 private:
  // Asynchronous: the chief has lent the batches, and any values will do.
  class LentBatches : public BatchSource {
   public:
    explicit LentBatches(std::span<const int64_t> batches) : batches_(batches) {}
    absl::StatusOr<std::optional<int64_t>> Next() override {
      if (batches_.empty()) return std::nullopt;
      const int64_t batch = batches_.front();
      batches_ = batches_.subspan(1);
      return batch;
    }

   private:
    std::span<const int64_t> batches_;
  };

  // Synchronous: the parameter servers say with their values what is to be computed.
  class GivenBatches : public BatchSource {
   public:
    GivenBatches(Replica& replica, const Work& work) : replica_(replica), work_(work) {}
    absl::StatusOr<std::optional<int64_t>> Next() override {
      ps::Exchange::Result& values = replica_.values_;
      while (values.batch && values.values_step < 0) {
        // The shards answered while a step was being made: these values are of no step.
        ASSIGN_OR_RETURN(values, replica_.Pull(work_));
      }
      // All steps are made; the chief says so as soon as it has the last values.
      while (!values.batch &&
             replica_.source_.StillCurrent(work_.generation, work_.pusher)) {
        comm::WaitReadable({}, kEndPause);
      }
      return values.batch;
    }

   private:
    Replica& replica_;
    const Work& work_;
  };

  absl::Status Train(const Work& work) {
    const bool attached =
        exchange_ != nullptr && generation_ == work.generation && pusher_ == work.pusher;
    if (!attached || work.from_shards) {
      RETURN_IF_ERROR(Attach(work));
    }
    LentBatches lent(work.batches);
    GivenBatches given(*this, work);
    BatchSource& batches = work.from_shards ? static_cast<BatchSource&>(given) : lent;
    for (;;) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> batch, batches.Next());
      if (!batch) return absl::OkStatus();
      ASSIGN_OR_RETURN(values_, Step(work, *batch));
    }
  }

  // Connects to the shards of the work's generation and takes their values. How many there are is
  // the chief's to say: it split the model, and this process's own list may be of another day.
  absl::Status Attach(const Work& work) {
    if (work.shards.empty()) {
      return absl::InvalidArgumentError("the chief names no parameter server to train with");
    }
    generation_ = work.generation;
    pusher_ = work.pusher;
    exchange_ = std::make_unique<ps::Exchange>(
        ps::Exchange::Options{.pusher = work.pusher,
                              .generation = work.generation,
                              .shards = work.shards,
                              .layout = ps::SplitByBytes(SizesOf(task_.session()),
                                                         static_cast<int>(work.shards.size())),
                              .job = work.job,
                              .narrow = options_.narrow},
        model_.variables(), model_.pushed());
    ASSIGN_OR_RETURN(values_, Pull(work));
    return absl::OkStatus();
  }

  absl::StatusOr<ps::Exchange::Result> Pull(const Work& work) {
    ASSIGN_OR_RETURN(ps::Exchange::Result result, Insist(work, [&] {
                       return exchange_->Pull([&] { return Wanted(work); });
                     }));
    RETURN_IF_ERROR(WriteVariables());
    return result;
  }

  absl::Status WriteVariables() {
    own_error_ = model_.WriteVariables();
    return own_error_;
  }

  // An error of the task is this replica's own, whatever its class: no parameter server and no
  // other generation mends it.
  absl::StatusOr<float> Compute(int64_t batch) {
    absl::StatusOr<float> loss = ComputeFinite(batch);
    own_error_ = loss.status();
    return loss;
  }

  absl::StatusOr<float> ComputeFinite(int64_t batch) {
    RETURN_IF_ERROR(model_.BeginStep());
    ASSIGN_OR_RETURN(const float loss, task_.ComputeGradients(std::span(&batch, 1)));
    RETURN_IF_ERROR(CheckLoss(loss, {values_.newest_step + 1, batch}, task_));
    RETURN_IF_ERROR(model_.EndStep());
    return loss;
  }

  absl::StatusOr<ps::Exchange::Result> Step(const Work& work, int64_t batch) {
    ASSIGN_OR_RETURN(const float loss, Compute(batch));
    observer_.on_gradient(batch);
    ++sequence_;
    const auto rows = GradientRowsOf(task_.session());
    ASSIGN_OR_RETURN(const ps::Exchange::Result result, Insist(work, [&] {
                       return exchange_->Push(sequence_, batch, values_.values_step,
                                              [&] { return Wanted(work); }, rows);
                     }));
    if (troubled_) observer_.on_trouble("");
    troubled_ = false;
    if (result.banked) return result;
    RETURN_IF_ERROR(WriteVariables());
    if (result.applied) {
      observer_.on_step({result.step, loss});
    } else {
      observer_.on_late(batch, {result.step, loss});
    }
    return result;
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
  const ReplicaOptions options_;
  HostModel model_;
  std::unique_ptr<ps::Exchange> exchange_;  // With memory of the model.
  absl::Status own_error_;
  int64_t generation_ = 0;
  Pusher pusher_;
  ps::Exchange::Result values_;  // What the last answer of the shards says.
  // Grows over generations too: no two pushes of a process have one number.
  uint64_t sequence_ = 0;
  bool troubled_ = false;
};

}  // namespace

absl::Status RunReplica(WorkSource& source, TrainingTask& task,
                        const ReplicaObserver& observer, const ReplicaOptions& options) {
  LogUses(task.memory_uses(), task.session().model().device());
  return Replica(source, task, observer, options).Run();
}

}  // namespace taas
