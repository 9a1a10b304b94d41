// What `taas local` needs of this machine.
//
// Ownership: values. Threads: any. Errors: none; each trouble is a finding. Nothing here fails
// `taas doctor` for a user of a cluster elsewhere: the worst is a warning.
//
//   findings = CheckMachine({.dir = "/home/me", .trainer = "/usr/bin/taas-trainer"});

#ifndef CLI_MACHINE_CHECKS_H_
#define CLI_MACHINE_CHECKS_H_

#include <string>
#include <vector>

#include "cli/finding.h"

namespace taas {

struct Machine {
  std::string dir;      // Where clusters are kept; it or a parent of it exists.
  std::string trainer;  // The bundled trainer's program.
  std::string bubblewrap = "/usr/bin/bwrap";
};
std::vector<Finding> CheckMachine(const Machine& machine);

}  // namespace taas

#endif  // CLI_MACHINE_CHECKS_H_
