// metrics.k8s.io: what pods and nodes use, as metrics-server serves it on a cluster.
//
// PodMetrics and NodeMetrics are not stored. They are made when somebody asks: of the pods and
// nodes in the store, whose labels they carry, and of the figures of a UsageSource. A pod that does
// not run, or is not measured yet, is in no list, and 404 by its name.
//
// Ownership: none; store and source are used during the call. Threads: any. Errors: metav1.Status
// errors, in metrics-server's words.
//
//   ASSIGN_OR_RETURN(std::string body, ReadMetrics({store, usage, now}, route, options));

#ifndef LOCALKUBE_API_METRICS_H_
#define LOCALKUBE_API_METRICS_H_

#include <string>

#include "absl/status/statusor.h"
#include "localkube/api/list_watch.h"
#include "localkube/api/route.h"
#include "localkube/api/store.h"
#include "localkube/api/usage_source.h"
#include "operator/base/clock.h"

namespace taas::localkube {

struct MetricsSources {
  const Store& store;
  const UsageSource* usage;  // May be null: nothing is measured.
  Clock::WallTime now;
};

// The object that `route` names, or the list. `route.kind` is one of the measured kinds.
absl::StatusOr<std::string> ReadMetrics(const MetricsSources& sources, const Route& route,
                                        const ReadOptions& options);

// "12345678n", "1234Ki", "10.5s": as quantities and durations are written in these objects.
std::string CpuQuantity(int64_t nanocores);
std::string MemoryQuantity(int64_t bytes);
std::string WindowText(Clock::Duration length);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_METRICS_H_
