// Batches that are made beside the training, before they are asked for.
//
// Which ones follows from those that were asked for: a process by itself takes all in turn, one of
// several takes them in steps, or some in turn and then others. A guess that is wrong costs the
// work of a batch in vain; the batch that is wanted is then made by who wants it.
//
// Who takes a batch copies it, or is lent the memory in which it was made.
//
// Ownership: owns threads and, unless that was given, the memory of the batches. Threads: any.
// Errors: those of `make`, to who takes the batch.
//
//   BatchPrefetch prefetch({.ahead = 2, .sizes = {.features = 78400, .labels = 100}}, make);
//   RETURN_IF_ERROR(prefetch.Take(batch, rows));

#ifndef TRAINER_DATA_STREAM_BATCH_PREFETCH_H_
#define TRAINER_DATA_STREAM_BATCH_PREFETCH_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/stream/streamed_set.h"

namespace taas {

class BatchPrefetch {
 public:
  // Called by the threads and by those who take, at the same time.
  using Make = std::function<absl::Status(int64_t batch, const BatchRows& rows)>;
  // Elements of a whole batch.
  struct Sizes {
    size_t features = 0;
    size_t pixels = 0;
    size_t seeds = 0;
    size_t ids = 0;
    size_t labels = 0;
    size_t targets = 0;
  };
  struct Options {
    int64_t ahead = 1;   // Batches; at least 1.
    int64_t in_step = 1;  // Batches that are taken together, as by towers.
    Sizes sizes{};
    // Where they are made instead of in memory of `sizes`, such as a device copies from: of one
    // batch each, and as many as are ahead and as are lent at a time together.
    std::vector<BatchRows> memory{};
  };
  // A batch in memory that was given; `slot` is for who gives it back.
  struct Lent {
    BatchRows rows;
    size_t slot = 0;
  };

  BatchPrefetch(Options options, Make make);
  ~BatchPrefetch();
  BatchPrefetch(const BatchPrefetch&) = delete;
  BatchPrefetch& operator=(const BatchPrefetch&) = delete;

  // `rows` is as large as `sizes`.
  absl::Status Take(int64_t batch, const BatchRows& rows);
  // Its memory stays as it is until it is given back.
  absl::StatusOr<Lent> Lend(int64_t batch);
  void GiveBack(size_t slot);

 private:
  enum class State { kFree, kBeingMade, kMade, kBeingTaken };
  struct Slot {
    State state = State::kFree;
    int64_t batch = -1;
    bool awaited = false;  // Somebody waits until it is made.
    absl::Status status;   // Of its making.
    BatchRows rows;
  };
  // The memory of one that is not given.
  struct Storage {
    std::vector<float> features;
    std::vector<uint8_t> pixels;
    std::vector<int64_t> seeds;
    std::vector<int64_t> ids;
    std::vector<int32_t> labels;
    std::vector<float> targets;
  };

  void Serve();
  void Expect(int64_t batch);
  bool IsExpected(int64_t batch) const;
  // One that is made or being made.
  Slot* Find(int64_t batch);
  // Its slot when it is made, being taken; null if nobody has begun to make it.
  Slot* Await(int64_t batch, std::unique_lock<std::mutex>& lock);
  // One that nobody uses, or waits for: also of a batch that is expected, if no other is there.
  Slot* Spare();
  void Free(Slot& slot);
  // A slot for the next batch that is expected and not there.
  Slot* Claim();

  const Options options_;
  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::vector<Storage> storage_;
  std::vector<Slot> slots_;
  int64_t last_ = -1;  // Taken.
  int64_t step_ = 0;   // From the one before it.
  int64_t stride_ = 1;
  std::thread thread_;
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_BATCH_PREFETCH_H_
