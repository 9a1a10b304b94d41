#include "trainer/ring/share_meter.h"

namespace taas {

std::optional<RankShares> ShareMeter::Add(const StepTimes& step) {
  sum_.compute += step.compute;
  sum_.wait += step.wait;
  sum_.exchange += step.exchange;
  sum_.hidden += step.hidden;
  sum_.all += step.all;
  sum_.bytes += step.bytes;
  ++steps_;
  if (sum_.all < kOver) return std::nullopt;
  const auto share = [this](Clock::Duration of) {
    return std::chrono::duration<double>(of) / std::chrono::duration<double>(sum_.all);
  };
  const RankShares shares{.compute = share(sum_.compute),
                          .wait = share(sum_.wait),
                          .exchange = share(sum_.exchange),
                          .hidden = share(sum_.hidden),
                          .bytes_per_step = sum_.bytes / steps_};
  StartOver();
  return shares;
}

}  // namespace taas
