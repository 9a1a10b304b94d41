#include "localkube/node/pod_events.h"


#include "localkube/node/pod_json.h"
#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

// Of an event's name, before the digest: a pod's name may be as long as a name may be.
constexpr size_t kNamePartMax = 230;

}  // namespace

void PodEvents::Emit(const Json& pod, const PodEvent& event) {
  const absl::Status status = Write(pod, event);
  // The namespace may be on its way out; nobody reads events there any more.
  if (status.ok() || absl::IsNotFound(status)) return;
  Log(LogLevel::kDebug, "event lost",
      {{"reason", event.reason}, {"cause", std::string(status.message())}});
}

absl::Status PodEvents::Write(const Json& pod, const PodEvent& event) {
  const Json& meta = Member(pod, "metadata");
  const std::string ns = Text(meta, "namespace");
  const std::string pod_name = Text(meta, "name");
  const std::string name =
      pod_name.substr(0, kNamePartMax) + "." +
      HexOf(StableHash(Text(meta, "uid") + component_ + event.reason + event.container +
                       event.message));  // The same after a restart.
  const std::string events = "/api/v1/namespaces/" + ns + "/events";
  const std::string now = FormatRfc3339(clock_.WallNow());
  const auto found = api_.Get(events + "/" + name);
  if (found.ok()) {
    const int64_t count =
        Whole(Json::parse(*found, nullptr, /*allow_exceptions=*/false), "count", 1);
    const Json patch = {{"count", count + 1}, {"lastTimestamp", now}};
    return api_.Patch(events + "/" + name, patch.dump()).status();
  }
  if (!absl::IsNotFound(found.status())) return found.status();
  Json involved = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", ns},
                   {"name", pod_name},   {"uid", Text(meta, "uid")}};
  if (!event.container.empty()) {
    involved["fieldPath"] = "spec.containers{" + event.container + "}";
  }
  const std::string host = Text(Member(pod, "spec"), "nodeName");
  Json source = {{"component", component_}};
  if (!host.empty()) source["host"] = host;
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata", {{"name", name}, {"namespace", ns}}},
                       {"involvedObject", involved},
                       {"reason", event.reason},
                       {"message", event.message},
                       {"type", event.warning ? "Warning" : "Normal"},
                       {"source", source},
                       {"reportingComponent", component_},
                       {"reportingInstance", host},
                       {"count", 1},
                       {"firstTimestamp", now},
                       {"lastTimestamp", now}};
  return api_.Post(events, object.dump(-1, ' ', false, Json::error_handler_t::replace)).status();
}

}  // namespace taas::localkube
