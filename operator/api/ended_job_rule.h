// What the rules of both kinds say about a job that has ended: its manifest is the record of what
// ran, and an edit would run nothing.
//
// Ownership: constants. Threads: any. Errors: none.
//
//   {"", std::string(kEndedJobStays), ".spec", EndedJobStays}

#ifndef OPERATOR_API_ENDED_JOB_RULE_H_
#define OPERATOR_API_ENDED_JOB_RULE_H_

#include <string_view>

#include "operator/api/rule_twin.h"

namespace taas {

inline constexpr std::string_view kEndedJobStays =
    "the job has ended: delete it first, or apply this under another name";

// `job`: the object as it was stored, or null.
inline bool HasEnded(const nlohmann::json* job) {
  return job != nullptr && !ValueAt(*job, {"status", "completionTime"}).is_null();
}

}  // namespace taas

#endif  // OPERATOR_API_ENDED_JOB_RULE_H_
