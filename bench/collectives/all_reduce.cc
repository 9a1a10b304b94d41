// All-reduce between processes of this machine, timed: one line of JSON.
//
//   all_reduce --ranks 2 --by memory --way ring --elements 1024 --rounds 2000 --spin
//   all_reduce --ranks 2 --by tcp --namespaces /proc/7/fd/3,/proc/7/fd/4
//     --hosts 10.77.0.1,10.77.0.2 --latency-us 5000 --bytes-per-second 8000000 …
//
// The ranks are forked and connected before the clock runs. Each round begins when the one before
// has ended, on every rank; the numbers are whole, so that each sum is known and every round is
// checked. Seconds are rank 0's. With --namespaces each rank's connections are of a network of its
// own; what trainer/collective/cost.h says of links as they are told is printed beside.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/command_line.h"
#include "trainer/collective/cost.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/group.h"
#include "trainer/collective/link.h"
#include "trainer/collective/memory_link.h"
#include "trainer/collective/plan.h"
#include "trainer/collective/socket_link.h"
#include "trainer/collective/testing/link_pairs.h"
#include "trainer/comm/shared_area.h"
#include "trainer/testing/links/enter_namespace.h"

namespace taas::collective {
namespace {

// A rank of a bench that is started late on a busy machine.
constexpr std::chrono::seconds kPatience{20};
// Rounds that are not counted: pages are touched, caches and branch predictors are warm.
constexpr int kWarmRounds = 3;
// The same over a network, where windows of TCP grow from round to round.
constexpr int kWarmRoundsFar = 12;

struct Asked {
  int ranks = 2;
  std::string by = "memory";
  std::string way = "ring";
  int64_t elements = 1024;
  int64_t chunk = int64_t{kChunkElements};
  int rounds = 100;
  bool spin = false;
  // The vector lies in memory that ranks lend each other.
  bool lend = false;
  // By rank; none: all are of this process's network.
  std::vector<std::string> namespaces, hosts;
  // Of the links between them, for what is said beforehand.
  double latency_us = 0, bytes_per_second = 0;
};

bool IsFar(const Asked& asked) { return !asked.namespaces.empty(); }

// Both ends of a connection between each two ranks, before they are forked.
struct Ends {
  int low = 0, high = 0;
};
using Sockets = std::vector<std::vector<Ends>>;

// Both ends of a connection between two ranks, each in its namespace.
Ends ConnectFar(const Asked& asked, size_t low, size_t high) {
  links::EnterNamespace(asked.namespaces[high]);
  sockaddr_in address{.sin_family = AF_INET};
  CHECK(inet_pton(AF_INET, asked.hosts[high].c_str(), &address.sin_addr) == 1)
      << "no address: " << asked.hosts[high];
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(listening, any, size) == 0 && listen(listening, 1) == 0 &&
        getsockname(listening, any, &size) == 0)
      << "a port of " << asked.hosts[high];
  links::EnterNamespace(asked.namespaces[low]);
  const int calling = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(calling, any, size) == 0) << "connect to " << asked.hosts[high];
  const int accepted = accept(listening, nullptr, nullptr);
  CHECK(accepted >= 0) << "a connection of " << asked.hosts[high];
  close(listening);
  return {calling, accepted};
}

Sockets Connect(const Asked& asked) {
  const auto ranks = static_cast<size_t>(asked.ranks);
  Sockets sockets(ranks, std::vector<Ends>(ranks));
  for (size_t a = 0; a < ranks; ++a) {
    for (size_t b = a + 1; b < ranks; ++b) {
      if (IsFar(asked)) {
        sockets[a][b] = ConnectFar(asked, a, b);
      } else if (asked.by == "tcp") {
        const auto [low, high] = TcpSockets();
        sockets[a][b] = {low, high};
      } else {
        int ends[2];
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) << "a pair of sockets";
        sockets[a][b] = {ends[0], ends[1]};
      }
    }
  }
  return sockets;
}

std::vector<std::unique_ptr<Link>> LinksOf(const Asked& asked, const Sockets& sockets, int rank,
                                           const comm::SharedArea* lent) {
  const auto ranks = static_cast<size_t>(asked.ranks);
  const auto self = static_cast<size_t>(rank);
  std::vector<std::unique_ptr<Link>> links(ranks);
  // All ranks meet in the same order.
  for (size_t a = 0; a < ranks; ++a) {
    for (size_t b = a + 1; b < ranks; ++b) {
      const Ends& ends = sockets[a][b];
      if (self != a && self != b) {
        close(ends.low);
        close(ends.high);
        continue;
      }
      const int own = self == a ? ends.low : ends.high;
      close(self == a ? ends.high : ends.low);
      const size_t peer = self == a ? b : a;
      const std::string name = "rank " + std::to_string(peer);
      if (asked.by != "memory") {
        links[peer] = MakeSocketLink(own, name);
        continue;
      }
      auto link = MakeMemoryLink(own, name, kPatience, lent);
      CHECK(link.ok()) << link.status().ToString();
      links[peer] = *std::move(link);
    }
  }
  return links;
}

Way WayOf(const std::string& name) {
  for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
    if (NameOf(way) == name) return way;
  }
  CHECK(false) << "no such way: " << name;
  return Way::kRing;
}

// Seconds of each round.
std::vector<double> Run(const Asked& asked, const Sockets& sockets, int rank) {
  const Place place{asked.ranks, rank};
  const auto elements = static_cast<size_t>(asked.elements);
  comm::SharedArea area;
  if (asked.lend) area = comm::SharedArea::Make(elements * sizeof(float)).value();
  Group group({.place = place,
               .links = LinksOf(asked, sockets, rank, asked.lend ? &area : nullptr),
               .spins = asked.spin});
  const auto chunk = static_cast<size_t>(asked.chunk);
  Exchange exchange(PlanAllReduce(WayOf(asked.way), place, elements, chunk));
  std::vector<float> own(asked.lend ? 0 : elements);
  const std::span<float> values =
      asked.lend ? std::span(reinterpret_cast<float*>(area.data()), elements) : std::span(own);
  std::vector<double> seconds;
  const float sum = static_cast<float>(asked.ranks * (asked.ranks + 1) / 2);
  const int warm = IsFar(asked) ? kWarmRoundsFar : kWarmRounds;
  for (int round = 0; round < asked.rounds + warm; ++round) {
    std::ranges::fill(values, static_cast<float>(rank + 1));
    const auto began = std::chrono::steady_clock::now();
    exchange.Begin({.epoch = 1, .step = round}, values);
    const absl::Status status = group.Run(exchange);
    const auto ended = std::chrono::steady_clock::now();
    CHECK(status.ok()) << status.ToString();
    CHECK(std::ranges::all_of(values, [&](float value) { return value == sum; })) << "a sum";
    if (round >= warm) {
      seconds.push_back(std::chrono::duration<double>(ended - began).count());
    }
  }
  return seconds;
}

double PredictedSeconds(const Asked& asked) {
  const Summed summed{.ranks = asked.ranks,
                      .bytes = static_cast<size_t>(asked.elements) * sizeof(float),
                      .chunk_bytes = static_cast<size_t>(asked.chunk) * sizeof(float)};
  return SecondsOf(
      WayOf(asked.way), summed,
      {.latency_s = asked.latency_us / 1e6,
       .byte_s = asked.bytes_per_second > 0 ? 1 / asked.bytes_per_second : 0});
}

int Main(int argc, char** argv) {
  Asked asked;
  CommandLine app({.name = "all_reduce", .about = "Sums between processes, timed."});
  app.AddOption("--ranks", &asked.ranks, "processes").Between(2, 64);
  app.AddOption("--by", &asked.by, "what connects them").OneOf({"memory", "socket", "tcp"});
  app.AddOption("--way", &asked.way, "which plan").OneOf({"ring", "star", "direct"});
  app.AddOption("--elements", &asked.elements, "float32 of each").Positive();
  app.AddOption("--chunk", &asked.chunk, "elements of a message").Positive();
  app.AddOption("--rounds", &asked.rounds, "how often").Positive();
  app.AddFlag("--lend", &asked.lend, "by memory: the vector is read where it lies");
  app.AddFlag("--spin", &asked.spin, "spin before a sleep");
  app.AddOption("--namespaces", &asked.namespaces, "files of the ranks' network namespaces: a,b")
      .SplitAt(',');
  app.AddOption("--hosts", &asked.hosts, "their addresses in these").SplitAt(',');
  app.AddOption("--latency-us", &asked.latency_us, "of the links, for the prediction");
  app.AddOption("--bytes-per-second", &asked.bytes_per_second, "of each rank's; 0: no limit");
  if (const std::optional<int> exit_code = app.Parse(argc, argv)) return *exit_code;
  CHECK(asked.namespaces.size() == asked.hosts.size() &&
        (!IsFar(asked) || asked.hosts.size() == static_cast<size_t>(asked.ranks)))
      << "a namespace and an address for each rank";
  CHECK(!IsFar(asked) || asked.by == "tcp") << "ranks of several networks share no memory";
  const Sockets sockets = Connect(asked);
  std::vector<pid_t> children;
  for (int rank = 1; rank < asked.ranks; ++rank) {
    const pid_t child = fork();
    CHECK(child >= 0) << "a process";
    if (child == 0) {
      Run(asked, sockets, rank);
      _exit(0);
    }
    children.push_back(child);
  }
  std::vector<double> seconds = Run(asked, sockets, 0);
  for (const pid_t child : children) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0) << "a rank has failed";
  }
  std::ranges::sort(seconds);
  const auto at = [&](double share) {
    return seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  const nlohmann::json line = {
      {"p50us", at(0.5) * 1e6},
      {"p90us", at(0.9) * 1e6},
      {"predictedUs", PredictedSeconds(asked) * 1e6},
      {"gigabytesPerSecond",
       static_cast<double>(asked.elements) * sizeof(float) / at(0.5) / 1e9}};
  std::printf("%s\n", line.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas::collective

int main(int argc, char** argv) { return taas::collective::Main(argc, argv); }
