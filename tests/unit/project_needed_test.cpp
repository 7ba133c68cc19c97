#include "project/code/path_texts.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

namespace autopack::project_needed_test {

namespace {

std::map<std::string, std::string> kept(const source::MemoryTree& tree, project::Request request) {
  auto git = std::make_shared<source::GitWorkTree>();
  git->tracked = [](std::string_view) { return std::vector<std::string>{}; };
  request.git = git;
  return project::scan(tree, request).ignore.kept();
}

}  // namespace

TEST_CASE("files that git ignores and the program imports or names are included") {
  source::MemoryTree tree{
      {".gitignore", "_version.py\n*.so\nvocab/\nlocal.py\nsecret.txt\nscratch.py\n"},
      {"pkg/__init__.py", "from ._version import version\nfrom . import fast\n"},
      {"pkg/_version.py", "version = 1\n"},
      {"pkg/fast.cpython-311-x86_64-linux-gnu.so", "elf"},
      {"pkg/other.so", "elf"},
      {"train.py", "import pkg.sub\nimport local\nopen('vocab/small.txt')\nopen('conf.yaml')\n"},
      {"pkg/sub.py", "HERE = 'table.csv'\n"},
      {"pkg/table.csv", ""},
      {"local.py", ""},
      {"scratch.py", ""},
      {"conf.yaml", ""},
      {"vocab/small.txt", "a"},
      {"vocab/large.bin", "b"}};
  CHECK(kept(tree, {.script = "train.py"}) ==
        std::map<std::string, std::string>{
            {"local.py", "`train.py` line 2 imports it"},
            {"pkg/_version.py", "`pkg/__init__.py` line 1 imports it"},
            {"pkg/fast.cpython-311-x86_64-linux-gnu.so", "`pkg/__init__.py` line 2 imports it"},
            {"vocab/small.txt", "`train.py` line 3 names it"}});
  CHECK(kept(tree, {.script = "scratch.py"}) ==
        std::map<std::string, std::string>{{"scratch.py", "the script"}});
}

TEST_CASE("a path that a program puts together from names is found by its last one") {
  source::MemoryTree tree{{".gitignore", "*.bin\n*.pkl\n"},
                          {"train.py",
                           "import os\np = os.path.join('data', name, 'train.bin')\n"
                           "q = 'data'\nr = 'meta.pkl'\n"},
                          {"data/x/prepare.py", ""},
                          {"data/x/meta.pkl", "m"},
                          {"data/x/other.pkl", "o"}};
  tree.file("data/x/train.bin", std::string(10'000'001, 'x'));
  CHECK(kept(tree, {.script = "train.py"}) ==
        std::map<std::string, std::string>{{"data/x/meta.pkl", "`train.py` line 4 names it"}});
  auto git = std::make_shared<source::GitWorkTree>();
  git->tracked = [](std::string_view) { return std::vector<std::string>{}; };
  const auto warnings = project::scan(tree, {.script = "train.py", .git = git}).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message ==
        "`data/x/train.bin` (10.0 MB) stays out: git ignores it, but `train.py` line 2 names it");
  CHECK(warnings[0].hints[0] == "`--include=data/x/train.bin` includes it");
}

TEST_CASE("files that a settings file names are included if the program names the settings") {
  source::MemoryTree tree{{".gitignore", "words.txt\n"},
                          {"train.py", "main('conf')\n"},
                          {"conf/data.yaml", "vocab: assets/words.txt\n"},
                          {"assets/words.txt", ""}};
  CHECK(
      kept(tree, {.script = "train.py"}) ==
      std::map<std::string, std::string>{{"assets/words.txt", "`conf/data.yaml` line 1 names it"}});
}

TEST_CASE("the words of a bash script are names, and its Python files are read") {
  source::MemoryTree tree{{".gitignore", "gen.py\nvocab.txt\n"},
                          {"run.sh", "cd src\npython src/train.py --vocab=vocab.txt\n"},
                          {"src/train.py", "import gen\n"},
                          {"src/gen.py", ""},
                          {"vocab.txt", ""}};
  const auto found = kept(tree, {.script = "run.sh"});
  CHECK(found.at("vocab.txt") == "`run.sh` line 2 names it");
  CHECK(found.at("src/gen.py") == "`src/train.py` line 1 imports it");
}

TEST_CASE("a submodule that the program needs and that was not fetched is reported") {
  source::MemoryTree tree{{"a.py", "import sys\nsys.path.append('third/x')\n"},
                          {".gitmodules", "[submodule \"x\"]\n\tpath = third/x\n\turl = u\n"}};
  tree.directory("third/x");
  const auto warnings = project::scan(tree, {.script = "a.py"}).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message == "the submodule `third/x` is empty here, and so in the image");
  CHECK(warnings[0].hints[0] == "git submodule update --init third/x");
  tree.file("a.py", "");
  CHECK(project::scan(tree, {.script = "a.py"}).warnings.empty());
}

TEST_CASE(
    "a directory that git ignores and the program names is told, unless its files are taken") {
  const source::MemoryTree tree{
      {".gitignore", "data/\nvocab/\nruns/\nempty/\n"},
      {"src/train.py",
       "open('../data/mnist')\nwriter('missing')\nopen('../vocab')\nopen('words.txt')\n"},
      {"data/mnist/images.gz", "i"},
      {"vocab/words.txt", "w"},
      {"runs/one", "r"}};
  auto git = std::make_shared<source::GitWorkTree>();
  git->tracked = [](std::string_view) { return std::vector<std::string>{}; };
  const auto project = project::scan(tree, {.script = "src/train.py", .git = git});
  REQUIRE(project.ignored_directories.size() == 1);
  CHECK(project.ignored_directories[0].path == "data/mnist");
  CHECK(project.ignored_directories[0].from == "src/train.py");
  CHECK(project.ignored_directories[0].line == 1);
  CHECK(project.ignore.kept().contains("vocab/words.txt"));
}

TEST_CASE("texts that may be paths of the project") {
  for (const auto* text : {"data/train.bin", "train.py", "../x", "a-b_c"}) {
    CHECK(project::may_be_path(text));
  }
  for (const auto* text : {"", "/etc/x", "two words", "*.csv", "%s.txt", "{name}", "gs://b/x"}) {
    CHECK_FALSE(project::may_be_path(text));
  }
  CHECK_FALSE(project::may_be_path(std::string(201, 'a')));
  using Parts = std::vector<std::string_view>;
  CHECK(project::plain_parts("data/{name}/train.bin") == Parts{"data", "train.bin"});
  CHECK(project::plain_parts("out/a/{name}.bin") == Parts{"out/a"});
  CHECK(project::plain_parts("{name}/b.bin") == Parts{"b.bin"});
  CHECK(project::plain_parts("{name}").empty());
}

TEST_CASE("the words of a script, the last without a line end too") {
  const auto words = project::words_of_text("A=1 python \"src/train.py\"\n\n--data=data/x");
  REQUIRE(words.size() == 6);
  CHECK(words[3].text == "src/train.py");
  CHECK(words[3].line == 1);
  CHECK(words[4].text == "--data");
  CHECK(words[5].text == "data/x");
  CHECK(words[5].line == 3);
  CHECK(project::words_of_text("").empty());
}

TEST_CASE("a file that the program reads and a rule hides is a warning, with both places") {
  const auto warnings = [](const source::MemoryTree& tree, project::Request request) {
    std::string text;
    for (const auto& problem : project::scan(tree, request).warnings) {
      text += problem.message + " (" + problem.origin.value_or("") + ") [" + problem.hints.at(0) +
              "]\n";
    }
    return text;
  };
  source::MemoryTree tree{{".dockerignore", "conf\n*.json\nout\n"},
                          {"train.py",
                           "from pkg import words\n"
                           "open('conf/a.yaml')\n"
                           "open('out/log.txt', 'w')\n"
                           "print('notes.json')\n"},
                          {"pkg/__init__.py", ""},
                          {"pkg/words.py",
                           "(Path(__file__).parent / 'vocab.txt').read_text()\n"
                           "(Path(__file__).parent / 'vocab.txt').read_text()\n"},
                          {"pkg/vocab.txt", ""},
                          {"conf/a.yaml", ""},
                          {"out/log.txt", ""},
                          {"notes.json", ""}};
  const std::string of_conf =
      "`train.py` line 2 reads `conf/a.yaml`, which the rule `conf` leaves out (.dockerignore:1) "
      "[echo '!conf/a.yaml' >> .dockerignore]\n";
  CHECK(warnings(tree, {.script = "train.py"}) == of_conf);
  CHECK(warnings(tree, {.script = "train.py", .exclude = {"*.txt"}}) ==
        of_conf +
            "`pkg/words.py` line 1 reads `pkg/vocab.txt`, which the rule `--exclude=*.txt` leaves "
            "out (--exclude) [drop `--exclude=*.txt`]\n");
  CHECK(warnings(tree, {.script = "train.py", .include = {"conf/a.yaml"}}).empty());
}

TEST_CASE("a `.env` that the program loads stays out with a word, unless its variables are given") {
  source::MemoryTree tree{
      {"train.py", "import os\nfrom dotenv import load_dotenv\nload_dotenv()\n"},
      {".env", "A=1\n"}};
  const auto found = project::scan(tree, {.script = "train.py"}).warnings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "`.env` stays out of the image, and `train.py` line 2 loads it");
  CHECK(project::scan(tree, {.script = "train.py", .given_at = {{"env-file", "`--env-file`"}}})
            .warnings.empty());
  tree.file("train.py", "print(1)\n");
  CHECK(project::scan(tree, {.script = "train.py"}).warnings.empty());
}

TEST_CASE("a directory that git ignores and tracks files in is not said to stay out") {
  source::MemoryTree tree{
      {".gitignore", "data\n"}, {"train.py", "open_all('data')\n"}, {"data/a.csv", "a"}};
  const auto directories = [&](std::vector<std::string> tracked) {
    auto git = std::make_shared<source::GitWorkTree>();
    git->tracked = [tracked](std::string_view) { return tracked; };
    return project::scan(tree, {.script = "train.py", .git = git}).ignored_directories.size();
  };
  CHECK(directories({}) == 1);
  CHECK(directories({"data/a.csv"}) == 0);
}

}  // namespace autopack::project_needed_test
