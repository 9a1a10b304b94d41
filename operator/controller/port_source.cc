#include "operator/controller/port_source.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace taas {
namespace {

// Linux gives outgoing connections 32768 and up (net.ipv4.ip_local_port_range).
constexpr int32_t kFirst = 20'000;
constexpr int32_t kLast = 32'000;
// More than the replicas that one machine can start before the first of them listens.
constexpr size_t kRecentMax = 2'000;

bool IsFree(int32_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool is_free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return is_free;
}

}  // namespace

std::vector<int32_t> LoopbackPorts::Take(int32_t count, const std::set<int32_t>& in_use) {
  std::vector<int32_t> ports;
  const int32_t span = kLast - kFirst;
  const auto start = static_cast<int32_t>(random_.Below(static_cast<uint64_t>(span)));
  for (int32_t i = 0; i < span && static_cast<int32_t>(ports.size()) < count; ++i) {
    const int32_t port = kFirst + (start + i) % span;
    if (in_use.contains(port) || recent_set_.contains(port) || !IsFree(port)) continue;
    ports.push_back(port);
  }
  for (const int32_t port : ports) {
    recent_.push_back(port);
    recent_set_.insert(port);
    if (recent_.size() <= kRecentMax) continue;
    recent_set_.erase(recent_.front());
    recent_.pop_front();
  }
  return ports;
}

}  // namespace taas
