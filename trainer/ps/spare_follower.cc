#include "trainer/ps/spare_follower.h"

#include <algorithm>
#include <span>
#include <utility>

#include "trainer/graph/gradient_rows.h"

namespace taas::ps {

SpareFollower::SpareFollower(std::vector<size_t> pieces, size_t slots)
    : pieces_(std::move(pieces)), slots_(slots) {
  for (const size_t piece : pieces_) {
    starts_.push_back(elements_);
    elements_ += piece;
  }
}

RowChanges::Rows SpareFollower::Behind(const float* buffer, size_t piece,
                                       const RowChanges& changes) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return {};
  const Place& place = found->second[piece];
  if (place.copied < pieces_[piece]) return {};
  return changes.Between(piece, place.step, changes.last());
}

bool SpareFollower::Follows(const RowChanges& changes) const {
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    if (pieces_[piece] >= kElementsMin && changes.LastByRows(piece)) return true;
  }
  return false;
}

void SpareFollower::Wrote(const float* buffer, int64_t step) {
  std::vector<Place>& places = buffers_[buffer];
  places.clear();
  for (const size_t piece : pieces_) places.push_back({.step = step, .copied = piece});
}

void SpareFollower::Follow(const RowChanges& changes, const VersionStore::Spare& spare) {
  if (spare.values.empty()) return;
  std::vector<Place>& places = buffers_[spare.values.data()];
  places.resize(pieces_.size());
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    if (pieces_[piece] >= kElementsMin) FollowPiece(piece, changes, spare, &places[piece]);
  }
}

void SpareFollower::FollowPiece(size_t piece, const RowChanges& changes,
                                const VersionStore::Spare& spare, Place* place) const {
  if (!changes.LastByRows(piece)) {
    *place = {};
    return;
  }
  const int64_t last = changes.last();
  const size_t size = pieces_[piece];
  if (place->copied == size) {
    const int64_t until = std::min(place->step + kUpdates, last);
    const RowChanges::Rows rows = changes.Between(piece, place->step, until);
    if (rows.width > 0) {
      ForRowRuns({.width = rows.width, .ids = rows.ids}, [&](const RowRun& run) {
        Copy(spare, starts_[piece] + run.at, run.count);
      });
      place->step = until;
      return;
    }
    *place = {};
  }
  if (place->copied == 0) place->step = last;
  const size_t count = std::min(kSlice / (1 + slots_), size - place->copied);
  Copy(spare, starts_[piece] + place->copied, count);
  place->copied += count;
}

void SpareFollower::Copy(const VersionStore::Spare& spare, size_t at, size_t count) const {
  for (size_t array = 0; array <= slots_; ++array, at += elements_) {
    std::ranges::copy(spare.current.subspan(at, count), spare.values.subspan(at).begin());
  }
}

}  // namespace taas::ps
