// Keeps the TLS library from loading the machine's authorities where nobody wants them.
//
// cpprestsdk gives each new connection a TLS context of its own and has the machine's authorities
// loaded into it. OpenSSL 3 takes some 25 ms of a processor to read the 140 of a Debian, more than
// everything else that a connection costs, and a cluster with an authority of its own has no use
// for one of them. A program that links this loads them only while somebody says that he wants
// them.
//
// Threads: any. Errors: none.
//
//   const WantedMachineRoots roots;
//   client.request(message);   // May trust whom the machine trusts.

#ifndef OPERATOR_KUBE_MACHINE_ROOTS_H_
#define OPERATOR_KUBE_MACHINE_ROOTS_H_

namespace taas {

class WantedMachineRoots {
 public:
  WantedMachineRoots();
  ~WantedMachineRoots();
  WantedMachineRoots(const WantedMachineRoots&) = delete;
  WantedMachineRoots& operator=(const WantedMachineRoots&) = delete;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_MACHINE_ROOTS_H_
