// What a rank knows of its epoch by the chief's replies, of which two threads may take in the later
// one first: whether a reply is news, and whether the epoch that it is in is over.
//
// Pure. Ownership: value type. Threads: one at a time. Errors: none.
//
//   if (watch.Learn({.view = 7, .epoch = 3, .done = false}) && watch.over()) Abort(watch.epoch());

#ifndef TRAINER_RING_EPOCH_WATCH_H_
#define TRAINER_RING_EPOCH_WATCH_H_

#include <cstdint>

namespace taas {

class EpochWatch {
 public:
  struct Reply {
    uint64_t view = 0;
    uint32_t epoch = 0;  // That the rank is in, for the chief; 0: none.
    bool done = false;
  };

  uint64_t view() const { return last_.view; }
  // The last that this rank was in.
  uint32_t epoch() const { return epoch_; }
  // For the chief it is in none, or in another one.
  bool over() const { return !done_ && last_.epoch != epoch_; }
  bool in_epoch() const { return in_epoch_; }
  // It is in an epoch, and for nothing.
  bool to_leave() const { return in_epoch_ && over(); }

  // False for a reply that says less than one before it.
  bool Learn(const Reply& reply) {
    if (reply.view < last_.view) return false;
    last_ = reply;
    done_ = done_ || reply.done;
    return true;
  }
  // The chief does not know this process: what it says next is the first.
  void StartOver() { last_ = {}; }

  // This rank has come back from its epoch.
  void Leave() { in_epoch_ = false; }
  // It is told of an epoch by this reply. False if it is none that it did not know, or is over by
  // what it knows besides.
  bool Enter(const Reply& reply) {
    if (reply.epoch <= epoch_ || reply.view < last_.view) return false;
    epoch_ = reply.epoch;
    in_epoch_ = true;
    return true;
  }

 private:
  Reply last_;
  bool done_ = false;
  uint32_t epoch_ = 0;
  bool in_epoch_ = false;  // And it has not come back from it.
};

}  // namespace taas

#endif  // TRAINER_RING_EPOCH_WATCH_H_
