#include "trainer/optimizer/rule.h"

#include "operator/base/check.h"
#include "trainer/loops/loops.h"

namespace taas {

Rule::Rule(const OptimizerOptions& options, std::string_view update_op,
           const std::vector<Slot>& slots)
    : options_(options), update_op_(update_op) {
  for (const Slot& slot : slots) {
    slots_.push_back(slot.name);
    starts_.push_back(static_cast<float>(slot.start));
  }
  if (!options_.average_decay) return;
  slots_.push_back("ExponentialMovingAverage");
  starts_.push_back(0);  // Never read: the first update starts it from the variable.
  CHECK(slots_.size() < kArraysMax) << name() << " has " << slots_.size() << " slots";
}

UpdateScalars Rule::scalars(int64_t step) const {
  UpdateScalars scalars{.keeps_zeros = KeepsZeros(step)};
  if (options_.average_decay) {
    const double made = static_cast<double>(step);
    const double decay = std::min(*options_.average_decay, (1 + made) / (10 + made));
    scalars.average_share = static_cast<float>(1 - decay);
    scalars.starts_average = step == 1;
  }
  SetNumbers(step, &scalars);
  return scalars;
}

Attributes Rule::update_attributes() const {
  return {{"nesterov", options_.nesterov},
          {"centered", options_.centered},
          {"learning_rate_power", options_.learning_rate_power},
          {"averages", options_.average_decay.has_value()}};
}

void Rule::CheckSizes(const UpdateScalars& scalars, const ApplyArgs& args) const {
  const size_t size = args.in.size();
  const bool packed = args.rows && scalars.keeps_zeros &&
                      args.gradient.size() == args.rows->elements();
  CHECK((packed || args.gradient.size() == size) && args.out.size() == size)
      << "apply " << name() << ": " << args.gradient.size() << " gradients, " << size << " in, "
      << args.out.size() << " out";
  if (args.rows && !args.rows->ids.empty()) {
    const size_t rows = static_cast<size_t>(args.rows->ids.back()) + 1;
    CHECK(rows * args.rows->width <= size)
        << "apply " << name() << ": " << rows << " rows of " << args.rows->width
        << " elements of a variable of " << size;
  }
  CHECK(args.slots_in.size() == slots_.size() && args.slots_out.size() == slots_.size())
      << "apply " << name() << ": " << args.slots_in.size() << " slots in, "
      << args.slots_out.size() << " out, not " << slots_.size();
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    CHECK(args.slots_in[slot].size() == size && args.slots_out[slot].size() == size)
        << "apply " << name() << ": slot " << slots_[slot] << " has "
        << args.slots_in[slot].size() << " elements in, " << args.slots_out[slot].size()
        << " out, not " << size;
  }
}

void Rule::StartAverage(const Arrays& arrays, size_t slot) const {
  std::copy_n(arrays.in, arrays.count, arrays.slot_out(slot));
}

void Rule::Average(const UpdateScalars& scalars, const Arrays& arrays, size_t slot) const {
  const float* from = scalars.starts_average ? arrays.slot_out(slot) : arrays.slot_in(slot);
  BestLoops().approach(from, arrays.out, scalars.average_share, arrays.slot_out(slot),
                       arrays.count);
}

}  // namespace taas
