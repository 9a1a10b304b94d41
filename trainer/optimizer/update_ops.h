// The kernels that change gradients and variables after a graph's backward pass: of no graph, they
// are found in a runtime's registry by these names, for float32. What changes from step to step is
// in the StepBlock of their call; where that has a fault no variable is changed.
//
//   name             inputs                                     outputs
//   ApplyAdam, ...   gradient, value, each slot, rows           value, each slot
//   FinishGradients  of each variable: gradient, rows           each gradient
//   MeanGradients    a variable's gradient of each tower, rows  the mean
//   CheckLoss        the loss                                   none; a fault if it is no number
//   LossUnlessFault  the loss                                   it, or NaN in a step with a fault
//
// `rows` are two inputs: the ids of the rows outside of which a gradient is zero (gradient_rows.h),
// and how many they are; both null where it lists none. What is written lies where what is read
// lies. The types in a KernelSpec are those of the variables, inputs and outputs alike.
//
// Attributes: of Apply..., Optimizer::update_attributes(). Of FinishGradients, which divides by the
// loss scale and then clips: "loss_scale", "clip" ("", "value", "norm") and "clip_limit".
//
// Ownership, threads: none. Errors: of kernels, a rule or a limit that they do not know.
//
//   ASSIGN_OR_RETURN(LoneKernel mean, MakeKernel(runtime, kMeanGradients, {.inputs = types, …}));

#ifndef TRAINER_OPTIMIZER_UPDATE_OPS_H_
#define TRAINER_OPTIMIZER_UPDATE_OPS_H_

namespace taas {

inline constexpr char kFinishGradients[] = "FinishGradients";
inline constexpr char kMeanGradients[] = "MeanGradients";
inline constexpr char kCheckLoss[] = "CheckLoss";
inline constexpr char kLossUnlessFault[] = "LossUnlessFault";

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_UPDATE_OPS_H_
