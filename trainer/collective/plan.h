// Which parts of a vector go between which ranks, and in which order, so that in the end every rank
// has the sum of all, or what one of them has, or what each has.
//
// Three ways of the sum, for `n` ranks and a vector of S bytes:
//
//   kRing    each rank sends to the next and receives from the one before: n-1 times a part that
//            is added, n-1 times a part that is the sum (Patarasuk and Yuan, "Bandwidth optimal
//            all-reduce algorithms for clusters of workstations", 2009). 2(n-1) messages one after
//            the other, 2(n-1)/n S bytes sent by each: for large vectors.
//   kStar    rank 0 adds what the others send, in the order of ranks, and sends the sum: 2 messages
//            one after the other, (n-1) S bytes sent by rank 0.
//   kDirect  each sends its vector to each, and adds all in the order of ranks: 1 message, (n-1) S
//            bytes sent by each: for a few numbers.
//
// The order of additions of each element follows from the way, the ranks and the size alone, and
// one rank's result is every rank's, so all have the same bits, and the same again. Parts go in
// chunks, so that a rank of the ring passes on the beginning of a part before its end has come.
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   const Plan plan = PlanAllReduce(Way::kRing, {.ranks = 4, .rank = 1}, elements, kChunkElements);

#ifndef TRAINER_COLLECTIVE_PLAN_H_
#define TRAINER_COLLECTIVE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace taas::collective {

enum class Way : uint8_t { kRing, kStar, kDirect };
std::string_view NameOf(Way way);

struct Place {
  int ranks = 1;
  int rank = 0;
};

// Elements of the vector.
struct Part {
  size_t begin = 0;
  size_t count = 0;

  size_t end() const { return begin + count; }
  bool operator==(const Part&) const = default;
};

struct Sending {
  int peer = 0;
  Part part;
  // It may begin when so many of the plan's receptions are done.
  size_t after = 0;
};

enum class Then : uint8_t {
  kAdd,      // To what is there.
  kAddLast,  // The same; then it is the sum of all.
  kTake,     // In its place.
  kKeep,     // Beside it, until all have come.
};

struct Receiving {
  int peer = 0;
  Part part;
  Then then = Then::kAdd;
};

// What one rank does. Sendings to one peer go in their order; receptions are done in theirs. A part
// that is being sent is not changed before it was sent: what changes it has come from who has it.
struct Plan {
  Place place;
  size_t elements = 0;
  std::vector<Sending> sendings;
  std::vector<Receiving> receptions;
  // Those that are kept are added in the order of ranks, and the own vector in its place.
  bool adds_at_end = false;
};

// 128 KiB: a few chunks of a part are under way while a core's own cache holds the one that is
// added.
constexpr size_t kChunkElements = size_t{32} << 10;

// Of ranks two and more, each element is in one of `ranks` parts that differ by at most one in
// size; parts may be of no elements.
Part PartOf(size_t elements, int ranks, int part);

// `chunk` elements at most go in one message. With one rank there is nothing to do.
Plan PlanAllReduce(Way way, Place place, size_t elements, size_t chunk = kChunkElements);

// To those of `receivers`, which `root` is none of, what `root` has. Whoever is neither has nothing
// to do.
Plan PlanBroadcast(Place place, int root, const std::vector<int>& receivers, size_t elements,
                   size_t chunk = kChunkElements);

// So that every rank has what each has: `sizes` elements of each rank, one rank's behind another's.
// A rank sends its own to the next, and then what came from the one before: n-1 messages one after
// the other, and in all of them the elements of all but the next.
Plan PlanGather(Place place, std::span<const size_t> sizes, size_t chunk = kChunkElements);

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_PLAN_H_
