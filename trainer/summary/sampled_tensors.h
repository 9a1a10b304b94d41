// The weights and gradients of a step, for histograms: copied on the training thread, which must
// not wait for long, and kept until they were counted. So of a large model some numbers are copied
// only, at equal distances, which tell how all are spread as well.
//
// Ownership: copies; borrows the session for the call. Threads: the session's. Errors: none.
//
//   sample.histograms = SampledTensors(task.session());

#ifndef TRAINER_SUMMARY_SAMPLED_TENSORS_H_
#define TRAINER_SUMMARY_SAMPLED_TENSORS_H_

#include <cstddef>
#include <vector>

#include "trainer/graph/session.h"
#include "trainer/summary/recorder.h"

namespace taas {

// Of all tensors together: 64 MiB, some 20 ms.
inline constexpr size_t kSampledMax = size_t{16} << 20;
// A tensor of so few numbers is whole, beyond that bound.
inline constexpr size_t kSampledWhole = 4'096;

// Each variable under its name, and if it is trained its gradient under "gradients/" and that.
std::vector<Sample::Tensor> SampledTensors(Session& session, size_t numbers_max = kSampledMax);

}  // namespace taas

#endif  // TRAINER_SUMMARY_SAMPLED_TENSORS_H_
