// One rank's connection to another: bytes in both directions at once, without waiting.
//
// Ownership: owns what it is connected by. Threads: one at a time; Close from any. Errors:
// Unavailable, naming the peer, once the other end has gone or Close was called; what it sent
// before can be received first.
//
//   ASSIGN_OR_RETURN(const size_t count, link.Send(bytes));   // 0: not now
//
// Bytes may be used where they lie, and lent instead of copied, where a link has shared memory; any
// other copies (docs/design/0023).
//
// Who can move nothing waits so that nothing is missed: Sleep, then one more try, then poll for
// what Sleep gave, then Wake.

#ifndef TRAINER_COLLECTIVE_LINK_H_
#define TRAINER_COLLECTIVE_LINK_H_

#include <poll.h>

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas::collective {

class Link {
 public:
  virtual ~Link() = default;

  // "worker-2 at 10.0.0.3:2222", for messages.
  virtual const std::string& peer() const = 0;
  // How many bytes were moved; 0 if one would have to wait.
  virtual absl::StatusOr<size_t> Send(std::span<const std::byte> bytes) = 0;
  virtual absl::StatusOr<size_t> Receive(std::span<std::byte> into) = 0;

  // As Send, of bytes that stay as they are until they are settled: the other end may read them
  // where they lie.
  virtual absl::StatusOr<size_t> Lend(std::span<const std::byte> bytes) { return Send(bytes); }
  // Whether the other end has taken all that was lent. It has not and is gone: Unavailable.
  virtual absl::StatusOr<bool> Settled() { return true; }

  // The first of the bytes that have come, where they lie; none where none have, or where there is
  // no such place: then Receive says more. Whoever has used some of them says so before another
  // call, and has used what they were if that is OK; Unavailable where they were withdrawn.
  virtual absl::StatusOr<std::span<const std::byte>> Peek() {
    return std::span<const std::byte>();
  }
  virtual absl::Status Taken(size_t) { return absl::OkStatus(); }

  struct Wanted {
    bool send = false;
    bool receive = false;
  };
  // What poll returns for when a byte can be moved of what is wanted, or the peer has gone.
  virtual pollfd Sleep(Wanted wanted) = 0;
  virtual void Wake() = 0;

  // Of which poll says POLLRDHUP once the other end has gone, whatever that has sent before; -1:
  // none.
  virtual int socket() const { return -1; }

  // Both ends fail from now on, also in a poll that is under way. What was lent is withdrawn: the
  // other end counts nothing of it any more, and it may be changed.
  virtual void Close() = 0;
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_LINK_H_
