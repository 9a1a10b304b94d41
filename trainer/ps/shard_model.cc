#include "trainer/ps/shard_model.h"

#include <utility>

#include "operator/base/status.h"
#include "trainer/ps/piece_update.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

std::vector<size_t> ElementsOf(const wire::ConfigureRequest& request) {
  std::vector<size_t> sizes;
  for (const wire::Piece& piece : request.pieces()) {
    sizes.push_back(static_cast<size_t>(piece.count()));
  }
  return sizes;
}

// The part of `gradient` that is of each of `pieces`.
std::vector<PieceGradient> PartsOf(const Gradient& gradient, std::span<const size_t> pieces) {
  if (gradient.rows) return PiecesOf(*gradient.rows, pieces);
  std::vector<PieceGradient> parts;
  size_t at = 0;
  for (const size_t elements : pieces) {
    parts.push_back({.values = gradient.values.subspan(at, elements)});
    at += elements;
  }
  return parts;
}

}  // namespace

void Gradient::Own() {
  if (lies_with == nullptr) return;
  own.assign(values.begin(), values.end());
  values = own;
  lies_with = nullptr;
}

Shard::Model::Model(const wire::ConfigureRequest& request, std::vector<float> values,
                    std::unique_ptr<Optimizer> optimizer_in)
    : generation(static_cast<uint32_t>(request.generation())),
      shard(request.shard()),
      shards(request.shards().begin(), request.shards().end()),
      optimizer(std::move(optimizer_in)),
      pieces(ElementsOf(request)),
      elements(values.size() / (1 + optimizer->slots().size())),
      store(std::move(values), request.step()),
      changes(pieces.size(), request.step()),
      spare_follower(pieces, optimizer->slots().size()),
      ledger(request.step()) {
  store.Reserve();
  spare_follower.Wrote(store.spare().values.data(), request.step());
  if (shard != 0) return;
  sequencer.emplace(Sequencer::Options{.shards = static_cast<int>(shards.size()),
                                       .committed = FromWire(request.committed()),
                                       .step = request.step(),
                                       .steps = request.max_steps(),
                                       .aggregate = request.aggregate()});
}

void Shard::Model::Apply(const Decision& decision) {
  std::vector<const Gradient*> staged;
  bool rows = false;
  for (const PushId& push : decision.pushes) {
    staged.push_back(&gradients.at(push));
    rows = rows || staged.back()->rows.has_value();
  }
  // Whole gradients are one piece: nothing is to be done anew at the borders.
  const std::vector<size_t> all = {elements};
  const std::vector<size_t>& sizes = rows ? pieces : all;
  std::vector<std::vector<PieceGradient>> parts;
  for (const Gradient* gradient : staged) parts.push_back(PartsOf(*gradient, sizes));
  const size_t slots = optimizer->slots().size();
  std::vector<PieceGradient> of_piece(staged.size());
  std::vector<RowChanges::Rows> changed(pieces.size());
  std::vector<std::span<const float>> slots_in(slots);
  std::vector<std::span<float>> slots_out(slots);
  store.Update(decision.step, [&](std::span<const float> in, std::span<float> out) {
    size_t at = 0;
    for (size_t piece = 0; piece < sizes.size(); ++piece) {
      const size_t count = sizes[piece];
      for (size_t i = 0; i < staged.size(); ++i) of_piece[i] = parts[i][piece];
      for (size_t slot = 0; slot < slots; ++slot) {
        slots_in[slot] = in.subspan((1 + slot) * elements + at, count);
        slots_out[slot] = out.subspan((1 + slot) * elements + at, count);
      }
      RowChanges::Rows behind;
      if (rows && in.data() != out.data()) {
        behind = spare_follower.Behind(out.data(), piece, changes);
      }
      RowChanges::Rows of_update = UpdatePiece(*optimizer, of_piece,
                                               {.in = in.subspan(at, count),
                                                .out = out.subspan(at, count),
                                                .slots_in = slots_in,
                                                .slots_out = slots_out,
                                                .step = decision.step},
                                               behind);
      if (rows) changed[piece] = std::move(of_update);
      at += count;
    }
    spare_follower.Wrote(out.data(), decision.step);
  });
  changes.Add(std::move(changed));
  spare_follower.Follow(changes, store.spare());
  DropUnstaged();
}

void Shard::Model::DropUnstaged() {
  for (auto it = gradients.begin(); it != gradients.end();) {
    if (ledger.holds(it->first)) {
      ++it;
      continue;
    }
    if (!it->second.own.empty()) spare_gradients.push_back(std::move(it->second.own));
    it = gradients.erase(it);
  }
}

absl::Status Refuse(comm::Channel& channel, comm::Refusal refusal, const std::string& sentence) {
  return channel.Send(
      {.type = comm::FrameType::kRefused, .refusal = static_cast<uint32_t>(refusal)}, sentence);
}

absl::StatusOr<bool> SendChanged(comm::Channel& channel, ValuesInfo info,
                                 std::span<const size_t> pieces,
                                 const std::vector<RowChanges::Rows>& changed,
                                 uint32_t generation, const HeldVersion& version) {
  std::span<const float> left = version.reader.values();
  std::vector<Piece> places;
  std::vector<std::span<const float>> values;
  std::vector<std::optional<GradientRows>> rows;
  for (size_t i = 0; i < pieces.size(); ++i) {
    places.push_back({static_cast<int>(i), 0, static_cast<int64_t>(pieces[i])});
    values.push_back(left.first(pieces[i]));
    left = left.subspan(pieces[i]);
    rows.emplace_back();
    if (changed[i].width > 0) rows[i] = GradientRows{changed[i].width, changed[i].ids};
  }
  RowPayload payload;
  payload.Pack(places, values, rows);
  if (!payload.saves()) return false;
  info.rows = true;
  RETURN_IF_ERROR(channel.Send(HeadOf(info, generation), payload.payload()));
  return true;
}

absl::Status SendValues(comm::Channel& channel, comm::FrameHead head,
                        std::shared_ptr<const HeldVersion> version, size_t floats) {
  head.type = comm::FrameType::kValues;
  const size_t bytes = floats * sizeof(float);
  const VersionStore::Reader& reader = version->reader;
  if (bytes > 0 && reader.area().size() > 0) {
    return channel.SendShared(head, reader.area(), bytes, std::move(version));
  }
  const comm::ConstBlock block{reader.values().data(), bytes};
  return channel.Send(head, std::span(&block, 1));
}

}  // namespace taas::ps
