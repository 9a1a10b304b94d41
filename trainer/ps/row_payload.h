// Pieces of a shard of which some are rows, as a payload: a gradient of the rows that a batch
// looked up (PUSH_ROWS), or values of the rows that changed (VALUES with flag 64).
//
//   payload = { rows:u32 width:u32 }   of each piece of the shard, in its order
//             { id:u32 }    of each row of each piece, ascending, from the piece's first row
//             { float32 }   of each piece: rows × width, or all where width is 0
//
// A piece is sent as rows where these and their ids are fewer words than its elements, and all of
// it this way where that is shorter than all elements.
//
// Ownership: RowPayload owns what it packs and borrows whole pieces; RowContents owns all. Threads:
// one at a time. Errors: InvalidArgument that names piece and row; those of Channel.
//
//   RowPayload rows;
//   rows.Pack(pieces, gradients, rows_of_variables);
//   if (rows.saves()) channel.Send(head, rows.payload());
//
//   ASSIGN_OR_RETURN(RowContents contents, ReceiveRows(channel, elements, head.payload_bytes));

#ifndef TRAINER_PS_ROW_PAYLOAD_H_
#define TRAINER_PS_ROW_PAYLOAD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/channel.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/piece_update.h"

namespace taas::ps {

struct RowHead {
  uint32_t rows = 0;
  uint32_t width = 0;  // Elements of a row; 0: all elements of the piece follow.
};

// The rows of each variable; nullopt where it lists none. Empty: no variable does.
using RowsOfVariables = std::span<const std::optional<GradientRows>>;

class RowPayload {
 public:
  // Of one shard. `variables` stay as they are until the payload was sent.
  void Pack(std::span<const Piece> pieces, std::span<const std::span<const float>> variables,
            RowsOfVariables rows);

  // Whether the payload has fewer bytes than all elements have.
  bool saves() const { return bytes_ < whole_bytes_; }
  uint64_t bytes() const { return bytes_; }
  std::span<const comm::ConstBlock> payload() const { return payload_; }

 private:
  // Where the ids of the piece lie among those of the variable, if it is sent as rows.
  static std::optional<GradientRows> RowsOf(const Piece& piece,
                                            const std::optional<GradientRows>& rows);

  std::vector<RowHead> heads_;
  std::vector<int32_t> ids_;
  std::vector<float> packed_;
  std::vector<comm::ConstBlock> payload_;
  uint64_t bytes_ = 0;
  uint64_t whole_bytes_ = 0;
};

// How much follows the heads.
struct RowSizes {
  size_t ids = 0;
  size_t values = 0;
};

// `elements`: of the pieces.
absl::StatusOr<RowSizes> SizesOf(std::span<const RowHead> heads, std::span<const size_t> elements,
                                 uint64_t payload_bytes);
// Of ids as many as the heads say.
absl::Status CheckIds(std::span<const RowHead> heads, std::span<const size_t> elements,
                      std::span<const int32_t> ids);

struct RowContents {
  std::vector<RowHead> heads;  // Of each piece.
  std::vector<int32_t> ids;    // As the heads say, as the next.
  std::vector<float> values;
};
// A payload, checked. After InvalidArgument all of it was read.
absl::StatusOr<RowContents> ReceiveRows(comm::Channel& channel, std::span<const size_t> elements,
                                        uint64_t payload_bytes);
// Of what was checked.
std::vector<PieceGradient> PiecesOf(const RowContents& contents,
                                    std::span<const size_t> elements);

}  // namespace taas::ps

#endif  // TRAINER_PS_ROW_PAYLOAD_H_
