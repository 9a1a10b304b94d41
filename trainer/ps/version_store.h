// The values of one shard, as versions: readers hold one while updates go on.
//
// An update is made in place while nobody reads the current version, else into another buffer. So a
// reply is sent straight from the values without a copy or a lock, and a consistent cut for a
// checkpoint is a version that is held, or a copy of one. Buffers in use: at most one more than
// are held. Those of some size are memory that other processes of this machine can read.
//
// Ownership: owns all buffers; a Reader must not outlive its store. Threads: Update from one at a
// time, the rest from any. Errors: none.
//
//   VersionStore store(std::move(values), step);
//   VersionStore::Reader reader = store.Hold();
//   store.Update(step + 1, [&](std::span<const float> in, std::span<float> out) { ... });

#ifndef TRAINER_PS_VERSION_STORE_H_
#define TRAINER_PS_VERSION_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trainer/comm/shared_area.h"

namespace taas::ps {

class VersionStore {
 private:
  struct Version {
    // Begins with `initial`; what that has not is of no value yet.
    explicit Version(size_t count, std::vector<float> initial = {});
    int64_t step = 0;
    int readers = 0;
    comm::SharedArea area;    // If there could be one,
    std::vector<float> own;   // else this.
    std::span<float> values;  // In either.
  };

 public:
  class Reader {
   public:
    Reader() = default;
    Reader(Reader&& other) noexcept
        : store_(std::exchange(other.store_, nullptr)), version_(other.version_) {}
    Reader& operator=(Reader&& other) noexcept {
      if (this != &other) {
        Release();
        store_ = std::exchange(other.store_, nullptr);
        version_ = other.version_;
      }
      return *this;
    }
    ~Reader() { Release(); }

    bool holds() const { return store_ != nullptr; }
    // Whether there is no other of the same buffer.
    bool alone() const;
    // Of the same buffer.
    Reader Another() const;
    int64_t step() const { return version_->step; }
    std::span<const float> values() const { return version_->values; }
    // Begins with the values; of no size if nobody else can read them.
    const comm::SharedArea& area() const { return version_->area; }

   private:
    friend class VersionStore;
    Reader(VersionStore* store, Version* version) : store_(store), version_(version) {}
    void Release();

    VersionStore* store_ = nullptr;
    Version* version_ = nullptr;
  };

  VersionStore(std::vector<float> values, int64_t step);

  Reader Hold();
  // `update` sees the current values and writes the next ones; both spans may be the same memory.
  void Update(int64_t step,
              const std::function<void(std::span<const float>, std::span<float>)>& update);
  // Makes now, with the values that there are, the buffer that the first update beside a reader
  // would make, which takes longer than the update.
  void Reserve();
  // The current values, and the buffer that the next update beside a reader would write to; empty
  // if there is none. As it is until the next update, by whose thread it may be written to.
  struct Spare {
    std::span<const float> current;
    std::span<float> values;
  };
  Spare spare();
  // A reader of the spare buffer, which the caller makes the same as the current values, before
  // they are updated in place or the reader is used. Nothing if there is no spare.
  struct HeldSpare {
    std::span<const float> from;
    std::span<float> to;
    Reader reader;
  };
  std::optional<HeldSpare> HoldSpare();
  size_t buffers() const;

 private:
  // A buffer that nobody reads and that is not the current one, the least old; or null.
  Version* FindSpare() const;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Version>> versions_;
  Version* current_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_VERSION_STORE_H_
