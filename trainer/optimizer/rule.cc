#include "trainer/optimizer/rule.h"

#include "operator/base/check.h"
#include "trainer/loops/loops.h"

namespace taas {

Rule::Rule(const OptimizerOptions& options, const std::vector<Slot>& slots) : options_(options) {
  for (const Slot& slot : slots) {
    slots_.push_back(slot.name);
    starts_.push_back(static_cast<float>(slot.start));
  }
  if (!options_.average_decay) return;
  slots_.push_back("ExponentialMovingAverage");
  starts_.push_back(0);  // Never read: the first update starts it from the variable.
  CHECK(slots_.size() < kArraysMax) << name() << " has " << slots_.size() << " slots";
}

void Rule::CheckSizes(const ApplyArgs& args) const {
  const size_t size = args.in.size();
  const bool packed = args.rows && KeepsZeros(args.step) &&
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

void Rule::Average(const Arrays& arrays, size_t slot) const {
  const double step = static_cast<double>(arrays.args.step);
  const double decay = std::min(*options_.average_decay, (1 + step) / (10 + step));
  const float* from = arrays.args.step == 1 ? arrays.slot_out(slot) : arrays.slot_in(slot);
  BestLoops().approach(from, arrays.out, static_cast<float>(1 - decay), arrays.slot_out(slot),
                       arrays.count);
}

}  // namespace taas
