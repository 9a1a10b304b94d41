#include "trainer/data/stream/streaming_options.h"

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"

namespace taas {
namespace {

// The limits of the TrainingJob schema.
constexpr int64_t kShuffleBufferMax = 100'000'000;
constexpr int64_t kReadersMax = 64;
constexpr int64_t kPrefetchMax = 64;

}  // namespace

absl::StatusOr<StreamingOptions> ParseStreaming(const nlohmann::json& spec) {
  const char* const path = "data.streaming";
  RETURN_IF_ERROR(CheckFields(spec, path, {"shuffleBuffer", "readers", "prefetch"}));
  StreamingOptions options;
  ASSIGN_OR_RETURN(options.shuffle_buffer,
                   WholeField(spec, path, "shuffleBuffer",
                              {options.shuffle_buffer, 1, kShuffleBufferMax}));
  ASSIGN_OR_RETURN(options.readers,
                   WholeField(spec, path, "readers", {options.readers, 1, kReadersMax}));
  ASSIGN_OR_RETURN(options.prefetch,
                   WholeField(spec, path, "prefetch", {options.prefetch, 0, kPrefetchMax}));
  return options;
}

}  // namespace taas
