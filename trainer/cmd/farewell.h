// What a process that a signal ends says to the others before it ends.
//
// Ownership: outlives its users. Threads: any. Errors: none.
//
//   const Farewell::Scope scope(farewell, [&] { member.Leave(100ms); });
//   farewell.Say();  // On the thread that takes signals.

#ifndef TRAINER_CMD_FAREWELL_H_
#define TRAINER_CMD_FAREWELL_H_

#include <functional>
#include <mutex>
#include <utility>

namespace taas {

class Farewell {
 public:
  // `say` may be called while this lives.
  class Scope {
   public:
    Scope(Farewell& farewell, std::function<void()> say) : farewell_(farewell) {
      std::lock_guard lock(farewell_.mutex_);
      farewell_.say_ = std::move(say);
    }
    ~Scope() {
      std::lock_guard lock(farewell_.mutex_);
      farewell_.say_ = nullptr;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Farewell& farewell_;
  };

  void Say() {
    std::lock_guard lock(mutex_);
    if (say_) say_();
  }

 private:
  std::mutex mutex_;
  std::function<void()> say_;
};

}  // namespace taas

#endif  // TRAINER_CMD_FAREWELL_H_
