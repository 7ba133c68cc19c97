#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/advice.hpp"
#include "plan/pointers.hpp"
#include "project/findings.hpp"
#include "project/program/opened_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace autopack::plan {

namespace {

/// A string of a Python file.
struct Mention {
  const ReachedFile& file;
  const project::PythonString& string;
};

class PathCheck {
public:
  PathCheck(const ReadablePlan& plan,
            const project::Project& project,
            const std::vector<ReachedFile>& reached)
      : plan_{plan}, project_{project}, reached_{reached} {}

  Problems run() {
    for (const auto& file : reached_) {
      if (file.sure && file.entry->tree == 0) {
        const auto read = python_file_of(plan_, project_, *file.entry);
        for (const auto& string : read.strings) {
          check({.file = file, .string = string});
        }
      }
    }
    return std::move(problems_);
  }

private:
  void check(const Mention& mention) {
    const std::string& text = mention.string.text;
    if (mention.string.computed) {
      check_directory(mention, text.substr(0, text.find('{')));
    } else if (text.find('\\') != std::string::npos) {
      check_backslashes(mention);
    } else {
      check_directory(mention, text);
      check_file(mention);
    }
  }

  /// `path` as the code around `mention` opens it to read, from the working directory; nothing if
  /// it is not known to read it.
  std::optional<std::string> opened(const Mention& mention, const std::string& path) {
    const auto from =
        project::opened_from(text_of(mention.file), mention.string.line, mention.string.text);
    if (from == project::OpenedFrom::nowhere) {
      return std::nullopt;
    }
    const bool is_beside = from == project::OpenedFrom::file;
    return source::normalise(join_path(is_beside ? parent_path(mention.file.path) : "", path));
  }

  void check_file(const Mention& mention) {
    const auto here = source::normalise(mention.string.text);
    if (!here || here->empty()) {
      return;
    }
    if (const auto* const entry = entry_behind_links(plan_, *here)) {
      if (is_unfetched(plan_, *entry) && unfetched_files(plan_).empty() &&
          opened(mention, *here) == *here) {
        warn(*here, fmt::format("{}, which is a pointer of Git LFS", opens(mention, *here)),
             {"git lfs pull"});
      }
      return;
    }
    if (here->find_first_of("./") == std::string::npos) {
      return;  // most strings are not paths, and the search lists every file
    }
    const auto wanted = spelled_otherwise(*here) ? opened(mention, *here) : std::nullopt;
    const auto* const other = wanted ? spelled_otherwise(*wanted) : nullptr;
    if (other != nullptr && !is_there(*wanted)) {
      warn(*wanted,
           fmt::format("{}, and the file is `{}`: Linux distinguishes upper and lower case",
                       opens(mention, mention.string.text), printable(other->path)),
           {fmt::format("write `{}`", printable(other->path))});
    }
  }

  void check_backslashes(const Mention& mention) {
    const auto path = replace_all(replace_all(mention.string.text, "\\\\", "/"), "\\", "/");
    const auto wanted = source::normalise(path);
    if (wanted && entry_behind_links(plan_, *wanted) != nullptr && opened(mention, path)) {
      warn(*wanted,
           fmt::format("{}: on Linux, `\\` does not separate directories",
                       opens(mention, mention.string.text)),
           {fmt::format("write `{}`", printable(path))});
    }
  }

  /// A directory for results that is on the disk, not in the image, and that nothing makes there.
  void check_directory(const Mention& mention, const std::string& path) {
    const auto directory = source::normalise(parent_path(path));
    if (!directory || directory->empty() || reported_.contains(*directory)) {
      return;
    }
    if (entry_behind_links(plan_, *directory) != nullptr) {
      return;
    }
    const auto on_disk = plan_.working_directory().find(*directory);
    const auto rule = on_disk && on_disk->type == source::EntryType::directory
                          ? project_.ignore.excludes(*directory)
                          : std::nullopt;
    if (!rule || makes_directories() ||
        !project::is_written(text_of(mention.file), mention.string.line, mention.string.text)) {
      return;
    }
    warn(*directory,
         fmt::format("`{}` line {} writes to `{}`, and the image has no such directory: the rule "
                     "`{}` leaves it out",
                     printable(mention.file.path), mention.string.line, printable(*directory),
                     printable(rule->pattern)),
         {fmt::format("`os.makedirs(\"{}\", exist_ok=True)` before it", printable(*directory))});
  }

  /// True if one of the files makes directories: which ones is not followed.
  bool makes_directories() {
    if (!makes_directories_) {
      makes_directories_ = std::ranges::any_of(reached_, [&](const ReachedFile& file) {
        const auto& text = text_of(file);
        return text.find("makedirs") != std::string::npos ||
               text.find("mkdir") != std::string::npos;
      });
    }
    return *makes_directories_;
  }

  bool is_there(const std::string& path) const {
    return entry_behind_links(plan_, path) != nullptr ||
           plan_.working_directory().find(path).has_value();
  }

  /// The file of the image whose path differs from `path` in its case alone; null if there is none.
  const ContextEntry* spelled_otherwise(const std::string& path) {
    if (by_lower_case_.empty()) {
      by_lower_case_.reserve(plan_.code.size());
      for (const auto& entry : plan_.code) {
        by_lower_case_.emplace(to_lower(entry.path), &entry);
      }
    }
    const auto found = by_lower_case_.find(to_lower(path));
    return found == by_lower_case_.end() || found->second->path == path ? nullptr : found->second;
  }

  static std::string opens(const Mention& mention, const std::string& path) {
    return fmt::format("`{}` line {} opens `{}`", printable(mention.file.path), mention.string.line,
                       printable(path));
  }

  void warn(const std::string& path, std::string message, std::vector<std::string> hints) {
    if (reported_.insert(path).second) {
      problems_.push_back(
          Problem::warning({.message = std::move(message), .hints = std::move(hints)}));
    }
  }

  const std::string& text_of(const ReachedFile& file) {
    const auto [at, is_new] = texts_.try_emplace(file.path);
    if (is_new) {
      at->second = plan_.read(*file.entry);
    }
    return at->second;
  }

  const ReadablePlan& plan_;
  const project::Project& project_;
  const std::vector<ReachedFile>& reached_;
  std::unordered_map<std::string, const ContextEntry*> by_lower_case_{};
  std::map<std::string, std::string> texts_{};
  std::set<std::string> reported_{};
  std::optional<bool> makes_directories_{};
  Problems problems_{};
};

}  // namespace

Problems path_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     const std::vector<ReachedFile>& reached) {
  return PathCheck{plan, project, reached}.run();
}

}  // namespace autopack::plan
