#include "trainer/cluster/gpu_report.h"

#include <string>
#include <utility>

namespace taas {

namespace {

// Of a name: of a state, of a GPU.
constexpr size_t kNameMax = 100;
// NVML knows nine reasons, of which the longest has 16 letters here.
constexpr int kThrottlesMax = 9;
constexpr size_t kThrottleMax = 16;

void Cut(std::string* text, size_t most) {
  if (text->size() > most) text->resize(most);
}

}  // namespace

wire::Report Bounded(wire::Report report) {
  Cut(report.mutable_state(), kNameMax);
  Cut(report.mutable_message(), kReportTextMax);
  while (report.gpus_size() > kReportGpusMax) report.mutable_gpus()->RemoveLast();
  for (wire::Gpu& gpu : *report.mutable_gpus()) {
    Cut(gpu.mutable_id(), kNameMax);
    while (gpu.throttle_size() > kThrottlesMax) gpu.mutable_throttle()->RemoveLast();
    for (std::string& word : *gpu.mutable_throttle()) Cut(&word, kThrottleMax);
  }
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
    if (gpu.power_watts) out->set_power_watts(*gpu.power_watts);
    if (gpu.power_limit_watts) out->set_power_limit_watts(*gpu.power_limit_watts);
    if (gpu.temperature_c) out->set_temperature_c(*gpu.temperature_c);
    if (gpu.throttle) {
      out->set_throttle_known(true);
      for (const std::string& word : *gpu.throttle) out->add_throttle(word);
    }
    if (gpu.ecc_uncorrected) out->set_ecc_uncorrected(*gpu.ecc_uncorrected);
  }
}

std::vector<GpuReading> GpusOf(const wire::Report& report) {
  std::vector<GpuReading> out;
  for (const wire::Gpu& gpu : report.gpus()) {
    GpuReading reading{.id = gpu.id(), .index = gpu.index()};
    if (gpu.has_utilization()) reading.utilization = gpu.utilization();
    if (gpu.has_memory_used_mib()) reading.memory_used_mib = gpu.memory_used_mib();
    if (gpu.has_memory_total_mib()) reading.memory_total_mib = gpu.memory_total_mib();
    if (gpu.has_power_watts()) reading.power_watts = gpu.power_watts();
    if (gpu.has_power_limit_watts()) reading.power_limit_watts = gpu.power_limit_watts();
    if (gpu.has_temperature_c()) reading.temperature_c = gpu.temperature_c();
    if (gpu.throttle_known()) {
      reading.throttle.emplace(gpu.throttle().begin(), gpu.throttle().end());
    }
    if (gpu.has_ecc_uncorrected()) reading.ecc_uncorrected = gpu.ecc_uncorrected();
    out.push_back(std::move(reading));
  }
  return out;
}

}  // namespace taas
