#include "trainer/comm/channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/comm/local_socket.h"

namespace taas::comm {
namespace {

// Blocks of one system call; the kernel's own limit (IOV_MAX) is 1024.
constexpr size_t kBlocksPerCall = 64;
// What Discard throws away at a time.
constexpr size_t kDiscardBytes = 64 << 10;

std::string ErrnoText(int error) { return std::strerror(error); }

// `option`: of receiving or of sending.
void LimitCalls(int socket, int option, std::chrono::milliseconds limit) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(limit - whole);
  const timeval time{.tv_sec = whole.count(), .tv_usec = rest.count()};
  setsockopt(socket, SOL_SOCKET, option, &time, sizeof(time));
}

void SetOptions(int socket) {
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof(kSocketBufferBytes));
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof(kSocketBufferBytes));
  if (IsLocal(socket)) return LimitCalls(socket, SO_SNDTIMEO, kSilenceMax);
  const int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  const int idle = 4;
  const int interval = 2;
  const int count = 3;
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
  const unsigned silence = static_cast<unsigned>(kSilenceMax.count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
}

absl::Status ConnectSocket(int socket, const addrinfo& target, int patience_ms) {
  const int flags = fcntl(socket, F_GETFL);
  fcntl(socket, F_SETFL, flags | O_NONBLOCK);
  if (connect(socket, target.ai_addr, target.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return absl::UnavailableError(ErrnoText(errno));
    pollfd waiting{socket, POLLOUT, 0};
    const int ready = poll(&waiting, 1, patience_ms);
    if (ready == 0) {
      return absl::UnavailableError("no answer within " + std::to_string(patience_ms) + " ms");
    }
    int error = ready < 0 ? errno : 0;
    socklen_t size = sizeof(error);
    if (ready > 0) getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return absl::UnavailableError(ErrnoText(error));
  }
  fcntl(socket, F_SETFL, flags);
  return absl::OkStatus();
}

void Advance(std::vector<iovec>& blocks, size_t& first, size_t bytes) {
  while (first < blocks.size() && bytes >= blocks[first].iov_len) {
    bytes -= blocks[first].iov_len;
    ++first;
  }
  if (first < blocks.size()) {
    blocks[first].iov_base = static_cast<char*>(blocks[first].iov_base) + bytes;
    blocks[first].iov_len -= bytes;
  }
}

// Room for one descriptor beside a message's bytes.
struct DescriptorSpace {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
};

void PutDescriptor(int descriptor, DescriptorSpace& space, msghdr* message) {
  message->msg_control = space.bytes;
  message->msg_controllen = sizeof(space.bytes);
  cmsghdr* control = CMSG_FIRSTHDR(message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof(descriptor));
}

// -1: none came.
int TakeDescriptor(msghdr* message) {
  const cmsghdr* control = CMSG_FIRSTHDR(message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET ||
      control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof(int))) {
    return -1;
  }
  int descriptor;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof(descriptor));
  return descriptor;
}

}  // namespace

// What came beside the bytes of a head.
struct Channel::Arrived {
  int descriptor = -1;
  bool lost = false;  // One came that could not be taken.

  void Close() {
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
  }
  ~Arrived() { Close(); }
};

absl::StatusOr<std::pair<std::string, std::string>> SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return absl::InvalidArgumentError("\"" + address + "\" is not of the form host:port");
  }
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const bool digits =
      std::all_of(port.begin(), port.end(), [](char c) { return '0' <= c && c <= '9'; });
  if (!digits || port.size() > 5 || std::stoi(port) > 65535) {
    return absl::InvalidArgumentError("\"" + address + "\" has no port between 0 and 65535");
  }
  return std::make_pair(host, port);
}

absl::StatusOr<std::unique_ptr<Channel>> Channel::Connect(const std::string& address,
                                                          Options options) {
  ASSIGN_OR_RETURN(const auto host_port, SplitAddress(address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host_port.first.c_str(), host_port.second.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError("connect to " + address + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> targets(found, &freeaddrinfo);
  absl::Status last = absl::UnavailableError("no address");
  for (const addrinfo* target = targets.get(); target != nullptr; target = target->ai_next) {
    if (const int local = ConnectLocally(*target->ai_addr); local >= 0) {
      return std::make_unique<Channel>(local, address);
    }
    const int fd = socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      last = absl::UnavailableError(ErrnoText(errno));
      continue;
    }
    auto channel = std::make_unique<Channel>(fd, address);
    last = ConnectSocket(fd, *target, static_cast<int>(options.patience.count()));
    if (last.ok()) return channel;
  }
  return Annotate(last, "connect to " + address);
}

Channel::Channel(int socket, std::string peer)
    : socket_(socket), peer_(std::move(peer)), may_share_(IsLocal(socket)) {
  SetOptions(socket_);
}

Channel::~Channel() { close(socket_); }

void Channel::LimitSilence(std::chrono::milliseconds limit) {
  silence_max_ = limit;
  LimitCalls(socket_, SO_RCVTIMEO, limit);
  // No kernel gives up a peer on this machine that does not read.
  const bool endless = limit.count() == 0 && IsLocal(socket_);
  LimitCalls(socket_, SO_SNDTIMEO, endless ? kSilenceMax : limit);
}

absl::Status Channel::Broken(const char* call, int error) const {
  if (error == EAGAIN) {
    const std::chrono::milliseconds limit = silence_max_.count() > 0 ? silence_max_ : kSilenceMax;
    return absl::UnavailableError(std::string(call) + " " + peer_ + ": no byte for " +
                                  std::to_string(limit.count()) + " ms");
  }
  return absl::UnavailableError(std::string(call) + " " + peer_ + ": " +
                                (error == 0 ? "the peer closed the connection" : ErrnoText(error)));
}

absl::Status Channel::Send(FrameHead head, std::span<const ConstBlock> payload) {
  head.payload_bytes = 0;
  for (const ConstBlock& block : payload) head.payload_bytes += block.bytes;
  bool fresh = false;
  const bool shared = Share(payload, head.payload_bytes, &fresh);
  if (shared) head.flags |= kFlagShared;
  char wire[kFrameHeadBytes];
  EncodeFrameHead(head, wire);
  std::vector<ConstBlock> blocks = {{wire, sizeof(wire)}};
  if (!shared) blocks.insert(blocks.end(), payload.begin(), payload.end());
  const absl::Status sent = SendBlocks(blocks, fresh ? out_area_.descriptor() : -1);
  out_area_.CloseDescriptor();
  return sent;
}

absl::Status Channel::SendShared(FrameHead head, const SharedArea& area, size_t bytes,
                                 std::shared_ptr<const void> keep) {
  CHECK(bytes <= area.size()) << bytes << " bytes are sent of an area of " << area.size();
  bool fresh = false;
  const std::optional<size_t> slot = may_share_ ? SlotOf(area, &fresh) : std::nullopt;
  if (!slot) {
    const ConstBlock block{area.data(), bytes};
    return Send(head, std::span(&block, 1));
  }
  kept_ = std::move(keep);
  head.payload_bytes = bytes;
  head.flags |= static_cast<uint16_t>(kFlagShared | (*slot << kSlotShift));
  char wire[kFrameHeadBytes];
  EncodeFrameHead(head, wire);
  const ConstBlock block{wire, sizeof(wire)};
  return SendBlocks(std::span(&block, 1), fresh ? area.descriptor() : -1);
}

std::optional<size_t> Channel::SlotOf(const SharedArea& area, bool* fresh) {
  const auto found = std::find(lent_.begin(), lent_.end(), area.id());
  if (found == lent_.end()) {
    if (lent_.size() + 1 >= kSlots) return std::nullopt;
    *fresh = true;
    lent_.push_back(area.id());
    return lent_.size();
  }
  return static_cast<size_t>(found - lent_.begin()) + 1;
}

bool Channel::Share(std::span<const ConstBlock> payload, uint64_t bytes, bool* fresh) {
  if (!may_share_ || bytes < kSharedBytesMin || bytes > kSharedBytesMax) return false;
  if (out_area_.size() < bytes) {
    auto area = SharedArea::Make(bytes);
    // Without memory for it the socket still carries everything.
    may_share_ = area.ok();
    if (!area.ok()) return false;
    out_area_ = *std::move(area);
    *fresh = true;
  }
  char* out = out_area_.data();
  for (const ConstBlock& block : payload) {
    if (block.bytes > 0) std::memcpy(out, block.data, block.bytes);
    out += block.bytes;
  }
  return true;
}

absl::Status Channel::SendBlocks(std::span<const ConstBlock> payload, int descriptor) {
  std::vector<iovec> blocks;
  blocks.reserve(payload.size());
  for (const ConstBlock& block : payload) {
    if (block.bytes > 0) blocks.push_back({const_cast<void*>(block.data), block.bytes});
  }
  DescriptorSpace space{};
  size_t first = 0;
  while (first < blocks.size()) {
    msghdr message{};
    message.msg_iov = &blocks[first];
    message.msg_iovlen = std::min(blocks.size() - first, kBlocksPerCall);
    if (descriptor >= 0) PutDescriptor(descriptor, space, &message);
    const ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // The peer has closed, but said something before: why it refuses this, most likely.
    if (sent < 0 && errno == EPIPE && LooksAlive()) return absl::OkStatus();
    if (sent < 0) return Broken("send to", errno);
    descriptor = -1;
    Advance(blocks, first, static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::Status Channel::Send(const FrameHead& head, const std::string& payload) {
  const ConstBlock block{payload.data(), payload.size()};
  return Send(head, std::span(&block, 1));
}

absl::Status Channel::SendAtOnce(std::span<const FrameHead> heads) {
  std::vector<char> wire(heads.size() * kFrameHeadBytes);
  for (size_t i = 0; i < heads.size(); ++i) EncodeFrameHead(heads[i], &wire[i * kFrameHeadBytes]);
  const ssize_t sent = send(socket_, wire.data(), wire.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(wire.size())) return absl::OkStatus();
  // Part of a head on the wire would make the rest unreadable.
  const int error = sent < 0 ? errno : EAGAIN;
  if (error != EAGAIN) return Broken("send to", error);
  return absl::UnavailableError("send to " + peer_ + ": it reads too slowly for " +
                                std::to_string(heads.size()) + " heads at once");
}

absl::Status Channel::ReceiveHeadBytes(char* wire, Arrived* arrived) {
  DescriptorSpace space{};
  for (size_t got = 0; got < kFrameHeadBytes;) {
    iovec block{wire + got, kFrameHeadBytes - got};
    msghdr message{};
    message.msg_iov = &block;
    message.msg_iovlen = 1;
    message.msg_control = space.bytes;
    // Of one descriptor exactly, without the padding, in which the kernel would put another.
    message.msg_controllen = CMSG_LEN(sizeof(int));
    const ssize_t more = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return Broken("receive from", errno);
    if (more == 0) return Broken("receive from", 0);
    got += static_cast<size_t>(more);
    if (const int came = TakeDescriptor(&message); came >= 0) {
      arrived->Close();
      arrived->descriptor = came;
    }
    arrived->lost |= (message.msg_flags & MSG_CTRUNC) != 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<FrameHead> Channel::ReceiveHead() {
  char wire[kFrameHeadBytes];
  Arrived arrived;
  RETURN_IF_ERROR(ReceiveHeadBytes(wire, &arrived));
  LetGo();
  auto head = DecodeFrameHead(wire);
  const absl::Status known = head.ok() ? KnowPayload(*head, &arrived) : head.status();
  if (!known.ok()) return Annotate(known, "from " + peer_);
  // How a payload came is nobody's concern but this class's.
  head->flags &= static_cast<uint16_t>(((1 << kSlotShift) - 1) & ~kFlagShared);
  return head;
}

absl::Status Channel::KnowPayload(const FrameHead& head, Arrived* arrived) {
  in_payload_ = {};
  if ((head.flags & kFlagShared) == 0) return absl::OkStatus();
  const size_t slot = head.flags >> kSlotShift;
  if (in_areas_.size() <= slot) in_areas_.resize(slot + 1);
  if (arrived->descriptor >= 0) {
    ASSIGN_OR_RETURN(in_areas_[slot],
                     SharedArea::Adopt(std::exchange(arrived->descriptor, -1)));
  }
  if (head.payload_bytes > in_areas_[slot].size()) {
    return absl::DataLossError(
        "a payload of " + std::to_string(head.payload_bytes) + " bytes is said to lie in " +
        "shared memory of " + std::to_string(in_areas_[slot].size()) +
        (arrived->lost ? " (its descriptor was not taken: are too many files open?)" : ""));
  }
  in_payload_ = {in_areas_[slot].data(), head.payload_bytes};
  in_slot_ = slot;
  return absl::OkStatus();
}

void Channel::LetGo() { kept_ = nullptr; }

void Channel::ForgetShared() {
  in_payload_ = {};
  in_areas_.clear();
  out_area_ = {};
  lent_.clear();
}

std::span<const char> Channel::PayloadInPlace() const { return in_payload_; }

void Channel::LetPayloadPagesGo() {
  if (in_payload_.data() != nullptr) in_areas_[in_slot_].LetPagesGo();
}

absl::Status Channel::ReceiveShared(std::span<const Block> into) {
  for (const Block& block : into) {
    if (block.bytes > in_payload_.size()) {
      return absl::DataLossError("from " + peer_ + ": more is read than the payload has");
    }
    if (block.bytes > 0) std::memcpy(block.data, in_payload_.data(), block.bytes);
    in_payload_ = in_payload_.subspan(block.bytes);
  }
  return absl::OkStatus();
}

absl::Status Channel::ReceiveInto(std::span<const Block> into) {
  if (in_payload_.data() != nullptr) return ReceiveShared(into);
  std::vector<iovec> blocks;
  blocks.reserve(into.size());
  for (const Block& block : into) {
    if (block.bytes > 0) blocks.push_back({block.data, block.bytes});
  }
  size_t first = 0;
  while (first < blocks.size()) {
    const int count = static_cast<int>(std::min(blocks.size() - first, kBlocksPerCall));
    const ssize_t got = readv(socket_, &blocks[first], count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Broken("receive from", errno);
    if (got == 0) return Broken("receive from", 0);
    Advance(blocks, first, static_cast<size_t>(got));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Channel::ReceiveText(uint64_t bytes) {
  if (bytes > kTextBytesMax) {
    return absl::DataLossError("receive from " + peer_ + ": a control frame of " +
                               std::to_string(bytes) + " bytes is above the limit of " +
                               std::to_string(kTextBytesMax));
  }
  std::string text(bytes, '\0');
  const Block block{text.data(), text.size()};
  RETURN_IF_ERROR(ReceiveInto(std::span(&block, 1)));
  return text;
}

absl::Status Channel::Discard(uint64_t bytes) {
  std::vector<char> waste(std::min<uint64_t>(bytes, kDiscardBytes));
  while (bytes > 0) {
    const Block block{waste.data(), std::min<uint64_t>(bytes, waste.size())};
    RETURN_IF_ERROR(ReceiveInto(std::span(&block, 1)));
    bytes -= block.bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Channel::TakeSocket() {
  const int socket = fcntl(socket_, F_DUPFD_CLOEXEC, 0);
  if (socket < 0) {
    return absl::ResourceExhaustedError("another descriptor of the connection with " + peer_ +
                                        ": " + ErrnoText(errno));
  }
  taken_ = true;
  return socket;
}

void Channel::Shutdown() {
  if (!taken_) shutdown(socket_, SHUT_RDWR);
}

bool Channel::LooksAlive() const {
  char byte;
  const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return true;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

bool Channel::PeerHasGone() const {
  pollfd peer{socket_, POLLRDHUP, 0};
  return poll(&peer, 1, /*timeout=*/0) > 0 &&
         (peer.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

std::vector<bool> WaitReadable(const std::vector<const Channel*>& channels,
                               std::chrono::milliseconds patience) {
  std::vector<pollfd> waiting;
  for (const Channel* channel : channels) waiting.push_back({channel->socket_, POLLIN, 0});
  // Without channels this is a pause.
  poll(waiting.data(), waiting.size(), static_cast<int>(patience.count()));
  std::vector<bool> readable;
  for (const pollfd& entry : waiting) readable.push_back(entry.revents != 0);
  return readable;
}

}  // namespace taas::comm
