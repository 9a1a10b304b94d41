// What a replica tells the chief of itself, and of its GPUs.
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   SetGpus(board.snapshot().gpus, request.mutable_report());
//   peer.gpus = GpusOf(request.report());

#ifndef TRAINER_CLUSTER_GPU_REPORT_H_
#define TRAINER_CLUSTER_GPU_REPORT_H_

#include <cstddef>
#include <vector>

#include "operator/base/nvml.h"
#include "trainer/proto/chief.pb.h"

namespace taas {

// What is kept of a report: it stands on the chief's /status with those of all others, whoever
// wrote it.
constexpr size_t kReportTextMax = 1'000;
constexpr int kReportGpusMax = 64;
wire::Report Bounded(wire::Report report);

void SetGpus(const std::vector<GpuReading>& gpus, wire::Report* report);
std::vector<GpuReading> GpusOf(const wire::Report& report);

}  // namespace taas

#endif  // TRAINER_CLUSTER_GPU_REPORT_H_
