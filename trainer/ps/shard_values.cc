#include "trainer/ps/shard_values.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "operator/base/check.h"
#include "trainer/ps/piece_update.h"

namespace taas::ps {
namespace {

// The part of `gradient` that is of each of `parts`, which are `elements` together. That sizes
// agree was looked at where it came in; what did not would be written outside of the model.
std::vector<PieceGradient> Split(const ShardGradient& gradient, std::span<const size_t> parts,
                                 size_t elements) {
  CHECK(gradient.rows != nullptr || gradient.values.size() == elements)
      << "a gradient of " << gradient.values.size() << " elements for " << elements;
  if (gradient.rows != nullptr) return PiecesOf(*gradient.rows, parts);
  std::vector<PieceGradient> split;
  size_t at = 0;
  for (const size_t elements : parts) {
    split.push_back({.values = gradient.values.subspan(at, elements)});
    at += elements;
  }
  return split;
}

}  // namespace

ShardValues::ShardValues(std::vector<float> values, std::vector<size_t> pieces, size_t slots,
                         int64_t step, std::vector<float> decays)
    : pieces_(std::move(pieces)),
      decays_(std::move(decays)),
      slots_(slots),
      elements_(values.size() / (1 + slots)),
      store_(std::move(values), step),
      changes_(pieces_.size(), step),
      follower_(pieces_, slots) {
  CHECK(std::accumulate(pieces_.begin(), pieces_.end(), size_t{0}) == elements_)
      << "a shard of " << elements_ << " elements has other pieces";
  store_.Reserve();
  follower_.Wrote(store_.spare().values.data(), step);
}

size_t ShardValues::trained_elements() const {
  return std::accumulate(pieces_.begin(), pieces_.end() - std::ssize(decays_), size_t{0});
}

void ShardValues::Update(const Optimizer& optimizer, int64_t step,
                         std::span<const ShardGradient> gradients) {
  CutWhatIsRead();
  const bool rows = std::ranges::any_of(
      gradients, [](const ShardGradient& gradient) { return gradient.rows != nullptr; });
  const std::vector<size_t> sizes = PartsOfUpdate(rows);
  std::vector<std::vector<PieceGradient>> parts;
  for (const ShardGradient& gradient : gradients) {
    parts.push_back(Split(gradient, sizes, elements_));
  }
  std::vector<PieceGradient> of_part(gradients.size());
  std::vector<RowChanges::Rows> changed(pieces_.size());
  std::vector<std::span<const float>> slots_in(slots_);
  std::vector<std::span<float>> slots_out(slots_);
  store_.Update(step, [&](std::span<const float> in, std::span<float> out) {
    const bool in_place = in.data() == out.data();
    size_t at = 0;
    for (size_t part = 0; part < sizes.size(); ++part) {
      const size_t count = sizes[part];
      if (copy_ != nullptr && in_place) copy_->Await(at + count);
      for (size_t i = 0; i < gradients.size(); ++i) of_part[i] = parts[i][part];
      const size_t from_end = sizes.size() - part;
      if (from_end <= decays_.size()) {
        MovePiece(decays_[decays_.size() - from_end], of_part, in.subspan(at, count),
                  out.subspan(at, count));
        at += count;
        continue;
      }
      for (size_t slot = 0; slot < slots_; ++slot) {
        slots_in[slot] = in.subspan((1 + slot) * elements_ + at, count);
        slots_out[slot] = out.subspan((1 + slot) * elements_ + at, count);
      }
      RowChanges::Rows behind;
      if (rows && !in_place) behind = follower_.Behind(out.data(), part, changes_);
      RowChanges::Rows of_update = UpdatePiece(optimizer, of_part,
                                               {.in = in.subspan(at, count),
                                                .out = out.subspan(at, count),
                                                .slots_in = slots_in,
                                                .slots_out = slots_out,
                                                .step = step},
                                               behind);
      if (rows) changed[part] = std::move(of_update);
      at += count;
    }
    follower_.Wrote(out.data(), step);
  });
  copy_ = nullptr;
  changes_.Add(std::move(changed));
  follower_.Follow(changes_, store_.spare());
}

void ShardValues::Cut() {
  ReleaseCut();
  const bool copied = elements_ * (1 + slots_) >= kCopiedFrom && !follower_.Follows(changes_);
  auto spare = copied ? store_.HoldSpare() : std::nullopt;
  if (!spare) {
    cut_ = store_.Hold();
    return;
  }
  cut_ = std::move(spare->reader);
  copy_ = std::make_shared<VersionCopy>(spare->from, spare->to, 1 + slots_);
}

void ShardValues::ReleaseCut() {
  if (copy_ != nullptr) copy_->Stop();
  copy_ = nullptr;
  cut_ = {};
}

std::shared_ptr<const VersionCopy> ShardValues::Copying() const {
  if (copy_ == nullptr || copy_->ended()) return nullptr;
  return copy_;
}

VersionStore::Reader ShardValues::HoldCut() const {
  CHECK(cut_.holds()) << "a cut is held that there is not";
  return cut_.Another();
}

void ShardValues::CutWhatIsRead() {
  VersionStore::Reader current = store_.Hold();
  const bool same = cut_.holds() && cut_.step() == current.step();
  if (!same || current.alone() || !cut_.alone()) return;
  if (copy_ != nullptr) copy_->Stop();
  copy_ = nullptr;
  cut_ = std::move(current);
}

std::vector<size_t> ShardValues::PartsOfUpdate(bool rows) const {
  if (rows) return pieces_;
  const auto moved = pieces_.end() - std::ssize(decays_);
  const size_t trained = std::accumulate(pieces_.begin(), moved, size_t{0});
  std::vector<size_t> parts;
  if (Copying() == nullptr) {
    parts.push_back(trained);
  } else {
    parts.assign(trained / VersionCopy::kSlice, VersionCopy::kSlice);
    if (const size_t left = trained % VersionCopy::kSlice; left > 0) parts.push_back(left);
  }
  parts.insert(parts.end(), moved, pieces_.end());
  return parts;
}

}  // namespace taas::ps
