#include "trainer/ps/noting_shard.h"

#include <span>

namespace taas::ps {

NotingShard::NotingShard(const ValuesInfo& info, size_t elements)
    : info_(info),
      elements_(elements),
      listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                      [this](comm::Channel& channel) { Serve(channel); })) {}

void NotingShard::Serve(comm::Channel& channel) {
  const std::vector<float> values(elements_);
  const comm::ConstBlock block{values.data(), elements_ * sizeof(float)};
  for (;;) {
    const auto head = channel.ReceiveHead();
    if (!head.ok() || !channel.Discard(head->payload_bytes).ok()) return;
    if (head->type == comm::FrameType::kHello) continue;
    {
      const std::lock_guard lock(mutex_);
      frames_.push_back(*head);
    }
    if (!channel.Send(HeadOf(info_, 1), std::span(&block, 1)).ok()) return;
  }
}

}  // namespace taas::ps
