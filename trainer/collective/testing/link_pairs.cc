#include "trainer/collective/testing/link_pairs.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "operator/base/check.h"
#include "trainer/collective/memory_link.h"
#include "trainer/collective/socket_link.h"

namespace taas::collective {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::pair<int, int> Sockets() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) << "a pair of sockets";
  return {ends[0], ends[1]};
}

LinkPair MakePair(const comm::SharedArea* own, const comm::SharedArea* of_second) {
  const auto [first, second] = Sockets();
  LinkPair pair;
  // Each waits for the other's.
  std::thread other([&pair, of_second, second = second] {
    auto link = MakeMemoryLink(second, "the first", kPatience, of_second);
    CHECK(link.ok()) << link.status().ToString();
    pair.second = *std::move(link);
  });
  auto link = MakeMemoryLink(first, "the second", kPatience, own);
  CHECK(link.ok()) << link.status().ToString();
  pair.first = *std::move(link);
  other.join();
  return pair;
}

}  // namespace

std::pair<int, int> TcpSockets() {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  CHECK(bind(listening, any, size) == 0 && listen(listening, 1) == 0 &&
        getsockname(listening, any, &size) == 0)
      << "a port of the loopback";
  const int calling = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(connect(calling, any, size) == 0) << "a connection of the loopback";
  const int accepted = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  close(listening);
  CHECK(accepted >= 0) << "a connection of the loopback";
  return {calling, accepted};
}

LinkPair MakeSocketPair() {
  const auto [first, second] = Sockets();
  return {MakeSocketLink(first, "the second"), MakeSocketLink(second, "the first")};
}

LinkPair MakeTcpPair() {
  const auto [first, second] = TcpSockets();
  return {MakeSocketLink(first, "the second"), MakeSocketLink(second, "the first")};
}

LinkPair MakeMemoryPair() { return MakePair(nullptr, nullptr); }

LinkPair MakeLendingPair(const comm::SharedArea& first, const comm::SharedArea& second) {
  return MakePair(&first, &second);
}

}  // namespace taas::collective
