#include "base/tree_path.hpp"
#include "project/program/modules.hpp"
#include "project/program/program_candidates.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

namespace autopack::project {

namespace {

constexpr std::size_t most_reached{60};

class ReachWalk {
public:
  ReachWalk(const Findings& findings,
            std::string start,
            const std::vector<std::string>& roots,
            const PythonReading& read)
      : findings_{findings}, start_{std::move(start)}, roots_{roots}, read_{read} {}

  ProgramReach run() {
    visit(start_);
    for (; !waiting_.empty(); waiting_.pop_front()) {
      read(waiting_.front());
    }
    return std::move(reach_);
  }

private:
  void visit(const std::string& path) {
    if (reach_.files.size() < most_reached && reach_.files.insert(path).second) {
      waiting_.push_back(path);
    }
  }

  void read(const std::string& path) {
    const auto place = findings_.follow(path);
    if (!place.is_file() || place.entry.size > largest_program) {
      return;
    }
    const auto file = read_.file(place.entry);
    reach_.trains = reach_.trains || read_.signs(place.entry).trains;
    if (path == start_) {
      reach_.changes_path = file.changes_path;
    }
    for (const auto& import : file.imports) {
      if (import.when_main && path != start_) {
        continue;
      }
      if (import.level > 0) {
        follow_relative(path, import);
      } else {
        follow_absolute(import);
      }
    }
  }

  void follow_relative(const std::string& path, const Import& import) {
    const bool is_certain = !import.optional && !import.nested;
    reach_.is_relative = reach_.is_relative || (path == start_ && is_certain);
    std::string directory = parent_path(path);
    for (int level = 1; level < import.level; ++level) {
      directory = parent_path(directory);
    }
    enter(directory, import);
  }

  void follow_absolute(const Import& import) {
    const std::string first = import.module.substr(0, import.module.find('.'));
    const std::string own = parent_path(start_);
    const bool is_certain = !import.optional && !import.nested;
    if (!own.empty() && holds_module(own, first)) {
      reach_.needs_own_directory = reach_.needs_own_directory || is_certain;
      enter(own, import);
      return;
    }
    const auto root = std::ranges::find_if(
        roots_, [&](const std::string& one) { return one != own && holds_module(one, first); });
    if (own.empty() && holds_module(own, first)) {
      enter(own, import);
    } else if (root != roots_.end()) {
      note_root(*root, first, is_certain);
      enter(*root, import);
    }
  }

  void note_root(const std::string& root, const std::string& first, bool is_certain) {
    if (!is_certain) {
      return;
    }
    if (!reach_.root) {
      reach_.root = root;
    }
    if (!reach_.own_package && is_below(start_, join_path(root, first))) {
      reach_.own_package = first;
      reach_.root = root;
    }
  }

  bool holds_module(const std::string& directory, const std::string& name) const {
    const std::string path = join_path(directory, name);
    if (findings_.is_file(path + ".py") || findings_.is_file(path + "/__init__.py")) {
      return true;
    }
    if (!findings_.is_directory(path)) {
      return false;
    }
    const auto entries = findings_.tree().list(path);
    return std::ranges::any_of(entries, [](const source::Entry& entry) {
      return entry.type == source::EntryType::directory || entry.path.ends_with(".py");
    });
  }

  /// Visits the files of `import`, which was found in `directory`.
  void enter(const std::string& directory, const Import& import) {
    std::string at = directory;
    std::string_view rest{import.module};
    while (!rest.empty()) {
      const auto dot = std::min(rest.find('.'), rest.size());
      at = join_path(at, rest.substr(0, dot));
      rest.remove_prefix(std::min(dot + 1, rest.size()));
      visit_module(at);
    }
    for (const auto& name : import.names) {
      visit_module(join_path(at, name));
    }
  }

  void visit_module(const std::string& path) {
    if (findings_.is_file(path + "/__init__.py")) {
      visit(path + "/__init__.py");
    } else if (findings_.is_file(path + ".py")) {
      visit(path + ".py");
    }
  }

  const Findings& findings_;
  std::string start_;
  const std::vector<std::string>& roots_;
  const PythonReading& read_;
  std::deque<std::string> waiting_;
  ProgramReach reach_;
};

}  // namespace

ProgramReach reach_of(const Findings& findings,
                      const std::string& file,
                      const std::vector<std::string>& roots,
                      const PythonReading& read) {
  return ReachWalk{findings, file, roots, read}.run();
}

}  // namespace autopack::project
