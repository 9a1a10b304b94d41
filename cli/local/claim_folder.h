// Where a local cluster has a claim on this machine, for commands that ask its API.
//
// Ownership: values. Threads: any. Errors: none; a kubeconfig of another cluster has no folders.
//
//   LocalClaimFolder("/home/me/taas/kubeconfig", "default", "mnist-out")
//   // "/home/me/taas/volumes/default/mnist-out"

#ifndef CLI_LOCAL_CLAIM_FOLDER_H_
#define CLI_LOCAL_CLAIM_FOLDER_H_

#include <string>

namespace taas {

// Empty: the kubeconfig is none of a local cluster's.
std::string LocalClaimFolder(const std::string& kubeconfig, const std::string& ns,
                             const std::string& claim);

}  // namespace taas

#endif  // CLI_LOCAL_CLAIM_FOLDER_H_
