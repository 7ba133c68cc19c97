#include "lock/pins.hpp"
#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "project/requirements/locks.hpp"
#include "python/tags.hpp"
#include "support/locked.hpp"
#include "support/memory_tree.hpp"
#include "target.hpp"

#include <algorithm>

namespace autopack::fuzz {

namespace {

using Reader = lock::LockedSet (*)(std::string_view text,
                                   const std::string& file,
                                   const lock::Target& target);

/// What holds of every set, whatever it was read from.
void check(const lock::LockedSet& set, const python::Interpreter& interpreter) {
  const lock::FileChooser chooser{interpreter};
  for (const auto& package : set.packages) {
    const auto obstacle = chooser.obstacle(package);
    const auto selection = chooser.choose(package);
    const auto taken = selection.chosen ? selection.chosen : selection.source;
    if (!package.files.empty() && !obstacle && !taken && !package.source) {
      fail("`" + package.name + "` has no obstacle and no file");
    }
    for (const auto& file : package.files) {
      if (file.path && (file.path->starts_with("/") || file.path->starts_with("../"))) {
        fail("`" + *file.path + "` leads out of the tree");
      }
      if (file.url && file.path) {
        fail("`" + file.name + "` is in two places");
      }
    }
    if (set.hashed && !obstacle && taken && package.hashes.empty() &&
        package.files[*taken].hashes.empty()) {
      fail("a hashed set has a file without a hash");
    }
  }
  const bool sorted = std::is_sorted(set.packages.begin(), set.packages.end(),
                                     [](const auto& a, const auto& b) { return a.name < b.name; });
  if (!sorted) {
    fail("the packages are in no order");
  }
}

/// The plan reads what is built, before the lock itself is read.
void check_directories(const lock::LockedSet& set, const std::string& file, std::string_view text) {
  const auto planned = project::directories_in_lock(file, text);
  for (const auto& package : set.packages) {
    if (package.source && package.source->directory &&
        !std::binary_search(planned.begin(), planned.end(), *package.source->directory)) {
      fail("`" + *package.source->directory + "` is built, and the plan knows nothing of it");
    }
  }
}

void read(Reader reader, const std::string& file, std::string_view bytes) {
  const auto interpreter = lock::debian_python();
  const lock::Target target{.interpreter = interpreter, .project = "mine"};
  const auto set = reader(bytes, file, target);
  check(set, interpreter);
  check_directories(set, file, bytes);
}

void pylock(std::string_view bytes) {
  read(lock::read_pylock, "locks/pylock.toml", bytes);
}

void poetry_lock(std::string_view bytes) {
  read(lock::read_poetry_lock, "locks/poetry.lock", bytes);
}

void pdm_lock(std::string_view bytes) {
  read(lock::read_pdm_lock, "locks/pdm.lock", bytes);
}

void pipfile_lock(std::string_view bytes) {
  read(lock::read_pipfile_lock, "locks/Pipfile.lock", bytes);
}

/// Byte 0 parts the lock from pyproject.toml.
void uv_lock(std::string_view bytes) {
  const auto parted = std::min(bytes.find('\0'), bytes.size());
  const auto interpreter = lock::debian_python();
  const lock::Target target{
      .interpreter = interpreter,
      .extras = {"gpu"},
      .groups = {"dev"},
      .project = "mine",
      .pyproject = std::string{bytes.substr(std::min(parted + 1, bytes.size()))}};
  const auto set = lock::read_uv_lock(bytes.substr(0, parted), "uv.lock", target);
  check(set, interpreter);
  check_directories(set, "uv.lock", bytes.substr(0, parted));
}

/// The lines of a wheel's METADATA follow behind byte 0.
void pins(std::string_view bytes) {
  const auto parted = std::min(bytes.find('\0'), bytes.size());
  source::MemoryTree tree;
  tree.file("train.py", "").file("requirements.txt", std::string{bytes.substr(0, parted)});
  const auto interpreter = lock::debian_python();
  const auto found = lock::read_pins(project::scan(tree, {.script = "train.py"}), interpreter);
  if (found.set.has_value() != found.reason.empty()) {
    fail("a set with a reason why there is none, or neither");
  }
  if (found.set) {
    check(*found.set, interpreter);
    std::map<std::string, lock::Needs> needs;
    needs["a"].requirements = {std::string{bytes.substr(std::min(parted + 1, bytes.size()))}};
    lock::missing_requirements(*found.set, needs, {}, interpreter);
  }
}

void wheel_name(std::string_view bytes) {
  const auto name = python::WheelName::parse(bytes);
  if (name.has_value() == python::wheel_name_fault(bytes).has_value()) {
    fail("a name that is none has no fault, or the other way round");
  }
  const python::AcceptedTags tags{lock::debian_python()};
  if (name && tags.rank(*name) && *tags.rank(*name) >= tags.all().size()) {
    fail("a rank behind the last tag");
  }
}

}  // namespace

std::vector<Target> lock_targets() {
  return {{"pylock", pylock},        {"uv_lock", uv_lock},           {"poetry_lock", poetry_lock},
          {"pdm_lock", pdm_lock},    {"pipfile_lock", pipfile_lock}, {"pins", pins},
          {"wheel_name", wheel_name}};
}

}  // namespace autopack::fuzz
