// The callers of parameter servers: the chief's orders to one shard, and a training replica's
// exchange with all of them.
//
// Ownership: own their connections; variables and gradients stay the caller's and are read and
// written in place. Threads: one at a time each. Errors: Unavailable (broken: connect again),
// Aborted (the shard is in another generation: ask the chief), FailedPrecondition (this process was
// given up), InvalidArgument.
//
//   ASSIGN_OR_RETURN(auto shard, ShardControl::Connect(address, {}));
//   RETURN_IF_ERROR(shard->Configure(config, {values, slots}));
//
//   Exchange exchange({.pusher = me, .generation = 3, .shards = addresses, .layout = layout},
//                     variables, gradients);
//   ASSIGN_OR_RETURN(Exchange::Result result, exchange.Push(sequence, batch, step, wanted));

#ifndef TRAINER_PS_SHARD_CLIENT_H_
#define TRAINER_PS_SHARD_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/channel.h"
#include "trainer/ps/commit_core.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/row_payload.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

struct ShardConfig {
  int64_t generation = 0;
  int shard = 0;
  std::vector<std::string> shards;
  std::vector<Piece> pieces;
  std::string optimizer;  // JSON.
  CommittedSet committed;
  int64_t step = 0;
  int64_t max_steps = 0;
  int aggregate = 0;  // Gradients that make one update; 0: each, when it comes.
  // Beside `aggregate` 1: no gradient is applied to values more than so many updates newer.
  std::optional<int64_t> max_staleness{};
  // Who may push from the beginning, as ShardControl::Name says afterwards; nothing: anybody.
  std::optional<std::vector<Pusher>> named{};
  int64_t chief_pod = 0;  // Of the caller: a shard takes no orders of an earlier pod than it had.
};

// The model as its owner has it: variables, and by slot of the optimizer as the variables.
struct ModelSpans {
  std::vector<std::span<float>> variables;
  std::vector<std::vector<std::span<float>>> slots;
};

class ShardControl {
 public:
  struct State {
    int64_t step = 0;
    CommittedSet committed;
    std::vector<Pusher> gone;  // Whose connection has broken, until they come again.
  };

  struct Options {
    // A shard that moves no byte for this long is taken for gone (Unavailable), though its kernel
    // may still acknowledge: longer than any answer is held back (WAIT_STEP 5 s, READ_CUT 10 s).
    std::chrono::milliseconds silence_max{15'000};
    std::string job;  // Of Shard::Options.
  };

  // Of an earlier build there may be shards that do not take NAMED: anybody may push to those.
  static absl::StatusOr<std::unique_ptr<ShardControl>> Connect(const std::string& address,
                                                               Options options);

  absl::Status Configure(const ShardConfig& config, const ModelSpans& model);
  // For a connection made anew to a shard that is configured already.
  void Adopt(int64_t generation) { generation_ = static_cast<uint32_t>(generation); }
  // The generation that the shard is in; 0 for none.
  absl::StatusOr<int64_t> Generation();
  // Of shard 0 only.
  absl::StatusOr<State> Fence(const Pusher& pusher);
  absl::StatusOr<State> Cut();
  absl::StatusOr<State> WaitStep(int64_t step, std::chrono::milliseconds hold);
  // Of every shard.
  absl::Status ReadCut(int64_t step, const std::vector<Piece>& pieces, const ModelSpans& model);
  absl::Status ReleaseCut();
  // From now on these may push, and nobody else.
  absl::Status Name(const std::vector<Pusher>& pushers);
  bool LooksAlive() const { return channel_->LooksAlive(); }
  // Of Options; for the calls from now on.
  void LimitSilence(std::chrono::milliseconds limit) { channel_->LimitSilence(limit); }
  // Wakes a call that waits; it fails. From any thread.
  void Shutdown() { channel_->Shutdown(); }

 private:
  explicit ShardControl(std::unique_ptr<comm::Channel> channel) : channel_(std::move(channel)) {}
  absl::StatusOr<std::string> Ask(comm::FrameType type, const std::string& payload);
  // The head of the answer, before which BUSY may come.
  absl::StatusOr<comm::FrameHead> Answer(comm::FrameType wanted);
  absl::StatusOr<State> AskState(comm::FrameType type, const std::string& payload);

  const std::unique_ptr<comm::Channel> channel_;
  uint32_t generation_ = 0;
  bool takes_named_ = false;
};

class Exchange {
 public:
  struct Options {
    Pusher pusher;
    int64_t generation = 0;
    std::vector<std::string> shards;
    Layout layout;    // For as many shards.
    std::string job;  // Of Shard::Options.
    // A shard that stops in the middle of a frame for this long is gone (frozen, perhaps): else its
    // replica could neither go on nor end. Between frames a shard may wait for others.
    std::chrono::milliseconds silence_max{15'000};
    // Gradients of what is trained go in bfloat16, to shards that take it, but for pushes of rows.
    bool narrow = false;
  };
  struct Result {
    int64_t step = 0;        // Of the push: that it made or at which it was settled.
    bool applied = true;     // False: the batch was part of the model, or its step has passed.
    bool banked = false;     // Kept for the step that is being made, the variables as they were.
    // Of the variables, the oldest of them; -1: of different steps, or too old where a bound on
    // staleness lets them differ. To be pulled again before anything is computed in turn.
    int64_t values_step = 0;
    int64_t newest_step = 0; // Of any of the variables.
    std::optional<int64_t> batch;  // To be computed next, if shard 0 says so.
  };
  // Asked first and while an answer is outstanding; false ends the call with Aborted.
  using StillWanted = std::function<bool()>;

  Exchange(Options options, std::vector<std::span<float>> variables,
           std::vector<std::span<float>> gradients);

  // Both fill the variables. Broken connections, and those on which something else than a shard
  // answers, are made anew and what was under way is sent again with its sequence number, so that a
  // push counts once.
  absl::StatusOr<Result> Pull(const StillWanted& still_wanted);
  // `base` is the step of the variables that the gradients are of. Of gradients that list `rows`,
  // these are sent where that is shorter (row_payload.h).
  absl::StatusOr<Result> Push(uint64_t sequence, int64_t batch, int64_t base,
                              const StillWanted& still_wanted, RowsOfVariables rows = {});

  int64_t generation() const { return options_.generation; }
  // The last failure, for people who ask what this replica waits for; empty when all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Peer {
    std::unique_ptr<comm::Channel> channel;
    std::vector<comm::Block> variables;
    std::vector<comm::ConstBlock> gradients;
    RowPayload rows;  // What is sent instead of `gradients` if that saves something,
    bool takes_rows = false;  // to a shard that can read it.
    // What is sent instead of `gradients` to a shard that takes it, where that is wanted.
    std::vector<uint16_t> rounded;
    std::vector<comm::ConstBlock> narrow;
    bool takes_narrow = false;
    std::vector<size_t> elements;  // Of each piece.
    // The step of the variables that came from it; -1: of none, or of several.
    int64_t have = -1;
    bool sent = false;
    bool answered = false;
    ValuesInfo answer;
  };
  absl::StatusOr<Result> Run(const comm::FrameHead& head, const StillWanted& still_wanted);
  Result Conclude() const;
  // Rounds what goes to the shard.
  void Narrow(size_t shard);
  void SendMissing(const comm::FrameHead& head);
  absl::Status SendTo(Peer& peer, const std::string& address, const comm::FrameHead& head);
  absl::StatusOr<ValuesInfo> ReceiveFrom(Peer& peer);

  const Options options_;
  const std::vector<std::span<const float>> gradients_;
  std::vector<Peer> peers_;
  std::string trouble_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_SHARD_CLIENT_H_
