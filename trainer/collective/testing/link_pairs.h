// Both ends of a link in one process.

#ifndef TRAINER_COLLECTIVE_TESTING_LINK_PAIRS_H_
#define TRAINER_COLLECTIVE_TESTING_LINK_PAIRS_H_

#include <memory>
#include <utility>

#include "trainer/collective/link.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {

using LinkPair = std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>>;

// Connected over the loopback, by a port that the system chooses.
std::pair<int, int> TcpSockets();

// A Unix socket's.
LinkPair MakeSocketPair();
LinkPair MakeTcpPair();
LinkPair MakeMemoryPair();
// Each end lends of an area, which outlives it.
LinkPair MakeLendingPair(const comm::SharedArea& first, const comm::SharedArea& second);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_TESTING_LINK_PAIRS_H_
