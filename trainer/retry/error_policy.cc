#include "trainer/retry/error_policy.h"

#include "trainer/graph/machine_fault.h"

namespace taas {
namespace {

using absl::StatusCode;

int ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return kExitDone;
    case StatusCode::kCancelled: return kExitTerminated;
    // Peers that did not come, a port that was taken, a disk that was away: another try may go
    // well, and backoffLimit bounds the tries.
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kUnavailable: return kExitRestart;
    default: return kExitPermanent;
  }
}

// A disk that does not answer, is read-only or has no descriptor left is Unavailable, a full one
// ResourceExhausted. Of data that is the class of files which are too large, so it passes only
// where something is written.
bool DiskMayBeWell(StatusCode code) {
  return code == StatusCode::kUnavailable || code == StatusCode::kResourceExhausted;
}

Reaction AtSetUp(StatusCode code) {
  if (DiskMayBeWell(code)) return {Patience::kStart, kExitRestart};
  // Another living job has the directory: a process that ended would be started to find the same.
  if (code == StatusCode::kAborted) return {Patience::kAlways, kExitTerminated};
  return {Patience::kNone, ExitCodeOf(code)};
}

Reaction AtRead(StatusCode code, TrainerRole role) {
  if (role == TrainerRole::kEvaluator) {
    // A checkpoint that was retired, is damaged or is still to come: there will be another.
    const bool passes = DiskMayBeWell(code) || code == StatusCode::kNotFound ||
                        code == StatusCode::kDataLoss;
    return passes ? Reaction{Patience::kAlways, kExitTerminated}
                  : Reaction{Patience::kNone, ExitCodeOf(code)};
  }
  // The file was there at the start: its volume is not mounted at the moment.
  if (code == StatusCode::kUnavailable || code == StatusCode::kNotFound) {
    return {Patience::kRead, kExitRestart};
  }
  return {Patience::kNone, ExitCodeOf(code)};
}

// A directory that is gone may be a volume that is not mounted at the moment.
bool SaveMayPass(StatusCode code) { return DiskMayBeWell(code) || code == StatusCode::kNotFound; }

Reaction AtPeer(StatusCode code) {
  switch (code) {
    // A connection that broke, a peer that starts anew or trains another generation, somebody else
    // at its address: who leads the job says how it goes on.
    case StatusCode::kUnavailable:
    case StatusCode::kAborted:
    case StatusCode::kDataLoss: return {Patience::kAlways, kExitTerminated};
    default: return {Patience::kNone, ExitCodeOf(code)};
  }
}

}  // namespace

Reaction ReactionTo(StatusCode code, const ErrorPlace& place) {
  const Reaction at_once{Patience::kNone, ExitCodeOf(code)};
  switch (place.at) {
    case ErrorAt::kSetUp: return AtSetUp(code);
    case ErrorAt::kLoad:
      return code == StatusCode::kUnavailable ? Reaction{Patience::kStart, kExitRestart} : at_once;
    case ErrorAt::kRead: return AtRead(code, place.role);
    case ErrorAt::kSave:
      return SaveMayPass(code) ? Reaction{Patience::kAlways, kExitTerminated} : at_once;
    case ErrorAt::kLastSave:
      return SaveMayPass(code) ? Reaction{Patience::kSave, kExitPermanent} : at_once;
    case ErrorAt::kPeer: return AtPeer(code);
  }
  return at_once;
}

int ExitCodeOf(const absl::Status& status) {
  return IsMachineFault(status) ? kExitBadNode : ExitCodeOf(status.code());
}

}  // namespace taas
