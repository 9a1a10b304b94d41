// A consistent cut of the model, and the directory of checkpoints it goes to and comes from.
//
// A checkpoint holds the variables, what the optimizer keeps about each ("W/Momentum") and
// global_step under TensorFlow's names, and under "taas/" the data cursor, the seed, the batch
// size, of streamed data the shuffle buffer, which data it is, and the optimizer's name.
//
// Ownership: Snapshot is a value; a SnapshotStore borrows FileSystem and Clock. Threads: one at a
// time. Errors: FailedPrecondition for a checkpoint of another model or optimizer, seed, batch
// size, shuffle buffer or data (its cursor would mean other examples) and for a directory that a
// newer process owns; InvalidArgument for a model with numbers that are none, which is not saved,
// so that the last good checkpoint stays; Aborted for one that another living job owns; those of
// the disk.
//
//   ASSIGN_OR_RETURN(auto store,
//                    SnapshotStore::Open(files, clock, {.dir = "/out", .shape = shape}));
//   ASSIGN_OR_RETURN(bool found, store->Load(&snapshot));
//   RETURN_IF_ERROR(store->Save(snapshot));

#ifndef TRAINER_CUT_SNAPSHOT_H_
#define TRAINER_CUT_SNAPSHOT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/batches/committed_set.h"
#include "trainer/checkpoint/checkpoint_dir.h"
#include "trainer/checkpoint/write_pace.h"

namespace taas {

// What a checkpoint is of, wherever it lies.
struct SnapshotView {
  std::vector<std::span<const float>> values;              // As in a Snapshot, all three.
  std::vector<std::vector<std::span<const float>>> slots;
  const CommittedSet& committed;
  int64_t step = 0;
};

struct Snapshot {
  using Tensors = std::vector<std::vector<float>>;

  Tensors values;              // In the session's order of variables.
  std::vector<Tensors> slots;  // By slot of the optimizer; empty for what is not trained.
  CommittedSet committed;  // The batches that are part of the values.
  int64_t step = 0;            // The updates that made them; each may be of several batches.

  SnapshotView view() const {
    SnapshotView view{.values = {values.begin(), values.end()},
                      .slots = {},
                      .committed = committed,
                      .step = step};
    for (const Tensors& slot : slots) view.slots.emplace_back(slot.begin(), slot.end());
    return view;
  }
  std::vector<std::span<float>> spans() { return SpansOf(values); }
  std::vector<std::vector<std::span<float>>> slot_spans() {
    std::vector<std::vector<std::span<float>>> spans;
    for (Tensors& slot : slots) spans.push_back(SpansOf(slot));
    return spans;
  }

 private:
  static std::vector<std::span<float>> SpansOf(Tensors& tensors) {
    return std::vector<std::span<float>>(tensors.begin(), tensors.end());
  }
};

// InvalidArgument if a number in `what` ("variable W") is none after `step` updates. A loss shows
// that one step later, and the last step's never.
absl::Status CheckFinite(const std::string& what, std::span<const float> values, int64_t step);

// What a checkpoint must agree with.
struct SnapshotShape {
  struct Variable {
    std::string name;
    std::vector<int64_t> dims;
    size_t count = 0;
    bool trainable = true;  // Only what is trained has slots.
  };
  std::vector<Variable> variables;
  std::string optimizer = "sgd";
  std::vector<std::string> slots;  // Names of the optimizer's slots: "Momentum".
  // What TensorFlow's optimizer keeps besides, as it stands after `step` ("beta1_power"): for
  // readers only, since it follows from the step.
  std::function<std::vector<std::pair<std::string, float>>(int64_t step)> scalars = [](int64_t) {
    return std::vector<std::pair<std::string, float>>();
  };
  uint64_t seed = 0;
  int64_t batch_size = 0;
  int64_t shuffle_buffer = 0;  // Of data that is streamed; else 0.
  std::string data;  // Which it is (trainer/data/data_identity.h); "": it does not matter.
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
    int64_t shard_bytes = int64_t{4} << 30;  // Of one data file.
    SnapshotShape shape;
    // Gets the checkpoints that are there, after Load and after each Save, on their threads. Null:
    // nobody wants to know.
    std::function<void(const std::vector<CheckpointDir::Listed>&)> on_listed = nullptr;
  };
  static absl::StatusOr<std::unique_ptr<SnapshotStore>> Open(FileSystem& files, const Clock& clock,
                                                             Options options);
  ~SnapshotStore();

  absl::Status Save(const SnapshotView& snapshot);
  absl::Status Save(const Snapshot& snapshot) { return Save(snapshot.view()); }
  // The newest good checkpoint; false and `snapshot` as it was if there is none.
  absl::StatusOr<bool> Load(Snapshot* snapshot);
  // To be called often: says from time to time that this job lives and owns the directory.
  absl::Status KeepAlive();
  // The job is over.
  absl::Status Release();
  // That of Save, for whoever trains beside it; without limit at first.
  WritePace& pace();

 private:
  struct State;
  absl::Status CheckNumbers(const SnapshotView& snapshot);
  void TellListed();
  explicit SnapshotStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_CUT_SNAPSHOT_H_
