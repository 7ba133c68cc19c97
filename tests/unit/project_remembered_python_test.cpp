#include "project/program/inference.hpp"
#include "project/program/remembered_python.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

namespace autopack::project_remembered_python_test {

using project::RememberedPython;

namespace {

/// A tree with entries as on a disk, which counts reads.
class CountingTree final : public source::Tree {
public:
  explicit CountingTree(source::MemoryTree tree) : tree_{std::move(tree)} {}

  std::optional<source::Entry> find(std::string_view path) const override {
    auto entry = tree_.find(path);
    if (entry) {
      fill(*entry);
    }
    return entry;
  }

  std::vector<source::Entry> list(std::string_view path) const override {
    auto entries = tree_.list(path);
    for (auto& entry : entries) {
      fill(entry);
    }
    return entries;
  }

  std::string read(std::string_view path) const override {
    reads_ += path.ends_with(".py") ? 1 : 0;
    return tree_.read(path);
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    tree_.stream(path, take);
  }

  std::string describe() const override { return tree_.describe(); }

  /// Returns how many Python files were read since the last call.
  int reads() const { return std::exchange(reads_, 0); }

private:
  static void fill(source::Entry& entry) {
    entry.inode = std::hash<std::string>{}(entry.path) | 1U;
    entry.mtime_ns = entry.ctime_ns = 1'000'000'000;
  }

  source::MemoryTree tree_;
  mutable int reads_{0};
};

const source::MemoryTree files{
    {".gitignore", "local.py\nvocab.txt\n_version.py\n"},
    {"train.py", "import pkg.sub\nfrom . import x\nif __name__ == '__main__':\n  import local\n"},
    {"pkg/__init__.py", "try:\n  from ._version import a, b\nexcept ImportError:\n  pass\n"},
    {"pkg/_version.py", "a = 1\n"},
    {"pkg/sub.py", "import sys\nsys.path.append('..')\nprint 'x'\nopen(f'{a}/vocab.txt')\n"},
    {"local.py", "open('vocab.txt')\n"},
    {"vocab.txt", "v"}};

project::Project scan(const source::Tree& tree, std::shared_ptr<RememberedPython> remembered) {
  auto git = std::make_shared<source::GitWorkTree>();
  git->tracked = [](std::string_view) { return std::vector<std::string>{}; };
  return project::scan(
      tree, {.script = "train.py", .git = std::move(git), .python = std::move(remembered)});
}

/// Returns the cache of a run that started without one.
std::string saved_by(const source::Tree& tree) {
  const auto remembered = std::make_shared<RememberedPython>();
  scan(tree, remembered);
  return remembered->text_to_save().value();
}

source::Entry entry_of(const source::Tree& tree, std::string_view path) {
  return tree.find(path).value();
}

}  // namespace

TEST_CASE("remembered Python: a project is the same with it and without, and read once") {
  const CountingTree tree{files};
  const auto plain = scan(tree, nullptr);
  const int all = tree.reads();
  CHECK(all == 5);
  CHECK(plain.ignore.kept().size() == 3);
  CHECK(plain.python_files.size() == 5);
  const std::string saved = saved_by(tree);
  CHECK(tree.reads() == all);
  const auto remembered = std::make_shared<RememberedPython>(saved);
  const auto again = scan(tree, remembered);
  CHECK(tree.reads() == 0);
  CHECK(again.python_files == plain.python_files);
  CHECK(again.ignore.kept() == plain.ignore.kept());
  CHECK(again.warnings.size() == plain.warnings.size());
  CHECK(!remembered->text_to_save());
}

TEST_CASE("remembered Python: candidates for the program are read once") {
  const CountingTree tree{source::MemoryTree{
      {"lib/train.py", "import lib.net\nif __name__ == '__main__':\n  print(1)\n"},
      {"lib/net.py", "class Net:\n  pass\n"},
      {"tools/tune.py", "model.fit(x)\n"}}};
  project::Request request{.python = std::make_shared<RememberedPython>()};
  const auto first = project::infer_entry(tree, request, "~/x");
  CHECK(first.value == "lib.train");
  CHECK(tree.reads() > 0);
  request = {.python = std::make_shared<RememberedPython>(request.python->text_to_save().value())};
  CHECK(project::infer_entry(tree, request, "~/x").value == first.value);
  CHECK(tree.reads() == 0);
}

TEST_CASE("remembered Python: a file in another state is read") {
  const CountingTree tree{files};
  const std::string saved = saved_by(tree);
  tree.reads();
  const auto reads_of = [&](const source::Entry& entry) {
    RememberedPython{saved}.of(tree, entry);
    return tree.reads();
  };
  const auto entry = entry_of(tree, "pkg/sub.py");
  CHECK(reads_of(entry) == 0);
  for (const auto& change : std::vector<std::function<void(source::Entry&)>>{
           [](auto& one) { one.size += 1; }, [](auto& one) { one.inode += 2; },
           [](auto& one) { one.mtime_ns += 1; }, [](auto& one) { one.ctime_ns += 1; },
           [](auto& one) { one.path = "local.py"; }, [](auto& one) { one.identity = "c"; },
           [](auto& one) { one.inode = 0; }}) {
    auto changed = entry;
    change(changed);
    CHECK(reads_of(changed) == 1);
  }
}

TEST_CASE("remembered Python: what changed just now is not kept, what git names is") {
  const CountingTree tree{files};
  auto entry = entry_of(tree, "pkg/sub.py");
  entry.ctime_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  RememberedPython fresh;
  fresh.of(tree, entry);
  CHECK(!fresh.text_to_save());
  entry.identity = "0123";
  fresh.of(tree, entry);
  CHECK(fresh.text_to_save());
}

TEST_CASE("remembered Python: files that nobody asks for any more are forgotten") {
  const CountingTree tree{files};
  const std::string saved = saved_by(tree);
  RememberedPython remembered{saved};
  remembered.of(tree, entry_of(tree, "local.py"));
  const auto less = remembered.text_to_save();
  REQUIRE(less);
  CHECK(less->size() < saved.size());
  tree.reads();
  RememberedPython{*less}.of(tree, entry_of(tree, "local.py"));
  CHECK(tree.reads() == 0);
}

TEST_CASE("remembered Python: damage costs time, nothing else") {
  const CountingTree tree{files};
  const auto plain = scan(tree, nullptr);
  const std::string saved = saved_by(tree);
  for (std::size_t i = 0; i < saved.size(); i += 7) {
    CAPTURE(i);
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    tree.reads();
    CHECK(scan(tree, std::make_shared<RememberedPython>(damaged)).python_files ==
          plain.python_files);
    CHECK(tree.reads() == 5);
    const auto cut = std::make_shared<RememberedPython>(saved.substr(0, i));
    CHECK(scan(tree, cut).python_files == plain.python_files);
  }
}

TEST_CASE("remembered Python: facts come back from their bytes, and no others do") {
  const project::PythonFile file{
      .imports = {{.module = "a.b", .level = 2, .names = {"c", ""}, .line = 7, .nested = true},
                  {.optional = true, .when_main = true}},
      .strings = {{.text = std::string("x\0y", 3), .computed = true, .line = 9}, {}},
      .changes_path = true,
      .python2_line = 3};
  const std::string bytes = project::to_bytes(file);
  CHECK(project::python_file_of(bytes) == file);
  CHECK(!project::python_file_of(bytes + "x"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(!project::python_file_of(std::string_view{bytes}.substr(0, size)));
  }
  CHECK(!project::python_file_of(std::string(64, '\xff')));
}

}  // namespace autopack::project_remembered_python_test
