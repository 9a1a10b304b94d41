// One generation of a shard: its values, what is staged, and the way to the other shards. Part of
// shard.h's implementation.
//
// Ownership: owns all but the channels. Threads: guarded by Shard::mutex_ but for what is const.
// Errors: none.
//
//   auto model = std::make_shared<Shard::Model>(request, std::move(floats), std::move(optimizer));

#ifndef TRAINER_PS_SHARD_MODEL_H_
#define TRAINER_PS_SHARD_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "trainer/optimizer/optimizer.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/row_changes.h"
#include "trainer/ps/row_payload.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_values.h"
#include "trainer/ps/version_store.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

// A staged gradient: where it lies in its sender's memory, or copied. That of PUSH_ROWS always is:
// its sender could write other ids after they were checked.
struct Gradient {
  std::span<const float> values;
  std::vector<float> own;
  const comm::Channel* lies_with = nullptr;  // Whose end takes `values` away; null: `own` has them.
  std::optional<RowContents> rows;  // Of PUSH_ROWS, instead of the others.

  // The sender is about to use its memory again, or to go. `buffer`: to be filled.
  void Own(std::vector<float> buffer);
  int64_t bytes() const;  // Of memory of this process.
};

struct Shard::Model {
  // `floats`: of all pieces, then each slot of them.
  Model(const wire::ConfigureRequest& request, std::vector<float> floats,
        std::unique_ptr<Optimizer> optimizer);

  bool gives_batches() const { return sequencer && sequencer->aggregates(); }
  // Applies the mean of what `decision`, a commit, names.
  void Apply(const Decision& decision);
  // Forgets gradients that no decision can name any more.
  void DropUnstaged();
  // Memory of an earlier gradient, or none.
  std::vector<float> TakeSpare();
  bool MayPush(const Pusher& pusher) const { return !named || named->contains(pusher); }
  void SetNamed(const wire::NamedRequest& request);

  const uint32_t generation;
  const bool hears_busy;  // The chief that configured it.
  const int shard;
  const std::vector<std::string> shards;
  const std::unique_ptr<Optimizer> optimizer;
  ShardValues values;
  PushLedger ledger;
  std::optional<Sequencer> sequencer;               // Shard 0 only.
  std::map<PushId, Gradient> gradients;             // Staged.
  // To be filled again: together with those in use never more than were in use at once.
  std::vector<std::vector<float>> spare_gradients;
  bool retired = false;
  std::map<int, comm::Channel*> peers;         // Shard 0 only: connections of the others.
  std::map<Pusher, comm::Channel*> attached;   // Who is there.
  std::optional<std::set<Pusher>> named;       // Nothing: the chief says nothing about that.
  std::set<Pusher> gone;  // Of those, while it gives no batches: whose connection has broken.
  comm::Channel* shard_zero = nullptr;         // The others only.
  std::thread follower;
};

// Answers of all parts of the shard.
absl::Status Refuse(comm::Channel& channel, comm::Refusal refusal, const std::string& sentence);
// A version and what it is of, for as long as somebody reads it.
struct HeldVersion {
  std::shared_ptr<const void> model;
  VersionStore::Reader reader;
};
// Those of `version` that `changed`, if that is shorter than all; false: nothing was sent.
absl::StatusOr<bool> SendChanged(comm::Channel& channel, ValuesInfo info,
                                 std::span<const size_t> pieces,
                                 const std::vector<RowChanges::Rows>& changed,
                                 uint32_t generation, const HeldVersion& version);
// `floats` of the version's buffer from its start.
absl::Status SendValues(comm::Channel& channel, comm::FrameHead head,
                        std::shared_ptr<const HeldVersion> version, size_t floats);

}  // namespace taas::ps

#endif  // TRAINER_PS_SHARD_MODEL_H_
