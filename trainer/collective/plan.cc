#include "trainer/collective/plan.h"

#include <algorithm>

namespace taas::collective {
namespace {

// The part in pieces of at most `chunk` elements; none of a part that is empty.
std::vector<Part> ChunksOf(const Part& part, size_t chunk) {
  std::vector<Part> chunks;
  for (size_t begin = part.begin; begin < part.end(); begin += chunk) {
    chunks.push_back({begin, std::min(chunk, part.end() - begin)});
  }
  return chunks;
}

// In step s of 2(n-1) rank r sends part r-s and receives part r-s-1, which it sends in the next.
// After n-1 steps it has the whole sum of part r+1.
void PlanRing(size_t chunk, Plan* plan) {
  const auto [ranks, rank] = plan->place;
  const auto part = [&](int number) {
    return ChunksOf(PartOf(plan->elements, ranks, (number % ranks + ranks) % ranks), chunk);
  };
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  // Of the part that is sent in this step the first chunk is reception number `come`.
  size_t come = 0;
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    const std::vector<Part> sent = part(rank - step);
    for (size_t i = 0; i < sent.size(); ++i) {
      plan->sendings.push_back({next, sent[i], step == 0 ? 0 : come + i + 1});
    }
    come = plan->receptions.size();
    for (const Part& received : part(rank - step - 1)) {
      plan->receptions.push_back({before, received,
                                  step < ranks - 2    ? Then::kAdd
                                  : step == ranks - 2 ? Then::kAddLast
                                                      : Then::kTake});
    }
  }
}

void PlanStar(size_t chunk, Plan* plan) {
  const auto [ranks, rank] = plan->place;
  for (const Part& part : ChunksOf({0, plan->elements}, chunk)) {
    if (rank != 0) {
      plan->sendings.push_back({0, part, 0});
      plan->receptions.push_back({0, part, Then::kTake});
      continue;
    }
    for (int peer = 1; peer < ranks; ++peer) {
      plan->receptions.push_back(
          {peer, part, peer + 1 < ranks ? Then::kAdd : Then::kAddLast});
    }
    for (int peer = 1; peer < ranks; ++peer) {
      plan->sendings.push_back({peer, part, plan->receptions.size()});
    }
  }
}

void PlanDirect(size_t chunk, Plan* plan) {
  const auto [ranks, rank] = plan->place;
  plan->adds_at_end = true;
  for (const Part& part : ChunksOf({0, plan->elements}, chunk)) {
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      plan->sendings.push_back({peer, part, 0});
      plan->receptions.push_back({peer, part, Then::kKeep});
    }
  }
}

}  // namespace

std::string_view NameOf(Way way) {
  switch (way) {
    case Way::kRing: return "ring";
    case Way::kStar: return "star";
    case Way::kDirect: return "direct";
  }
  return "";
}

Part PartOf(size_t elements, int ranks, int part) {
  const auto begin = [&](int number) {
    const size_t n = static_cast<size_t>(ranks), i = static_cast<size_t>(number);
    return elements / n * i + std::min(elements % n, i);
  };
  return {begin(part), begin(part + 1) - begin(part)};
}

Plan PlanAllReduce(Way way, Place place, size_t elements, size_t chunk) {
  Plan plan{.place = place, .elements = elements};
  if (place.ranks < 2) return plan;
  switch (way) {
    case Way::kRing: PlanRing(chunk, &plan); break;
    case Way::kStar: PlanStar(chunk, &plan); break;
    case Way::kDirect: PlanDirect(chunk, &plan); break;
  }
  return plan;
}

Plan PlanBroadcast(Place place, int root, const std::vector<int>& receivers, size_t elements,
                   size_t chunk) {
  Plan plan{.place = place, .elements = elements};
  const bool receives = std::ranges::find(receivers, place.rank) != receivers.end();
  for (const Part& part : ChunksOf({0, elements}, chunk)) {
    if (receives) plan.receptions.push_back({root, part, Then::kTake});
    if (place.rank != root) continue;
    for (const int receiver : receivers) plan.sendings.push_back({receiver, part, 0});
  }
  return plan;
}

Plan PlanGather(Place place, std::span<const size_t> sizes, size_t chunk) {
  const auto [ranks, rank] = place;
  Plan plan{.place = place};
  std::vector<Part> parts;
  for (const size_t size : sizes) {
    parts.push_back({plan.elements, size});
    plan.elements += size;
  }
  const auto chunks = [&](int number) {
    return ChunksOf(parts[static_cast<size_t>((number + ranks) % ranks)], chunk);
  };
  // Of the part that is sent in this step the first chunk is reception number `come`.
  size_t come = 0;
  for (int step = 0; step + 1 < ranks; ++step) {
    const std::vector<Part> sent = chunks(rank - step);
    for (size_t i = 0; i < sent.size(); ++i) {
      plan.sendings.push_back({(rank + 1) % ranks, sent[i], step == 0 ? 0 : come + i + 1});
    }
    come = plan.receptions.size();
    for (const Part& received : chunks(rank - step - 1)) {
      plan.receptions.push_back({(rank + ranks - 1) % ranks, received, Then::kTake});
    }
  }
  return plan;
}

}  // namespace taas::collective
