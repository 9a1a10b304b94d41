// What one identity may see, as it was found out at most half a minute ago.
//
// Ownership: shared, immutable. Threads: const access from any thread. Errors: none.
//
//   if (sight->MaySee(job.kind, job.meta.ns)) …

#ifndef DASHBOARD_SERVER_SIGHT_H_
#define DASHBOARD_SERVER_SIGHT_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dashboard/server/access.h"
#include "dashboard/server/identity.h"
#include "operator/api/job.h"

namespace taas::dashboard {

// Namespaces in which something may be listed.
struct Reach {
  bool all = false;
  std::set<std::string, std::less<>> namespaces;  // Unless all.
  bool Has(std::string_view ns) const { return all || namespaces.count(ns) > 0; }
  bool operator==(const Reach&) const = default;
};

struct Sight {
  std::map<JobKind, Reach> jobs;
  Reach pods;
  bool nodes = false;
  bool MaySee(JobKind kind, std::string_view ns) const {
    const auto reach = jobs.find(kind);
    return reach != jobs.end() && reach->second.Has(ns);
  }
  bool operator==(const Sight&) const = default;
};
using SightPtr = std::shared_ptr<const Sight>;

// Finds out what `identity` sees of `namespaces`: first whether everything, then one by one. `done`
// may be called inside the call, where all of it is known already.
void FindSight(Access& access, const IdentityPtr& identity, const std::vector<JobKind>& kinds,
               const std::set<std::string>& namespaces, std::function<void(SightPtr)> done);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_SIGHT_H_
