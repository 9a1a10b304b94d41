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

// Its node refused to run it (no room, a label that it needs, whatever it says): nothing of it has
// ever run, and it says why. Nodes have more reasons than any list of them, so none is kept here.
bool WasTurnedAway(const Pod& pod);

// The last run of what ended in a pod whose node starts it again: of its main container, or of the
// init container that it has come to.
struct LastRun {
  std::optional<int32_t> exit_code;
  std::string_view reason;  // OOMKilled, Error, …
  bool of_init = false;
};
LastRun LastRunOf(const Pod& pod);

// The rules for an init container of the same pod: its program is the user's own.
EndRules OfInitContainer(EndRules rules);

// Of a container that ended by itself; `reason` is OOMKilled, Error, …
Verdict ClassifyExit(int exit_code, std::string_view reason, const EndRules& rules);

// Of a pod that has ended. What was done to a pod from outside goes before its exit code, but a pod
// that completed has completed, whatever was done to it afterwards. An own image that exits with 0
// because it was told to stop has not.
Verdict ClassifyEnd(const Pod& pod, const EndRules& rules);

// "exit code 1: open /data/a.gz: No such file or directory": for messages.
std::string DescribeEnd(const Pod& pod);
// The same of LastRunOf.
std::string DescribeLastRun(const Pod& pod);

}  // namespace taas

#endif  // OPERATOR_PLAN_EXIT_CODES_H_
