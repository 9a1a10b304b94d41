// Keeps the TLS library from loading the machine's authorities where they are not wanted.
//
// cpprestsdk gives each new connection a TLS context of its own and has the machine's authorities
// loaded into it. OpenSSL 3 takes some 25 ms of a processor to read the 140 of a Debian, more than
// everything else that a connection costs, and a cluster with an authority of its own has no use
// for one of them.
//
// Threads: acts on the calling thread only. Errors: none.
//
//   const WithoutMachineRoots without;
//   client.request(message);   // What is made in here trusts only what it is told to trust.

#ifndef OPERATOR_KUBE_MACHINE_ROOTS_H_
#define OPERATOR_KUBE_MACHINE_ROOTS_H_

namespace taas {

class WithoutMachineRoots {
 public:
  // `wanted` false: no effect.
  explicit WithoutMachineRoots(bool wanted = true);
  ~WithoutMachineRoots();
  WithoutMachineRoots(const WithoutMachineRoots&) = delete;
  WithoutMachineRoots& operator=(const WithoutMachineRoots&) = delete;

 private:
  const bool before_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_MACHINE_ROOTS_H_
