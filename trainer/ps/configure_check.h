// Whether a CONFIGURE can be believed: whoever reaches the port may have written any number into
// it, and a shard that believed one would compute with sizes that its memory does not have.
//
// Pure. Ownership: values. Threads: any. Errors: InvalidArgument, a sentence for the caller.
//
//   RETURN_IF_ERROR(CheckConfigure(request, optimizer->slots().size(), bytes_of_values));

#ifndef TRAINER_PS_CONFIGURE_CHECK_H_
#define TRAINER_PS_CONFIGURE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "trainer/comm/frame.h"
#include "trainer/proto/shard.pb.h"

namespace taas::ps {

// Every frame names its generation in 32 bits; one that did not fit would be another one there.
constexpr int64_t kGenerationMax = std::numeric_limits<uint32_t>::max();
// Of all pieces of a shard: more can be sent to nobody (frame.h).
constexpr int64_t kShardElementsMax =
    static_cast<int64_t>(comm::kPayloadBytesMax / sizeof(float));
// Steps, and batches with those of the steps to come: what JSON tells exactly. Sums of two of them
// fit into 64 bits.
constexpr int64_t kBatchesMax = int64_t{1} << 53;

// `slots`: of the optimizer. `bytes`: of values and slots that follow the request.
absl::Status CheckConfigure(const wire::ConfigureRequest& request, size_t slots, uint64_t bytes);

}  // namespace taas::ps

#endif  // TRAINER_PS_CONFIGURE_CHECK_H_
