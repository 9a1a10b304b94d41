// Why a spec cannot be followed, and what a job that had begun goes on as meanwhile.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (FindFlaw(draft).has_value()) Continue(AsBegun(snapshot));

#ifndef OPERATOR_PLAN_FLAW_H_
#define OPERATOR_PLAN_FLAW_H_

#include <optional>
#include <string>

#include "operator/plan/ledger_draft.h"

namespace taas {

struct Flaw {
  std::string reason;  // CamelCase.
  std::string message;
};

// Nothing: pods can be made of the spec.
std::optional<Flaw> FindFlaw(LedgerDraft& draft);

}  // namespace taas

#endif  // OPERATOR_PLAN_FLAW_H_
