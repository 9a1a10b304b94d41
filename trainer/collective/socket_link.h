// A link by a stream socket, TCP's or one of this machine.

#ifndef TRAINER_COLLECTIVE_SOCKET_LINK_H_
#define TRAINER_COLLECTIVE_SOCKET_LINK_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/collective/link.h"

namespace taas::collective {

// Takes a connected socket over.
std::unique_ptr<Link> MakeSocketLink(int socket, std::string peer);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_SOCKET_LINK_H_
