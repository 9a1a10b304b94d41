// Any file that somebody asks about, by `data inspect`.

#include <string>
#include <vector>

#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/inspect.h"
#include "trainer/formats/record_frame.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  ExampleBuilder builder;
  const int64_t ints[] = {-1, 7};
  builder.AddInts("words", ints);
  builder.AddBytes("image", "abcd");
  const std::string record = FrameRecord(builder.Take());
  return {record, GzipCompress(record + FrameRecord("none")), "a,b\n1,\"2\"\n",
          std::string("\0\0\x08\2\0\0\0\2\0\0\0\1ab", 14), "\3" + std::string(3072, 'x'),
          "version https://git-lfs.github.com/spec/v1\n", "<html>"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  taas::MemoryFiles files({{"/x", text}, {"/x.csv", text}, {"/x.tfrecord", text}});
  for (const char* path : {"/x", "/x.csv", "/x.tfrecord"}) (void)taas::InspectFile(files, path);
  return 0;
}
