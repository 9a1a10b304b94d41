// Which gradients may be applied, and which may be begun, so that none is applied to values that
// are more than `most` updates newer than those it was computed with. Pure.
//
// A gradient is outstanding from the values that it is computed with until it is applied or given
// up, and due `most` updates after them. All that are outstanding can be in time as long as they
// can be in the order in which they are due (earliest deadline first, Jackson 1955). MayApply lets
// one go before older ones as long as the rest still can be; MayBegin lets as many be outstanding
// as can be begun at the same values. So nobody waits but where a gradient would come too late. The
// oldest never waits.
//
// Ownership: value type. Threads: one at a time. Errors: none.
//
//   if (gate.MayBegin()) gate.Begin({pusher, batch}, step);
//   if (gate.MayApply({pusher, batch}, step)) …

#ifndef TRAINER_PS_STALENESS_GATE_H_
#define TRAINER_PS_STALENESS_GATE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "trainer/batches/pusher.h"

namespace taas::ps {

class StalenessGate {
 public:
  struct Gradient {
    Pusher pusher;
    int64_t batch = 0;

    auto operator<=>(const Gradient&) const = default;
  };

  explicit StalenessGate(int64_t most) : most_(most) {}

  bool MayBegin() const { return static_cast<int64_t>(bases_.size()) <= most_; }
  // `base`: the step of the values. Of one that has begun: what its values were after all.
  void Begin(const Gradient& gradient, int64_t base) { bases_[gradient] = base; }
  void GiveUp(const Gradient& gradient) { bases_.erase(gradient); }
  // Whose gradient of it ever: it is part of the model.
  void EndBatch(int64_t batch);
  // Of what is outstanding.
  std::optional<int64_t> base(const Gradient& gradient) const;

  // Whether a gradient of values of `base` is in time for the update that follows `step`.
  bool InTime(int64_t base, int64_t step) const { return step - base <= most_; }
  // Whether `gradient`, which is outstanding and in time, may become that update.
  bool MayApply(const Gradient& gradient, int64_t step) const;

  size_t outstanding() const { return bases_.size(); }

 private:
  const int64_t most_;
  std::map<Gradient, int64_t> bases_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_STALENESS_GATE_H_
