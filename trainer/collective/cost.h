// How long an all-reduce takes over links of a known kind, and which way is the quickest there.
//
// Hockney's model of a message, "The communication challenge for MPP", 1994: a latency, and a time
// for each byte. Here a rank has one wire out and one wire in, each of one byte at a time, as an
// interface of full duplex has; all ranks' are alike, and what lies between them is never full. A
// rank of a ring passes a part on while it comes, so that latencies are hidden behind bytes where
// there are enough of them. For n ranks, S bytes, parts of P = S/n and chunks of C <= P bytes:
//
//   hop    = latency + message + C * byte
//   ring   = (2n-3) * max(hop, P * byte) + latency + message + P * byte
//   star   = 2 * (latency + message) + (n-1) * (C + S) * byte                (C <= S)
//   direct = latency + message + (n-1) * S * byte
//
// cost_test.cc holds it against exchanges of ours over such wires in virtual time, and
// bench/collectives/cost_model.py against sockets over links of known delays and rates.
//
// What is not in it: processors. Where ranks are more than cores, or links are as fast as memory,
// it says less than an exchange takes.
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   const LinkCost link{.latency_s = 50e-6, .byte_s = 8 / 10e9};      // 10 Gbit/s of Ethernet
//   const double seconds = SecondsOf(Way::kRing, {.ranks = 8, .bytes = 1 << 20}, link);

#ifndef TRAINER_COLLECTIVE_COST_H_
#define TRAINER_COLLECTIVE_COST_H_

#include <cstddef>

#include "trainer/collective/plan.h"

namespace taas::collective {

// Seconds. Zeros are a link that costs nothing.
struct LinkCost {
  double latency_s = 0;  // From the moment a byte leaves until it is there.
  double byte_s = 0;     // Of a wire, for one byte: one over its bytes in a second.
  double message_s = 0;  // What a rank spends on a message that it waits for, before what follows.
};

struct Summed {
  int ranks = 2;
  size_t bytes = 0;  // Of the vector, as they go over the wire.
  // A plan's chunk: in float32.
  size_t chunk_bytes = kChunkElements * sizeof(float);
};

// Until the last rank has the sum; 0 for one rank.
double SecondsOf(Way way, const Summed& summed, const LinkCost& link);

// The way of the fewest seconds; of ways that take as long, the one that loads no rank more than
// others.
Way QuickestWay(const Summed& summed, const LinkCost& link);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_COST_H_
