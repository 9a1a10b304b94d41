#include "trainer/strategy/training_task.h"

#include <memory>
#include <utility>

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
