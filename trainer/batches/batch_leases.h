// The batch numbers that are still to be trained, and who has which: the chief's part of "each
// batch once".
//
// A batch that was lent and whose holder is gone goes back, unless it is part of the model already.
// The commit rule (trainer/ps) is what counts a batch once; leases only keep replicas from doing
// one twice in vain.
//
// Ownership: value type. Threads: one at a time. Errors: none.
//
//   leases.Reset(cursor, max_steps);
//   for (int64_t batch : leases.Grant(replica, 16)) ...
//   leases.Reclaim(replica, committed);

#ifndef TRAINER_BATCHES_BATCH_LEASES_H_
#define TRAINER_BATCHES_BATCH_LEASES_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "trainer/batches/batch_pool.h"
#include "trainer/batches/committed_set.h"
#include "trainer/batches/pusher.h"

namespace taas {

// Batches of one grant. More saves calls, fewer keeps the end even: with 16 a call of 0.3 ms is a
// few percent of the work even for a model whose step takes 1 ms.
constexpr int kGrantMax = 16;

class BatchLeases {
 public:
  // Everything below `batches` that is not in `committed` is to be trained; nothing is lent.
  void Reset(const CommittedSet& committed, int64_t batches);
  // Up to `wanted` batches, lowest first; fewer near the end, so that the last ones are shared by
  // `replicas`.
  std::vector<int64_t> Grant(const Pusher& holder, int wanted, int replicas);
  // `holder` is gone: what it had and did not commit can be lent again. Returns how many.
  size_t Reclaim(const Pusher& holder, const CommittedSet& committed);
  // `holder` asks for more: what it had is committed or was dropped by it. Which of both is known
  // with the next committed set, see Settle.
  void Finish(const Pusher& holder);
  const std::set<int64_t>& finished() const { return finished_; }
  // Of `finished`, what is not in `committed`, which was read later, can be lent again. Returns how
  // many.
  size_t Settle(std::set<int64_t> finished, const CommittedSet& committed);
  // Forgets who had what is committed.
  void Trim(const CommittedSet& committed);

  bool available() const { return pool_.available(); }
  size_t lent() const { return lent_.size(); }

 private:
  BatchPool pool_;  // Of what was committed at the Reset.
  std::map<int64_t, Pusher> lent_;
  std::set<int64_t> finished_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_BATCH_LEASES_H_
