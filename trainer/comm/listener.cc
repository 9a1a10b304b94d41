#include "trainer/comm/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/comm/local_socket.h"

namespace taas::comm {
namespace {

// Connections that wait for accept: all replicas of a job may call in the same millisecond.
constexpr int kBacklog = 512;
// Before accept is tried again when it fails, as it does while all descriptors are in use.
constexpr std::chrono::milliseconds kAcceptPause{100};

// Beside the TCP socket `tcp`; -1 if that is not possible.
int OpenLocally(int tcp) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(tcp, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  return ListenLocally(reinterpret_cast<const sockaddr&>(address), kBacklog);
}

// What an address of IPv4 is called by a socket of IPv6.
constexpr char kMapped[] = "::ffff:";

std::string PeerName(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof(host), port,
                  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown address";
  }
  std::string name = host;
  if (name.starts_with(kMapped) && name.find('.') != std::string::npos) {
    name.erase(0, sizeof(kMapped) - 1);
  }
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port;
}

absl::Status ListenError(int error, const std::string& host, int port) {
  const std::string text =
      "listen on " + host + ":" + std::to_string(port) + ": " + std::strerror(error);
  return error == EADDRINUSE ? absl::ResourceExhaustedError(text) : absl::UnavailableError(text);
}

// Unavailable if the family or the address is not there, or for another reason than the port.
absl::StatusOr<int> ListenOn(int family, const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_family = family;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError("listen on " + host + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> target(found, &freeaddrinfo);
  const int fd = socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return ListenError(errno, host, port);
  const int one = 1;
  const int zero = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
  if (bind(fd, target->ai_addr, target->ai_addrlen) != 0 || listen(fd, kBacklog) != 0) {
    const absl::Status status = ListenError(errno, host, port);
    close(fd);
    return status;
  }
  return fd;
}

}  // namespace

absl::StatusOr<int> OpenListeningSocket(const std::string& host, int port) {
  if (host.empty()) {
    // One socket of IPv6 takes calls of both families, and a cluster may have either alone. A
    // machine without IPv6 has no such socket, or no such address.
    auto both = ListenOn(AF_INET6, "::", port);
    if (both.ok() || !absl::IsUnavailable(both.status())) return both;
    return ListenOn(AF_INET, "0.0.0.0", port);
  }
  return ListenOn(AF_UNSPEC, host, port);
}

bool IsIpv6(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  return getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.ss_family == AF_INET6;
}

absl::StatusOr<int> PortOfSocket(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return absl::UnavailableError(std::string("getsockname: ") + std::strerror(errno));
  }
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
             : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(Options options, Serve serve) {
  ASSIGN_OR_RETURN(const int fd, OpenListeningSocket(options.host, options.port));
  ASSIGN_OR_RETURN(const int port, PortOfSocket(fd));
  return std::unique_ptr<Listener>(new Listener(fd, port, std::move(serve)));
}

Listener::Listener(int socket, int port, Serve serve)
    : socket_(socket), local_socket_(OpenLocally(socket)), port_(port), serve_(std::move(serve)) {
  acceptor_ = std::thread([this] { Accept(socket_); });
  if (local_socket_ >= 0) local_acceptor_ = std::thread([this] { Accept(local_socket_); });
}

Listener::~Listener() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    closing_changed_.notify_all();
    for (Connection& connection : connections_) connection.channel->Shutdown();
  }
  shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  close(socket_);
  if (local_socket_ >= 0) {
    shutdown(local_socket_, SHUT_RDWR);
    local_acceptor_.join();
    close(local_socket_);
  }
  for (Connection& connection : connections_) connection.thread.join();
}

void Listener::Accept(int listening) {
  int last_error = 0;  // A trouble that lasts is told once.
  for (;;) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int fd =
        accept4(listening, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC);
    if (fd >= 0) {
      last_error = 0;
      const bool local = listening == local_socket_;
      if (local && !PeerIsSameUser(fd)) {
        close(fd);
        continue;
      }
      Start(fd, local ? LocalPeerName(fd) : PeerName(address, size));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    const int error = errno;
    std::unique_lock lock(mutex_);
    if (closing_) return;
    if (error != last_error) {
      Log(LogLevel::kWarning, "no connection can be accepted for now",
          {{"port", std::to_string(port_)}, {"why", std::strerror(error)}});
    }
    last_error = error;
    if (closing_changed_.wait_for(lock, kAcceptPause, [this] { return closing_; })) return;
  }
}

void Listener::Start(int socket, const std::string& peer) {
  Reap();
  std::lock_guard lock(mutex_);
  if (closing_ || connections_.size() >= kConnectionsMax) {
    if (!closing_) {
      Log(LogLevel::kWarning, "connection refused: too many", {{"peer", peer}});
    }
    close(socket);
    return;
  }
  Connection& connection = connections_.emplace_back();
  connection.channel = std::make_unique<Channel>(socket, peer);
  connection.thread = std::thread([this, &connection] {
    serve_(*connection.channel);
    connection.channel->Shutdown();
    std::lock_guard lock(mutex_);
    connection.finished = true;
  });
}

void Listener::Reap() {
  std::list<Connection> finished;
  {
    std::lock_guard lock(mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto next = std::next(it);
      if (it->finished) finished.splice(finished.end(), connections_, it);
      it = next;
    }
  }
  for (Connection& connection : finished) connection.thread.join();
}

}  // namespace taas::comm
