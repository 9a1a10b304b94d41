#include "trainer/data/data_commands.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/closest_name.h"
#include "operator/base/file_system.h"
#include "operator/base/terminal_text.h"
#include "trainer/data/convert.h"
#include "trainer/data/fetch/data_sets.h"
#include "trainer/data/http_get.h"
#include "trainer/data/inspect.h"

namespace taas {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kHelp[] =
    "usage: data fetch mnist|cifar10|text|clicks DIR [--generate]\n"
    "       data inspect FILE…\n"
    "       data convert --from idx --to tfrecord IMAGES LABELS TARGET\n"
    "       data convert --from tfrecord --to idx SOURCE IMAGES LABELS\n"
    "       data convert --from tfrecord --to tfrecord SOURCE TARGET\n"
    "       data convert --from cifar10|cifar100 --to tfrecord SOURCE TARGET\n"
    "       data convert --from tfrecord --to cifar10|cifar100 SOURCE TARGET\n"
    "\n"
    "fetch\n"
    "Lays out a data set in DIR, with source.txt, which says where it comes from: downloaded, or\n"
    "without a network, or with --generate, made from a seed. Does nothing if DIR is complete.\n"
    "  mnist    train-images.gz, train-labels.gz, test-images.gz, test-labels.gz (format idx);\n"
    "           from the directory $TAAS_DATA if it is set, with the four classic files or the\n"
    "           two t10k files, of which nine tenths become training data\n"
    "  cifar10  data_batch_1.bin to data_batch_5.bin, test_batch.bin (format cifar10)\n"
    "  text     train.txt, test.txt (format text)\n"
    "  clicks   train.csv, test.csv (format csv); always made\n"
    "\n"
    "inspect\n"
    "Tells what each file is: its format, how much is in it, the features of its examples with\n"
    "their first values, whether its checksums are right. Ends with 1 if a file is damaged or of\n"
    "no format that is known.\n"
    "\n"
    "convert\n"
    "From the two IDX files of a labelled image set to a TFRecord file of tf.train.Example with\n"
    "image_raw, label, height, width and depth, and back; or a file of CIFAR, of which the 100\n"
    "also have coarse_label; or from records to records, to unpack or compress them. What is\n"
    "written is gzip if its name ends with .gz.\n";

// Null: there is none of that name.
const DataSet* FindSet(const std::string& name) {
  for (const DataSet& set : DataSets()) {
    if (name == set.name) return &set;
  }
  return nullptr;
}

// CIFAR-10's archive has 162 MiB.
constexpr uint64_t kDownloadBytesMax = 256 << 20;

int Fetch(const DataSet& set, const std::string& target, bool generate) {
  // The resolver's default is to ask every server twice for 5 s each.
  ::setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
  FetchOptions options;
  options.target = target;
  const char* const data = std::getenv("TAAS_DATA");
  if (data != nullptr && !generate) options.data_dir = data;
  if (!generate) {
    options.download = [](const std::string& url) {
      return HttpGet(url, {.bytes_max = kDownloadBytesMax});
    };
  }
  options.progress = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  PosixFileSystem files;
  const absl::StatusOr<Fetched> fetched = set.fetch(files, options);
  if (!fetched.ok()) {
    std::fprintf(stderr, "data fetch %s %s: %s\n", set.name, target.c_str(),
                 std::string(fetched.status().message()).c_str());
    return kFailed;
  }
  std::printf("%s%s: %s\n", target.c_str(), fetched->was_complete ? " is complete" : "",
              fetched->source.c_str());
  return kOk;
}

int Inspect(const std::vector<std::string>& paths) {
  PosixFileSystem files;
  int code = kOk;
  for (const std::string& path : paths) {
    const absl::StatusOr<Inspection> found = InspectFile(files, path);
    if (!found.ok()) {
      const std::string why(found.status().message());
      std::fprintf(stderr, "data inspect: %s\n", TerminalText(why).c_str());
    } else {
      // Names of columns and features are whoever's wrote the file.
      std::fputs(TerminalText(found->text).c_str(), stdout);
    }
    if (!found.ok() || found->damaged || !found->known) code = kFailed;
  }
  return code;
}

std::optional<CifarFormat> CifarOf(const std::string& name) {
  if (name == "cifar10") return CifarFormat::kTen;
  if (name == "cifar100") return CifarFormat::kHundred;
  return std::nullopt;
}

absl::StatusOr<int64_t> ConvertFiles(FileSystem& files, const std::string& from,
                                     const std::string& to,
                                     const std::vector<std::string>& paths) {
  if (from == "idx") return IdxToRecords(files, {paths[0], paths[1]}, paths[2]);
  if (to == "idx") return RecordsToIdx(files, paths[0], {paths[1], paths[2]});
  if (const auto format = CifarOf(from)) return CifarToRecords(files, paths[0], *format, paths[1]);
  if (const auto format = CifarOf(to)) return RecordsToCifar(files, paths[0], *format, paths[1]);
  return RecordsToRecords(files, paths[0], paths[1]);
}

int Convert(const std::string& from, const std::string& to,
            const std::vector<std::string>& paths) {
  PosixFileSystem files;
  const absl::StatusOr<int64_t> examples = ConvertFiles(files, from, to, paths);
  if (!examples.ok()) {
    std::fprintf(stderr, "data convert: %s\n", std::string(examples.status().message()).c_str());
    return kFailed;
  }
  std::printf("%s: %lld examples\n", (from == "idx" ? paths[2] : paths[1]).c_str(),
              static_cast<long long>(*examples));
  return kOk;
}

struct Words {
  std::vector<std::string> plain;
  bool help = false;
  bool generate = false;
  std::string from;
  std::string to;
  std::string unknown;  // The first option that is none.
};

Words Sort(int argc, char** argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      words.help = true;
    } else if (word == "--generate") {
      words.generate = true;
    } else if ((word == "--from" || word == "--to") && i + 1 < argc) {
      (word == "--from" ? words.from : words.to) = argv[++i];
    } else if (word.substr(0, 1) != "-") {
      words.plain.push_back(word);
    } else if (words.unknown.empty()) {
      words.unknown = word;
    }
  }
  return words;
}

std::vector<std::string> Verbs() { return {"fetch", "inspect", "convert"}; }
std::vector<std::string> Sets() {
  std::vector<std::string> names;
  for (const DataSet& set : DataSets()) names.push_back(set.name);
  return names;
}
std::vector<std::string> Formats() { return {"idx", "tfrecord", "cifar10", "cifar100"}; }
std::vector<std::string> Options() { return {"--generate", "--from", "--to", "--help"}; }

// "; did you mean …?", or else what there is.
std::string Instead(const std::string& word, const std::vector<std::string>& known) {
  if (const std::string meant = DidYouMean(word, known); !meant.empty()) return "; " + meant;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  return "; there is " + list;
}

// Of fetch, behind the verb.
std::string WhatIsWrongToFetch(const std::vector<std::string>& rest) {
  if (rest.empty()) return "fetch: which set? `data fetch mnist DIR`";
  if (FindSet(rest[0]) == nullptr) {
    return "fetch: there is no set \"" + rest[0] + "\" to fetch" + Instead(rest[0], Sets());
  }
  const std::string what = "fetch " + rest[0] + ": ";
  if (rest.size() < 2 || rest[1].empty()) return what + "into which directory?";
  if (rest.size() > 2) return what + "one directory is wanted; \"" + rest[2] + "\" is more";
  return "";
}

// Of convert, whose forms say how many paths there are.
std::string WhatIsWrongToConvert(const Words& words) {
  const std::string& from = words.from;
  const std::string& to = words.to;
  if (from.empty() || to.empty()) return "convert: --from and --to are needed";
  const bool idx = (from == "idx" && to == "tfrecord") || (from == "tfrecord" && to == "idx");
  const bool cifar = (CifarOf(from) && to == "tfrecord") || (from == "tfrecord" && CifarOf(to));
  const bool records = from == "tfrecord" && to == "tfrecord";
  for (const auto& [flag, format] : {std::pair("--from", from), std::pair("--to", to)}) {
    const std::vector<std::string> known = Formats();
    if (std::find(known.begin(), known.end(), format) != known.end()) continue;
    return "convert: " + std::string(flag) + ": there is no format \"" + format + "\"" +
           Instead(format, known);
  }
  if (!idx && !cifar && !records) {
    return "convert: from " + from + " to " + to + " is none: one of the two is tfrecord";
  }
  const size_t wanted = idx ? 3 : 2;
  const size_t given = words.plain.size() - 1;
  if (given == wanted) return "";
  return "convert: from " + from + " to " + to + " takes " + std::to_string(wanted) +
         " paths, not " + std::to_string(given);
}

// What the words say amiss; empty: nothing.
std::string WhatIsWrong(const Words& words) {
  const std::string verb = words.plain.empty() ? "" : words.plain[0];
  const std::vector<std::string> rest(words.plain.begin() + (words.plain.empty() ? 0 : 1),
                                      words.plain.end());
  if (verb != "fetch" && verb != "inspect" && verb != "convert") {
    return verb.empty() ? "say fetch, inspect or convert"
                        : "there is no command \"" + verb + "\"" + Instead(verb, Verbs());
  }
  if (verb != "fetch" && words.generate) return verb + ": --generate is of fetch";
  if (verb != "convert" && !(words.from.empty() && words.to.empty())) {
    return verb + ": --from and --to are of convert";
  }
  if (verb == "fetch") return WhatIsWrongToFetch(rest);
  if (verb == "convert") return WhatIsWrongToConvert(words);
  return rest.empty() ? "inspect: which file?" : "";
}

}  // namespace

namespace {

int Run(int argc, char** argv) {
  const Words words = Sort(argc, argv);
  // As with kubectl, who says nothing wants to see the help.
  if (words.help || argc < 2) {
    std::fputs(kHelp, stdout);
    return kOk;
  }
  if (!words.unknown.empty()) {
    const std::string instead = Instead(words.unknown, Options());
    std::fprintf(stderr, "data: there is no option %s%s\n`data --help` has all forms\n",
                 words.unknown.c_str(), instead.c_str());
    return kUsage;
  }
  if (const std::string wrong = WhatIsWrong(words); !wrong.empty()) {
    std::fprintf(stderr, "data: %s\n`data --help` has all forms\n", wrong.c_str());
    return kUsage;
  }
  const std::vector<std::string> rest(words.plain.begin() + 1, words.plain.end());
  if (words.plain[0] == "convert") return Convert(words.from, words.to, rest);
  if (words.plain[0] == "inspect") return Inspect(rest);
  return Fetch(*FindSet(rest[0]), rest[1], words.generate);
}

}  // namespace

int RunDataCommand(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("data: there is not enough memory for what the file says it has\n", stderr);
    return kFailed;
  }
}

}  // namespace taas
