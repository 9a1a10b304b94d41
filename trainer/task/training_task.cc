#include "trainer/task/training_task.h"

#include <cmath>
#include <memory>
#include <utility>

#include "operator/base/check.h"
#include "third_party/json.h"
#include "trainer/data/stream/streaming_options.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {

namespace {

// 0 if all data is in memory.
absl::StatusOr<int64_t> ShuffleBuffer(const TrainerConfig& config) {
  const auto data = nlohmann::json::parse(config.data, nullptr, /*allow_exceptions=*/false);
  if (!data.is_object() || !data.contains("streaming")) return 0;
  ASSIGN_OR_RETURN(const StreamingOptions options, ParseStreaming(data["streaming"]));
  return options.shuffle_buffer;
}

}  // namespace

absl::StatusOr<Snapshot> InitialSnapshot(const Session& session) {
  Snapshot snapshot;
  for (size_t i = 0; i < session.variables().size(); ++i) {
    snapshot.values.emplace_back(session.variables()[i].count);
    RETURN_IF_ERROR(session.variable(i).Read(std::span(snapshot.values.back())));
  }
  return snapshot;
}

absl::Status CheckLoss(float loss, const LossOf& of, TrainingTask& task) {
  if (std::isfinite(loss)) return absl::OkStatus();
  const std::string where = task.FirstNonFinite();
  std::string text = "Model diverged with loss = " +
                     std::string(std::isnan(loss) ? "NaN" : "infinity") + " at step " +
                     std::to_string(of.step) + ", in batch " + std::to_string(of.batch);
  if (!where.empty()) text += "; first in " + where;
  text += where.starts_with("input ") ? "; look at the data" : "; a lower learning rate may help";
  return absl::InvalidArgumentError(text);
}

std::vector<Snapshot::Tensors> InitialSlots(const Optimizer& optimizer,
                                            const std::vector<VariableInfo>& variables,
                                            const Snapshot::Tensors& values) {
  std::vector<Snapshot::Tensors> slots(optimizer.slots().size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const bool average = slot == optimizer.average_slot();
    for (size_t i = 0; i < variables.size(); ++i) {
      if (!variables[i].trainable) {
        slots[slot].emplace_back();
      } else if (average) {
        slots[slot].push_back(values[i]);
      } else {
        slots[slot].emplace_back(variables[i].count, optimizer.slot_start(slot));
      }
    }
  }
  return slots;
}

absl::Status Restore(const Snapshot& snapshot, Session& session) {
  CHECK(snapshot.slots.size() == session.model().slots())
      << "restore " << snapshot.slots.size() << " slots of " << session.model().slots();
  for (size_t i = 0; i < snapshot.values.size(); ++i) {
    RETURN_IF_ERROR(session.variable(i).Write(snapshot.values[i]));
    for (size_t slot = 0; slot < snapshot.slots.size(); ++slot) {
      RETURN_IF_ERROR(session.model().slot(slot, i).Write(snapshot.slots[slot][i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SnapshotShape> ShapeOf(const Session& session, const TrainerConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<Optimizer> optimizer, Optimizer::Parse(config.optimizer));
  SnapshotShape shape = ShapeOf(session, config.seed, config.batch_size);
  ASSIGN_OR_RETURN(shape.shuffle_buffer, ShuffleBuffer(config));
  shape.optimizer = std::string(optimizer->name());
  shape.slots = optimizer->slots();
  shape.scalars = [optimizer](int64_t step) {
    std::vector<std::pair<std::string, float>> scalars;
    for (const Optimizer::Number& number : optimizer->numbers(step)) {
      scalars.emplace_back(number.name, static_cast<float>(number.value));
    }
    return scalars;
  };
  return shape;
}

}  // namespace taas
