// A link between two processes of one machine: bytes by shared memory, sleep by a socket.
//
// Each end has an area that it alone writes (trainer/comm/shared_area.h) and the other reads:
//
//   area = numbers:page data:kQueueBytes
//   numbers = written:u64  bytes that it has put into its data, in all; each on a cache line
//             taken:u64    bytes that it has taken out of the other's data, in all
//             sleeps:u64   odd while it waits for either number of the other to change
//
// So an end writes nothing that the other relies on but these, and one that lies about them is told
// from one that does not: no more can be there than fits. Who sleeps is woken by a byte on the
// socket, once for each sleep; a peer that has gone closes it.
//
// Ownership: owns the socket. Threads, errors: as link.h; also ResourceExhausted for memory that is
// not there and DataLoss for an area that is none, or numbers that cannot be.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Link> link, MakeMemoryLink(socket, "worker-1", 2s));

#ifndef TRAINER_COLLECTIVE_MEMORY_LINK_H_
#define TRAINER_COLLECTIVE_MEMORY_LINK_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/collective/link.h"

namespace taas::collective {

// Several chunks are on their way, and both directions stay within a core's own cache.
constexpr size_t kQueueBytes = size_t{512} << 10;

// Takes a connected Unix socket over, with whose other end the areas are exchanged now: Unavailable
// if nothing comes within `patience`.
absl::StatusOr<std::unique_ptr<Link>> MakeMemoryLink(int socket, std::string peer,
                                                     std::chrono::milliseconds patience);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_MEMORY_LINK_H_
