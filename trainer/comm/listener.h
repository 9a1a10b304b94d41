// Accepts connections of other replicas, one thread each. Those of this machine may come by the
// short way (local_socket.h), if `host` is one address.
//
// Ownership: owns its sockets, its threads and the channels while they are served. Destroying it
// shuts every connection down and joins every thread. Threads: `serve` runs on the connection's own
// thread. Errors: Open: ResourceExhausted if the port is taken (message names it), Unavailable
// otherwise.
//
//   ASSIGN_OR_RETURN(auto listener, Listener::Open({.host = "127.0.0.1"},
//                    [&](Channel& channel) { shard.Serve(channel); }));
//   Announce(listener->port());

#ifndef TRAINER_COMM_LISTENER_H_
#define TRAINER_COMM_LISTENER_H_

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "trainer/comm/channel.h"

namespace taas::comm {

// Connections of one listener: replicas of a large job, twice for those that reconnect before their
// old connection was noticed dead.
constexpr size_t kConnectionsMax = 1024;

class Listener {
 public:
  using Serve = std::function<void(Channel& channel)>;
  struct Options {
    std::string host;  // "" listens on all addresses.
    int port = 0;      // 0 takes a free one.
  };
  static absl::StatusOr<std::unique_ptr<Listener>> Open(Options options, Serve serve);
  ~Listener();

  int port() const { return port_; }

 private:
  struct Connection {
    std::unique_ptr<Channel> channel;
    std::thread thread;
    bool finished = false;
  };

  Listener(int socket, int port, Serve serve);
  void Accept(int listening);
  void Start(int socket, const std::string& peer);
  void Reap();

  const int socket_;
  const int local_socket_;  // -1: none.
  const int port_;
  const Serve serve_;
  std::mutex mutex_;
  bool closing_ = false;
  std::condition_variable closing_changed_;
  std::list<Connection> connections_;
  std::thread acceptor_;
  std::thread local_acceptor_;
};

// A listening socket on `host`:`port`, for those who serve it another way.
// "" is all addresses of the machine, of both families.
absl::StatusOr<int> OpenListeningSocket(const std::string& host, int port);
bool IsIpv6(int socket);
absl::StatusOr<int> PortOfSocket(int socket);

}  // namespace taas::comm

#endif  // TRAINER_COMM_LISTENER_H_
