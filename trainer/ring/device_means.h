// The mean of a rank's gradients with those of the others, made by their devices among themselves
// (device_group.h), while the links of the epoch say who is still there.
//
// Whether an epoch does so all its ranks decide alike, by what each has noted when they met. A rank
// comes to the mean after the losses of all have come, so all are about to launch it. When its
// device has come to it, when it has passed it, and meanwhile now and then, a rank says to all
// which of both it is: in rounds that all of them make, until all have passed. Who does not say it
// in time is named, and the epoch ends. While a device computes, its rank looks at it, at the
// links, and at whether the epoch was ended: none of these may wait for another.
//
// A group that fails by itself, with all links as they were, may do so again in each epoch; after
// kFailuresMax times without a mean between them this rank notes that its device cannot. One that
// does not come about in time has failed on all ranks.
//
// Ownership: borrows device and clock, and a group from Begin to End. Threads: one at a time.
// Errors: those of the group (collective::Group) and of the device; Unavailable for a device that
// fails among the others, DeadlineExceeded for who or what did not come in time. After any the
// links are closed, so that all learn of it, and End follows.
//
//   meeting.SetNote(means.note());  // Meet, agree.
//   RETURN_IF_ERROR(means.Begin(group, epoch));
//   RETURN_IF_ERROR(means.AwaitFormed());
//   RETURN_IF_ERROR(means.Make({.epoch = 3, .step = 17}, gradients, /*narrow=*/false));

#ifndef TRAINER_RING_DEVICE_MEANS_H_
#define TRAINER_RING_DEVICE_MEANS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/group.h"
#include "trainer/graph/device_group.h"
#include "trainer/graph/tensor_ref.h"
#include "trainer/ring/epoch.h"

namespace taas {

// What a rank notes (meeting.h): by what its device sums, or why it does not.
std::string NoteOfSums(bool sums, const std::string& words);

struct SumsAgreement {
  bool by_devices = false;
  // For the log: by what; or why not, with the rank; "" where no device could.
  std::string words;
};
// What the ranks of an epoch do, by their notes: the same on all. InvalidArgument, with both sides,
// where the own device sums by another than that of the lowest rank that can; FailedPrecondition
// where another rank's does.
absl::StatusOr<SumsAgreement> AgreeOnSums(const std::vector<std::string>& notes,
                                          const std::vector<std::string>& addresses, int own);

class DeviceMeans {
 public:
  struct Limits {
    // To form a group takes seconds on a machine of eight GPUs, and longer the first time, when the
    // library loads its kernels. One that takes minutes does not end.
    Clock::Duration form = std::chrono::seconds(60);
    // A rank says at least so often where it is. Rare beside what a round costs.
    Clock::Duration round = std::chrono::milliseconds(500);
    // All have said their losses a moment before, and what is left is to launch one call. Who does
    // not come so long after another is stopped, or its device is: with a round that is 2 s.
    Clock::Duration arrival = std::chrono::milliseconds(1'500);
    // Gradients of 10 GB take 16 s at 10 Gbit/s.
    Clock::Duration mean = std::chrono::seconds(60);
    // An abort takes some tens of milliseconds. A pod has 30 s from its SIGTERM to its end.
    Clock::Duration end = std::chrono::seconds(10);
  };
  // One failure may be of a rank that was lost at the same time, and a second of its replacement.
  static constexpr int kFailuresMax = 3;
  // `stuck` is told why, where not even an abort ends what the device does: then only the end of
  // the process does.
  DeviceMeans(DeviceGroup& device, const Clock& clock, const Limits& limits,
              std::function<void(const absl::Status& why)> stuck)
      : device_(device), clock_(clock), limits_(limits), stuck_(std::move(stuck)) {}
  ~DeviceMeans() { End(); }
  DeviceMeans(const DeviceMeans&) = delete;
  DeviceMeans& operator=(const DeviceMeans&) = delete;

  std::string note() const;
  // Rank 0's device draws an id, which all are sent; then a group begins to form.
  absl::Status Begin(collective::Group& group, const Epoch& epoch);
  absl::Status AwaitFormed();
  // `gradients` become their mean over all ranks, the same bits on each.
  absl::Status Make(collective::Turn turn, const TensorRef& gradients, bool narrow);
  // Returns when nothing is under way on the device; the group is left.
  void End();

 private:
  using Stage = DeviceGroup::Stage;

  absl::Status ShareId(const Epoch& epoch, std::string* id);
  absl::Status MakeOnce(collective::Turn turn, const TensorRef& gradients, bool narrow);
  // A round: whether the devices of all have passed.
  absl::StatusOr<bool> Tell(collective::Turn turn, bool passed);
  // Looks until `there` of the stage; false: not within `patience`.
  absl::StatusOr<bool> Comes(const char* what, absl::FunctionRef<bool(Stage stage)> there,
                             Clock::Duration patience);
  // It has to.
  absl::Status Await(const char* what, absl::FunctionRef<bool(Stage stage)> there,
                     Clock::Duration patience);
  absl::Status TooLate(const char* what, Clock::Duration patience);
  // Counts what began then and failed so late that it would have failed on all ranks.
  absl::Status CountLate(Clock::Time begun, Clock::Duration limit, absl::Status ended);
  void Count(const absl::Status& why);
  // Of the device among the others; what it may come from instead: a rank that has gone.
  absl::Status Failed(absl::Status why);

  DeviceGroup& device_;
  const Clock& clock_;
  const Limits limits_;
  const std::function<void(const absl::Status&)> stuck_;
  collective::Group* group_ = nullptr;  // Of an epoch that was begun.
  std::optional<collective::Exchange> round_;
  int failures_ = 0;      // In a row.
  bool counted_ = false;  // Of this epoch.
};

}  // namespace taas

#endif  // TRAINER_RING_DEVICE_MEANS_H_
