#include "trainer/collective/cost.h"

#include <algorithm>

namespace taas::collective {

double SecondsOf(Way way, const Summed& summed, const LinkCost& link) {
  if (summed.ranks < 2) return 0;
  const double others = summed.ranks - 1;
  const double all_s = static_cast<double>(summed.bytes) * link.byte_s;
  const double passed_s = link.latency_s + link.message_s;
  const auto chunk_s = [&](size_t part) {
    return static_cast<double>(std::min(summed.chunk_bytes, part)) * link.byte_s;
  };
  switch (way) {
    case Way::kRing: {
      // The largest of parts that differ by an element.
      const size_t part = (summed.bytes + static_cast<size_t>(summed.ranks) - 1) /
                          static_cast<size_t>(summed.ranks);
      const double part_s = static_cast<double>(part) * link.byte_s;
      const double hop_s = passed_s + chunk_s(part);
      return (2 * others - 1) * std::max(hop_s, part_s) + passed_s + part_s;
    }
    // Rank 0 has all first chunks when their bytes have come one after the other; from then on its
    // wire out is the one that is busy.
    case Way::kStar: return 2 * passed_s + others * (chunk_s(summed.bytes) + all_s);
    case Way::kDirect: return passed_s + others * all_s;
  }
  return 0;
}

Way QuickestWay(const Summed& summed, const LinkCost& link) {
  return std::ranges::min({Way::kRing, Way::kDirect, Way::kStar}, {},
                          [&](Way way) { return SecondsOf(way, summed, link); });
}

}  // namespace taas::collective
