// The values of one shard with the optimizer's slots: how they are updated, held and cut.
//
// A cut for a checkpoint must stay as it is while the training goes on. Where updates are of whole
// gradients and values are many, a thread copies them to the second buffer, and updates stay in
// place behind it (version_copy.h). Where they are of rows of large tables, the second buffer is
// near already, and the next update goes there (spare_follower.h); as it does where values are few,
// or where somebody else reads them too (version_store.h).
//
// Ownership: owns all; readers must not outlive it. Threads: one at a time, but sizes, readers and
// what Copying returns may be used by others meanwhile. Errors: none; gradients of other sizes are
// a programmer error.
//
//   ShardValues values(std::move(floats), {1000, 10}, slots, step);
//   values.Update(optimizer, step + 1, gradients);
//   values.Cut();

#ifndef TRAINER_PS_SHARD_VALUES_H_
#define TRAINER_PS_SHARD_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/row_changes.h"
#include "trainer/ps/row_payload.h"
#include "trainer/ps/spare_follower.h"
#include "trainer/ps/version_copy.h"
#include "trainer/ps/version_store.h"

namespace taas::ps {

// Of all pieces: `rows`, or if there are none `values`.
struct ShardGradient {
  std::span<const float> values{};
  const RowContents* rows = nullptr;
};

class ShardValues {
 public:
  // Values and slots that a thread copies for a cut: fewer are copied with the next update in a
  // millisecond or two.
  static constexpr size_t kCopiedFrom = size_t{1} << 21;

  // `values`: of all `pieces`, which are elements of each, then each of `slots` of them. As many of
  // the last pieces as there are `decays` are moved (piece_update.h): their slots mean nothing.
  ShardValues(std::vector<float> values, std::vector<size_t> pieces, size_t slots, int64_t step,
              std::vector<float> decays = {});

  const std::vector<size_t>& pieces() const { return pieces_; }
  size_t elements() const { return elements_; }  // Without slots.
  // Of those, what is trained: the first.
  size_t trained_elements() const;

  VersionStore::Reader Hold() { return store_.Hold(); }
  // Of each piece what changed after `step`.
  std::vector<RowChanges::Rows> ChangedSince(int64_t step) const { return changes_.Since(step); }
  // Applies the mean of `gradients`, of which there is one at least.
  void Update(const Optimizer& optimizer, int64_t step, std::span<const ShardGradient> gradients);

  // Keeps the current version, instead of the last cut.
  void Cut();
  void ReleaseCut();
  int64_t cut_step() const { return cut_.holds() ? cut_.step() : -1; }  // -1: there is no cut.
  // The copy that must have ended before the cut is held; null if none must.
  std::shared_ptr<const VersionCopy> Copying() const;
  // Of a cut that there is.
  VersionStore::Reader HoldCut() const;

  size_t buffers() const { return store_.buffers(); }

 private:
  // If somebody reads the current version it cannot be updated in place: then it is the cut as
  // well, and the copy's buffer takes the update.
  void CutWhatIsRead();
  // What is updated together: of rows the pieces, of whole gradients all that is trained, or slices
  // of it for a copy, and each piece that is moved.
  std::vector<size_t> PartsOfUpdate(bool rows) const;

  const std::vector<size_t> pieces_;
  const std::vector<float> decays_;
  const size_t slots_;
  const size_t elements_;
  VersionStore store_;
  RowChanges changes_;
  SpareFollower follower_;
  VersionStore::Reader cut_;           // May be what `copy_` writes to.
  std::shared_ptr<VersionCopy> copy_;  // Null once an update came after it, or none is needed.
};

}  // namespace taas::ps

#endif  // TRAINER_PS_SHARD_VALUES_H_
