#include "operator/controller/port_source.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(LoopbackPortsTest, NoPortIsHandedOutTwiceAndNoneThatIsInUse) {
  SeededRandom random(1);
  LoopbackPorts ports(random);
  const auto first = ports.Take(6, {});
  ASSERT_EQ(first.size(), 6u);
  const std::set<int32_t> in_use = {first.back() + 1, first.back() + 2};
  SeededRandom same(1);
  LoopbackPorts others(same);
  for (const int32_t port : others.Take(20, in_use)) EXPECT_FALSE(in_use.contains(port));
  for (const int32_t port : ports.Take(6, {})) {
    EXPECT_EQ(std::count(first.begin(), first.end(), port), 0);
  }
}

TEST(LoopbackPortsTest, APortThatSomebodyListensOnIsNotFree) {
  SeededRandom random(2);
  const int32_t port = LoopbackPorts(random).Take(1, {}).at(0);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  SeededRandom same(2);
  EXPECT_NE(LoopbackPorts(same).Take(1, {}).at(0), port);
  close(fd);
}

}  // namespace
}  // namespace taas
