#include "trainer/ring/testing/ledger.h"

#include <algorithm>
#include <vector>

namespace taas::sim {
namespace {

// Who is in an epoch that its rank 0 has left can have all parts of the step that this one made
// last, and of the one that it was at: no more, since for the next a part of rank 0 is missing.
constexpr int kLateStepsMax = 2;

std::string Words(const EpochName& name) {
  return "epoch " + std::to_string(name.number) + " of chief " + std::to_string(name.chief);
}

std::string Words(const Standing& standing) {
  return "step " + std::to_string(standing.step) + " with " +
         std::to_string(standing.committed.size()) + " batches";
}

}  // namespace

void Ledger::OnFormed(const EpochName& name, const Epoch& epoch, const Bounds& bounds) {
  LeaveAll();
  if (epoch.ranks() > bounds.max ||
      (epoch.ranks() < bounds.min && epoch.start.step < bounds.max_steps)) {
    Break(Words(name) + " is of " + std::to_string(epoch.ranks()) + " ranks");
  }
  if (name.number <= last_formed_) Break(Words(name) + " is not the latest");
  last_formed_ = name.number;
  if (!records_.try_emplace(name).second) Break(Words(name) + " is formed twice");
}

void Ledger::CheckBatches(const std::string& process, const Standing& standing,
                          const ModelBits& bits) {
  if (!standing.committed.above().empty()) {
    Break(process + " at " + Words(standing) + " has left batches out");
  } else if (bits.trained != TinyModel::TrainedBelow(standing.committed.watermark())) {
    Break(process + " at " + Words(standing) + " has not these batches in its model");
  }
}

void Ledger::OnEntered(const std::string& process, const EpochName& name, const Epoch& epoch,
                       const Own& own, const ModelBits& now) {
  const std::string who = process + " in " + Words(name);
  if (own.standing.step > epoch.start.step) {
    Break(who + " is taken back from " + Words(own.standing) + " to " + Words(epoch.start));
  }
  if (!own.receives && own.standing.step != kNoModel && own.standing != epoch.start) {
    Break(who + " goes on from " + Words(epoch.start) + " with a model of " +
          Words(own.standing));
  }
  if (!own.receives && own.bits != now) Break(who + " keeps its model, which has changed");
  CheckBatches(who, epoch.start, now);
  Record& record = records_[name];
  const auto [start, first] =
      record.models.try_emplace(epoch.start.step, Model{epoch.start, now});
  if (!first && start->second.standing.step == epoch.start.step &&
      start->second.bits != now) {
    Break(who + " begins at " + Words(epoch.start) + " with other bits than another rank");
  }
}

void Ledger::OnNotEntered(const std::string& process, const Own& own, const ModelBits& now) {
  if (own.standing.step == kNoModel || own.bits == now) return;
  Break(process + " at " + Words(own.standing) + " has lost its model with an epoch");
}

void Ledger::OnStep(const std::string& process, const EpochName& name, const Epoch& epoch,
                    const Standing& standing, const ModelBits& now) {
  ++steps_;
  const std::string who = process + " in " + Words(name);
  Record& record = records_[name];
  if (record.left && ++record.late_steps[process] > kLateStepsMax) {
    Break(who + " goes on after rank 0 has left: " + Words(standing));
  }
  const auto before = record.models.find(standing.step - 1);
  if (before == record.models.end()) {
    Break(who + " makes " + Words(standing) + " before anybody made the one before it");
    return;
  }
  const auto [made, first] = record.models.try_emplace(standing.step);
  if (first) {
    const Model& from = before->second;
    std::vector<int64_t> batches;
    CommittedSet committed = from.standing.committed;
    for (int64_t batch = 0; static_cast<int>(batches.size()) < epoch.ranks(); ++batch) {
      batch = std::max(batch, committed.watermark());
      if (committed.Add(batch)) batches.push_back(batch);
    }
    made->second = {{standing.step, committed, name.number},
                    TinyModel::After(from.bits, standing.step, batches)};
  }
  if (standing != made->second.standing) {
    Break(who + " says " + Words(standing) + ", and it is " + Words(made->second.standing));
  }
  if (now != made->second.bits) {
    Break(who + " has another model after " + Words(standing) + " than that step makes");
  }
  CheckBatches(who, standing, now);
}

void Ledger::OnEnd(const Standing& standing, int64_t max_steps, const ModelBits& bits) {
  if (standing.step != max_steps) Break("the job ends at " + Words(standing));
  CheckBatches("the chief", standing, bits);
}

}  // namespace taas::sim
