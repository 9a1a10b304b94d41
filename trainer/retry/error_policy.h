// What becomes of an error of a trainer's process: for how long it is tried again, and with which
// exit code the process ends then. One table, by the error's class, by whose it is and by what was
// attempted; docs/contract.md shows it to users.
//
// Who attempts something that may fail for a while does it through try_on.h, which looks here.
//
// Ownership: pure functions. Threads: any. Errors: none.
//
//   const Reaction reaction = ReactionTo(status.code(), {TrainerRole::kChief, ErrorAt::kSave});
//   if (reaction.patience == Patience::kAlways) ...  // A full disk costs checkpoints only.

#ifndef TRAINER_RETRY_ERROR_POLICY_H_
#define TRAINER_RETRY_ERROR_POLICY_H_

#include "absl/status/status.h"

namespace taas {

// Of docs/contract.md.
constexpr int kExitDone = 0;
constexpr int kExitPermanent = 1;
constexpr int kExitUsage = 2;  // The command line is wrong.
constexpr int kExitBadNode = 3;
constexpr int kExitRestart = 138;
constexpr int kExitTerminated = 143;

enum class TrainerRole { kChief, kWorker, kParameterServer, kLocal, kEvaluator };

// What was attempted.
enum class ErrorAt {
  kSetUp,     // To open and read the checkpoint directory, to try the export directory.
  kLoad,      // To load or index the data, at the start.
  kRead,      // To read streamed data while training; of the evaluator: a checkpoint.
  kSave,      // To save beside the training.
  kLastSave,  // To save, or export, when there is nothing else left to do.
  kPeer,      // To be served by another replica.
};

// For how long it is tried again.
enum class Patience {
  kNone,
  kStart,   // The start deadline (--start_deadline_secs).
  kRead,    // kReadPatience of try_on.h.
  kSave,    // checkpoint.saveDeadlineSeconds.
  kAlways,  // As long as the process lives.
};

struct Reaction {
  Patience patience = Patience::kNone;
  int exit_code = kExitPermanent;  // When the patience is over.

  bool operator==(const Reaction&) const = default;
};

struct ErrorPlace {
  TrainerRole role = TrainerRole::kLocal;
  ErrorAt at = ErrorAt::kSetUp;
};

// Of an error, or of OK (exit code 0).
Reaction ReactionTo(absl::StatusCode code, const ErrorPlace& place);

// Of what a role ends with: 0, 1, 138 or 143; 3 of what is the machine's fault (machine_fault.h).
int ExitCodeOf(const absl::Status& status);

}  // namespace taas

#endif  // TRAINER_RETRY_ERROR_POLICY_H_
