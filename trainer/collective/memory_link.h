// A link between two processes of one machine: bytes by shared memory, sleep by a socket.
//
// Each end has an area that it alone writes (trainer/comm/shared_area.h) and the other reads:
//
//   area = numbers:page data:kQueueBytes
//   numbers = layout:u64     kLayout
//             runs:u64       how many runs it has sent; each number on a cache line
//             taken:u64      bytes that it has taken of the other's runs, in all
//             sleeps:u64     odd while it waits for runs or taken of the other to change
//             withdrawn:u64  not 0: what it has lent is not to be counted any more
//             run[kRuns] = at:u64 bytes:u64    the last ones, each at its number modulo kRuns
//
// A run is bytes that follow each other in the data or, where the highest bit of `bytes` says so,
// in the memory that this end lends: a second area of its own, as large as that of the other end.
// So an end writes nothing that the other relies on but these, and one that lies about them is told
// from one that does not: no more can be there than fits. When both have each other's areas an end
// says whether it can read what the other lends; where it cannot, the other copies. Who sleeps is
// woken by a byte on the socket, once for each sleep; a peer that has gone closes it.
//
// What is lent lies in memory that is written again when the link is closed. `withdrawn` is set
// before that and looked at after a read, so a reader knows whether it has read what was lent, as
// with a seqlock (Boehm, "Can seqlocks get along with programming language memory models?", 2012).
//
// Ownership: owns the socket, borrows what it lends. Threads, errors: as link.h; also
// ResourceExhausted for memory of the queues that is not there and DataLoss for an area that is
// none, or numbers that cannot be.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Link> link, MakeMemoryLink(socket, "worker-1", 2s));

#ifndef TRAINER_COLLECTIVE_MEMORY_LINK_H_
#define TRAINER_COLLECTIVE_MEMORY_LINK_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/comm/shared_area.h"
#include "trainer/collective/link.h"

namespace taas::collective {

// Several chunks are on their way, and both directions stay within a core's own cache.
constexpr size_t kQueueBytes = size_t{512} << 10;

// Messages that may be under way at a time.
constexpr size_t kRuns = 64;
// Fewer are copied as soon as the other end is told where they lie.
constexpr size_t kLentBytesMin = size_t{16} << 10;

// How what the other end lends is mapped; a test has it fail.
using MapLent = absl::StatusOr<comm::SharedArea> (*)(int descriptor,
                                                     const comm::SharedArea::Readers& readers);

// Takes a connected Unix socket over, with whose other end the areas are exchanged now: Unavailable
// if nothing comes within `patience`. `lent`: where Lend does not copy, if the other end lends such
// an area, too, and can map this; null: nowhere.
absl::StatusOr<std::unique_ptr<Link>> MakeMemoryLink(int socket, std::string peer,
                                                     std::chrono::milliseconds patience,
                                                     const comm::SharedArea* lent = nullptr,
                                                     MapLent map = &comm::SharedArea::Adopt);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_MEMORY_LINK_H_
