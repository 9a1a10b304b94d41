// The calls of other replicas as the chief takes them: any messages, in any order.

#include <chrono>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "tools/fuzz/target.h"
#include "trainer/cluster/membership.h"
#include "trainer/proto/chief.pb.h"

namespace taas {
namespace {

std::string Join(const std::string& role, int index, int64_t pod, uint64_t start) {
  wire::JoinRequest request;
  wire::Identity* const identity = request.mutable_identity();
  identity->set_job_uid("u");
  identity->set_role(role);
  identity->set_index(index);
  identity->set_attempt(1);
  identity->set_pod_number(pod);
  identity->set_start(start);
  request.set_config_hash("h");
  request.set_bulk_address("p:1");
  return request.SerializeAsString();
}

ClusterSpec Cluster() {
  ClusterSpec cluster;
  cluster.addresses = {{"chief", {"c:1"}}, {"ps", {"p:1"}}, {"worker", {"w:1", "x:1"}}};
  cluster.self = {"chief", 0};
  return cluster;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {JoinFuzzParts({Join("worker", 0, 1, 7), Join("worker", 0, 1, 8), Join("ps", 0, 1, 9),
                         ""}),
          JoinFuzzParts({Join("worker", 5, 2, 1), Join("worker", 5, 1, 2), Join("x", -1, 0, 0),
                         ""})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taas::Membership membership({.uid = "u"}, "h", taas::Cluster());
  taas::Clock::Time now{};
  for (const std::string_view part : taas::FuzzParts(taas::FuzzText(data, size), 4)) {
    taas::wire::JoinRequest request;
    if (!request.ParseFromString(std::string(part))) continue;
    const auto& from = request.identity();
    const taas::ReplicaId replica{from.role(), from.index()};
    const taas::Incarnation incarnation{from.pod_number(), from.start()};
    (void)membership.Join({.job = {from.job_uid(), from.attempt()},
                           .replica = replica,
                           .incarnation = incarnation,
                           .config_hash = request.config_hash(),
                           .bulk_address = request.bulk_address()},
                          now);
    (void)membership.Hear(replica, incarnation, now);
    now += std::chrono::seconds(from.pod_number() % 16);
    (void)membership.Sweep(now);
    (void)membership.Missing(from.role());
    if (from.start() % 3 == 0) membership.Leave(replica, incarnation);
  }
  return 0;
}
