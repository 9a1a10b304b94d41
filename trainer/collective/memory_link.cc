#include "trainer/collective/memory_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "operator/base/status.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kPageBytes = 4096;
// The other end begins to read while the rest is still being written.
constexpr size_t kPieceBytes = size_t{16} << 10;
static_assert(kQueueBytes % kPieceBytes == 0);

struct Numbers {
  alignas(kCacheLine) std::atomic<uint64_t> written;
  alignas(kCacheLine) std::atomic<uint64_t> taken;
  alignas(kCacheLine) std::atomic<uint64_t> sleeps;
};
static_assert(sizeof(Numbers) <= kPageBytes && std::atomic<uint64_t>::is_always_lock_free);

class Socket {
 public:
  explicit Socket(int socket) : socket_(socket) {}
  Socket(Socket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (socket_ >= 0) close(socket_);
  }
  int get() const { return socket_; }

 private:
  int socket_;
};

absl::Status Broken(const char* what, const std::string& peer) {
  return absl::UnavailableError(std::string(what) + " " + peer + ": " + std::strerror(errno));
}

absl::Status SendDescriptor(int socket, int descriptor, const std::string& peer) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
  if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1) return Broken("share memory with", peer);
  return absl::OkStatus();
}

absl::StatusOr<int> ReceiveDescriptor(int socket, std::chrono::milliseconds patience,
                                      const std::string& peer) {
  const timeval limit{patience.count() / 1000, patience.count() % 1000 * 1000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return Broken("share memory with", peer);
  const cmsghdr* const control = CMSG_FIRSTHDR(&message);
  if (count == 0 || control == nullptr || control->cmsg_level != SOL_SOCKET ||
      control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof(int))) {
    return absl::UnavailableError("share memory with " + peer + ": it sends none");
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof(int));
  return descriptor;
}

class MemoryLink : public Link {
 public:
  MemoryLink(Socket socket, std::string peer, comm::SharedArea own, comm::SharedArea theirs)
      : socket_(std::move(socket)),
        peer_(std::move(peer)),
        own_(std::move(own)),
        theirs_(std::move(theirs)) {}

  const std::string& peer() const override { return peer_; }

  absl::StatusOr<size_t> Send(std::span<const std::byte> bytes) override {
    if (gone_) return Gone("send to");
    const uint64_t taken = there().taken.load(std::memory_order_acquire);
    if (written_ - taken > kQueueBytes) return Impossible();
    const size_t count = std::min<size_t>(bytes.size(), kQueueBytes - (written_ - taken));
    for (size_t done = 0; done < count;) {
      const size_t at = written_ % kQueueBytes;
      const size_t piece = std::min({count - done, kPieceBytes, kQueueBytes - at});
      std::memcpy(own_.data() + kPageBytes + at, bytes.data() + done, piece);
      done += piece;
      written_ += piece;
      here().written.store(written_, std::memory_order_release);
      WakePeer();
    }
    return count;
  }

  absl::StatusOr<size_t> Receive(std::span<std::byte> into) override {
    const uint64_t written = there().written.load(std::memory_order_acquire);
    if (written - taken_ > kQueueBytes) return Impossible();
    const size_t count = std::min<size_t>(into.size(), written - taken_);
    if (count == 0) {
      if (gone_ && !into.empty()) return Gone("receive from");
      return size_t{0};
    }
    for (size_t done = 0; done < count;) {
      const size_t at = taken_ % kQueueBytes;
      const size_t piece = std::min(count - done, kQueueBytes - at);
      std::memcpy(into.data() + done, theirs_.data() + kPageBytes + at, piece);
      done += piece;
      taken_ += piece;
    }
    here().taken.store(taken_, std::memory_order_release);
    WakePeer();
    return count;
  }

  pollfd Sleep(Wanted) override {
    if (!asleep_) {
      asleep_ = true;
      here().sleeps.store(++sleeps_);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    return {socket_.get(), POLLIN, 0};
  }

  void Wake() override {
    if (asleep_) {
      asleep_ = false;
      here().sleeps.store(++sleeps_);
    }
    char bytes[kCacheLine];
    for (;;) {
      const ssize_t count = recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
      if (count > 0) continue;
      if (count < 0 && errno == EINTR) continue;
      if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) gone_ = true;
      return;
    }
  }

  void Close() override { shutdown(socket_.get(), SHUT_RDWR); }

 private:
  Numbers& here() { return *reinterpret_cast<Numbers*>(own_.data()); }
  const Numbers& there() const { return *reinterpret_cast<const Numbers*>(theirs_.data()); }

  // Between the number that was just stored and the look whether the peer sleeps, as between its
  // saying so and its last look at the number, lies a fence: one of both sees the other.
  void WakePeer() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const uint64_t sleeps = there().sleeps.load(std::memory_order_relaxed);
    if (sleeps % 2 == 0 || sleeps == woken_) return;
    woken_ = sleeps;
    const char byte = 0;
    // One that has gone is noticed where something is wanted of it.
    [[maybe_unused]] const ssize_t sent =
        send(socket_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  absl::Status Gone(const char* what) const {
    return absl::UnavailableError(std::string(what) + " " + peer_ +
                                  ": it has closed the connection");
  }
  absl::Status Impossible() const {
    return absl::DataLossError("shared memory of " + peer_ +
                               ": it says that more is in its queue than fits");
  }

  const Socket socket_;
  const std::string peer_;
  const comm::SharedArea own_;
  const comm::SharedArea theirs_;
  uint64_t written_ = 0;
  uint64_t taken_ = 0;
  uint64_t sleeps_ = 0;
  uint64_t woken_ = 0;  // The last sleep of the peer that was ended from here.
  bool asleep_ = false;
  bool gone_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Link>> MakeMemoryLink(int socket, std::string peer,
                                                     std::chrono::milliseconds patience) {
  Socket owned(socket);
  // Blocking until both areas are known.
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
  ASSIGN_OR_RETURN(comm::SharedArea own, comm::SharedArea::Make(kPageBytes + kQueueBytes));
  RETURN_IF_ERROR(SendDescriptor(socket, own.descriptor(), peer));
  ASSIGN_OR_RETURN(const int descriptor, ReceiveDescriptor(socket, patience, peer));
  ASSIGN_OR_RETURN(comm::SharedArea theirs, comm::SharedArea::Adopt(descriptor));
  if (theirs.size() != own.size()) {
    return absl::DataLossError("shared memory of " + peer + ": " + std::to_string(theirs.size()) +
                               " bytes instead of " + std::to_string(own.size()));
  }
  own.CloseDescriptor();
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  return std::make_unique<MemoryLink>(std::move(owned), std::move(peer), std::move(own),
                                      std::move(theirs));
}

}  // namespace taas::collective
