#include "trainer/ring/ring_action.h"

#include <algorithm>

namespace taas {
namespace {

RingAction WhileInForce(const RingView& view) {
  const auto left = [](const RankView& rank) { return rank.in_epoch && rank.waiting; };
  if (view.gone > 0 || std::ranges::any_of(view.here, left)) return RingAction::kEnd;
  const auto joins = [](const RankView& rank) { return !rank.in_epoch && rank.waiting; };
  const auto in_epoch = static_cast<size_t>(
      std::ranges::count_if(view.here, [](const RankView& rank) { return rank.in_epoch; }));
  const bool grows = in_epoch < view.max && std::ranges::any_of(view.here, joins);
  return grows ? RingAction::kEnd : RingAction::kGoOn;
}

}  // namespace

RingAction NextRingAction(const RingView& view) {
  if (view.begun && !view.over) return WhileInForce(view);
  // Whoever is in the midst of a step has the model, and will wait soon.
  const auto busy = [](const RankView& rank) {
    return rank.in_epoch && !rank.waiting && rank.answers;
  };
  if (view.here.empty() || !view.here[0].waiting || std::ranges::any_of(view.here, busy)) {
    return RingAction::kWait;
  }
  const auto waiting = static_cast<size_t>(
      std::ranges::count_if(view.here, [](const RankView& rank) { return rank.waiting; }));
  if (waiting < view.min) return RingAction::kWait;
  if (!view.begun && waiting < view.expected && !view.gathered) return RingAction::kWait;
  return RingAction::kForm;
}

std::string_view NameOf(RingAction action) {
  switch (action) {
    case RingAction::kGoOn: return "go on";
    case RingAction::kEnd: return "end";
    case RingAction::kWait: return "wait";
    case RingAction::kForm: return "form";
  }
  return "";
}

}  // namespace taas
