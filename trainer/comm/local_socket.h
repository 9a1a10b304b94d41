// The short way between two processes of one machine: a Unix socket beside a TCP address.
//
// Who listens on a loopback address also listens on an abstract name made from it and the port,
// which others of its network namespace can call. Both ends look that the other is of the same
// user, so that nobody else who takes the name is believed; whoever finds nobody there goes by TCP.
// Other addresses have no such name: anybody could take that of one which is not here.
//
// Ownership: descriptors are the caller's. Threads: any. Errors: -1, there is no short way.
//
//   const int listening = ListenLocally(address);
//   int fd = ConnectLocally(address);

#ifndef TRAINER_COMM_LOCAL_SOCKET_H_
#define TRAINER_COMM_LOCAL_SOCKET_H_

#include <sys/socket.h>

#include <string>

namespace taas::comm {

// `address` is that of a TCP socket.
int ListenLocally(const sockaddr& address, int backlog);
int ConnectLocally(const sockaddr& address);

bool IsLocal(int socket);
// Whether the process at the other end is of this process's user.
bool PeerIsSameUser(int socket);
// For people: "process 4711 of this machine".
std::string LocalPeerName(int socket);

}  // namespace taas::comm

#endif  // TRAINER_COMM_LOCAL_SOCKET_H_
