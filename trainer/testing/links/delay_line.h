// Packets that come out later than they went in: a network of ends that each have one wire out and
// one wire in, of a rate, with a delay between them. For kernels that have no netem.
//
// It says which packet is due when; whoever reads and writes packets (delay_relay.cc) asks it.
//
// Ownership: owns the packets that are under way. Threads: one at a time. Errors: none; a packet
// for which a wire has no room is dropped and counted, as a switch drops it.
//
//   line.Put({.from = 0, .to = 1, .bytes = packet}, now);
//   while (std::optional<DelayLine::Due> due = line.Take(now)) Write(due->packet);
//   Sleep(until line.next());

#ifndef TRAINER_TESTING_LINKS_DELAY_LINE_H_
#define TRAINER_TESTING_LINKS_DELAY_LINE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace taas::links {

// What has left an end and has not arrived. More than any connection has under way, so that it is
// TCP's windows and not losses that bound it; an end that sends faster for ever fills no memory.
constexpr size_t kWaitingBytesMax = size_t{64} << 20;

class DelayLine {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Options {
    size_t ends = 2;
    std::chrono::nanoseconds delay{0};
    // Of each wire; 0: a packet takes no time on it.
    int64_t bytes_per_second = 0;
    size_t waiting_bytes_max = kWaitingBytesMax;
  };
  struct Packet {
    size_t from = 0, to = 0;  // Below `ends`.
    std::vector<std::byte> bytes;
  };
  struct Due {
    Packet packet;
    Time when;
  };
  explicit DelayLine(const Options& options);

  // `now` is never before that of an earlier call.
  void Put(Packet packet, Time now);
  // When Take has something to do next.
  std::optional<Time> next() const;
  // A packet that is out by `now`, the earliest first. Those of two ends keep their order.
  std::optional<Due> Take(Time now);
  // Packets that no wire had room for.
  uint64_t dropped() const { return dropped_; }

 private:
  struct Wire {
    Time free;
    size_t waiting_bytes = 0;
  };
  struct UnderWay {
    Packet packet;
    bool has_arrived = false;  // Its first byte is at the wire in.
  };
  std::chrono::nanoseconds OnWire(size_t bytes) const;

  const Options options_;
  std::vector<Wire> out_, in_;
  std::multimap<Time, UnderWay> under_way_;
  uint64_t dropped_ = 0;
};

}  // namespace taas::links

#endif  // TRAINER_TESTING_LINKS_DELAY_LINE_H_
