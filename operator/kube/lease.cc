#include "operator/kube/lease.h"

#include <algorithm>

#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

constexpr char kEventComponent[] = "taas-operator";
// The API takes no longer one.
constexpr size_t kReportingInstanceBytesMax = 128;

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t Number(const json& object, const char* name, int64_t limit) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return 0;
  return std::clamp<int64_t>(found->get<int64_t>(), 0, limit);
}

json ObjectAt(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : json::object();
}

}  // namespace

absl::StatusOr<Lease> DecodeLease(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InvalidArgumentError("decode lease: not a JSON object");
  const json meta = ObjectAt(object, "metadata");
  const json spec = ObjectAt(object, "spec");
  Lease lease{.uid = Text(meta, "uid"),
              .resource_version = Text(meta, "resourceVersion"),
              .holder = Text(spec, "holderIdentity"),
              .duration = std::chrono::seconds(
                  Number(spec, "leaseDurationSeconds", kLeaseSecondsMax.count())),
              .transitions = Number(spec, "leaseTransitions", kEpochMax),
              .spec = Dump(spec),
              .object = std::string(text)};
  if (lease.uid.empty() || lease.resource_version.empty()) {
    return absl::InvalidArgumentError("decode lease: metadata.uid or resourceVersion is missing");
  }
  return lease;
}

std::string EncodeLease(const LeaseName& name, const Lease* seen, const LeaseClaim& claim) {
  json object = json::object();
  if (seen != nullptr) {
    object = json::parse(seen->object, nullptr, /*allow_exceptions=*/false);
    object["metadata"].erase("managedFields");  // The server keeps them, and they are long.
  }
  object["apiVersion"] = "coordination.k8s.io/v1";
  object["kind"] = "Lease";
  object["metadata"]["namespace"] = name.ns;
  object["metadata"]["name"] = name.name;
  json& spec = object["spec"];
  if (!spec.is_object()) spec = json::object();
  const std::string time = FormatRfc3339Micro(claim.renewed);
  spec["holderIdentity"] = claim.holder;
  spec["leaseDurationSeconds"] = claim.duration.count();
  spec["leaseTransitions"] = claim.transitions;
  spec["renewTime"] = time;
  if (claim.acquired) spec["acquireTime"] = time;
  return Dump(object);
}

std::string EncodeLeaderEvent(const LeaseName& name, const Lease& taken, Clock::WallTime now) {
  const std::string time = FormatRfc3339(now);
  const std::string term = taken.uid + "." + std::to_string(taken.transitions);
  return Dump({{"apiVersion", "v1"},
               {"kind", "Event"},
               {"metadata", {{"namespace", name.ns}, {"name", name.name + "." + term}}},
               {"involvedObject",
                {{"apiVersion", "coordination.k8s.io/v1"},
                 {"kind", "Lease"},
                 {"namespace", name.ns},
                 {"name", name.name},
                 {"uid", taken.uid},
                 {"resourceVersion", taken.resource_version}}},
               {"type", "Normal"},
               {"reason", "LeaderElection"},
               {"message", taken.holder + " became leader, epoch " +
                               std::to_string(taken.transitions)},
               {"source", {{"component", kEventComponent}}},
               {"reportingComponent", kEventComponent},
               {"reportingInstance", taken.holder.substr(0, kReportingInstanceBytesMax)},
               {"firstTimestamp", time},
               {"lastTimestamp", time},
               {"count", 1}});
}

}  // namespace taas
