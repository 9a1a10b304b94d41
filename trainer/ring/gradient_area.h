// Memory in which a rank's gradients lie where its neighbours of the same machine read them
// (docs/design/0023).
//
// A session asks for it once it knows its model. Where the machine has no memory to share (a limit
// of the container), gradients lie in memory of the process and links copy them, which is said in
// the log.
//
// Ownership: the area lives as long as this or the buffer that was given, whichever is longer.
// Threads: one at a time. Errors: none.
//
//   GradientArea area;
//   auto task = role.MakeTask(area.memory());
//   Meeting meeting({.job = job, .lent = area.lent()});

#ifndef TRAINER_RING_GRADIENT_AREA_H_
#define TRAINER_RING_GRADIENT_AREA_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "trainer/comm/shared_area.h"
#include "trainer/graph/device.h"
#include "trainer/graph/model_state.h"

namespace taas {

class GradientArea {
 public:
  // For one session; it refers to this.
  GradientMemory memory() {
    return [this](size_t bytes) { return Make(bytes); };
  }
  // Null where nothing was asked for, or nothing can be shared.
  const comm::SharedArea* lent() const { return area_.get(); }

 private:
  std::optional<Buffer> Make(size_t bytes);

  std::shared_ptr<const comm::SharedArea> area_;
};

}  // namespace taas

#endif  // TRAINER_RING_GRADIENT_AREA_H_
