#include "trainer/cluster/gpu_report.h"

#include <string>
#include <utility>

namespace taas {

namespace {

// Of a name: of a state, of a GPU.
constexpr size_t kNameMax = 100;

void Cut(std::string* text, size_t most) {
  if (text->size() > most) text->resize(most);
}

}  // namespace

wire::Report Bounded(wire::Report report) {
  Cut(report.mutable_state(), kNameMax);
  Cut(report.mutable_message(), kReportTextMax);
  while (report.gpus_size() > kReportGpusMax) report.mutable_gpus()->RemoveLast();
  for (wire::Gpu& gpu : *report.mutable_gpus()) Cut(gpu.mutable_id(), kNameMax);
  return report;
}

void SetGpus(const std::vector<GpuReading>& gpus, wire::Report* report) {
  report->clear_gpus();
  for (const GpuReading& gpu : gpus) {
    wire::Gpu* const out = report->add_gpus();
    out->set_id(gpu.id);
    out->set_index(gpu.index);
    if (gpu.utilization) out->set_utilization(*gpu.utilization);
    if (gpu.memory_used_mib) out->set_memory_used_mib(*gpu.memory_used_mib);
    if (gpu.memory_total_mib) out->set_memory_total_mib(*gpu.memory_total_mib);
  }
}

std::vector<GpuReading> GpusOf(const wire::Report& report) {
  std::vector<GpuReading> out;
  for (const wire::Gpu& gpu : report.gpus()) {
    GpuReading reading{.id = gpu.id(), .index = gpu.index()};
    if (gpu.has_utilization()) reading.utilization = gpu.utilization();
    if (gpu.has_memory_used_mib()) reading.memory_used_mib = gpu.memory_used_mib();
    if (gpu.has_memory_total_mib()) reading.memory_total_mib = gpu.memory_total_mib();
    out.push_back(std::move(reading));
  }
  return out;
}

}  // namespace taas
