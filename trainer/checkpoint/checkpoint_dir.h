// One job's directory of checkpoints: dir/model.ckpt-STEP.{index,data-00000-of-00001} and
// `checkpoint`. A large checkpoint has several data files.
//
// A crash or a failed disk at any instruction leaves the previous checkpoint or the new one, never
// a damaged one: files are written in a temporary directory, synced and renamed, data before
// index, and a checkpoint exists once its index does. `dir/.owner` names the process that may
// write here; a late process of an earlier attempt or incarnation is refused, so it cannot
// overwrite its successor's work.
//
// Ownership: borrows FileSystem and Clock. Threads: one at a time. Errors: FailedPrecondition (a
// newer attempt or incarnation owns the directory: this process is over); of Open Aborted (another
// job that is still alive owns it: try again); the FileSystem's, naming the path.
//
//   ASSIGN_OR_RETURN(auto dir, CheckpointDir::Open(files, clock, {.dir = "/out", .owner = me}));
//   ASSIGN_OR_RETURN(std::optional<CheckpointDir::Checkpoint> last, dir->Latest());
//   RETURN_IF_ERROR(dir->Save(step, tensors));

#ifndef TRAINER_CHECKPOINT_CHECKPOINT_DIR_H_
#define TRAINER_CHECKPOINT_CHECKPOINT_DIR_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/owner_record.h"
#include "trainer/checkpoint/tensor.h"
#include "trainer/checkpoint/write_pace.h"

namespace taas {

class CheckpointDir {
 public:
  // An owner that gave no sign for this long is taken for dead: three missed renewals.
  static constexpr Clock::Duration kOwnerLease = std::chrono::seconds(30);
  static constexpr Clock::Duration kRenewEvery = std::chrono::seconds(10);

  struct Options {
    std::string dir;
    CheckpointOwner owner;
    int keep = 5;  // Checkpoints that stay; at least 1.
    int64_t shard_bytes = int64_t{4} << 30;  // Of one data file (PlanShards).
    WritePace* pace = nullptr;               // Borrowed; none: as fast as possible.
  };
  // Of so many List tells.
  static constexpr size_t kListedMax = 10;

  struct Listed {
    int64_t step = 0;
    int64_t bytes = 0;  // Of all its files.
    std::optional<Clock::WallTime> saved_at;  // Nothing: an earlier process did not say.
  };
  struct Checkpoint {
    int64_t step = 0;
    std::string prefix;  // "dir/model.ckpt-1000"
    std::unique_ptr<BundleReader> reader;
  };

  // Makes the directory if there is none and takes it over.
  static absl::StatusOr<std::unique_ptr<CheckpointDir>> Open(FileSystem& files, const Clock& clock,
                                                             Options options);

  // Publishes a checkpoint of `step`, then drops the oldest beyond `keep` and those that Latest
  // found damaged and that are older. Saving a step whose good
  // checkpoint exists does nothing.
  absl::Status Save(int64_t step, const std::vector<TensorView>& tensors);

  // The newest checkpoint that is complete and undamaged, all checksums verified; nothing if there
  // is none. A damaged newer one is left where it is and named in a warning.
  absl::StatusOr<std::optional<Checkpoint>> Latest();

  // The newest checkpoints, the newest first, without those that Latest found damaged.
  absl::StatusOr<std::vector<Listed>> List();

  // Tells others that this job lives. To be called every kRenewEvery or so; Save does it too.
  absl::Status Renew();
  // Tells others that this job is over: the next job need not wait for the lease.
  absl::Status Release();

 private:
  CheckpointDir(FileSystem& files, const Clock& clock, Options options);
  absl::Status Claim();
  absl::Status CheckStillOwner();
  absl::Status WriteOwner(bool released);
  absl::Status Publish(int64_t step, const std::vector<TensorView>& tensors);
  absl::Status WriteState(int64_t newest, const std::vector<int64_t>& steps);
  void ReadTimes();
  absl::Status RemoveStep(int64_t step);
  absl::Status RemoveStaleTemporaries();
  void TellOfOtherModels();
  bool IsGood(int64_t step);
  std::string Path(const std::string& name) const { return options_.dir + "/" + name; }
  std::string Prefix(int64_t step) const;

  FileSystem& files_;
  const Clock& clock_;
  const Options options_;
  const std::string temporary_;  // Name of this process's temporary directory.
  Clock::Time renewed_{};        // The owner record.
  std::string before_;           // Whose the directory was, if another job's.
  std::set<int64_t> damaged_;    // Steps, as far as Latest has met them.
  std::map<int64_t, Clock::WallTime> saved_at_;  // By step, as far as that is known.
};

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_CHECKPOINT_DIR_H_
