#include "base/file.hpp"
#include "base/text.hpp"
#include "plan/plan.hpp"
#include "support/sample.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <random>

namespace autopack::plan_key_property_test {

namespace fs = std::filesystem;

namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound) {
  return static_cast<std::size_t>(random() % bound);
}

std::string noise(Random& random) {
  std::string text;
  for (std::size_t i = below(random, 200); i > 0; --i) {
    text += static_cast<char>('\n' + below(random, 100));
  }
  return text;
}

/// A project on disk, and its request.
struct World {
  TemporaryDirectory directory{};
  fs::path root{};
  std::vector<std::string> files{};  ///< of the code, except the entry
  std::string link{};
  project::Request request{};
  image::BaseFacts base{.reference = "example.org/base:1",
                        .digest = sha256("base"),
                        .platform = "linux/amd64",
                        .python = "python3",
                        .pip = true,
                        .apt = true};
  plan::Options options{};

  /// The same seed gives the same project, wherever it is.
  World(std::uint32_t seed, const std::string& name) : root{directory.path() / name} {
    Random random{seed};
    const std::vector<std::string> folders{"trainer", "trainer/a b", "trainer/deep/er", "shared"};
    for (std::size_t i = 0; i < 6 + below(random, 10); ++i) {
      files.push_back(fmt::format("{}/f{}{}", folders[below(random, folders.size())], i,
                                  below(random, 2) == 0 ? ".py" : ".csv"));
      write(files.back(), noise(random));
      if (below(random, 3) == 0) {
        fs::permissions(root / files.back(), fs::perms::owner_exec, fs::perm_options::add);
      }
    }
    link = "trainer/link";
    write("trainer/task.py", "print(1)\n");
    write("trainer/other.py", "print(2)\n");
    write("shared/always.py", "x = 1\n");
    fs::create_symlink("task.py", root / link);
    write("requirements.txt", "numpy == 2.1  # numbers\nsix\n\n-r more.txt\n");
    write("more.txt", fmt::format("attrs>={}\n", below(random, 9)));
    write("notes.md", noise(random));
    request = {.directory = root, .script = "trainer/task.py", .extra_dirs = {"shared"}};
  }

  void write(const std::string& path, const std::string& text) const {
    write_file(root / path, text);
  }

  plan::ReadablePlan plan() const {
    const std::shared_ptr<const source::Tree> tree = source::make_disk_tree(root);
    return plan::make_plan(tree, project::scan(*tree, request), request, base, options);
  }
};

enum class Moves { nothing, image, both };

struct Change {
  const char* what;
  Moves moves;
  std::function<void(World&, const std::string& file)> apply;
};

std::string read(const World& world, const std::string& path) {
  return read_file(world.root / path);
}

const std::vector<Change>& changes() {
  static const std::vector<Change> all{
      {"the checkout's path", Moves::nothing, [](World&, const std::string&) {}},
      {"a file's time", Moves::nothing,
       [](World& w, const std::string& f) {
         fs::last_write_time(w.root / f, fs::file_time_type::clock::now() - std::chrono::hours{7});
       }},
      {"who else may read a file", Moves::nothing,
       [](World& w, const std::string& f) {
         fs::permissions(w.root / f, fs::perms::group_all | fs::perms::others_all,
                         fs::perm_options::remove);
       }},
      {"a file written again", Moves::nothing,
       [](World& w, const std::string& f) {
         const auto mode = fs::status(w.root / f).permissions();
         w.write(f, read(w, f));
         fs::permissions(w.root / f, mode);
       }},
      {"a file that autopack leaves out", Moves::nothing,
       [](World& w, const std::string&) { w.write(".gitignore", "other"); }},
      {"byte code", Moves::nothing,
       [](World& w, const std::string&) { w.write("trainer/__pycache__/task.pyc", "x"); }},
      {"a comment in the requirements", Moves::nothing,
       [](World& w, const std::string&) {
         w.write("requirements.txt", "# all\nnumpy == 2.1\nsix  # why\n-r more.txt\n");
       }},
      {"white space in the requirements", Moves::nothing,
       [](World& w, const std::string&) {
         w.write("requirements.txt", "\n numpy==2.1\n\n\nsix \n-r   more.txt");
       }},
      {"a comment in a file they read", Moves::nothing,
       [](World& w, const std::string&) { w.write("more.txt", read(w, "more.txt") + "# end\n"); }},
      {"the base's name", Moves::nothing,
       [](World& w, const std::string&) { w.base.reference = "example.org/other:2"; }},
      {"a file's content", Moves::image,
       [](World& w, const std::string& f) { w.write(f, read(w, f) + "x"); }},
      {"a file's mode", Moves::image,
       [](World& w, const std::string& f) {
         const auto mode = fs::status(w.root / f).permissions();
         fs::permissions(w.root / f, mode ^ fs::perms::owner_exec);
       }},
      {"a file's name", Moves::image,
       [](World& w, const std::string& f) { fs::rename(w.root / f, w.root / (f + "x")); }},
      {"a file less", Moves::image, [](World& w, const std::string& f) { fs::remove(w.root / f); }},
      {"a file more", Moves::image,
       [](World& w, const std::string& f) { w.write(f + ".new", ""); }},
      {"a directory more", Moves::image,
       [](World& w, const std::string&) { fs::create_directory(w.root / "trainer/empty"); }},
      {"a link's target", Moves::image,
       [](World& w, const std::string&) {
         fs::remove(w.root / w.link);
         fs::create_symlink("other.py", w.root / w.link);
       }},
      {"a link that became a file", Moves::image,
       [](World& w, const std::string&) {
         fs::remove(w.root / w.link);
         w.write(w.link, "task.py");
       }},
      {"the entry", Moves::image,
       [](World& w, const std::string&) { w.request.script = "trainer/other.py"; }},
      {"one directory less", Moves::image,
       [](World& w, const std::string&) {
         w.request.extra_dirs.clear();
         w.request.exclude = {"shared"};
       }},
      {"the base's user", Moves::image, [](World& w, const std::string&) { w.base.user = "me"; }},
      {"a version", Moves::both,
       [](World& w, const std::string&) {
         w.write("requirements.txt", "numpy == 2.2  # numbers\nsix\n\n-r more.txt\n");
       }},
      {"a requirement of a file they read", Moves::both,
       [](World& w, const std::string&) { w.write("more.txt", "attrs>=99\n"); }},
      {"a requirement asked for", Moves::both,
       [](World& w, const std::string&) { w.request.requirements = {"scipy"}; }},
      {"the base", Moves::both,
       [](World& w, const std::string&) { w.base.digest = sha256("newer"); }},
      {"the platform", Moves::both,
       [](World& w, const std::string&) { w.options.platform = "linux/arm64"; }},
      {"a Debian package", Moves::both,
       [](World& w, const std::string&) { w.options.system_packages = {"git"}; }},
  };
  return all;
}

}  // namespace

TEST_CASE("plan: of generated projects each change moves the keys that it should") {
  for (std::uint32_t seed = 1; seed <= testing::sample(2, 8); ++seed) {
    const World world{seed, "here"};
    const plan::ReadablePlan before = world.plan();
    Random random{seed * std::uint64_t{7919}};
    for (const Change& change : changes()) {
      World changed{seed, "another place"};
      const std::string& file = changed.files[below(random, changed.files.size())];
      CAPTURE(seed);
      CAPTURE(change.what);
      CAPTURE(file);
      change.apply(changed, file);
      const plan::ReadablePlan after = changed.plan();
      CHECK((after.keys->dependencies != before.keys->dependencies) ==
            (change.moves == Moves::both));
      CHECK((after.keys->image != before.keys->image) == (change.moves != Moves::nothing));
    }
  }
}

}  // namespace autopack::plan_key_property_test
