#include "trainer/collective/memory_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kPageBytes = 4096;
// The other end begins to read while the rest is still being written.
constexpr size_t kPieceBytes = size_t{16} << 10;
static_assert(kQueueBytes % kPieceBytes == 0);

// Another one where what follows means something else.
constexpr uint64_t kLayout = 3;
constexpr uint64_t kLentBit = uint64_t{1} << 63;

struct Run {
  std::atomic<uint64_t> at;
  std::atomic<uint64_t> bytes;
};

struct Numbers {
  alignas(kCacheLine) std::atomic<uint64_t> layout;
  alignas(kCacheLine) std::atomic<uint64_t> runs;
  alignas(kCacheLine) std::atomic<uint64_t> taken;
  alignas(kCacheLine) std::atomic<uint64_t> sleeps;
  alignas(kCacheLine) std::atomic<uint64_t> withdrawn;
  alignas(kCacheLine) std::array<Run, kRuns> run;
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

// With a byte, and -1 for none.
absl::Status SendDescriptor(int socket, int descriptor, const std::string& peer) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof(space);
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
  }
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
  if (count == 0) return absl::UnavailableError("share memory with " + peer + ": it sends none");
  const cmsghdr* const control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET ||
      control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof(int))) {
    return -1;
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof(int));
  return descriptor;
}

// What a byte says of it.
constexpr char kCopies = 0, kReads = 1;

absl::Status SendWord(int socket, char word, const std::string& peer) {
  return send(socket, &word, 1, MSG_NOSIGNAL) == 1 ? absl::OkStatus()
                                                   : Broken("share memory with", peer);
}

absl::StatusOr<char> ReceiveWord(int socket, const std::string& peer) {
  char word = 0;
  const ssize_t count = recv(socket, &word, 1, 0);
  if (count < 0) return Broken("share memory with", peer);
  if (count == 0) return absl::UnavailableError("share memory with " + peer + ": it has gone");
  return word;
}

// What the other end lends, to be read where it lies: nothing where it lends nothing, where this
// end does not, and where there is no room for it among what this process maps.
absl::StatusOr<comm::SharedArea> MapBorrowed(int descriptor, const std::string& peer,
                                             const comm::SharedArea* lent, MapLent map) {
  if (descriptor < 0) return comm::SharedArea();
  if (lent == nullptr) {
    close(descriptor);
    return comm::SharedArea();
  }
  // No more than this end has itself; what nobody reads is not mapped.
  auto borrowed = map(descriptor, {.bytes_max = lent->size(), .at_once = false});
  if (absl::IsResourceExhausted(borrowed.status())) {
    Log(LogLevel::kWarning, "gradients of a rank are copied instead of read where they lie",
        {{"rank", peer}, {"why", std::string(borrowed.status().message())}});
    return comm::SharedArea();
  }
  RETURN_IF_ERROR(borrowed.status());
  if (borrowed->size() != lent->size()) {
    return absl::DataLossError(peer + " lends " + std::to_string(borrowed->size()) +
                               " bytes, and this rank " + std::to_string(lent->size()) +
                               ": ranks must have the same model");
  }
  return borrowed;
}

class MemoryLink : public Link {
 public:
  struct Areas {
    comm::SharedArea own, theirs;
    // What the other end reads where it lies, and what this one does: each by itself or none.
    const comm::SharedArea* lent = nullptr;
    comm::SharedArea borrowed;
  };
  MemoryLink(Socket socket, std::string peer, Areas areas)
      : socket_(std::move(socket)), peer_(std::move(peer)), areas_(std::move(areas)) {}
  ~MemoryLink() override { Withdraw(); }
  MemoryLink(const MemoryLink&) = delete;
  MemoryLink& operator=(const MemoryLink&) = delete;

  const std::string& peer() const override { return peer_; }

  absl::StatusOr<size_t> Send(std::span<const std::byte> bytes) override {
    if (gone_) return Gone("send to");
    RETURN_IF_ERROR(LookAtTaken());
    size_t done = 0;
    while (runs_ - first_run_ < kRuns) {
      const size_t at = queued_ % kQueueBytes;
      const size_t room = kQueueBytes - (queued_ - queue_freed_);
      const size_t piece = std::min({bytes.size() - done, kPieceBytes, kQueueBytes - at, room});
      if (piece == 0) break;
      std::memcpy(areas_.own.data() + kPageBytes + at, bytes.data() + done, piece);
      done += piece;
      queued_ += piece;
      Publish(at, piece, 0);
    }
    return done;
  }

  absl::StatusOr<size_t> Lend(std::span<const std::byte> bytes) override {
    const std::optional<size_t> at = InLent(bytes);
    if (!at) return Send(bytes);
    if (gone_) return Gone("send to");
    RETURN_IF_ERROR(LookAtTaken());
    if (runs_ - first_run_ == kRuns) return size_t{0};
    Publish(*at, bytes.size(), kLentBit);
    lent_until_ = sent_;
    return bytes.size();
  }

  absl::StatusOr<bool> Settled() override {
    if (settled_ >= lent_until_) return true;
    RETURN_IF_ERROR(LookAtTaken());
    if (settled_ >= lent_until_) return true;
    if (gone_) return Gone("settle with");
    return false;
  }

  absl::StatusOr<std::span<const std::byte>> Peek() override {
    if (!left_.empty()) return left_;
    const uint64_t runs = there().runs.load(std::memory_order_acquire);
    if (runs - seen_ > kRuns) return Impossible();
    if (runs == seen_) return left_;
    const Run& run = there().run[seen_ % kRuns];
    const uint64_t at = run.at.load(std::memory_order_relaxed);
    const uint64_t said = run.bytes.load(std::memory_order_relaxed);
    const uint64_t bytes = said & ~kLentBit;
    left_is_lent_ = (said & kLentBit) != 0;
    const char* const from =
        left_is_lent_ ? areas_.borrowed.data() : areas_.theirs.data() + kPageBytes;
    const size_t size = left_is_lent_ ? areas_.borrowed.size() : kQueueBytes;
    if (bytes == 0 || at > size || bytes > size - at) return Impossible();
    ++seen_;
    left_ = std::as_bytes(std::span(from + at, bytes));
    return left_;
  }

  absl::Status Taken(size_t bytes) override {
    // Behind what was read: had it been changed by then, the mark would be there.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (left_is_lent_ && there().withdrawn.load(std::memory_order_relaxed) != 0) {
      return absl::UnavailableError("receive from " + peer_ + ": it has withdrawn what it lent");
    }
    left_ = left_.subspan(bytes);
    taken_ += bytes;
    here().taken.store(taken_, std::memory_order_release);
    WakePeer();
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Receive(std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size()) {
      ASSIGN_OR_RETURN(const auto lies, Peek());
      const size_t count = std::min(lies.size(), into.size() - done);
      if (count == 0) break;
      std::memcpy(into.data() + done, lies.data(), count);
      RETURN_IF_ERROR(Taken(count));
      done += count;
    }
    if (done == 0 && gone_ && !into.empty()) return Gone("receive from");
    return done;
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

  int socket() const override { return socket_.get(); }

  void Close() override {
    Withdraw();
    shutdown(socket_.get(), SHUT_RDWR);
  }

 private:
  Numbers& here() { return *reinterpret_cast<Numbers*>(areas_.own.data()); }
  const Numbers& there() const {
    return *reinterpret_cast<const Numbers*>(areas_.theirs.data());
  }

  // Before anything that was lent is written again.
  void Withdraw() {
    here().withdrawn.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  // Where in what this end lends they lie, if they are worth it.
  std::optional<size_t> InLent(std::span<const std::byte> bytes) const {
    if (areas_.lent == nullptr || bytes.size() < kLentBytesMin) return std::nullopt;
    const auto begin = reinterpret_cast<uintptr_t>(areas_.lent->data());
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    if (at < begin || at + bytes.size() > begin + areas_.lent->size()) return std::nullopt;
    return at - begin;
  }

  void Publish(size_t at, size_t bytes, uint64_t kind) {
    const size_t slot = runs_ % kRuns;
    here().run[slot].at.store(at, std::memory_order_relaxed);
    here().run[slot].bytes.store(bytes | kind, std::memory_order_relaxed);
    sent_ += bytes;
    under_way_[slot] = {sent_, kind == 0 ? bytes : 0};
    here().runs.store(++runs_, std::memory_order_release);
    WakePeer();
  }

  // What the other end has taken is under way no more.
  absl::Status LookAtTaken() {
    const uint64_t taken = there().taken.load(std::memory_order_acquire);
    if (taken > sent_ || taken < settled_) return Impossible();
    settled_ = taken;
    while (first_run_ < runs_ && under_way_[first_run_ % kRuns].until <= taken) {
      queue_freed_ += under_way_[first_run_++ % kRuns].queued;
    }
    return absl::OkStatus();
  }

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
                               ": it says that more is there than fits");
  }

  // A run of this end: sent bytes in all behind it, and of these in the queue.
  struct UnderWay {
    uint64_t until = 0;
    size_t queued = 0;
  };

  const Socket socket_;
  const std::string peer_;
  const Areas areas_;
  // Of what this end sends: runs, bytes of them, and those in the queue; the first run that is not
  // all taken, what the other has taken, and what of the queue is free by that.
  uint64_t runs_ = 0, sent_ = 0, queued_ = 0;
  uint64_t first_run_ = 0, settled_ = 0, queue_freed_ = 0;
  uint64_t lent_until_ = 0;
  std::array<UnderWay, kRuns> under_way_{};
  // Of what comes: the runs that were looked at, what is left of the last, and bytes in all.
  uint64_t seen_ = 0, taken_ = 0;
  std::span<const std::byte> left_;
  bool left_is_lent_ = false;
  uint64_t sleeps_ = 0;
  uint64_t woken_ = 0;  // The last sleep of the peer that was ended from here.
  bool asleep_ = false;
  bool gone_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Link>> MakeMemoryLink(int socket, std::string peer,
                                                     std::chrono::milliseconds patience,
                                                     const comm::SharedArea* lent, MapLent map) {
  Socket owned(socket);
  // Blocking until all areas are known.
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
  MemoryLink::Areas areas;
  ASSIGN_OR_RETURN(areas.own, comm::SharedArea::Make(kPageBytes + kQueueBytes));
  reinterpret_cast<Numbers*>(areas.own.data())->layout.store(kLayout);
  RETURN_IF_ERROR(SendDescriptor(socket, areas.own.descriptor(), peer));
  RETURN_IF_ERROR(SendDescriptor(socket, lent == nullptr ? -1 : lent->descriptor(), peer));
  ASSIGN_OR_RETURN(const int descriptor, ReceiveDescriptor(socket, patience, peer));
  if (descriptor < 0) {
    return absl::UnavailableError("share memory with " + peer + ": it sends none");
  }
  ASSIGN_OR_RETURN(areas.theirs, comm::SharedArea::Adopt(descriptor));
  if (areas.theirs.size() != areas.own.size()) {
    return absl::DataLossError("shared memory of " + peer + ": " +
                               std::to_string(areas.theirs.size()) + " bytes instead of " +
                               std::to_string(areas.own.size()));
  }
  const uint64_t layout = reinterpret_cast<const Numbers*>(areas.theirs.data())->layout.load();
  if (layout != kLayout) {
    return absl::DataLossError("shared memory of " + peer + ": its layout is " +
                               std::to_string(layout) + ", and not " + std::to_string(kLayout) +
                               ": ranks must have the same program");
  }
  ASSIGN_OR_RETURN(const int borrowed, ReceiveDescriptor(socket, patience, peer));
  ASSIGN_OR_RETURN(areas.borrowed, MapBorrowed(borrowed, peer, lent, map));
  RETURN_IF_ERROR(SendWord(socket, areas.borrowed.size() > 0 ? kReads : kCopies, peer));
  ASSIGN_OR_RETURN(const char word, ReceiveWord(socket, peer));
  if (word == kReads) areas.lent = lent;
  areas.own.CloseDescriptor();
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  return std::make_unique<MemoryLink>(std::move(owned), std::move(peer), std::move(areas));
}

}  // namespace taas::collective
