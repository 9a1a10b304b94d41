#include "trainer/comm/local_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace taas::comm {
namespace {

constexpr int kBacklog = 4;
// Nobody's on Debian, and not the kernel's name for unknown ones.
constexpr uid_t kAnotherUser = 65533;

union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

Address Four(const std::string& host, uint16_t port) {
  Address address{};
  address.four.sin_family = AF_INET;
  address.four.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, host.c_str(), &address.four.sin_addr), 1);
  return address;
}

// Nobody listens there by TCP; names are all that is taken.
uint16_t SomePort() {
  static const uint16_t port = static_cast<uint16_t>(std::random_device{}());
  return port;
}

TEST(LocalSocketTest, LoopbackAddressesHaveANameWhileSomebodyListens) {
  Address six{};
  six.six.sin6_family = AF_INET6;
  six.six.sin6_port = htons(SomePort());
  six.six.sin6_addr = in6addr_loopback;
  for (const Address& address : {Four("127.0.0.1", SomePort()), Four("127.9.8.7", SomePort()),
                                 six}) {
    EXPECT_EQ(ConnectLocally(address.any), -1);
    const int listening = ListenLocally(address.any, kBacklog);
    ASSERT_GE(listening, 0);
    EXPECT_EQ(ListenLocally(address.any, kBacklog), -1);
    const int caller = ConnectLocally(address.any);
    ASSERT_GE(caller, 0);
    EXPECT_TRUE(IsLocal(caller));
    close(caller);
    close(listening);
    EXPECT_EQ(ConnectLocally(address.any), -1);
  }
}

// Anybody could take the name of an address that is not this machine's.
TEST(LocalSocketTest, OtherAddressesHaveNone) {
  for (const char* host : {"0.0.0.0", "10.1.2.3", "192.168.0.1", "128.0.0.1"}) {
    EXPECT_EQ(ListenLocally(Four(host, SomePort()).any, kBacklog), -1) << host;
  }
}

// Ends 0 if it took the name and did not believe the caller.
[[noreturn]] void PretendToBeTheShard(const Address& address, int ready) {
  const int listening = setuid(kAnotherUser) == 0 ? ListenLocally(address.any, kBacklog) : -1;
  const char byte = 0;
  if (listening < 0 || write(ready, &byte, 1) != 1) _exit(2);
  const int caller = accept(listening, nullptr, nullptr);
  _exit(caller >= 0 && !PeerIsSameUser(caller) ? 0 : 1);
}

TEST(LocalSocketTest, NobodyOfAnotherUserIsBelieved) {
  if (geteuid() != 0) GTEST_SKIP() << "needs: root";  // Only root can be another user.
  const Address address = Four("127.0.0.1", SomePort());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t stranger = fork();
  if (stranger == 0) PretendToBeTheShard(address, ready[1]);
  char byte = 1;
  close(ready[1]);
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(ConnectLocally(address.any), -1);
  int status = -1;
  ASSERT_EQ(waitpid(stranger, &status, 0), stranger);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(ready[0]);
}

}  // namespace
}  // namespace taas::comm
