#include "localkube/api/metrics.h"

#include <chrono>
#include <optional>
#include <utility>

#include "localkube/api/kube_status.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

json UsageJson(const Usage& usage) {
  return {{"cpu", CpuQuantity(usage.nanocores)}, {"memory", MemoryQuantity(usage.memory_bytes)}};
}

// What PodMetrics and NodeMetrics have in common. `of`: the pod or the node.
json MetricsOf(const Kind& kind, const json& of, const UsageWindow& window, Clock::WallTime now) {
  const json& from = of["metadata"];
  json metadata = {{"name", from["name"]}, {"creationTimestamp", FormatRfc3339(now)}};
  for (const char* field : {"namespace", "labels"}) {
    if (from.contains(field)) metadata[field] = from[field];
  }
  return {{"kind", kind.kind},
          {"apiVersion", kind.api_version()},
          {"metadata", std::move(metadata)},
          {"timestamp", FormatRfc3339(window.end)},
          {"window", WindowText(window.length)}};
}

std::optional<json> PodMetrics(const MetricsSources& sources, const Kind& kind, const json& pod) {
  const auto use = sources.usage->OfPod(pod["metadata"].value("uid", ""));
  if (!use.has_value()) return std::nullopt;
  json metrics = MetricsOf(kind, pod, use->window, sources.now);
  metrics["containers"] = json::array();
  for (const auto& [name, usage] : use->containers) {
    metrics["containers"].push_back({{"name", name}, {"usage", UsageJson(usage)}});
  }
  return metrics;
}

std::optional<json> NodeMetrics(const MetricsSources& sources, const Kind& kind,
                                const json& node) {
  const auto use = sources.usage->OfNode(node["metadata"].value("name", ""));
  if (!use.has_value()) return std::nullopt;
  json metrics = MetricsOf(kind, node, use->window, sources.now);
  metrics["usage"] = UsageJson(use->usage);
  return metrics;
}

std::optional<json> Make(const MetricsSources& sources, const Kind& kind, const json& of) {
  if (sources.usage == nullptr) return std::nullopt;
  return kind.namespaced ? PodMetrics(sources, kind, of) : NodeMetrics(sources, kind, of);
}

std::string Dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

// metrics-server's own name for what it cannot give: podmetrics.metrics.k8s.io "ns/name".
absl::Status NotMeasured(const Route& route) {
  Kind kind = *route.kind;
  kind.plural = kind.namespaced ? "podmetrics" : "nodemetrics";
  return NotFound(kind, (kind.namespaced ? route.ns + "/" : "") + route.name);
}

}  // namespace

std::string CpuQuantity(int64_t nanocores) {
  return nanocores == 0 ? "0" : std::to_string(nanocores) + "n";
}

std::string MemoryQuantity(int64_t bytes) {
  return bytes < 1024 ? "0" : std::to_string(bytes / 1024) + "Ki";
}

std::string WindowText(Clock::Duration length) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(length).count();
  std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(ms / 1000) + (fraction.empty() ? "" : "." + fraction) + "s";
}

absl::StatusOr<std::string> ReadMetrics(const MetricsSources& sources, const Route& route,
                                        const ReadOptions& options) {
  const Kind& kind = *route.kind;
  // Pods of pods, nodes of nodes: the measured kinds have the names of what is measured.
  const Kind& measured = *FindResource(kind.plural);
  json items = json::array();
  if (!route.name.empty()) {
    const auto entry = sources.store.Get({measured.resource(), route.ns, route.name});
    if (absl::IsNotFound(entry.status())) return NotFound(measured, route.name);
    RETURN_IF_ERROR(entry.status());
    std::optional<json> metrics = Make(sources, kind, json::parse(*entry->text));
    if (!metrics.has_value()) return NotMeasured(route);
    if (!options.table) return Dump(*metrics);
    items.push_back(*std::move(metrics));
  } else {
    ASSIGN_OR_RETURN(const Store::ListResult list,
                     sources.store.List({.resource = measured.resource(), .ns = route.ns}));
    for (const StoreEntry& entry : list.entries) {
      const json of = json::parse(*entry.text);
      if (!options.selector.Matches(of)) continue;
      if (auto metrics = Make(sources, kind, of)) items.push_back(*std::move(metrics));
    }
  }
  if (!options.table) {
    return Dump({{"kind", kind.kind + "List"},
                 {"apiVersion", kind.api_version()},
                 {"metadata", json::object()},
                 {"items", std::move(items)}});
  }
  json table = EmptyTable(kind, json::object());
  for (const json& item : items) {
    table["rows"].push_back(TableRow(kind, item, sources.now, options.include));
  }
  return Dump(table);
}

}  // namespace taas::localkube
