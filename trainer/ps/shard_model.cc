#include "trainer/ps/shard_model.h"

#include <optional>
#include <utility>

#include "operator/base/status.h"
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

std::vector<float> DecaysOf(const wire::ConfigureRequest& request) {
  std::vector<float> decays;
  for (const wire::Piece& piece : request.pieces()) {
    if (piece.has_decay()) decays.push_back(piece.decay());
  }
  return decays;
}

std::optional<int64_t> StalenessOf(const wire::ConfigureRequest& request) {
  return request.has_max_staleness() ? std::optional(request.max_staleness()) : std::nullopt;
}

}  // namespace

void Gradient::Own(std::vector<float> buffer) {
  if (lies_with == nullptr) return;
  own = std::move(buffer);
  own.assign(values.begin(), values.end());
  values = own;
  lies_with = nullptr;
}

int64_t Gradient::bytes() const {
  size_t words = own.capacity();
  if (rows) words += rows->ids.capacity() + rows->values.capacity();
  return static_cast<int64_t>(words * sizeof(float));
}

Shard::Model::Model(const wire::ConfigureRequest& request, std::vector<float> floats,
                    std::unique_ptr<Optimizer> optimizer_in)
    : generation(static_cast<uint32_t>(request.generation())),
      hears_busy(request.hears_busy()),
      shard(request.shard()),
      shards(request.shards().begin(), request.shards().end()),
      optimizer(std::move(optimizer_in)),
      values(std::move(floats), ElementsOf(request), optimizer->slots().size(), request.step(),
             DecaysOf(request)),
      ledger(request.step()) {
  if (request.has_named()) SetNamed(request.named());
  if (shard != 0) return;
  sequencer.emplace(Sequencer::Options{.shards = static_cast<int>(shards.size()),
                                       .committed = FromWire(request.committed()),
                                       .step = request.step(),
                                       .steps = request.max_steps(),
                                       .aggregate = request.aggregate(),
                                       .max_staleness = StalenessOf(request)});
}

void Shard::Model::Apply(const Decision& decision) {
  std::vector<ShardGradient> staged;
  for (const PushId& push : decision.pushes) {
    const Gradient& gradient = gradients.at(push);
    staged.push_back({.values = gradient.values,
                      .rows = gradient.rows ? &*gradient.rows : nullptr});
  }
  values.Update(*optimizer, decision.step, staged);
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

std::vector<float> Shard::Model::TakeSpare() {
  if (spare_gradients.empty()) return {};
  std::vector<float> spare = std::move(spare_gradients.back());
  spare_gradients.pop_back();
  return spare;
}

void Shard::Model::SetNamed(const wire::NamedRequest& request) {
  named.emplace();
  for (const wire::PusherId& pusher : request.pushers()) named->insert(FromWire(pusher));
  std::erase_if(gone, [this](const Pusher& pusher) { return !named->contains(pusher); });
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
