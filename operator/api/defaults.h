// The names and numbers of the API that more than one part must agree on.
//
// Defaults of fields are not here: those are in crds/trainingjobs.yaml, which is the only place for
// them.
//
// Ownership: constants. Threads: any. Errors: none.
//
//   const std::string path = "/apis/" + std::string(kApiGroup) + "/" + std::string(kApiVersion);

#ifndef OPERATOR_API_DEFAULTS_H_
#define OPERATOR_API_DEFAULTS_H_

#include <cstdint>
#include <string_view>

namespace taas {

inline constexpr std::string_view kApiGroup = "taas.dev";
inline constexpr std::string_view kApiVersion = "v1";
inline constexpr std::string_view kApiGroupVersion = "taas.dev/v1";
inline constexpr std::string_view kTrainingJobKind = "TrainingJob";
inline constexpr std::string_view kTrainingJobListKind = "TrainingJobList";
inline constexpr std::string_view kTrainingJobPlural = "trainingjobs";
inline constexpr std::string_view kTrainingJobShortName = "tj";

// Image of a trainer whose manifest names none and whose operator was given none.
inline constexpr std::string_view kDefaultTrainerImage = "taas/trainer:0.1.0";

// The container that gets TF_CONFIG and TAAS_*.
inline constexpr std::string_view kTrainerContainer = "trainer";

// In a cluster each pod has an address of its own, so every replica uses the same two ports.
inline constexpr int32_t kTrainerPort = 2222;
inline constexpr int32_t kStatusPort = 2223;
inline constexpr std::string_view kTrainerPortName = "taas";
inline constexpr std::string_view kStatusPortName = "taas-status";

// A pod's hostname is its name, and a DNS label has at most 63 characters (RFC 1035).
inline constexpr int32_t kMaxDnsLabel = 63;

}  // namespace taas

#endif  // OPERATOR_API_DEFAULTS_H_
