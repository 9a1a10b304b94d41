// The web page of a local cluster that runs: its address with what logs in, and a browser for it.
//
// The address holds a code that logs in once. A browser gets it through a file in the cluster's
// directory, which only its owner reads: everybody on the machine sees the words that a program is
// started with.
//
// Ownership: nothing is kept; a browser that was started goes on by itself. Threads: one. Errors: a
// sentence on stderr and the exit code of the command line.
//
//   return RunOpen({.dir = "/home/me/taas", .job = "mnist", .browse = true});

#ifndef CLI_LOCAL_OPEN_PAGE_H_
#define CLI_LOCAL_OPEN_PAGE_H_

#include <string>

namespace taas {

struct OpenOptions {
  std::string dir;      // Of the cluster.
  std::string job;      // As for `taas get`; empty: the list of jobs.
  std::string ns;       // Empty: that of the cluster's kubeconfig.
  bool browse = false;  // Start a browser, where there is one.
};

// Prints the address on standard output.
int RunOpen(const OpenOptions& options);

}  // namespace taas

#endif  // CLI_LOCAL_OPEN_PAGE_H_
