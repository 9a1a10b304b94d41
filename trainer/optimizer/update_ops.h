// The kernels that change gradients and variables after a graph's backward pass: of no graph, they
// are found in a runtime's registry by these names, for float32. What changes from step to step is
// in the StepBlock of their call; where that has a fault no variable is changed.
//
//   name             inputs                                     outputs
//   ApplyAdam, ...   gradients, values, each slot, rows         values, each slot
//   FinishGradients  of each variable: gradient, rows           each gradient
//   MeanGradients    a variable's gradient of each tower, rows  the mean
//   CheckLoss        the loss                                   none; a fault if it is no number
//   LossUnlessFault  the loss                                   it, or NaN in a step with a fault
//
// `rows` are two inputs: the ids of the rows outside of which a gradient is zero (gradient_rows.h),
// and how many they are; both null where it lists none. What is written lies where what is read
// lies. The types in a KernelSpec are those of the variables, inputs and outputs alike.
//
// Apply... is of several variables at once: its inputs are arrays of one layout, as ModelState has
// them, and attribute "at" says at which element each variable begins; of one by itself, which
// alone may list rows, it need not. Its other attributes are Optimizer::update_attributes(). Of
// FinishGradients, which divides by the
// loss scale and then clips: "loss_scale", "clip" ("", "value", "norm") and "clip_limit".
//
// Ownership, threads: none. Errors: of kernels, a rule or a limit that they do not know.
//
//   ASSIGN_OR_RETURN(LoneKernel mean, MakeKernel(runtime, kMeanGradients, {.inputs = types, …}));

#ifndef TRAINER_OPTIMIZER_UPDATE_OPS_H_
#define TRAINER_OPTIMIZER_UPDATE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "operator/base/check.h"
#include "trainer/graph/kernel_registry.h"

namespace taas {

inline constexpr char kFinishGradients[] = "FinishGradients";
inline constexpr char kMeanGradients[] = "MeanGradients";
inline constexpr char kCheckLoss[] = "CheckLoss";
inline constexpr char kLossUnlessFault[] = "LossUnlessFault";

// Of variables of an Apply...: at which element each begins.
inline constexpr char kPlaces[] = "at";
inline int64_t PlaceOf(const KernelSpec& spec, size_t variable) {
  if (spec.attributes.Has(kPlaces)) return spec.attributes.Ints(kPlaces)[variable];
  CHECK(spec.inputs.size() == 1) << spec.inputs.size() << " variables in no order";
  return 0;
}

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_UPDATE_OPS_H_
