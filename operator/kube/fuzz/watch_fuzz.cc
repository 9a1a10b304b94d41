// A watch in lines of JSON or in frames of protobuf, in chunks, and the objects in it.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "operator/api/kube_protobuf.h"
#include "operator/kube/object_fields.h"
#include "operator/kube/pod_decoder.h"
#include "operator/kube/watch_reader.h"
#include "tools/fuzz/target.h"

namespace taas {
namespace {

std::string Field(int number, std::string_view text) {
  std::string out{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())};
  return out.append(text);
}

// A frame of a watch: its length in four bytes, then an event in the envelope.
std::string Frame() {
  const std::string meta = Field(1, Field(1, "a") + Field(3, "ns") + Field(5, "u-1"));
  const std::string pod = WrapKubeProtobuf(Field(1, Field(1, "v1") + Field(2, "Pod")) +
                                           Field(2, meta + Field(3, Field(1, "Running"))));
  const std::string event = Field(1, "ADDED") + Field(2, Field(1, pod));
  return std::string{0, 0, 0, static_cast<char>(event.size())} + event;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"b",
              "uid":"u","resourceVersion":"7","labels":{"taas.dev/job-name":"j"},
              "ownerReferences":[{"uid":"o","kind":"TFJob","controller":true}]},
              "spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},
              "status":{"phase":"Failed","containerStatuses":[{"name":"c","restartCount":1,
              "state":{"terminated":{"exitCode":137,"reason":"OOMKilled","message":"m",
              "finishedAt":"2026-11-21T05:54:17Z"}}}],"conditions":[{"type":"Ready",
              "status":"False"}]}}})" "\n",
          "{\"type\":\"BOOKMARK\",\"object\":{}}\n{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n",
          Frame(), Frame() + Frame()};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  const auto on_event = [](const taas::WatchEvent& event) {
    (void)taas::ReadObjectFields(event.object);
    (void)taas::ReadObjectMetadata(event.object);
    (void)taas::DecodePod(event.object);
    (void)taas::DecodeOwnedObject(event.object);
    return absl::OkStatus();
  };
  // The same whole, and in two pieces.
  taas::WatchReader whole, pieces;
  (void)whole.Add(text, on_event);
  if (pieces.Add(text.substr(0, size / 2), on_event).ok()) {
    (void)pieces.Add(text.substr(size / 2), on_event);
  }
  return 0;
}
