// What the end of a pod means for its replica: the table of docs/contract.md.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const Verdict verdict = ClassifyEnd(pod, EndRulesOf(job.spec, role));
//   if (verdict.end == End::kRestart) Restart(verdict.cause);

#ifndef OPERATOR_PLAN_EXIT_CODES_H_
#define OPERATOR_PLAN_EXIT_CODES_H_

#include <optional>
#include <string>
#include <string_view>

#include "operator/api/pod.h"

namespace taas {

inline constexpr int kExitBadNode = 3;
inline constexpr int kExitRestartMe = 138;

// What the manifest says about the ends of a role's pods.
struct EndRules {
  RestartPolicy policy = RestartPolicy::kExitCode;
  ExitCodeRules exit_codes;     // Of policy ExitCode.
  bool bundled_trainer = true;  // Its exit code 0 is the job's end, its 3 a bad node.
};
EndRules EndRulesOf(const JobSpec& spec, Role role);

enum class End { kCompleted, kRestart, kPermanent };

struct Verdict {
  End end = End::kPermanent;
  std::optional<RestartCause> cause;  // Of a restart; nothing: no failure made it.

  bool operator==(const Verdict&) const = default;
};

// Its node refused to run it (no room, a label that it needs): nothing of it has ever run.
bool WasTurnedAway(const Pod& pod);

// Of a container that ended by itself; `reason` is OOMKilled, Error, …
Verdict ClassifyExit(int exit_code, std::string_view reason, const EndRules& rules);

// Of a pod that has ended. What was done to a pod from outside goes before its exit code, but a pod
// that completed has completed, whatever was done to it afterwards. An own image that exits with 0
// because it was told to stop has not.
Verdict ClassifyEnd(const Pod& pod, const EndRules& rules);

// "exit code 1: open /data/a.gz: No such file or directory": for messages.
std::string DescribeEnd(const Pod& pod);
// The same of the container's last run in a pod whose node has started it again.
std::string DescribeLastRun(const Pod& pod);

}  // namespace taas

#endif  // OPERATOR_PLAN_EXIT_CODES_H_
