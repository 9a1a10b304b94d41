#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "operator/base/random.h"
#include "trainer/data/fetch/data_sets.h"

namespace taas {
namespace {

constexpr uint64_t kSeed = 1;
// As much as shows a model that it has learnt, and is read in a moment.
constexpr size_t kMadeBytes = 400'000;
// Of a text its last tenth is for tests, cut at the end of a line.
constexpr size_t kTrainTenths = 9;

FolderContent Split(std::string_view text) {
  size_t cut = text.find('\n', text.size() / 10 * kTrainTenths);
  cut = cut == std::string_view::npos ? text.size() : cut + 1;
  return {.files = {{"train.txt", std::string(text.substr(0, cut))},
                    {"test.txt", std::string(text.substr(cut))}},
          .source = ""};
}

// Sentences by a small grammar: words that belong together, so that there is something to learn
// from letter to letter, word to word and line to line.
class Grammar {
 public:
  std::string Line() {
    std::string line = Subject() + " " + Predicate();
    if (random_.Below(3) == 0) line += Pick({", and ", ", but ", ", while "}) + Subject() + " " +
                                       Predicate();
    line += Pick({".", ".", ".", "!"});
    line[0] = static_cast<char>(line[0] - 'a' + 'A');
    return line + "\n";
  }

 private:
  std::string Pick(std::initializer_list<const char*> words) {
    return words.begin()[random_.Below(words.size())];
  }
  std::string Subject() {
    return Pick({"the ", "a ", "an old ", "the young ", "every "}) +
           Pick({"king", "queen", "fool", "sailor", "merchant", "soldier", "shepherd", "ghost"});
  }
  std::string Predicate() {
    switch (random_.Below(3)) {
      case 0:
        return Pick({"sees ", "loves ", "hears ", "follows ", "forgets "}) + Subject();
      case 1:
        return Pick({"sleeps", "sings", "waits", "dreams", "walks"}) + " " + Place();
      default:
        return Pick({"brings ", "gives ", "shows "}) + "the " +
               Pick({"sword", "letter", "crown", "lantern", "book"}) + " to " + Subject();
    }
  }
  std::string Place() {
    return Pick({"in the castle", "by the sea", "under the moon", "on the road", "at the gate"});
  }

  SeededRandom random_{kSeed};
};

FolderContent Make() {
  Grammar grammar;
  std::string text;
  while (text.size() < kMadeBytes) text += grammar.Line();
  FolderContent content = Split(text);
  content.source = "sentences by a grammar (no Shakespeare): " + std::to_string(text.size()) +
                   " letters, seed " + std::to_string(kSeed);
  return content;
}

}  // namespace

absl::StatusOr<Fetched> FetchText(FileSystem& files, const FetchOptions& options) {
  return FetchSet(
      files, options,
      {.name = "tiny Shakespeare",
       .files = {"train.txt", "test.txt"},
       .mirrors = {"https://raw.githubusercontent.com/karpathy/char-rnn/master/data/"
                   "tinyshakespeare/"},
       .published = {"input.txt",
                     "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
       .unpack = [](const std::string& text) { return Split(text); },
       .make = Make});
}

}  // namespace taas
