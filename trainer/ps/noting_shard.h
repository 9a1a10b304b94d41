// A shard that does nothing with what it is sent: for tests of what an exchange sends.
//
// Ownership: owns its listener, whose threads end with it. Threads: any may ask for frames. Errors:
// a connection that breaks is over.
//
//   NotingShard shard(ValuesInfo{.takes_rows = false}, elements);
//   Exchange exchange({.shards = {shard.address()}, …}, values, gradients);
//   EXPECT_EQ(shard.frames()[1].type, comm::FrameType::kPush);

#ifndef TRAINER_PS_NOTING_SHARD_H_
#define TRAINER_PS_NOTING_SHARD_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

// Notes the frames that it gets and answers each with values.
class NotingShard {
 public:
  // `info`: what its answers say; `elements`: how many values they have, all zero.
  NotingShard(const ValuesInfo& info, size_t elements);

  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  std::vector<comm::FrameHead> frames() {
    const std::lock_guard lock(mutex_);
    return frames_;
  }

 private:
  void Serve(comm::Channel& channel);

  const ValuesInfo info_;
  const size_t elements_;
  std::mutex mutex_;
  std::vector<comm::FrameHead> frames_;
  std::unique_ptr<comm::Listener> listener_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_NOTING_SHARD_H_
