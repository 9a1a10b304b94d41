// What a replica measured of its GPUs, in its report to the chief.
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   SetGpus(board.snapshot().gpus, request.mutable_report());
//   peer.gpus = GpusOf(request.report());

#ifndef TRAINER_CLUSTER_GPU_REPORT_H_
#define TRAINER_CLUSTER_GPU_REPORT_H_

#include <vector>

#include "operator/base/nvml.h"
#include "trainer/proto/chief.pb.h"

namespace taas {

void SetGpus(const std::vector<GpuReading>& gpus, wire::Report* report);
std::vector<GpuReading> GpusOf(const wire::Report& report);

}  // namespace taas

#endif  // TRAINER_CLUSTER_GPU_REPORT_H_
