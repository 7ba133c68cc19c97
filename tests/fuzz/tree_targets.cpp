#include "base/digest.hpp"
#include "base/error.hpp"
#include "build/docker/docker_build.hpp"
#include "google/token_cache.hpp"
#include "image/facts.hpp"
#include "plan/install_record.hpp"
#include "plan/links.hpp"
#include "plan/plan.hpp"
#include "plan/pointers.hpp"
#include "project/code/shell_commands.hpp"
#include "project/program/notebook.hpp"
#include "project/program/script_language.hpp"
#include "project/project.hpp"
#include "project/requirements/conda_environment.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "python/archive_name.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"
#include "scratch.hpp"
#include "state/base_cache.hpp"
#include "state/blob_cache.hpp"
#include "state/build_record.hpp"
#include "state/file_hashes.hpp"
#include "state/records.hpp"
#include "support/memory_plan.hpp"
#include "support/memory_tree.hpp"
#include "target.hpp"

/// Whole projects, what they say of Python and the shell, and what earlier runs left.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;

void shell(std::string_view bytes) {
  project::read_shell(bytes, "scripts");
  project::language_of("train", bytes);
  project::split_words(bytes);
}

void versions(std::string_view bytes) {
  if (const auto version = python::Version::parse(bytes)) {
    const auto again = python::Version::parse(version->str());
    if (!again || *again != *version) {
      fail("the version `" + version->str() + "` does not come back");
    }
  }
  const auto candidate = python::Version::parse("3.11.2").value();
  if (const auto all = python::SpecifierSet::parse(bytes)) {
    all->contains(candidate);
  }
  for (const auto& all :
       python::parse_poetry_constraint(bytes).value_or(std::vector<python::SpecifierSet>{})) {
    all.contains(candidate);
  }
  if (const auto marker = python::Marker::parse(bytes)) {
    marker->holds_in(python::environment_on_linux(candidate, "x86_64"));
  }
  python::normalise_name(bytes);
  python::check_wheel_name(bytes);
}

void conda(std::string_view bytes) {
  project::read_conda_environment(bytes);
  source::MemoryTree tree;
  tree.file("train.py", "").file("environment.yml", std::string{bytes});
  project::scan(tree, {.script = "train.py"});
}

void notebook(std::string_view bytes) {
  const auto translated = project::translate_notebook(bytes);
  for (const auto& line : translated.lines) {
    if (line.cell < 1 || line.line < 1) {
      fail("a requirement of no cell");
    }
  }
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("train.ipynb", std::string{bytes});
  project::Request request{.script = "train.ipynb"};
  project::scan(*project::with_notebook(tree, request), request);
}

/// Lines `f PATH TEXT`, `l PATH TARGET` and `d PATH` are a tree, whose `train.sh` or `train.py`
/// is planned.
void tree(std::string_view bytes) {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("train.py", "import a.b\nopen('data/x.txt')\n");
  for (int lines = 0; !bytes.empty() && lines < 100; ++lines) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const auto line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.size() < 3) {
      continue;
    }
    const auto space = std::min(line.find(' ', 2), line.size());
    const auto path = source::normalise(line.substr(2, space - 2));
    const std::string rest{line.substr(std::min(space + 1, line.size()))};
    // A file has nothing below it.
    bool fits = path && !path->empty() && path->size() < 200 && !tree->find(*path);
    for (auto slash = fits ? path->rfind('/') : std::string::npos; slash != std::string::npos;
         slash = slash == 0 ? std::string::npos : path->rfind('/', slash - 1)) {
      const auto parent = tree->find(path->substr(0, slash));
      fits = fits && (!parent || parent->type == source::EntryType::directory);
    }
    if (!fits) {
      continue;
    }
    switch (line[0]) {
      case 'f': tree->file(*path, rest); break;
      case 'l': tree->symlink(*path, rest); break;
      case 'd': tree->directory(*path); break;
      default: break;
    }
  }
  const project::Request request{.script = tree->find("train.sh") ? "train.sh" : "train.py"};
  const auto project = project::scan(*tree, request);
  const image::BaseFacts base{.reference = "example.org/base:1",
                              .digest = sha256("base"),
                              .platform = "linux/amd64",
                              .python = "python3",
                              .python_version = "3.11.2",
                              .pip = true,
                              .apt = true};
  const auto plan = plan::make_plan(tree, project, request, base, {});
  plan::dangling_links(plan, project);
  plan::unfetched_files(plan);
  plan::to_json(plan);
  plan::render_dockerfile(plan, {}, {});
}

/// A person's own Dockerfile, and a header of a generated one.
void own_dockerfile(std::string_view bytes) {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("a/b.py", "").file(".git/config", "").file("Dockerfile", "");
  auto plan = plan_of(tree, {"a/b.py"});
  plan.dockerfile = std::string{bytes};
  plan.user_dockerfile = "Dockerfile";
  build::own_dockerfile_findings(plan, source::IgnoreRules::defaults(), ".autopack/Dockerfile", {});
  plan::recorded_facts(bytes);
}

void install_record(std::string_view bytes) {
  const auto record = plan::parse_install_record(bytes);
  if (!record) {
    return;
  }
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("setup.py", "").file("a/__init__.py", "").directory("b");
  plan::why_outdated(*record, plan_of(tree, {"a", "a/__init__.py", "b", "setup.py"}));
}

/// The same bytes in the files of every cache.
class Caches {
public:
  Caches() : root_{scratch() / "caches"} {
    facts_.reference = "example.com/base:1";
    facts_.digest = digest_;
    facts_.platform = "linux/amd64";
    bases_.store(facts_);
    modules_.store(digest_, {{"numpy", true}});
    records_.put("/project", "linux/amd64", {.dependency_key = "a"});
    layers_.put(std::string(64, 'a'), {.digest = digest_, .diff_id = digest_, .size = 1});
    pushed_.put("example.com/a", digest_);
    blobs_.put("blob");
    tokens_.write("a", {.token = Secret{"t"}, .expires_at = 1'800'000'000});
    for (const auto& entry : fs::recursive_directory_iterator{root_}) {
      if (entry.is_regular_file()) {
        files_.push_back(entry.path());
      }
    }
  }

  void read(std::string_view bytes) const {
    for (const auto& file : files_) {
      put(file, bytes);
    }
    bases_.by_digest(digest_, "linux/amd64");
    bases_.by_reference("example.com/base:1", "linux/amd64");
    modules_.of(digest_);
    records_.get("/project", "linux/amd64");
    layers_.get(std::string(64, 'a'));
    pushed_.get("example.com/a");
    if (const auto blob = blobs_.get(sha256("blob")); blob && *blob != "blob") {
      fail("a damaged blob is taken for a whole one");
    }
    tokens_.read("a");
  }

private:
  fs::path root_;
  Digest digest_{sha256("base")};
  image::BaseFacts facts_{};
  state::BaseCache bases_{root_ / "bases"};
  state::BaseModules modules_{root_ / "modules"};
  state::BuildRecords records_{root_ / "records"};
  state::LayerCache layers_{root_ / "layers"};
  state::PushedImages pushed_{root_ / "pushed"};
  state::BlobCache blobs_{root_ / "blobs"};
  google::TokenCache tokens_{root_ / "tokens"};
  std::vector<fs::path> files_{};
};

void caches(std::string_view bytes) {
  static const Caches all;
  all.read(bytes);
}

/// What stands behind the magic number of the table of hashes.
void file_hashes(std::string_view bytes) {
  static const fs::path file = scratch() / "hashes";
  put(file, "autopack-hash-03" + std::string{bytes});
  source::MemoryTree tree;
  tree.file("a.py", "a").file("b.py", "b");
  state::FileHashes hashes{file};
  for (const char* const path : {"a.py", "b.py", "a.py"}) {
    auto entry = tree.find(path).value();
    entry.inode = 1;
    hashes.of(tree, path, entry);
    entry.identity = "c";
    hashes.of(tree, path, entry);
  }
  hashes.save();
  const state::FileHashes again{file};
  if (again.count() > 6) {
    fail("records that nobody asked for are kept");
  }
}

}  // namespace

std::vector<Target> tree_targets() {
  return {{"shell", shell},
          {"versions", versions},
          {"conda", conda},
          {"notebook", notebook},
          {"tree", tree},
          {"own_dockerfile", own_dockerfile},
          {"install_record", install_record},
          {"caches", caches},
          {"file_hashes", file_hashes}};
}

}  // namespace autopack::fuzz
