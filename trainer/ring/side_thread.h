// A thread that works off what it is told of, beside the one that tells: the exchange of gradients
// while others are computed.
//
// Ownership: owns its thread; borrows nothing. Threads: Tell from any; Await from one at a time.
// Errors: none.
//
//   SideThread side([&](size_t count) { … });   // all up to `count` may be worked off
//   side.Tell(1);
//   side.Await();

#ifndef TRAINER_RING_SIDE_THREAD_H_
#define TRAINER_RING_SIDE_THREAD_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

namespace taas {

class SideThread {
 public:
  // What is told of while it works comes with its next call.
  explicit SideThread(std::function<void(size_t count)> work);
  // Waits for the call that goes on.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Counts rise, from one Await to the next.
  void Tell(size_t count);
  // Until all that was told of is worked off. What its calls have written can be read then.
  void Await();

 private:
  void Serve();

  const std::function<void(size_t)> work_;
  std::mutex mutex_;  // Of what follows.
  std::condition_variable told_changed_, done_changed_;
  size_t told_ = 0, done_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace taas

#endif  // TRAINER_RING_SIDE_THREAD_H_
