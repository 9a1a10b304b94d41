#include "cli/local/claim_folder.h"

#include "cli/api_client.h"
#include "cli/local/last_time.h"
#include "localkube/cluster/local_cluster.h"
#include "operator/base/file_system.h"

namespace taas {

std::string LocalClaimFolder(const std::string& kubeconfig, const std::string& ns,
                             const std::string& claim) {
  const std::string dir = LocalDirOf(kubeconfig);
  if (dir.empty()) return "";
  PosixFileSystem disk;
  localkube::LocalCluster::Options cluster;
  cluster.dir = dir;
  ApplyShape(LoadLastTime(disk, dir), &cluster);
  return localkube::LocalCluster::ClaimDirOf(cluster, ns, claim);
}

}  // namespace taas
