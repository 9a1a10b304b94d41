// Which shard holds which rows of which variable.
//
// Split by bytes, not by turns: round robin over variables leaves one server with most of the
// model. A variable that is large beside a shard's fair share is cut into one block of rows per
// shard; the rest go, largest first, to the shard with the least bytes. The result depends on the
// input only, so that every process computes the same.
//
// Ownership: value type. Threads: const methods from any thread. Errors: none; `shards` is at least
// 1.
//
//   const Layout layout = SplitByBytes({{784 * 500, 784}, {500, 500}}, 2);
//   for (const Piece& piece : layout.shards[0]) ...

#ifndef TRAINER_PS_LAYOUT_H_
#define TRAINER_PS_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace taas::ps {

// A block of rows of one variable.
struct Piece {
  int variable = 0;
  int64_t offset = 0;  // In elements.
  int64_t count = 0;
  // Of a variable that is not trained but moved: what each update keeps of it.
  std::optional<float> decay{};

  bool operator==(const Piece&) const = default;
};

struct Layout {
  // By shard; the pieces of a shard lie in its memory and on the wire in this order, those that are
  // moved behind all that are trained.
  std::vector<std::vector<Piece>> shards;

  int64_t elements(int shard) const;
};

struct VariableSize {
  int64_t elements = 0;
  int64_t rows = 1;  // Cuts are between rows. 1: never cut.
  std::optional<float> decay{};  // As in Piece.
};

// A variable of fewer bytes than this is not cut: a block more per message costs more than it
// balances.
constexpr int64_t kCutBytesMin = 16 << 10;
// A variable above this share of a shard's fair part is cut; so the largest uncut one unbalances
// the shards by no more than this.
constexpr int64_t kCutShare = 8;

Layout SplitByBytes(const std::vector<VariableSize>& variables, int shards);

}  // namespace taas::ps

#endif  // TRAINER_PS_LAYOUT_H_
