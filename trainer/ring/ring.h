// The ranks that train one model together, as one of them deals with them: it enters an epoch, and
// makes steps with the others until one of them is lost.
//
// A step is the same on every rank, to the bit: each computes the gradients of a batch of its own,
// and all apply the mean. All see alike a loss that is no number, before a variable is changed.
// What a graph moves besides (the moving moments of batch normalization) moves by the mean of what
// each batch adds. Gradients that list their rows go by rows where that is less (table_rows.h).
//
// Gradients go in buckets (bucket_plan.h), which follow from the graph. Where there are several, a
// thread exchanges each while the session computes the rest, as soon as the session tells that it
// is there; where there is one, there is no such thread. What is exchanged when is ring_core.h's.
//
// Where the sessions of all ranks lie on devices that sum among themselves, gradients do not come
// to the host (device_means.h).
//
// Ownership: borrows meeting, session, whose gradients it watches, and device. Threads: one at a
// time; Abort and exchanged_beside from any. Errors: those of Group and Meeting, after which the
// epoch is over for all its ranks and the gradients are of no use; the variables are those of the
// last step that was applied. InvalidArgument, with both sides' words, where rank 0 has other
// buckets, or devices sum by another library: that is this rank's own. Those of the device.
//
//   RETURN_IF_ERROR(ring.Enter(epoch));
//   RETURN_IF_ERROR(ring.BeginStep(step + 1));
//   ASSIGN_OR_RETURN(const float own, task.ComputeGradients({&batch, 1}));
//   ASSIGN_OR_RETURN(const float loss, ring.Mean(own));

#ifndef TRAINER_RING_RING_H_
#define TRAINER_RING_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/collective/group.h"
#include "trainer/collective/link.h"
#include "trainer/collective/meeting.h"
#include "trainer/graph/device_group.h"
#include "trainer/graph/session.h"
#include "trainer/ring/bucket_plan.h"
#include "trainer/ring/device_means.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/ring_core.h"
#include "trainer/ring/share_meter.h"
#include "trainer/ring/side_thread.h"
#include "trainer/ring/table_rows.h"

namespace taas {

struct RingOptions {
  BucketLimits buckets{};
  // And how gradients go, of all variables.
  TableRows::Options rows{};
  // Sums between the devices of ranks, of the session's. Null: it has none, for this reason.
  DeviceGroup* device = nullptr;
  std::string no_device = "a processor";
  DeviceMeans::Limits device_limits{};
  // Told why, where a device neither ends what it does nor can be left.
  std::function<void(const absl::Status& why)> stuck = [](const absl::Status&) {};
};

class Ring {
 public:
  // `cores`: that this machine has for the ranks that are on it.
  Ring(collective::Meeting& meeting, Session& session, int cores,
       const RingOptions& options = {});
  // A step that was begun and not ended is over, with its epoch.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Meets the others; then the model is that of epoch.start. A model that is given away or taken is
  // complete: values, slots, moments. Where the epoch ends before, the own model is as it was.
  absl::Status Enter(const Epoch& epoch);
  int rank() const { return core_.place().rank; }
  int ranks() const { return core_.place().ranks; }
  size_t buckets() const { return buckets_.size(); }
  // Whether gradients are summed by the devices of the ranks in this epoch.
  bool sums_by_devices() const { return by_devices_; }

  // Before the gradients of `step` are computed: those of the session's next kTrain run, which from
  // now on nobody else reads or writes.
  absl::Status BeginStep(int64_t step);
  // The session's gradients become the mean of all ranks, and its moments what they are after it.
  // Returns the mean of the losses; where that is no number the gradients are of no use.
  absl::StatusOr<float> Mean(float loss);
  // Whose link broke first, if that is why an exchange of this epoch failed.
  std::optional<int> lost() const;
  // What of the device failed in the last Enter or Mean, or that rank 0 has other buckets, if
  // anything did: that is this rank's own, and no other epoch mends it.
  const absl::Status& own_error() const { return own_error_; }
  // Of the last step up to its Mean: what exchanges took, and waiting for the losses of all.
  const StepTimes& times() const { return times_; }
  // How many buckets of the present step were exchanged beside its computation. From any thread.
  size_t exchanged_beside() const { return exchanged_beside_; }
  // The epoch is over, here and for all; also one that is entered now.
  void Abort(uint32_t epoch);

 private:
  // By times of the steady clock.
  struct Span {
    Clock::Time begin, end;
  };
  // The session has so many gradients of the step that is computed.
  void GradientsAre(size_t count);
  // By the side thread: what can be exchanged of so many buckets.
  void ExchangeBeside(size_t buckets);
  // Nothing is exchanged beside any more, and the session's runs are no step's.
  void EndBeside();
  // What the ranks that were met do, and the group of them.
  absl::Status Form(const Epoch& epoch, std::vector<std::unique_ptr<collective::Link>> links);
  absl::Status SumByDevices();
  // Nothing of the epoch is under way on the device any more.
  void LeaveDevices();
  // All exchanges that are next, and when the losses had come.
  absl::Status Exchange(Clock::Time* losses_came);
  void TakeTimes(Clock::Time computed, Clock::Time losses_came);
  // The rows of this rank's gradients, by table.
  std::vector<TableRows::Ids> OwnRows() const;
  const std::vector<int32_t>& AllRows();
  absl::Status SetGradientRows();

  collective::Meeting& meeting_;
  Session& session_;
  const int cores_;
  const RealClock clock_;
  const std::vector<OrderedGradient> order_;
  const size_t dense_;  // Of order_; those behind list rows.
  const std::vector<Bucket> buckets_;
  RingCore core_;
  const bool narrow_;
  const Clock::Duration late_;
  bool by_devices_ = false;
  std::string told_sums_;  // The last that the log said of it.
  StepTimes times_;
  absl::Status own_error_;
  Clock::Time ended_{};  // The last exchanges of a step, or of the model: on all ranks about then.
  bool in_step_ = false;
  // Of a step, by the side thread until EndBeside.
  size_t told_ = 0;  // Buckets, by the session's threads.
  std::vector<Span> beside_;
  int64_t bytes_beside_ = 0;
  absl::Status beside_status_;
  std::atomic<size_t> exchanged_beside_ = 0;
  std::mutex mutex_;  // Of what follows, for Abort.
  uint32_t epoch_ = 0, over_ = 0;
  std::shared_ptr<collective::Group> group_;
  std::vector<int32_t> all_rows_;  // 0, 1, …
  std::optional<DeviceMeans> means_;
  std::unique_ptr<SideThread> side_;  // Null with one bucket. Gone first.
};

}  // namespace taas

#endif  // TRAINER_RING_RING_H_
