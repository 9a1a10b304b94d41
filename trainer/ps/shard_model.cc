#include "trainer/ps/shard_model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trainer/kernels/cpu/loops.h"
#include "trainer/ps/wire.h"

namespace taas::ps {
namespace {

// Elements whose mean is made and applied together: both stay in the first-level cache.
constexpr size_t kMeanBlock = 4096;

// out = mean of the gradients' elements from `at`, summed in the order of `gradients`. `parts` is
// as many pointers, to be written.
void Mean(const std::vector<std::span<const float>>& gradients, size_t at,
          std::vector<const float*>& parts, std::span<float> out) {
  for (size_t g = 0; g < gradients.size(); ++g) parts[g] = gradients[g].data() + at;
  BestLoops().scaled_sum(parts.data(), std::ssize(parts),
                         1.0f / static_cast<float>(gradients.size()), out.data(),
                         std::ssize(out));
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
      elements(values.size() / (1 + optimizer->slots().size())),
      store(std::move(values), request.step()),
      ledger(request.step()) {
  store.Reserve();
  if (shard != 0) return;
  sequencer.emplace(Sequencer::Options{.shards = static_cast<int>(shards.size()),
                                       .committed = FromWire(request.committed()),
                                       .step = request.step(),
                                       .steps = request.max_steps(),
                                       .aggregate = request.aggregate()});
}

void Shard::Model::Apply(const Decision& decision) {
  std::vector<std::span<const float>> staged;
  for (const PushId& push : decision.pushes) staged.push_back(gradients.at(push).values);
  const size_t slots = optimizer->slots().size();
  // One gradient needs no mean: all at once.
  const size_t block = staged.size() == 1 ? std::max<size_t>(elements, 1) : kMeanBlock;
  std::vector<float> mean(staged.size() == 1 ? 0 : kMeanBlock);
  std::vector<const float*> parts(staged.size());
  std::vector<std::span<const float>> slots_in(slots);
  std::vector<std::span<float>> slots_out(slots);
  store.Update(decision.step, [&](std::span<const float> in, std::span<float> out) {
    for (size_t at = 0; at < elements; at += block) {
      const size_t count = std::min(block, elements - at);
      std::span<const float> gradient = staged[0].subspan(at, count);
      if (staged.size() > 1) {
        const std::span<float> sum = std::span(mean).first(count);
        Mean(staged, at, parts, sum);
        gradient = sum;
      }
      for (size_t slot = 0; slot < slots; ++slot) {
        slots_in[slot] = in.subspan((1 + slot) * elements + at, count);
        slots_out[slot] = out.subspan((1 + slot) * elements + at, count);
      }
      optimizer->Apply({.gradient = gradient,
                        .in = in.subspan(at, count),
                        .out = out.subspan(at, count),
                        .slots_in = slots_in,
                        .slots_out = slots_out,
                        .step = decision.step});
    }
  });
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
