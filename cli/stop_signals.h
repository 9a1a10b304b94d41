// SIGINT, SIGTERM and SIGHUP as something to wait for, instead of the end of the process.
//
// Make it before any thread, so that all threads inherit the blocked signals.
//
// Ownership: owns a descriptor. Threads: one. Errors: none; a system without signalfd ends the
// process.
//
//   StopSignals signals;
//   pollfd fds[] = {{signals.fd(), POLLIN, 0}};

#ifndef CLI_STOP_SIGNALS_H_
#define CLI_STOP_SIGNALS_H_

namespace taas {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }
  // The number of a signal that has come; 0 if none has.
  int Take();
  // Returns when one comes.
  int Wait();

 private:
  int fd_;
};

}  // namespace taas

#endif  // CLI_STOP_SIGNALS_H_
