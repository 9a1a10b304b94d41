#include "trainer/cut/snapshot.h"

#include <optional>
#include <utility>

#include "operator/base/finite.h"
#include "operator/base/hash.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/checkpoint_dir.h"
#include "trainer/checkpoint/tensor.h"

namespace taas {
namespace {

constexpr char kStep[] = "global_step";  // TensorFlow's name.
constexpr char kWatermark[] = "taas/cursor/watermark";
constexpr char kAbove[] = "taas/cursor/above";
constexpr char kSeed[] = "taas/seed";
constexpr char kBatchSize[] = "taas/batch_size";
constexpr char kShuffleBuffer[] = "taas/shuffle_buffer";
constexpr char kData[] = "taas/data";
constexpr char kOptimizer[] = "taas/optimizer";

TensorValue Scalar(const char* name, int64_t value) {
  return Int64Tensor(name, {}, std::span(&value, 1));
}

absl::Status CheckNumber(const BundleReader& reader, const char* name, const char* what,
                         int64_t wanted, bool may_lack = false) {
  int64_t found = 0;  // What only some jobs have is 0 of the others.
  if (!may_lack || reader.Has(name)) {
    ASSIGN_OR_RETURN(found, reader.ReadInt64(name));
  }
  if (found == wanted) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "checkpoint " + reader.prefix() + " was made with " + what + " " + std::to_string(found) +
      ", the job has " + std::to_string(wanted) +
      ": its place in the data would mean other examples; use the same " + what +
      " or another checkpoint directory");
}

// TensorFlow's name of what its optimizers keep about a variable.
std::string SlotName(const SnapshotShape::Variable& variable, const std::string& slot) {
  return variable.name + "/" + slot;
}

absl::Status CheckOptimizer(const BundleReader& reader, const std::string& wanted) {
  // Checkpoints that were made before optimizers had names are of plain gradient descent.
  std::string found = "sgd";
  if (reader.Has(kOptimizer)) {
    ASSIGN_OR_RETURN(const TensorValue tensor, reader.Read(kOptimizer));
    if (tensor.strings.size() == 1) found = tensor.strings[0];
  }
  if (found == wanted) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "checkpoint " + reader.prefix() + " was made with optimizer " + found + ", the job has " +
      wanted +
      ": what it keeps about each variable cannot be carried over; use the same optimizer or "
      "another checkpoint directory");
}

// Checkpoints that were made before data had an identity go with any.
absl::Status CheckData(const BundleReader& reader, const std::string& wanted) {
  if (wanted.empty() || !reader.Has(kData)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TensorValue tensor, reader.Read(kData));
  const std::string found = tensor.strings.size() == 1 ? tensor.strings[0] : "";
  if (found == wanted) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "checkpoint " + reader.prefix() + " was made with other training data: it had " + found +
      "; the job has " + wanted +
      ". Its place in the data would mean other examples: give the job the data that it had, or "
      "another checkpoint directory, in which it begins anew");
}

}  // namespace

absl::Status CheckFinite(const std::string& what, std::span<const float> values, int64_t step) {
  const std::string bad = FirstNonFinite(values);
  if (bad.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("Model diverged: after step " + std::to_string(step) + " " +
                                    bad + " in " + what + "; a lower learning rate may help");
}

struct SnapshotStore::State {
  std::unique_ptr<WritePace> pace;
  const Clock& clock;
  SnapshotShape shape;
  std::unique_ptr<CheckpointDir> dir;
  Clock::Time renewed;
  std::function<void(const std::vector<CheckpointDir::Listed>&)> on_listed;
};

SnapshotStore::SnapshotStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

SnapshotStore::~SnapshotStore() = default;

absl::StatusOr<std::unique_ptr<SnapshotStore>> SnapshotStore::Open(FileSystem& files,
                                                                   const Clock& clock,
                                                                   Options options) {
  CheckpointDir::Options dir_options{.dir = options.dir,
                                     .owner = {.job = options.job,
                                               .uid = options.uid,
                                               .attempt = options.attempt,
                                               .pod = options.pod,
                                               .start = HexOf(options.start)},
                                     .keep = options.keep,
                                     .shard_bytes = options.shard_bytes};
  auto pace = std::make_unique<WritePace>();
  dir_options.pace = pace.get();
  ASSIGN_OR_RETURN(auto dir, CheckpointDir::Open(files, clock, std::move(dir_options)));
  return std::unique_ptr<SnapshotStore>(new SnapshotStore(std::unique_ptr<State>(new State{
      std::move(pace), clock, std::move(options.shape), std::move(dir), clock.Now(),
      std::move(options.on_listed)})));
}

absl::Status SnapshotStore::CheckNumbers(const SnapshotView& snapshot) {
  const SnapshotShape& shape = state_->shape;
  for (size_t i = 0; i < shape.variables.size(); ++i) {
    const std::string& name = shape.variables[i].name;
    RETURN_IF_ERROR(CheckFinite("variable " + name, snapshot.values[i], snapshot.step));
    for (size_t slot = 0; slot < shape.slots.size(); ++slot) {
      RETURN_IF_ERROR(CheckFinite("slot " + SlotName(shape.variables[i], shape.slots[slot]),
                                  snapshot.slots[slot][i], snapshot.step));
    }
    // Reading the model once takes memory from the steps as writing it does.
    state_->pace->Pause();
  }
  return absl::OkStatus();
}

absl::Status SnapshotStore::Save(const SnapshotView& snapshot) {
  RETURN_IF_ERROR(CheckNumbers(snapshot));
  const SnapshotShape& shape = state_->shape;
  const std::vector<int64_t> above = snapshot.committed.above();
  std::vector<TensorValue> numbers = {
      Scalar(kStep, snapshot.step),
      Scalar(kWatermark, snapshot.committed.watermark()),
      Int64Tensor(kAbove, {static_cast<int64_t>(above.size())}, above),
      Scalar(kSeed, static_cast<int64_t>(shape.seed)),
      Scalar(kBatchSize, shape.batch_size),
      StringTensor(kOptimizer, {}, {shape.optimizer}),
  };
  if (!shape.data.empty()) numbers.push_back(StringTensor(kData, {}, {shape.data}));
  if (shape.shuffle_buffer > 0) numbers.push_back(Scalar(kShuffleBuffer, shape.shuffle_buffer));
  std::vector<TensorView> tensors;
  for (size_t i = 0; i < shape.variables.size(); ++i) {
    const SnapshotShape::Variable& variable = shape.variables[i];
    tensors.push_back(FloatTensor(variable.name, variable.dims, snapshot.values[i]));
    for (size_t slot = 0; slot < shape.slots.size() && variable.trainable; ++slot) {
      tensors.push_back(FloatTensor(SlotName(variable, shape.slots[slot]), variable.dims,
                                    snapshot.slots[slot][i]));
    }
  }
  const auto scalars = shape.scalars(snapshot.step);
  for (const auto& [name, value] : scalars) {
    tensors.push_back(FloatTensor(name, {}, std::span(&value, 1)));
  }
  for (const TensorValue& number : numbers) tensors.push_back(number.View());
  state_->renewed = state_->clock.Now();
  RETURN_IF_ERROR(state_->dir->Save(snapshot.step, tensors));
  TellListed();
  return absl::OkStatus();
}

// For people; a directory that cannot be listed now has its checkpoints all the same.
void SnapshotStore::TellListed() {
  if (state_->on_listed == nullptr) return;
  const auto listed = state_->dir->List();
  if (listed.ok()) state_->on_listed(*listed);
}

absl::StatusOr<bool> SnapshotStore::Load(Snapshot* snapshot) {
  const SnapshotShape& shape = state_->shape;
  ASSIGN_OR_RETURN(const std::optional<CheckpointDir::Checkpoint> latest, state_->dir->Latest());
  TellListed();
  if (!latest) return false;
  const BundleReader& reader = *latest->reader;
  RETURN_IF_ERROR(CheckOptimizer(reader, shape.optimizer));
  std::vector<BundleReader::Variable> wanted;
  for (const SnapshotShape::Variable& variable : shape.variables) {
    wanted.push_back({variable.name, ElementType::kFloat32, variable.dims});
    for (size_t slot = 0; slot < shape.slots.size() && variable.trainable; ++slot) {
      wanted.push_back(
          {SlotName(variable, shape.slots[slot]), ElementType::kFloat32, variable.dims});
    }
  }
  for (const auto& [name, value] : shape.scalars(0)) {
    wanted.push_back({name, ElementType::kFloat32, {}});
  }
  RETURN_IF_ERROR(reader.CheckVariables(wanted));
  RETURN_IF_ERROR(CheckNumber(reader, kSeed, "seed", static_cast<int64_t>(shape.seed)));
  RETURN_IF_ERROR(CheckNumber(reader, kBatchSize, "batchSize", shape.batch_size));
  RETURN_IF_ERROR(CheckNumber(reader, kShuffleBuffer, "shuffleBuffer", shape.shuffle_buffer,
                              /*may_lack=*/true));
  RETURN_IF_ERROR(CheckData(reader, shape.data));
  Snapshot loaded;
  loaded.slots.resize(shape.slots.size());
  for (const SnapshotShape::Variable& variable : shape.variables) {
    loaded.values.emplace_back(variable.count);
    RETURN_IF_ERROR(reader.ReadFloats(variable.name, variable.dims, loaded.values.back()));
    for (size_t slot = 0; slot < shape.slots.size(); ++slot) {
      loaded.slots[slot].emplace_back(variable.trainable ? variable.count : 0);
      if (!variable.trainable) continue;
      RETURN_IF_ERROR(reader.ReadFloats(SlotName(variable, shape.slots[slot]), variable.dims,
                                        loaded.slots[slot].back()));
    }
  }
  ASSIGN_OR_RETURN(loaded.step, reader.ReadInt64(kStep));
  ASSIGN_OR_RETURN(const int64_t watermark, reader.ReadInt64(kWatermark));
  ASSIGN_OR_RETURN(const std::vector<int64_t> above, reader.ReadInt64s(kAbove));
  loaded.committed = CommittedSet(watermark, above);
  *snapshot = std::move(loaded);
  return true;
}

absl::Status SnapshotStore::KeepAlive() {
  const Clock::Time now = state_->clock.Now();
  if (now - state_->renewed < CheckpointDir::kRenewEvery) return absl::OkStatus();
  state_->renewed = now;
  return state_->dir->Renew();
}

WritePace& SnapshotStore::pace() { return *state_->pace; }

absl::Status SnapshotStore::Release() { return state_->dir->Release(); }

}  // namespace taas
