// Devices of the ranks of one process that sum among themselves, for tests: what device_group.h
// says, by a hub that all of them know, and what can go wrong with them as a test says.
//
// Ownership: devices borrow the hub. Threads: a device by one at a time, its switches from any.
// Errors: those that a test asks for.
//
//   DeviceHub hub;
//   HubDevice first(hub), second(hub);
//   second.comes = false;  // To no mean any more.

#ifndef TRAINER_TESTING_DEVICE_HUB_H_
#define TRAINER_TESTING_DEVICE_HUB_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/graph/device_group.h"
#include "trainer/graph/tensor_ref.h"

namespace taas {

class DeviceHub {
 public:
  std::string DrawId();
  void Form(const std::string& id);
  int formed(const std::string& id);
  // Of the round, which are counted from 1 on.
  void Bring(const std::string& id, size_t round, int rank, std::vector<float> values);
  // The mean, once all have brought theirs; empty before.
  std::vector<float> MeanOf(const std::string& id, size_t round, int ranks);

 private:
  struct Group {
    int formed = 0;
    std::map<size_t, std::map<int, std::vector<float>>> brought;  // By round and rank.
  };
  template <typename Work>
  auto With(const std::string& id, Work work) {
    const std::lock_guard lock(mutex_);
    return work(groups_[id]);
  }

  std::mutex mutex_;
  int ids_ = 0;
  std::map<std::string, Group> groups_;
};

class HubDevice : public DeviceGroup {
 public:
  explicit HubDevice(DeviceHub& hub, std::string name = "NCCL 2.28.9")
      : hub_(hub), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  absl::StatusOr<std::string> DrawId() override;
  absl::Status Form(const Ranks& ranks) override;
  absl::Status Launch(const TensorRef& values, bool narrow) override;
  absl::StatusOr<Stage> Look() override;
  void Abort() override { in_group_ = false; }
  bool Ended(Clock::Duration) override { return ends; }

  // Whether it comes to a mean, behind it, and to an end when it is aborted.
  std::atomic<bool> comes = true, passes = true, ends = true;
  // Whether it can draw an id, can begin to form, and then is one of those who have.
  std::atomic<bool> draws = true, forms = true, joins = true;
  // Before each look, by the thread that looks; set while nobody does.
  std::function<void()> on_look = [] {};
  // What looking at it returns instead.
  void FailWith(absl::Status status) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(status);
  }
  int formed() const { return formed_; }
  size_t means() const { return means_; }

 private:
  DeviceHub& hub_;
  const std::string name_;
  Ranks ranks_;
  Stage stage_ = Stage::kForms;
  TensorRef values_;
  std::atomic<bool> in_group_ = false;
  std::atomic<int> formed_ = 0;
  std::atomic<size_t> means_ = 0;
  size_t round_ = 0;
  bool brought_ = false;
  std::mutex mutex_;
  absl::Status failure_;
};

}  // namespace taas

#endif  // TRAINER_TESTING_DEVICE_HUB_H_
