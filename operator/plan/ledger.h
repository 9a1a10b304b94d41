// What happened to the replicas, turned into the next ledger: the job's durable memory.
//
// Everything that must not be forgotten (completed replicas, pod numbers, restarts by cause, ports,
// the outcome) is decided here and written before any step relies on it, so an operator that is
// killed between two instructions finds the same decision when it comes back.
//
// Ownership: values. Threads: any. Errors: none; an impossible job gets the outcome Failed and a
// sentence.
//
//   const LedgerChange change = AdvanceLedger(snapshot);
//   if (change.ledger != snapshot.job.ledger) steps.push_back(WriteLedger{change.ledger});

#ifndef OPERATOR_PLAN_LEDGER_H_
#define OPERATOR_PLAN_LEDGER_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "operator/plan/limits.h"
#include "operator/plan/snapshot.h"

namespace taas {

// Something worth an event of the job once the ledger is stored.
struct LedgerNote {
  bool warning = false;
  std::string reason;  // CamelCase.
  std::string message;
  bool recurs = false;  // Told with others of its reason, not each by itself.

  bool operator==(const LedgerNote&) const = default;
};

struct LedgerChange {
  Ledger ledger;
  // What status tells instead; nothing: the ledger. It is ahead where a write can wait.
  std::optional<Ledger> shown;
  std::vector<LedgerNote> notes;
  // Loopback ports that `free_ports` lacked; the ledger is complete only when this is 0.
  int32_t ports_wanted = 0;
  // When time alone changes the answer.
  std::optional<Clock::WallTime> wake_at;
  // Why the spec cannot be followed, though the job has begun: it goes on as AsBegun says.
  std::string flaw;
};

LedgerChange AdvanceLedger(const Snapshot& snapshot);

// The same job with no replicas but those that its stored ledger has: what it goes on as while an
// edit cannot be followed.
Snapshot AsBegun(const Snapshot& snapshot);

// Before the pod that follows `quick_failures` quick failures in a row: 0, 0, 1 s, 2 s, 4 s, … 5
// min.
std::chrono::seconds RestartDelay(int32_t quick_failures);
// Before the replicas are made again after their n-th release: 10 s, 20 s, 40 s, … 5 min.
std::chrono::seconds ReleaseDelay(int32_t releases);

}  // namespace taas

#endif  // OPERATOR_PLAN_LEDGER_H_
