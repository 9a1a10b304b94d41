// A process's place in the network: its own address of the cluster, taken before anything slow is
// done.
//
// Ownership: owns a claimed socket. Threads: one at a time. Errors: InvalidArgument for an address
// that is none; ResourceExhausted for a port that is taken.
//
//   RETURN_IF_ERROR(place.Resolve(cluster));
//   RETURN_IF_ERROR(place.Claim());

#ifndef TRAINER_CMD_PLACE_H_
#define TRAINER_CMD_PLACE_H_

#include <string>

#include "absl/status/status.h"
#include "trainer/cluster/tf_config.h"

namespace taas {

class Place {
 public:
  Place() = default;
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  absl::Status Resolve(const ClusterSpec& cluster);
  // Holds the port of a replica that serves nothing there, so that a wrong TF_CONFIG is noticed and
  // a peer that looks finds somebody.
  absl::Status Claim();
  // Whether the port can be had; it is not held. For who hands it to a library that is wordy about
  // a port that is taken.
  absl::Status Try() const;

  const std::string& host() const { return host_; }
  // "" listens on all addresses.
  const std::string& listen_host() const { return listen_host_; }
  int port() const { return port_; }

 private:
  std::string host_;
  std::string listen_host_;
  int port_ = 0;
  int claim_ = -1;
};

}  // namespace taas

#endif  // TRAINER_CMD_PLACE_H_
