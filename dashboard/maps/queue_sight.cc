#include "dashboard/maps/queue_sight.h"

#include <memory>
#include <utility>
#include <vector>

namespace taas::dashboard {
namespace {

AccessQuestion Listing(const std::string& resource, const std::string& ns) {
  return {.verb = "list", .group = "kueue.x-k8s.io", .resource = resource, .subresource = {},
          .ns = ns, .name = {}};
}

}  // namespace

void FindQueueSight(Access& access, const IdentityPtr& identity,
                    const std::set<std::string>& namespaces,
                    std::function<void(const QueueSight&)> done) {
  const std::vector<AccessQuestion> everywhere = {
      Listing("clusterqueues", ""), Listing("localqueues", ""), Listing("workloads", "")};
  access.Check(identity, everywhere, [&access, identity, namespaces, done = std::move(done)](
                                         const std::vector<bool>& may) {
    auto sight = std::make_shared<QueueSight>();
    sight->cluster_queues = may[0];
    sight->local_queues.all = may[1];
    sight->workloads.all = may[2];
    std::vector<AccessQuestion> questions;
    for (const std::string& ns : namespaces) {
      questions.push_back(Listing("localqueues", ns));
      questions.push_back(Listing("workloads", ns));
    }
    if (may[1] && may[2]) questions.clear();
    access.Check(identity, questions, [sight, questions, done](const std::vector<bool>& here) {
      for (size_t i = 0; i < here.size(); ++i) {
        const bool of_queues = questions[i].resource == "localqueues";
        Reach& reach = of_queues ? sight->local_queues : sight->workloads;
        if (here[i]) reach.namespaces.insert(questions[i].ns);
      }
      done(*sight);
    });
  });
}

}  // namespace taas::dashboard
