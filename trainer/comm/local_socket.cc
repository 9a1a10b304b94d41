#include "trainer/comm/local_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace taas::comm {
namespace {

// What every user of another user namespace looks like from here (the kernel's overflowuid).
constexpr uid_t kUserNotKnownHere = 65534;

struct LocalName {
  sockaddr_un address{};
  socklen_t size = 0;
};

// "\0taas-trainer/127.0.0.1:41234"; the zero makes it abstract: no file, gone with its socket.
std::optional<LocalName> NameOf(const sockaddr& address) {
  char host[INET6_ADDRSTRLEN];
  const void* bytes = nullptr;
  uint16_t port = 0;
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    if (ntohl(four.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) return std::nullopt;
    bytes = &four.sin_addr;
    port = ntohs(four.sin_port);
  } else if (address.sa_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    if (!IN6_IS_ADDR_LOOPBACK(&six.sin6_addr)) return std::nullopt;
    bytes = &six.sin6_addr;
    port = ntohs(six.sin6_port);
  } else {
    return std::nullopt;
  }
  if (inet_ntop(address.sa_family, bytes, host, sizeof(host)) == nullptr) return std::nullopt;
  const std::string text = "taas-trainer/" + std::string(host) + ":" + std::to_string(port);
  LocalName name;
  name.address.sun_family = AF_UNIX;
  std::memcpy(name.address.sun_path + 1, text.data(), text.size());
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

std::optional<ucred> PeerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

}  // namespace

int ListenLocally(const sockaddr& address, int backlog) {
  const std::optional<LocalName> name = NameOf(address);
  if (!name) return -1;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name->address), name->size) == 0 &&
      listen(fd, backlog) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

int ConnectLocally(const sockaddr& address) {
  const std::optional<LocalName> name = NameOf(address);
  if (!name) return -1;
  // Whoever accepts nobody just now is called the long way.
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&name->address), name->size) == 0 &&
      PeerIsSameUser(fd) && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

bool IsLocal(int socket) {
  int domain = 0;
  socklen_t size = sizeof(domain);
  return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

bool PeerIsSameUser(int socket) {
  const std::optional<ucred> peer = PeerOf(socket);
  return peer && peer->uid == geteuid() && peer->uid != kUserNotKnownHere;
}

std::string LocalPeerName(int socket) {
  const std::optional<ucred> peer = PeerOf(socket);
  return "process " + (peer ? std::to_string(peer->pid) : "unknown") + " of this machine";
}

}  // namespace taas::comm
