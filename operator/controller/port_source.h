// Ports of 127.0.0.1 that nobody uses, for the replicas of jobs on the local cluster.
//
// Taken from below the kernel's range for outgoing connections, where no unrelated connection can
// take one between our look and the replica's. If somebody else does all the same, the replica
// exits with 138 and is given another.
//
// Ownership: random must outlive it. Threads: one. Errors: fewer ports than asked for if there are
// no more.
//
//   LoopbackPorts ports(random);
//   snapshot.free_ports = ports.Take(4, in_use);

#ifndef OPERATOR_CONTROLLER_PORT_SOURCE_H_
#define OPERATOR_CONTROLLER_PORT_SOURCE_H_

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "operator/base/random.h"

namespace taas {

class PortSource {
 public:
  virtual ~PortSource() = default;
  // Up to `count` ports that are free now and not in `in_use`.
  virtual std::vector<int32_t> Take(int32_t count, const std::set<int32_t>& in_use) = 0;
};

class LoopbackPorts : public PortSource {
 public:
  explicit LoopbackPorts(Random& random) : random_(random) {}
  std::vector<int32_t> Take(int32_t count, const std::set<int32_t>& in_use) override;

 private:
  Random& random_;
  // Those handed out lately: their replica may not listen yet.
  std::deque<int32_t> recent_;
  std::set<int32_t> recent_set_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_PORT_SOURCE_H_
