// Keeps a shard's spare buffer near the current values, where updates change few rows of a large
// table: the update beside a cut or a reply then copies the rows that the spare lacks and not all.
//
// With each update the spare gets at most the rows of two updates that it lacks. One that lacks
// more than is known of the updates gets everything anew, a slice with each update; the rows that
// change meanwhile come after. Pieces that are small, or whose gradients are whole, are let be.
//
// Ownership: borrows the sizes' meaning only; knows buffers by their address. Threads: that of the
// updates. Errors: none.
//
//   SpareFollower follower(pieces, slots);
//   RowChanges::Rows behind = follower.Behind(out.data(), piece, changes);  // before an update,
//   follower.Wrote(out.data(), step);                                       // after it, when
//   follower.Follow(changes, store.spare());                                // `changes` has it.

#ifndef TRAINER_PS_SPARE_FOLLOWER_H_
#define TRAINER_PS_SPARE_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trainer/ps/row_changes.h"
#include "trainer/ps/version_store.h"

namespace taas::ps {

class SpareFollower {
 public:
  // Elements of a piece that is followed: copying fewer takes a millisecond.
  static constexpr size_t kElementsMin = size_t{1} << 21;
  // Elements that are copied with an update while the spare gets everything: 32 MiB in some
  // milliseconds, so that a gigabyte is there after 32 updates.
  static constexpr size_t kSlice = size_t{1} << 23;
  // The rows of so many updates are copied with one: more than come.
  static constexpr int64_t kUpdates = 2;

  // `pieces`: elements of each. A buffer has all pieces, then each slot of them.
  SpareFollower(std::vector<size_t> pieces, size_t slots);

  // What the buffer lacks of the values after the last update that `changes` has.
  RowChanges::Rows Behind(const float* buffer, size_t piece, const RowChanges& changes) const;
  // Whether it keeps the spare near, by what the last update was.
  bool Follows(const RowChanges& changes) const;
  // The buffer has the values of `step`.
  void Wrote(const float* buffer, int64_t step);
  // After each update, which `changes` has.
  void Follow(const RowChanges& changes, const VersionStore::Spare& spare);

 private:
  // Of one piece of a buffer.
  struct Place {
    int64_t step = -1;  // Whose values it has; before `copied`, if that is less than the piece.
    size_t copied = 0;
  };
  void FollowPiece(size_t piece, const RowChanges& changes, const VersionStore::Spare& spare,
                   Place* place) const;
  // Of the values and the slots.
  void Copy(const VersionStore::Spare& spare, size_t at, size_t count) const;

  const std::vector<size_t> pieces_;
  const size_t slots_;
  std::vector<size_t> starts_;  // Of each piece.
  size_t elements_ = 0;         // Of the values, without slots.
  std::map<const float*, std::vector<Place>> buffers_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_SPARE_FOLLOWER_H_
