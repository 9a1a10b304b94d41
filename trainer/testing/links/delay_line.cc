#include "trainer/testing/links/delay_line.h"

#include <algorithm>
#include <utility>

namespace taas::links {

DelayLine::DelayLine(const Options& options)
    : options_(options), out_(options.ends), in_(options.ends) {}

std::chrono::nanoseconds DelayLine::OnWire(size_t bytes) const {
  if (options_.bytes_per_second == 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(static_cast<int64_t>(bytes) * 1'000'000'000 /
                                  options_.bytes_per_second);
}

void DelayLine::Put(Packet packet, Time now) {
  const size_t bytes = packet.bytes.size();
  Wire& out = out_[packet.from];
  if (out.waiting_bytes + bytes > options_.waiting_bytes_max) {
    ++dropped_;
    return;
  }
  out.waiting_bytes += bytes;
  const Time begins = std::max(now, out.free);
  out.free = begins + OnWire(bytes);
  under_way_.emplace(begins + options_.delay, UnderWay{std::move(packet)});
}

std::optional<DelayLine::Time> DelayLine::next() const {
  if (under_way_.empty()) return std::nullopt;
  return under_way_.begin()->first;
}

std::optional<DelayLine::Due> DelayLine::Take(Time now) {
  while (!under_way_.empty() && under_way_.begin()->first <= now) {
    auto first = under_way_.extract(under_way_.begin());
    UnderWay& one = first.mapped();
    const size_t bytes = one.packet.bytes.size();
    if (one.has_arrived) return Due{std::move(one.packet), first.key()};
    out_[one.packet.from].waiting_bytes -= bytes;
    Wire& in = in_[one.packet.to];
    in.free = std::max(in.free, first.key()) + OnWire(bytes);
    one.has_arrived = true;
    first.key() = in.free;
    under_way_.insert(std::move(first));
  }
  return std::nullopt;
}

}  // namespace taas::links
