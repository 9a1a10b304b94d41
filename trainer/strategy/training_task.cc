#include "trainer/strategy/training_task.h"

#include <memory>
#include <utility>

#include "trainer/optimizer/optimizer.h"

namespace taas {

absl::StatusOr<SnapshotShape> ShapeOf(const Session& session, const TrainerConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<Optimizer> optimizer, Optimizer::Parse(config.optimizer));
  SnapshotShape shape = ShapeOf(session, config.seed, config.batch_size);
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
