#include "localkube/node/pod_changes.h"

#include "localkube/node/pod_json.h"
#include "localkube/node/pod_run.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

const Json& StatusOf(const Json& statuses, const std::string& name) {
  static const Json kNone;
  for (const Json& status : statuses) {
    if (Text(status, "name") == name) return status;
  }
  return kNone;
}

void AddChange(const Json& pod, const Json& before, const Json& now, std::vector<PodEvent>* out) {
  const std::string name = Text(now, "name");
  const Json& state = Member(now, "state");
  const Json& old = Member(before, "state");
  const bool again = Whole(before, "restartCount", 0) != Whole(now, "restartCount", 0);
  const std::string ended = Text(Member(state, "terminated"), "reason");
  const std::string waits = Text(Member(state, "waiting"), "reason");
  const bool ran = state.contains("running") || state.contains("terminated");
  const bool known = !again && (old.contains("running") || old.contains("terminated"));
  if (ended == "StartError") {
    if (known) return;
    out->push_back({.reason = "Failed",
                    .message = "Error: " + Text(Member(state, "terminated"), "message"),
                    .warning = true,
                    .container = name});
  } else if (ran && !known) {
    out->push_back({.reason = "Started", .message = "Started container " + name,
                    .container = name});
  } else if (!waits.empty() && waits != Text(Member(old, "waiting"), "reason")) {
    if (waits == "CrashLoopBackOff") {
      const Json& meta = Member(pod, "metadata");
      out->push_back({.reason = "BackOff",
                      .message = "Back-off restarting failed container " + name + " in pod " +
                                 Text(meta, "name") + "_" + Text(meta, "namespace") + "(" +
                                 Text(meta, "uid") + ")",
                      .warning = true,
                      .container = name});
    } else if (waits == "CreateContainerConfigError" || waits == "CreateContainerError") {
      out->push_back({.reason = "Failed",
                      .message = "Error: " + Text(Member(state, "waiting"), "message"),
                      .warning = true,
                      .container = name});
    }
  }
}

}  // namespace

std::vector<PodEvent> ChangeEvents(const Json& pod, const Json& status) {
  std::vector<PodEvent> out;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    const Json& before = Elements(Member(pod, "status"), list);
    for (const Json& now : Elements(status, list)) {
      AddChange(pod, StatusOf(before, Text(now, "name")), now, &out);
    }
  }
  return out;
}

std::vector<PodEvent> StartEvents(const Json& container) {
  std::vector<PodEvent> out;
  const std::string name = Text(container, "name");
  for (const std::string& note : {ImageNote(container), TagNote(container)}) {
    if (note.empty()) continue;
    out.push_back(
        {.reason = "ImageNotPulled", .message = note, .warning = true, .container = name});
  }
  for (const char* probe : {"startupProbe", "livenessProbe", "readinessProbe"}) {
    if (Member(container, probe).is_null()) continue;
    out.push_back({.reason = "ProbeLeftOut",
                   .message = std::string(probe) + " of container " + name +
                              " is not run by the local cluster: it counts as passed",
                   .warning = true,
                   .container = name});
  }
  return out;
}

}  // namespace taas::localkube
