// A list of metrics.k8s.io: what each pod uses of processors and memory.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is no pod's measure is left out.
//
//   for (const PodMetrics& pod : ReadPodMetrics(body)) Show(pod.name, pod.cpu);

#ifndef DASHBOARD_SERVER_POD_METRICS_H_
#define DASHBOARD_SERVER_POD_METRICS_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas::dashboard {

struct PodMetrics {
  std::string ns, name;
  double cpu = 0;  // Cores.
  double memory_mib = 0;
};
std::vector<PodMetrics> ReadPodMetrics(std::string_view list);

// The pods of a namespace that have a label, "taas.dev/job-name=mnist"; `ns` empty: of all.
std::string PodMetricsPath(const std::string& ns, const std::string& label);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_POD_METRICS_H_
