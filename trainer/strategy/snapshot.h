// A consistent cut of the model, and the directory of checkpoints it goes to and comes from.
//
// A checkpoint holds the variables and global_step under TensorFlow's names, and under "taas/" the
// data cursor, the seed and the batch size.
//
// Ownership: Snapshot is a value; a SnapshotStore borrows FileSystem and Clock. Threads: one at a
// time. Errors: FailedPrecondition for a checkpoint of another model, seed or batch size (its
// cursor would mean other examples) and for a directory that a newer process owns; Unavailable for
// one that another living job owns; those of the disk.
//
//   ASSIGN_OR_RETURN(auto store,
//                    SnapshotStore::Open(files, clock, {.dir = "/out", .shape = shape}));
//   ASSIGN_OR_RETURN(bool found, store->Load(&snapshot));
//   RETURN_IF_ERROR(store->Save(snapshot));

#ifndef TRAINER_STRATEGY_SNAPSHOT_H_
#define TRAINER_STRATEGY_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/ps/committed_set.h"

namespace taas {

struct Snapshot {
  std::vector<std::vector<float>> values;  // In the session's order of variables.
  ps::CommittedSet committed;

  int64_t step() const { return committed.size(); }
  std::vector<std::span<float>> spans() {
    return std::vector<std::span<float>>(values.begin(), values.end());
  }
};

// What a checkpoint must agree with.
struct SnapshotShape {
  struct Variable {
    std::string name;
    std::vector<int64_t> dims;
    size_t count = 0;
  };
  std::vector<Variable> variables;
  uint64_t seed = 0;
  int64_t batch_size = 0;
};

class SnapshotStore {
 public:
  struct Options {
    std::string dir;
    std::string job;  // For messages.
    std::string uid;
    int64_t attempt = 1;
    int64_t pod = 1;
    uint64_t start = 0;
    int keep = 5;
    SnapshotShape shape;
  };
  static absl::StatusOr<std::unique_ptr<SnapshotStore>> Open(FileSystem& files, const Clock& clock,
                                                             Options options);
  ~SnapshotStore();

  absl::Status Save(const Snapshot& snapshot);
  // The newest good checkpoint; false and `snapshot` as it was if there is none.
  absl::StatusOr<bool> Load(Snapshot* snapshot);
  // To be called often: says from time to time that this job lives and owns the directory.
  absl::Status KeepAlive();
  // The job is over.
  absl::Status Release();

 private:
  struct State;
  explicit SnapshotStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_STRATEGY_SNAPSHOT_H_
