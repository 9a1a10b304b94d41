#include "trainer/ps/row_payload.h"

#include <algorithm>
#include <string>

#include "operator/base/status.h"

namespace taas::ps {
namespace {

constexpr size_t kWordsMax = comm::kPayloadBytesMax / sizeof(float);

std::string NameOf(size_t piece) { return "piece " + std::to_string(piece); }

size_t ValuesOf(const RowHead& head, size_t elements) {
  return head.width == 0 ? elements : size_t{head.rows} * head.width;
}

}  // namespace

std::optional<GradientRows> RowPayload::RowsOf(const Piece& piece,
                                            const std::optional<GradientRows>& rows) {
  // Pieces are cut between rows.
  if (!rows || rows->width == 0) return std::nullopt;
  const int64_t width = static_cast<int64_t>(rows->width);
  const auto first = std::ranges::lower_bound(rows->ids, piece.offset / width);
  const auto last = std::ranges::lower_bound(rows->ids, (piece.offset + piece.count) / width);
  const int64_t count = last - first;
  if (count * (width + 1) >= piece.count) return std::nullopt;
  return GradientRows{.width = rows->width, .ids = {first, last}};
}

void RowPayload::Pack(std::span<const Piece> pieces,
                      std::span<const std::span<const float>> variables, RowsOfVariables rows) {
  heads_.assign(pieces.size(), {});
  ids_.clear();
  packed_.clear();
  whole_bytes_ = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t variable = static_cast<size_t>(pieces[i].variable);
    whole_bytes_ += static_cast<uint64_t>(pieces[i].count) * sizeof(float);
    const auto listed = RowsOf(pieces[i], rows.empty() ? std::nullopt : rows[variable]);
    if (!listed) continue;
    heads_[i] = {static_cast<uint32_t>(listed->ids.size()), static_cast<uint32_t>(listed->width)};
    const int32_t first = static_cast<int32_t>(pieces[i].offset / heads_[i].width);
    for (const int32_t id : listed->ids) ids_.push_back(id - first);
    ForRowRuns(*listed, [&](const RowRun& run) {
      const std::span<const float> values = variables[variable].subspan(run.at, run.count);
      packed_.insert(packed_.end(), values.begin(), values.end());
    });
  }
  // Only now does `packed_` stay where it is.
  payload_ = {{heads_.data(), heads_.size() * sizeof(RowHead)},
              {ids_.data(), ids_.size() * sizeof(int32_t)}};
  size_t packed = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t values = ValuesOf(heads_[i], static_cast<size_t>(pieces[i].count));
    const float* const from =
        heads_[i].width > 0 ? packed_.data() + packed
                            : variables[static_cast<size_t>(pieces[i].variable)].data() +
                                  pieces[i].offset;
    if (heads_[i].width > 0) packed += values;
    payload_.push_back({from, values * sizeof(float)});
  }
  bytes_ = 0;
  for (const comm::ConstBlock& block : payload_) bytes_ += block.bytes;
}

absl::StatusOr<RowSizes> SizesOf(std::span<const RowHead> heads, std::span<const size_t> elements,
                                 uint64_t payload_bytes) {
  RowSizes sizes;
  for (size_t i = 0; i < heads.size(); ++i) {
    const auto [rows, width] = heads[i];
    const bool fits = width == 0 ? rows == 0
                                 : elements[i] % width == 0 && rows <= elements[i] / width;
    if (!fits) {
      return absl::InvalidArgumentError(NameOf(i) + " has " + std::to_string(elements[i]) +
                                        " elements here, the payload has " + std::to_string(rows) +
                                        " rows of " + std::to_string(width));
    }
    const size_t values = ValuesOf(heads[i], elements[i]);
    // What no frame holds need not be added up, and no sum wraps.
    if (values > kWordsMax - sizes.values) {
      return absl::InvalidArgumentError(NameOf(i) + " has " + std::to_string(values) +
                                        " elements, more than a frame holds with those before");
    }
    sizes.ids += rows;
    sizes.values += values;
  }
  const uint64_t bytes = heads.size_bytes() + sizes.ids * sizeof(int32_t) +
                         sizes.values * sizeof(float);
  if (bytes == payload_bytes) return sizes;
  return absl::InvalidArgumentError("a payload of " + std::to_string(sizes.ids) + " rows has " +
                                    std::to_string(payload_bytes) + " bytes, not " +
                                    std::to_string(bytes));
}

absl::Status CheckIds(std::span<const RowHead> heads, std::span<const size_t> elements,
                      std::span<const int32_t> ids) {
  for (size_t i = 0; i < heads.size(); ++i) {
    const std::span<const int32_t> own = ids.first(heads[i].rows);
    ids = ids.subspan(own.size());
    for (size_t row = 0; row < own.size(); ++row) {
      const size_t rows = elements[i] / heads[i].width;
      if (own[row] < 0 || static_cast<size_t>(own[row]) >= rows) {
        return absl::InvalidArgumentError(NameOf(i) + " has " + std::to_string(rows) +
                                          " rows here, the payload has row " +
                                          std::to_string(own[row]));
      }
      if (row > 0 && own[row] <= own[row - 1]) {
        return absl::InvalidArgumentError("rows of " + NameOf(i) + " do not ascend: " +
                                          std::to_string(own[row]) + " comes after " +
                                          std::to_string(own[row - 1]));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RowContents> ReceiveRows(comm::Channel& channel, std::span<const size_t> elements,
                                        uint64_t payload_bytes) {
  RowContents contents;
  contents.heads.resize(elements.size());
  const std::span<RowHead> heads = contents.heads;
  if (payload_bytes < heads.size_bytes()) {
    RETURN_IF_ERROR(channel.Discard(payload_bytes));
    return absl::InvalidArgumentError("rows of " + std::to_string(payload_bytes) +
                                      " bytes for " + std::to_string(heads.size()) + " pieces");
  }
  const comm::Block first{heads.data(), heads.size_bytes()};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&first, 1)));
  const auto sizes = SizesOf(heads, elements, payload_bytes);
  if (!sizes.ok()) {
    RETURN_IF_ERROR(channel.Discard(payload_bytes - heads.size_bytes()));
    return sizes.status();
  }
  contents.ids.resize(sizes->ids);
  contents.values.resize(sizes->values);
  const comm::Block rest[] = {{contents.ids.data(), sizes->ids * sizeof(int32_t)},
                              {contents.values.data(), sizes->values * sizeof(float)}};
  RETURN_IF_ERROR(channel.ReceiveInto(rest));
  RETURN_IF_ERROR(CheckIds(heads, elements, contents.ids));
  return contents;
}

std::vector<PieceGradient> PiecesOf(const RowContents& contents,
                                    std::span<const size_t> elements) {
  std::span<const int32_t> ids = contents.ids;
  std::span<const float> values = contents.values;
  std::vector<PieceGradient> pieces;
  for (size_t i = 0; i < contents.heads.size(); ++i) {
    const RowHead& head = contents.heads[i];
    const size_t count = ValuesOf(head, elements[i]);
    PieceGradient piece{.values = values.first(count)};
    if (head.width > 0) piece.rows = GradientRows{.width = head.width, .ids = ids.first(head.rows)};
    ids = ids.subspan(head.rows);
    values = values.subspan(count);
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace taas::ps
