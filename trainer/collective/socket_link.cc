#include "trainer/collective/socket_link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"

namespace taas::collective {
namespace {

class SocketLink : public Link {
 public:
  SocketLink(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) {
    const int flags = fcntl(socket_, F_GETFL);
    fcntl(socket_, F_SETFL, flags | O_NONBLOCK);
    // A head or the end of a part must not wait for an acknowledgement. Fails on other sockets.
    const int yes = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  ~SocketLink() override { close(socket_); }
  SocketLink(const SocketLink&) = delete;
  SocketLink& operator=(const SocketLink&) = delete;

  const std::string& peer() const override { return peer_; }

  absl::StatusOr<size_t> Send(std::span<const std::byte> bytes) override {
    return Moved(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send to");
  }

  absl::StatusOr<size_t> Receive(std::span<std::byte> into) override {
    const ssize_t count = recv(socket_, into.data(), into.size(), 0);
    if (count == 0 && !into.empty()) {
      return absl::UnavailableError("receive from " + peer_ + ": it has closed the connection");
    }
    return Moved(count, "receive from");
  }

  pollfd Sleep(Wanted wanted) override {
    const int events = (wanted.send ? POLLOUT : 0) | (wanted.receive ? POLLIN : 0);
    return {socket_, static_cast<short>(events), 0};
  }
  void Wake() override {}
  int socket() const override { return socket_; }

  void Close() override { shutdown(socket_, SHUT_RDWR); }

 private:
  absl::StatusOr<size_t> Moved(ssize_t count, const char* what) const {
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return size_t{0};
    return absl::UnavailableError(std::string(what) + " " + peer_ + ": " + std::strerror(errno));
  }

  const int socket_;
  const std::string peer_;
};

}  // namespace

std::unique_ptr<Link> MakeSocketLink(int socket, std::string peer) {
  return std::make_unique<SocketLink>(socket, std::move(peer));
}

}  // namespace taas::collective
