// Files that somebody asks about by `inspect`: of whatever kind their names and first bytes say.

#include <string>
#include <vector>

#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/formats/record_frame.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/inspect/inspect_path.h"
#include "trainer/summary/event.pb.h"

namespace taas {
namespace {

// Whose directories exist by their names only.
class Files : public MemoryFiles {
 public:
  using MemoryFiles::MemoryFiles;
  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override {
    if (!dir.ends_with("/d")) return absl::NotFoundError("list " + dir + ": none");
    return MemoryFiles::List(dir);
  }
};

}  // namespace

std::vector<std::string> FuzzSeeds() {
  tf::SavedModel model;
  auto* const graph = model.add_meta_graphs();
  (*graph->mutable_signature_def())["serving_default"].set_method_name("predict");
  graph->mutable_graph_def()->add_node()->set_op("Placeholder");
  summary::Event event;
  event.set_step(3);
  event.mutable_summary()->add_value()->set_tag("loss");
  return {model.SerializeAsString(), FrameRecord(event.SerializeAsString()),
          std::string("\x02\0\0\0\0\0\0\0{}", 10), "a,b\n1,2\n"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  for (const char* path : {"/d/saved_model.pb", "/x/events.out.tfevents.1.h",
                           "/x/model.safetensors", "/x/data.csv", "/x/data"}) {
    taas::Files files({{path, text}});
    const bool in_dir = std::string_view(path).starts_with("/d/");
    (void)taas::InspectPath(files, in_dir ? "/d" : path, {.values = true});
  }
  return 0;
}
