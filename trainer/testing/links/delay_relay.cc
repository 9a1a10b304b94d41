// A network between namespaces of this machine that delays what goes through it, and, if asked,
// has wires of a rate. Takes root.
//
//   delay_relay --namespaces /proc/self/fd/5,/proc/self/fd/6 --delay-us 5000
//
// Makes an interface `link0` in each namespace (TUN: packets of IP), says "ready", and passes IPv4
// packets on by the last byte of their destination: 1 is the first namespace. Whoever starts it
// gives the interfaces their addresses. It ends when its standard input does, and says in one line
// of JSON how much later than asked packets went out: its own error. Interfaces end with it.

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/command_line.h"
#include "trainer/testing/links/delay_line.h"
#include "trainer/testing/links/enter_namespace.h"

namespace taas::links {
namespace {

using Clock = std::chrono::steady_clock;

// The largest packet of IPv4.
constexpr size_t kPacketBytesMax = 65'535;
// Of whom it is known how late they were: the first million.
constexpr size_t kLateKept = size_t{1} << 20;
// Packets of one end that are read before another end's.
constexpr int kReadInTurn = 64;
// Where an IPv4 packet has its version, and the last byte of its destination.
constexpr size_t kVersionAt = 0, kLastByteAt = 19, kHeadBytes = 20;

// The least nice of all.
constexpr int kFirst = -20;

struct Asked {
  std::vector<std::string> namespaces;
  int64_t delay_us = 5'000;
  int64_t bytes_per_second = 0;
};

// An interface in that namespace; packets that go out by it are read here.
int Tun(const std::string& path) {
  EnterNamespace(path);
  const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  CHECK(tun >= 0) << "open /dev/net/tun: " << std::strerror(errno);
  ifreq wanted{};
  wanted.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(wanted.ifr_name, "link0", IFNAMSIZ - 1);
  CHECK(ioctl(tun, TUNSETIFF, &wanted) == 0) << "an interface: " << std::strerror(errno);
  return tun;
}

class Relay {
 public:
  explicit Relay(const Asked& asked)
      : line_({.ends = asked.namespaces.size(),
               .delay = std::chrono::microseconds(asked.delay_us),
               .bytes_per_second = asked.bytes_per_second}) {
    polled_.push_back({STDIN_FILENO, POLLIN, 0});
    for (const std::string& path : asked.namespaces) polled_.push_back({Tun(path), POLLIN, 0});
    late_.reserve(kLateKept);
  }

  void Run() {
    for (;;) {
      WriteDue();
      timespec wait{};
      const std::optional<Clock::time_point> next = line_.next();
      if (next) {
        const auto left = std::max(std::chrono::nanoseconds(0),
                                   std::chrono::nanoseconds(*next - Clock::now()));
        wait = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
      }
      if (ppoll(polled_.data(), polled_.size(), next ? &wait : nullptr, nullptr) <= 0) continue;
      if (polled_[0].revents != 0) return;
      for (size_t end = 0; end + 1 < polled_.size(); ++end) {
        if (polled_[end + 1].revents != 0) Read(end);
      }
    }
  }

  std::string Report() {
    std::ranges::sort(late_);
    const auto at = [&](double share) {
      if (late_.empty()) return 0.0;
      return late_[static_cast<size_t>(share * static_cast<double>(late_.size() - 1))];
    };
    return nlohmann::json{{"packets", packets_},
                          {"dropped", line_.dropped() + refused_},
                          {"late_us", {{"p50", at(0.5)}, {"p99", at(0.99)}, {"max", at(1)}}}}
        .dump();
  }

 private:
  void Read(size_t end) {
    for (int i = 0; i < kReadInTurn; ++i) {
      const ssize_t count = read(polled_[end + 1].fd, room_.data(), room_.size());
      if (count <= 0) return;
      const auto bytes = std::span(room_).first(static_cast<size_t>(count));
      // IPv6 looks for neighbours by itself.
      if (bytes.size() < kHeadBytes || std::to_integer<int>(bytes[kVersionAt]) >> 4 != 4) continue;
      const auto to = static_cast<size_t>(std::to_integer<uint8_t>(bytes[kLastByteAt])) - 1;
      if (to + 1 >= polled_.size()) continue;
      line_.Put({end, to, {bytes.begin(), bytes.end()}}, Clock::now());
    }
  }

  void WriteDue() {
    while (const auto due = line_.Take(Clock::now())) {
      const auto& bytes = due->packet.bytes;
      const ssize_t count = write(polled_[due->packet.to + 1].fd, bytes.data(), bytes.size());
      // An interface that is not up yet.
      if (count < 0) ++refused_;
      ++packets_;
      if (late_.size() == kLateKept) continue;
      late_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - due->when).count());
    }
  }

  DelayLine line_;
  std::vector<pollfd> polled_;  // Standard input, then the interfaces.
  std::array<std::byte, kPacketBytesMax> room_{};
  std::vector<double> late_;
  uint64_t packets_ = 0, refused_ = 0;
};

int Main(int argc, char** argv) {
  Asked asked;
  CommandLine program({.name = "delay_relay", .about = "A network that delays."});
  program.AddOption("--namespaces", &asked.namespaces, "files of network namespaces: A,B")
      .Required()
      .SplitAt(',');
  program.AddOption("--delay-us", &asked.delay_us, "of a packet, in microseconds").NonNegative();
  program.AddOption("--bytes-per-second", &asked.bytes_per_second, "of a wire; 0: no limit")
      .NonNegative();
  if (const std::optional<int> exit_code = program.Parse(argc, argv)) return *exit_code;
  // Whoever started it may be killed; and a sleep ends when it was told to.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_TIMERSLACK, 1UL);
  // Before whoever computes on this machine, where it is allowed: to wait for a core is to be late.
  setpriority(PRIO_PROCESS, 0, kFirst);
  Relay relay(asked);
  std::puts("ready");
  std::fflush(stdout);
  relay.Run();
  std::puts(relay.Report().c_str());
  return 0;
}

}  // namespace
}  // namespace taas::links

int main(int argc, char** argv) { return taas::links::Main(argc, argv); }
