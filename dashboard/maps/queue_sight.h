// What one identity may see of Kueue's objects: rights of their own beside those to jobs.
//
// Ownership: values. Threads: FindQueueSight on the executor's only. Errors: none; no answer is no.
//
//   FindQueueSight(access, identity, kueue.Namespaces(), [](const QueueSight& sight) { … });

#ifndef DASHBOARD_MAPS_QUEUE_SIGHT_H_
#define DASHBOARD_MAPS_QUEUE_SIGHT_H_

#include <functional>
#include <set>
#include <string>

#include "dashboard/server/access.h"
#include "dashboard/server/identity.h"
#include "dashboard/server/sight.h"

namespace taas::dashboard {

struct QueueSight {
  bool cluster_queues = false;
  Reach local_queues;
  Reach workloads;
  bool operator==(const QueueSight&) const = default;
};

// Asks whether everything may be listed, then one namespace after the other. `done` may be called
// inside the call, where all of it is known already.
void FindQueueSight(Access& access, const IdentityPtr& identity,
                    const std::set<std::string>& namespaces,
                    std::function<void(const QueueSight&)> done);

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_QUEUE_SIGHT_H_
