// A coordination.k8s.io/v1 Lease, as far as an election looks at one.
//
// What others wrote into the object (labels, annotations, fields of later releases) stays in it
// when it is written back.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what is no Lease; numbers outside
// their bounds are brought into them, since whoever can edit a Lease must not end an election.
//
//   ASSIGN_OR_RETURN(const Lease seen, DecodeLease(reply.body));
//   request.body = EncodeLease({.ns = "taas", .name = "taas-operator"}, &seen, claim);

#ifndef OPERATOR_KUBE_LEASE_H_
#define OPERATOR_KUBE_LEASE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/base/clock.h"

namespace taas {

// Of transitions, which are the epochs of leaders: int32 on the wire, and room to count on.
inline constexpr int64_t kEpochMax = 1'000'000'000;
// A holder that is gone is waited for no longer than this, whatever its lease says.
inline constexpr std::chrono::seconds kLeaseSecondsMax{600};

struct LeaseName {
  std::string ns;
  std::string name;
};

struct Lease {
  std::string uid;
  std::string resource_version;
  std::string holder;                // Empty: nobody's.
  std::chrono::seconds duration{0};  // 0: it does not say.
  int64_t transitions = 0;
  std::string spec;    // As it was read: any change of it is a sign of life of its holder.
  std::string object;  // All of it.
};

absl::StatusOr<Lease> DecodeLease(std::string_view json);

// What a candidate or a leader writes of itself.
struct LeaseClaim {
  std::string holder;
  std::chrono::seconds duration{0};
  int64_t transitions = 0;
  Clock::WallTime renewed{};
  bool acquired = false;  // The holder has changed; else its time of acquiring stays.
};
// A body for PUT with the version and the uid of `seen` as preconditions, or for POST if it is
// null. The uid matters: a PUT of a Lease that was deleted would make it again.
std::string EncodeLease(const LeaseName& name, const Lease* seen, const LeaseClaim& claim);

// A body for POST of an event: the holder of `taken` became leader. Its name is made of the lease
// and the term, so there is one event of it however often it is sent.
std::string EncodeLeaderEvent(const LeaseName& name, const Lease& taken, Clock::WallTime now);

}  // namespace taas

#endif  // OPERATOR_KUBE_LEASE_H_
