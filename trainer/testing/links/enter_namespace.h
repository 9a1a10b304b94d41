// The network that this thread is in, for programs that stand at several ends of a bad link
// (bad_net.py makes namespaces and says by which files they are found).
//
// Errors: a namespace that cannot be entered ends the program.

#ifndef TRAINER_TESTING_LINKS_ENTER_NAMESPACE_H_
#define TRAINER_TESTING_LINKS_ENTER_NAMESPACE_H_

#include <string>

namespace taas::links {

// For all that this thread, and what it starts, does with the network from now on; sockets that
// there are stay where they were made. `file`: "/proc/7/fd/5", "/run/netns/left". Takes root.
void EnterNamespace(const std::string& file);

}  // namespace taas::links

#endif  // TRAINER_TESTING_LINKS_ENTER_NAMESPACE_H_
