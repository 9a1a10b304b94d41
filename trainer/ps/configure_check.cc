#include "trainer/ps/configure_check.h"

#include <algorithm>
#include <string>

#include "operator/base/status.h"

namespace taas::ps {
namespace {

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError("CONFIGURE " + what);
}

absl::Status CheckPieces(const wire::ConfigureRequest& request, size_t slots, uint64_t bytes) {
  int64_t elements = 0;
  bool moved = false;
  for (const wire::Piece& piece : request.pieces()) {
    if (piece.count() < 0) return Wrong("with a negative piece");
    // Never of a decay that is no number.
    const bool sane = piece.has_decay() ? piece.decay() >= 0 && piece.decay() <= 1 : !moved;
    if (!sane) return Wrong("with moments that are none, or are not the last");
    moved = piece.has_decay();
    // Each term is below the limit, so that no sum of two wraps.
    elements += std::min(piece.count(), kShardElementsMax + 1);
    if (elements > kShardElementsMax) {
      return Wrong("of more than " + std::to_string(kShardElementsMax) + " elements");
    }
  }
  const uint64_t floats = static_cast<uint64_t>(elements) * (1 + slots);
  if (bytes == floats * sizeof(float)) return absl::OkStatus();
  return Wrong("with " + std::to_string(bytes) + " bytes of values for " +
               std::to_string(floats) + " elements of variables and slots");
}

// The numbers of which the shard makes sums and products.
absl::Status CheckCounts(const wire::ConfigureRequest& request) {
  const wire::CommittedBatches& committed = request.committed();
  if (request.step() < 0 || request.max_steps() < 0 || request.aggregate() < 0 ||
      committed.watermark() < 0) {
    return Wrong("with a negative number");
  }
  if (request.has_max_staleness() && (request.max_staleness() < 0 || request.aggregate() != 1)) {
    return Wrong("with a bound on staleness that is negative, or where steps are of " +
                 std::to_string(request.aggregate()) + " gradients and not of one");
  }
  const int64_t left = std::max<int64_t>(0, request.max_steps() - request.step());
  int64_t batches = 0;
  if (__builtin_mul_overflow(left, std::max(1, request.aggregate()), &batches) ||
      std::max({batches, committed.watermark(), request.step(), request.max_steps()}) >
          kBatchesMax) {
    return Wrong("of more than " + std::to_string(kBatchesMax) + " steps or batches");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckConfigure(const wire::ConfigureRequest& request, size_t slots, uint64_t bytes) {
  RETURN_IF_ERROR(CheckPieces(request, slots, bytes));
  if (request.shard() < 0 || request.shard() >= request.shards_size()) {
    return Wrong("of shard " + std::to_string(request.shard()) + " of " +
                 std::to_string(request.shards_size()));
  }
  if (request.generation() < 1 || request.generation() > kGenerationMax) {
    return Wrong("of generation " + std::to_string(request.generation()) +
                 ", which is not between 1 and " + std::to_string(kGenerationMax));
  }
  return CheckCounts(request);
}

}  // namespace taas::ps
