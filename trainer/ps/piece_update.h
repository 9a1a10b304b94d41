// The update of one piece of a model by the mean of the gradients that make a step.
//
// A gradient is of all elements of the piece, or of rows that it lists. Where all list rows, and
// the optimizer leaves alone what has a gradient of 0, the rows of all of them are updated and
// nothing else. The bits are those of whole gradients in any case.
//
// A large piece that is updated out of place is written past the caches: nobody reads it soon, and
// the memory has a fourth less to do.
//
// Ownership: borrows all. Threads: any, of different pieces. Errors: none; gradients of other sizes
// are a programmer error.
//
// What is not trained but moved, such as the moments of batch normalization, is moved by each
// update instead: a gradient of it is what a step adds to what is left of it.
//
//   UpdatePiece(optimizer, gradients, {.in = values, .out = values, .step = 7});

#ifndef TRAINER_PS_PIECE_UPDATE_H_
#define TRAINER_PS_PIECE_UPDATE_H_

#include <optional>
#include <span>

#include "trainer/graph/gradient_rows.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/row_changes.h"

namespace taas::ps {

struct PieceGradient {
  // Of all elements of the piece, or of the rows, one after the other.
  std::span<const float> values;
  std::optional<GradientRows> rows{};  // Counted from the piece's first.
};

// `gradients`, at least one, are added in their order. `piece` says all but the gradient. `behind`
// is what its outputs lack of its inputs, if they are not the same. Returns what changed.
RowChanges::Rows UpdatePiece(const Optimizer& optimizer, std::span<const PieceGradient> gradients,
                             const ApplyArgs& piece, const RowChanges::Rows& behind = {});

// out = decay * in + the mean of `gradients`; `in` and `out` may be the same.
void MovePiece(float decay, std::span<const PieceGradient> gradients, std::span<const float> in,
               std::span<float> out);

}  // namespace taas::ps

#endif  // TRAINER_PS_PIECE_UPDATE_H_
