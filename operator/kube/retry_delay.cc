#include "operator/kube/retry_delay.h"

namespace taas {

RetryDelay::Duration RetryDelay::After(uint32_t failures) const {
  Duration delay = options_.first;
  for (uint32_t i = 1; i < failures && delay < options_.limit; ++i) delay *= 2;
  return delay < options_.limit ? delay : options_.limit;
}

RetryDelay::Duration RetryDelay::After(uint32_t failures, Random& random) const {
  const Duration delay = After(failures);
  return delay + Duration(random.Below(static_cast<uint64_t>(delay.count()) + 1));
}

}  // namespace taas
