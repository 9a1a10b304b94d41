// Events about pods, as `kubectl get events` and `kubectl describe pod` show them.
//
// One object per pod, reason and message; the same again counts up. They go when they are an hour
// old (garbage_collector.h).
//
// Ownership: api and clock outlive it. Threads: any. Errors: logged; an event that is lost changes
// nothing else.
//
//   PodEvents events(api, clock, "kubelet");
//   events.Emit(pod, {.reason = "Started", .message = "Started container trainer"});

#ifndef LOCALKUBE_NODE_POD_EVENTS_H_
#define LOCALKUBE_NODE_POD_EVENTS_H_

#include <string>

#include "absl/status/status.h"
#include "localkube/api/api.h"
#include "localkube/node/api_calls.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/clock.h"

namespace taas::localkube {

struct PodEvent {
  std::string reason;
  std::string message;
  bool warning = false;
  std::string container;  // Empty: about the whole pod.
};

class PodEvents {
 public:
  PodEvents(Api& api, const Clock& clock, std::string component)
      : api_(api), clock_(clock), component_(std::move(component)) {}

  void Emit(const nlohmann::json& pod, const PodEvent& event);

 private:
  absl::Status Write(const nlohmann::json& pod, const PodEvent& event);

  ApiCalls api_;
  const Clock& clock_;
  const std::string component_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_EVENTS_H_
