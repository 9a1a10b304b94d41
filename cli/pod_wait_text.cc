#include "cli/pod_wait_text.h"

#include "operator/api/json_field.h"
#include "operator/base/last_words.h"
#include "operator/plan/message.h"
#include "third_party/json.h"

namespace taas {
namespace {

// Words of kube-scheduler and of the attach-detach controller about a volume that is on another
// node, as one that is ReadWriteOnce is while a pod there has it.
bool IsHeldElsewhere(const std::string& text) {
  return text.find("Multi-Attach") != std::string::npos ||
         text.find("volume node affinity conflict") != std::string::npos;
}

std::string WithHint(std::string text) {
  if (!IsHeldElsewhere(text)) return text;
  return text +
         "; a ReadWriteOnce volume is on one node at a time: try again when the job's pods have "
         "ended, or keep checkpoints on a ReadWriteMany one";
}

bool IsWaiting(const Pod& pod) { return pod.phase == PodPhase::kPending && !HasStopped(pod); }

}  // namespace

std::optional<std::string> PodTrouble(std::string_view event_json, const std::string& uid) {
  const absl::StatusOr<nlohmann::json> event = ParseJsonObject(event_json);
  if (!event.ok() || !event->contains("involvedObject")) return std::nullopt;
  const nlohmann::json& about = (*event)["involvedObject"];
  if (!about.is_object() || TextOf(about, "uid") != uid) return std::nullopt;
  if (TextOf(*event, "type") != "Warning") return std::nullopt;
  return TextOf(*event, "reason") + ": " + TextOf(*event, "message");
}

std::string WaitText(const Pod& pod, const std::vector<std::string>& trouble) {
  if (!IsWaiting(pod)) return "";
  const std::string why = WhyPodWaits(pod);
  // What it says of itself is newer than an event, where it says anything of use.
  const bool says = !IsOrdinaryWait(pod.waiting_reason) || pod.node.empty() || pod.init != nullptr;
  if (says || trouble.empty()) return WithHint(why);
  return WithHint("cannot start: " + trouble.back());
}

absl::Status EndOf(const Pod& pod) {
  const std::string shown = "pod " + pod.meta.ns + "/" + pod.meta.name;
  if (pod.reason == "DeadlineExceeded") {
    return absl::DeadlineExceededError(shown + " had not ended within --timeout");
  }
  if (pod.init != nullptr && pod.init->exit_code.has_value()) {
    const std::string words = LastLine(pod.init->termination_message);
    return absl::FailedPreconditionError(
        shown + ": its init container " + pod.init->name + " ended with exit code " +
        std::to_string(*pod.init->exit_code) + (words.empty() ? "" : ": " + words));
  }
  std::string why = pod.reason.str();
  if (!pod.message.empty()) why += (why.empty() ? "" : ": ") + pod.message.str();
  return absl::FailedPreconditionError(shown + " ended before its command did" +
                                       (why.empty() ? "" : ": " + why));
}

}  // namespace taas
