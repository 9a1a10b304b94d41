// How long the planner waits for what, and how much it keeps.
//
// Ownership: constants. Threads: any. Errors: none.
//
//   if (now >= finished + kFinishGrace) Delete(pod);

#ifndef OPERATOR_PLAN_LIMITS_H_
#define OPERATOR_PLAN_LIMITS_H_

#include <chrono>
#include <cstddef>

namespace taas {

// A pod that ran longer than this did not fail quickly: its replica starts again without delay.
inline constexpr std::chrono::minutes kQuickFailure{10};
// The delay before the next pod stops growing here, so that a repaired cause is noticed soon.
inline constexpr std::chrono::seconds kRestartDelayMax{300};
// After the success of those that decide it the others have this long to end by themselves.
inline constexpr std::chrono::seconds kFinishGrace{10};
// Those of the bundled trainer end with the chief; what takes longer than a second is the word of a
// busy node that they have, and a pod that is deleted before it takes its log with it.
inline constexpr std::chrono::seconds kTrainerFinishGrace{30};
constexpr std::chrono::seconds FinishGrace(bool bundled_trainer) {
  return bundled_trainer ? kTrainerFinishGrace : kFinishGrace;
}
// After that success the evaluator has this long to evaluate the last checkpoint: longer than an
// evaluation of a big test set takes, shorter than a forgotten one may hold its node.
inline constexpr std::chrono::minutes kEvaluatorGrace{10};
// An evaluator that the scheduler finds no place for by then is not waited for: after the grace of
// the others and that of their pods, so that it can have had what they held.
inline constexpr std::chrono::seconds kPlacementGrace{60};
// Two clocks that are kept in time differ by less, and by less nothing is gained or lost.
inline constexpr std::chrono::minutes kClockSkewMax{1};
// A TFJob may ask for any number of seconds, and this is as good as for ever.
inline constexpr std::chrono::seconds kActiveDeadlineMax{1'000'000'000};
// Before all replicas are made again after the first release for a pending deadline; it doubles.
inline constexpr std::chrono::seconds kReleaseDelay{10};
// It stops growing here, as kRestartDelayMax does.
inline constexpr std::chrono::seconds kReleaseDelayMax{300};
// A pod that is still there so long after its node should have killed it, and is not ready, will
// not be reported as ended: its node has gone. A node's own kill and report take a second or two.
inline constexpr std::chrono::seconds kKillMargin{10};
// Nodes that a job keeps away from; the oldest is forgotten first, so that its ledger stays small.
inline constexpr size_t kBadNodesMax = 16;
// For so long: a node that has not been taken out of service by then may have been mended.
inline constexpr std::chrono::hours kBadNodeTime{1};

}  // namespace taas

#endif  // OPERATOR_PLAN_LIMITS_H_
