// Why a pod that runs one command has not begun, or did not end well, as a sentence.
//
// Ownership: values. Threads: any. Errors: none.
//
//   WaitText(pod, PodTrouble(event_json, pod.meta.uid))
//   // "cannot be scheduled: Unschedulable: 0/3 nodes are available: …"

#ifndef CLI_POD_WAIT_TEXT_H_
#define CLI_POD_WAIT_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "operator/api/pod.h"

namespace taas {

// What a core/v1 Event warns of about this pod: "FailedMount: …". Nothing: it is of another object,
// or warns of nothing.
std::optional<std::string> PodTrouble(std::string_view event_json, const std::string& uid);

// Empty: it runs. `trouble` is what events say, the newest last; a pod that cannot mount its
// volumes says of itself only that its container is being made.
std::string WaitText(const Pod& pod, const std::vector<std::string>& trouble);

// Of a pod that has stopped without the exit code of its container.
absl::Status EndOf(const Pod& pod);

}  // namespace taas

#endif  // CLI_POD_WAIT_TEXT_H_
