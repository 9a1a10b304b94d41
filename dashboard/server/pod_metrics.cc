#include "dashboard/server/pod_metrics.h"

#include "operator/api/json_field.h"
#include "operator/api/json_member.h"
#include "operator/api/quantity.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr double kMebibyte = 1 << 20;

double SumOf(const Json& containers, const char* resource) {
  double sum = 0;
  for (const Json& container : containers) {
    const std::string amount = TextOf(Member(container, "usage"), resource);
    sum += static_cast<double>(QuantityMilli(amount).value_or(0)) / 1'000;
  }
  return sum;
}

}  // namespace

std::vector<PodMetrics> ReadPodMetrics(std::string_view list) {
  const Json parsed = Json::parse(list, nullptr, /*allow_exceptions=*/false);
  std::vector<PodMetrics> out;
  const Json& items = Member(parsed, "items");
  if (!items.is_array()) return out;
  for (const Json& item : items) {
    const Json& meta = Member(item, "metadata");
    const Json& containers = Member(item, "containers");
    if (!containers.is_array()) continue;
    out.push_back({.ns = TextOf(meta, "namespace"),
                   .name = TextOf(meta, "name"),
                   .cpu = SumOf(containers, "cpu"),
                   .memory_mib = SumOf(containers, "memory") / kMebibyte});
  }
  return out;
}

std::string PodMetricsPath(const std::string& ns, const std::string& label) {
  const std::string of_ns = ns.empty() ? "" : "/namespaces/" + PercentEncode(ns);
  return WithQuery("/apis/metrics.k8s.io/v1beta1" + of_ns + "/pods", {{"labelSelector", label}});
}

}  // namespace taas::dashboard
