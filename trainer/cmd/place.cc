#include "trainer/cmd/place.h"

#include <unistd.h>

#include "operator/base/status.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/listener.h"

namespace taas {

Place::~Place() {
  if (claim_ >= 0) close(claim_);
}

absl::Status Place::Resolve(const ClusterSpec& cluster) {
  const std::string address = cluster.self_address();
  if (cluster.on_loopback()) listen_host_ = "127.0.0.1";
  if (address.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto split, comm::SplitAddress(address));
  host_ = split.first;
  port_ = std::stoi(split.second);
  if (cluster.on_loopback() && host_ != "localhost") listen_host_ = host_;
  return absl::OkStatus();
}

absl::Status Place::Claim() {
  ASSIGN_OR_RETURN(claim_, comm::OpenListeningSocket(listen_host_, port_));
  return absl::OkStatus();
}

absl::Status Place::Try() const {
  ASSIGN_OR_RETURN(const int socket, comm::OpenListeningSocket(listen_host_, port_));
  close(socket);
  return absl::OkStatus();
}

}  // namespace taas
