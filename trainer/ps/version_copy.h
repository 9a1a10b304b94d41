// A copy of a shard's values to another buffer, by a thread of its own, while updates of them go on
// in place: an update waits for each part of the values until that was copied. So what a cut for a
// checkpoint costs is done by a core that is free, and an update is seldom slower than the copy.
//
// Ownership: borrows both buffers until it ended. Threads: Await and AwaitEnd from any; Stop from
// one. Errors: none.
//
//   VersionCopy copy(from, to, 1 + slots);
//   copy.Await(end);  // before elements below `end`, of values and slots, are written to

#ifndef TRAINER_PS_VERSION_COPY_H_
#define TRAINER_PS_VERSION_COPY_H_

#include <atomic>
#include <cstddef>
#include <span>
#include <stop_token>
#include <thread>

namespace taas::ps {

class VersionCopy {
 public:
  // Elements of each array that are copied at a time: 1 MiB takes some 0.1 ms, for which an update
  // or Stop may wait, and a thousand of them are a gigabyte.
  static constexpr size_t kSlice = size_t{1} << 18;

  // Begins. Both buffers have `arrays` of one length, one after the other.
  VersionCopy(std::span<const float> from, std::span<float> to, size_t arrays);
  // Stops.
  ~VersionCopy() = default;

  // Returns when the first `end` elements of each array were copied, or never will be.
  void Await(size_t end) const;
  void AwaitEnd() const { Await(elements_); }
  bool ended() const { return copied_ >= elements_; }
  // Nothing is read or written any more, and the copy is of no use unless it ended before.
  void Stop();

 private:
  void Run(const std::stop_token& stop);

  const std::span<const float> from_;
  const std::span<float> to_;
  const size_t elements_;           // Of each array.
  std::atomic<size_t> copied_ = 0;  // Of each array; all of them once it was stopped.
  std::jthread thread_;             // The last: it uses the others.
};

}  // namespace taas::ps

#endif  // TRAINER_PS_VERSION_COPY_H_
