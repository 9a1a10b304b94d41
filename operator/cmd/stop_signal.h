// Waits for SIGINT or SIGTERM.
//
// Ownership: value, made before the first thread, so that every thread inherits the mask and
// nothing but Wait gets them. Threads: the first. Errors: none.
//
//   const StopSignal stop;
//   stop.Wait();

#ifndef OPERATOR_CMD_STOP_SIGNAL_H_
#define OPERATOR_CMD_STOP_SIGNAL_H_

#include <signal.h>

namespace taas {

class StopSignal {
 public:
  StopSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  // The one that came.
  int Wait() const {
    int received = 0;
    sigwait(&signals_, &received);
    return received;
  }

 private:
  sigset_t signals_;
};

}  // namespace taas

#endif  // OPERATOR_CMD_STOP_SIGNAL_H_
