#include "trainer/ps/piece_update.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/loops/loops.h"

namespace taas::ps {
namespace {

// Elements whose mean is made and applied together: both stay in the first-level cache.
constexpr size_t kMeanBlock = 4096;
// Elements of which the caches keep nothing until somebody reads them again: 64 MiB.
constexpr size_t kPastCachesFrom = size_t{1} << 24;

void Mean(std::span<const float* const> parts, std::span<float> out) {
  BestLoops().scaled_sum(parts.data(), std::ssize(parts), 1.0f / static_cast<float>(parts.size()),
                         out.data(), std::ssize(out));
}

// The elements from `at` on, zero where no row is listed.
void Expand(const PieceGradient& gradient, size_t at, std::span<float> out) {
  const std::span<const int32_t> ids = gradient.rows->ids;
  const size_t width = gradient.rows->width;
  const size_t end = at + out.size();
  std::ranges::fill(out, 0.0f);
  auto id = std::ranges::lower_bound(ids, static_cast<int32_t>(at / width));
  for (; id != ids.end() && static_cast<size_t>(*id) * width < end; ++id) {
    const size_t row = static_cast<size_t>(*id) * width;
    const size_t from = std::max(row, at), to = std::min(row + width, end);
    const size_t packed = static_cast<size_t>(id - ids.begin()) * width + from - row;
    std::ranges::copy(gradient.values.subspan(packed, to - from), out.subspan(from - at).begin());
  }
}

// Whether all list rows, of one width.
bool AllListRows(std::span<const PieceGradient> gradients) {
  return std::ranges::all_of(gradients, [&](const PieceGradient& gradient) {
    return gradient.rows && gradients[0].rows && gradient.rows->width == gradients[0].rows->width;
  });
}

void Copy(std::span<const float> from, std::span<float> to, const RowChanges::Rows& which) {
  if (which.width > 0) {
    ForRowRuns({.width = which.width, .ids = which.ids}, [&](const RowRun& run) {
      std::ranges::copy(from.subspan(run.at, run.count), to.subspan(run.at).begin());
    });
  } else if (from.size() >= kPastCachesFrom) {
    BestLoops().copy_past_caches(from.data(), to.data(), std::ssize(from));
    FinishPastCaches();
  } else {
    std::ranges::copy(from, to.begin());
  }
}

RowChanges::Rows UpdateRows(const Optimizer& optimizer, std::span<const PieceGradient> gradients,
                            ApplyArgs piece, const RowChanges::Rows& behind) {
  if (piece.out.data() != piece.in.data()) {
    Copy(piece.in, piece.out, behind);
    for (size_t slot = 0; slot < piece.slots_in.size(); ++slot) {
      Copy(piece.slots_in[slot], piece.slots_out[slot], behind);
    }
  }
  const size_t width = gradients[0].rows->width;
  std::vector<std::span<const int32_t>> lists;
  for (const PieceGradient& gradient : gradients) lists.push_back(gradient.rows->ids);
  std::vector<int32_t> united;
  UniteRows(lists, &united);
  piece.rows = GradientRows{.width = width, .ids = united};
  if (gradients.size() == 1) {
    piece.gradient = gradients[0].values;
    optimizer.Apply(piece);
    return {.width = width, .ids = std::move(united)};
  }
  std::vector<float> mean(piece.rows->elements());
  const std::vector<float> zeros(width);
  std::vector<size_t> next(gradients.size());
  std::vector<const float*> parts(gradients.size());
  for (size_t row = 0; row < united.size(); ++row) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      const bool here = next[i] < lists[i].size() && lists[i][next[i]] == united[row];
      parts[i] = here ? gradients[i].values.data() + next[i]++ * width : zeros.data();
    }
    Mean(parts, std::span(mean).subspan(row * width, width));
  }
  piece.gradient = mean;
  optimizer.Apply(piece);
  return {.width = width, .ids = std::move(united)};
}

// The mean of all elements, block by block; one gradient that is whole needs none: all at once.
class BlockMeans {
 public:
  explicit BlockMeans(std::span<const PieceGradient> gradients)
      : gradients_(gradients), parts_(gradients.size()) {
    if (whole()) return;
    mean_.resize(kMeanBlock);
    for (const PieceGradient& gradient : gradients) {
      expanded_.emplace_back(gradient.rows ? kMeanBlock : 0);
    }
  }

  bool whole() const { return gradients_.size() == 1 && !gradients_[0].rows; }

  std::span<const float> Of(size_t at, size_t count) {
    if (whole()) return gradients_[0].values.subspan(at, count);
    for (size_t i = 0; i < gradients_.size(); ++i) {
      parts_[i] = gradients_[i].values.data() + at;
      if (!gradients_[i].rows) continue;
      Expand(gradients_[i], at, std::span(expanded_[i]).first(count));
      parts_[i] = expanded_[i].data();
    }
    const std::span<float> mean = std::span(mean_).first(count);
    if (gradients_.size() == 1) return std::span(expanded_[0]).first(count);
    Mean(parts_, mean);
    return mean;
  }

 private:
  const std::span<const PieceGradient> gradients_;
  std::vector<const float*> parts_;
  std::vector<float> mean_;
  std::vector<std::vector<float>> expanded_;
};

}  // namespace

RowChanges::Rows UpdatePiece(const Optimizer& optimizer, std::span<const PieceGradient> gradients,
                             const ApplyArgs& piece, const RowChanges::Rows& behind) {
  if (AllListRows(gradients) && optimizer.KeepsZeros(piece.step)) {
    return UpdateRows(optimizer, gradients, piece, behind);
  }
  BlockMeans means(gradients);
  const size_t elements = piece.in.size();
  const bool past_caches = piece.out.data() != piece.in.data() && elements >= kPastCachesFrom;
  const size_t block = means.whole() ? std::max<size_t>(elements, 1) : kMeanBlock;
  std::vector<std::span<const float>> slots_in(piece.slots_in.size());
  std::vector<std::span<float>> slots_out(piece.slots_out.size());
  for (size_t at = 0; at < elements; at += block) {
    const size_t count = std::min(block, elements - at);
    for (size_t slot = 0; slot < slots_in.size(); ++slot) {
      slots_in[slot] = piece.slots_in[slot].subspan(at, count);
      slots_out[slot] = piece.slots_out[slot].subspan(at, count);
    }
    optimizer.Apply({.gradient = means.Of(at, count),
                     .in = piece.in.subspan(at, count),
                     .out = piece.out.subspan(at, count),
                     .slots_in = slots_in,
                     .slots_out = slots_out,
                     .step = piece.step,
                     .past_caches = past_caches});
  }
  return {};
}

void MovePiece(float decay, std::span<const PieceGradient> gradients, std::span<const float> in,
               std::span<float> out) {
  BlockMeans means(gradients);
  for (size_t at = 0; at < in.size(); at += kMeanBlock) {
    const std::span<const float> mean = means.Of(at, std::min(kMeanBlock, in.size() - at));
    for (size_t i = 0; i < mean.size(); ++i) out[at + i] = decay * in[at + i] + mean[i];
  }
}

}  // namespace taas::ps
