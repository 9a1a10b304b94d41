#include "cli/stop_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace taas {

StopSignals::StopSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A client that closes its connection is an error of a write, not the end of the cluster.
  ::signal(SIGPIPE, SIG_IGN);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) std::abort();
}

StopSignals::~StopSignals() { ::close(fd_); }

int StopSignals::Take() {
  signalfd_siginfo info{};
  return ::read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

int StopSignals::Wait() {
  pollfd fds = {fd_, POLLIN, 0};
  int signal = 0;
  while ((signal = Take()) == 0) ::poll(&fds, 1, -1);
  return signal;
}

}  // namespace taas
