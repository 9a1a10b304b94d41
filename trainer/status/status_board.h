// What this replica knows about itself: the source of `GET /status`, of heartbeats and of the
// termination message.
//
// Ownership: value behind a lock. Threads: any. Errors: none.
//
//   StatusBoard board({.job = "default/mnist", .role = "chief", .max_steps = 2000});
//   board.SetState(RunState::kTraining);
//   board.SetProgress({.step = 10, .loss = 2.3, .examples_per_second = 21000});

#ifndef TRAINER_STATUS_STATUS_BOARD_H_
#define TRAINER_STATUS_STATUS_BOARD_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/nvml.h"

namespace taas {

enum class RunState {
  kStarting,
  kWaitingForPeers,
  kTraining,
  kRestoring,
  kEvaluating,
  kSaving,
  kDone,
  kFailed,
};
// As docs/contract.md spells it: "WaitingForPeers".
const char* RunStateName(RunState state);

struct Evaluation {
  int64_t step = 0;
  std::optional<double> accuracy;  // Of a classifier.
  double loss = 0;
  int64_t examples = 0;
  // Of a model of tokens: e to the mean loss of a token, in nats. Without it where that is no
  // finite number.
  std::optional<double> perplexity{};
};

struct Progress {
  int64_t step = 0;
  std::optional<double> loss;
  double examples_per_second = 0;
};

// What a parameter server holds besides its values (docs/contract.md): it must not grow for ever.
struct Buffers {
  int64_t staged = 0;  // Gradients that wait for their step.
  int64_t staged_bytes = 0;
  int64_t spare_bytes = 0;
  int64_t versions = 0;  // Buffers of values and slots.
};

// What the time of a rank of an all-reduce goes to (trainer/ring/share_meter.h); the rest is the
// update and what follows it.
struct RankShares {
  double compute = 0;
  double wait = 0;  // For the slowest of the others.
  double exchange = 0;  // Of gradients, for which it waits.
  double hidden = 0;    // Of gradients, beside `compute`: no part of the sum.
  int64_t bytes_per_step = 0;  // That it sends.
};

// A checkpoint in the job's directory.
struct CheckpointStatus {
  int64_t step = 0;
  int64_t bytes = 0;
  std::string saved_at;  // RFC 3339; empty: not known.
};

struct PeerStatus {
  std::string role;
  int index = 0;
  std::string state;
  std::string address;
  std::string error;
  std::string since;  // RFC 3339.
  int64_t bytes = 0;
  std::vector<GpuReading> gpus;
  std::optional<RankShares> shares{};
};

// Whom the others wait for: the rank that waits least, if another one waits for a tenth of its time
// more. "worker-2"; "": nobody, or nothing is known.
std::string SlowestRank(const std::string& own_name, const RankShares& own,
                        const std::vector<PeerStatus>& peers);

class StatusBoard {
 public:
  struct Identity {
    std::string job;
    std::string uid;
    std::string role;
    int index = 0;
    int64_t attempt = 1;
    int64_t pod = 1;
    std::string start;
    int64_t max_steps = 0;
    int64_t batch_size = 1;  // Examples of a step; see SetBatchSize.
  };
  struct Snapshot {
    RunState state = RunState::kStarting;
    std::string message;
    std::string remark;  // What is to be said even though all went well; empty: nothing.
    Progress progress;
    int64_t batch_size = 1;
    std::optional<Evaluation> evaluation;
    std::string data_source;
    int64_t data_examples = 0;
    std::vector<PeerStatus> peers;
    int64_t bytes = 0;
    std::optional<Buffers> buffers;
    std::vector<GpuReading> gpus;
    std::optional<RankShares> shares;
    std::vector<CheckpointStatus> checkpoints;
  };

  explicit StatusBoard(Identity identity) : identity_(std::move(identity)) {
    now_.batch_size = identity_.batch_size;
  }

  // `message` says why there is no progress, and is empty while there is.
  void SetState(RunState state, std::string message = "");
  void SetProgress(const Progress& progress);
  void SetStep(int64_t step);
  // From here on a step is of so many examples.
  void SetBatchSize(int64_t examples);
  // Training goes on from a checkpoint of this step. One that is at the last step already leaves
  // nothing to train: whoever meant to train anew has to hear of it.
  void SetResumed(int64_t step);
  void SetLoss(double loss, double examples_per_second);
  void SetEvaluation(const Evaluation& evaluation);
  void SetData(std::string source, int64_t examples);
  void SetPeers(std::vector<PeerStatus> peers);
  void SetBytes(int64_t bytes);
  void SetBuffers(const Buffers& buffers);
  void SetGpus(std::vector<GpuReading> gpus);
  void SetShares(const RankShares& shares);
  // The newest, the newest first.
  void SetCheckpoints(std::vector<CheckpointStatus> checkpoints);

  Snapshot snapshot() const;
  // The body of /status.
  std::string Json() const;
  // `message` is "done" or what went wrong. At most 4,096 bytes, by cutting the message.
  std::string TerminationJson(const std::string& message) const;
  // Of a replica that has done its work: "done", or the remark.
  std::string DoneMessage() const;

 private:
  const Identity identity_;
  mutable std::mutex mutex_;
  Snapshot now_;
};

// Writes it where docs/contract.md says: to `path` (of TAAS_TERMINATION_LOG), else
// /dev/termination-log if that exists. A container without either has nobody who reads it: no
// error.
void WriteTermination(const std::optional<std::string>& path, const std::string& json);

}  // namespace taas

#endif  // TRAINER_STATUS_STATUS_BOARD_H_
