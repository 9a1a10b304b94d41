#include "operator/plan/services.h"

#include <set>
#include <vector>

#include "operator/api/defaults.h"
#include "operator/api/dialect.h"

namespace taas {
namespace {

CreateService Service(const Snapshot& snapshot, const std::string& name) {
  CreateService service{OwnedBy(snapshot.job, name), {}, {}};
  if (snapshot.epoch > 0) {
    service.annotations[std::string(kEpochAnnotation)] = std::to_string(snapshot.epoch);
  }
  return service;
}

}  // namespace

CreateService JobService(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  CreateService service = Service(snapshot, job.meta.name);
  service.selector = {{std::string(kJobLabel), job.meta.name},
                      {std::string(kUidLabel), job.meta.uid}};
  const Dialect& dialect = DialectOf(job.kind);
  service.ports = {{std::string(dialect.port_name), job.spec.port}};
  if (dialect.status_port) service.ports.push_back({std::string(kStatusPortName), kStatusPort});
  return service;
}

CreateService ReplicaService(const Snapshot& snapshot, const ReplicaView& replica) {
  const Job& job = snapshot.job;
  CreateService service = Service(snapshot, replica.name);
  service.selector = ForeignLabels(job, replica.role, replica.index, /*legacy=*/false);
  service.selector.erase("training.kubeflow.org/job-role");
  service.labels.insert(service.selector.begin(), service.selector.end());
  service.labels[std::string(kRoleLabel)] = RoleName(replica.role);
  service.labels[std::string(kIndexLabel)] = std::to_string(replica.index);
  const std::string port_name(DialectOf(job.kind).port_name);
  const RoleSpec& role = job.spec.roles.at(replica.role);
  // A service has each name and number once, and no port without a name beside others. The port
  // through which the replica is found goes first: whatever shares its number is that port.
  const int32_t cluster_port = role.port != 0 ? role.port : job.spec.port;
  service.ports.push_back({port_name, cluster_port});
  std::set<std::string> names = {port_name};
  std::set<int32_t> numbers = {cluster_port};
  for (const ContainerPort& port : role.ports) {
    const std::string name = port.name.empty() ? "port-" + std::to_string(port.port) : port.name;
    if (names.count(name) > 0 || !numbers.insert(port.port).second) continue;
    names.insert(name);
    service.ports.push_back({name, port.port});
  }
  return service;
}

std::optional<DeleteService> DropService(const Snapshot& snapshot, const std::string& name,
                                         std::string why) {
  const ServiceView* service = FindService(snapshot, name);
  if (service == nullptr || service->owner_uid != snapshot.job.meta.uid || service->terminating) {
    return std::nullopt;
  }
  return DeleteService{
      .ns = snapshot.job.meta.ns, .name = name, .uid = service->uid, .why = std::move(why)};
}

}  // namespace taas
