// What the chief of a ring does next about its epochs: one decision over who is here and where they
// are. Pure; ring_desk.h looks, asks here, and does it.
//
// Ownership: value types. Threads: any. Errors: none.
//
//   switch (NextRingAction(view)) …

#ifndef TRAINER_RING_RING_ACTION_H_
#define TRAINER_RING_RING_ACTION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace taas {

// A training replica that has joined and is not lost.
struct RankView {
  bool in_epoch = false;  // The last one.
  bool waiting = false;   // It is in no epoch, and says so.
  // Of one in the epoch that is over: it has been heard of since, or may still be in time.
  bool answers = true;
};

struct RingView {
  bool begun = false;          // There was an epoch.
  bool over = false;           // And it has ended.
  size_t gone = 0;             // Of its ranks, how many are not here any more.
  std::vector<RankView> here;  // The chief's first.
  size_t expected = 1;         // Of the first epoch.
  size_t min = 1, max = 1;
  // Those who are still expected have had the time to come.
  bool gathered = false;
};

enum class RingAction : uint8_t {
  kGoOn,  // The epoch is in force.
  kEnd,   // It is over: a rank has left it or is gone, or another one is to join.
  kWait,  // For ranks that end their step, or that are too few.
  kForm,  // The next: of those who wait, at most `max`.
};

RingAction NextRingAction(const RingView& view);
// "wait".
std::string_view NameOf(RingAction action);

}  // namespace taas

#endif  // TRAINER_RING_RING_ACTION_H_
