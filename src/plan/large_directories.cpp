#include "plan/large_directories.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace autopack::plan {

namespace {

constexpr std::uint64_t largest_text{1'000'000};
constexpr std::uint64_t most_read{64'000'000};  // of all texts together
constexpr std::size_t few_files{64};            // their names are searched for, too
constexpr std::size_t most_reported{5};

using Suffixes = std::span<const std::string_view>;

/// Both sorted.
constexpr std::array<std::string_view, 24> code_suffixes{
    ".bash", ".c",  ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".f90", ".go", ".h",  ".hpp", ".ipynb",
    ".java", ".jl", ".js", ".pxd", ".py", ".pyi", ".pyx", ".r",   ".rs", ".sh", ".so",  ".ts"};
constexpr std::array<std::string_view, 12> settings_suffixes{".cfg",   ".conf", ".env",  ".gin",
                                                             ".hocon", ".ini",  ".json", ".jsonnet",
                                                             ".toml",  ".xml",  ".yaml", ".yml"};
static_assert(std::ranges::is_sorted(code_suffixes));
static_assert(std::ranges::is_sorted(settings_suffixes));

bool ends_with_one(std::string_view path, Suffixes suffixes) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto suffix = name.substr(std::min(name.rfind('.'), name.size()));
  return std::binary_search(suffixes.begin(), suffixes.end(), suffix);
}

bool is_read(const ContextEntry& entry) {
  const std::string_view path{entry.path};
  const auto name = path.substr(path.rfind('/') + 1);
  return entry.type == source::EntryType::file && entry.size <= largest_text &&
         (is_code_name(path) || ends_with_one(path, settings_suffixes) || name == "Makefile");
}

/// Returns whether `text` contains `name` as a path, or as one of its names: between quotes and
/// slashes in Python, where a bare word is a variable; else also between blanks and punctuation.
bool mentions(std::string_view text, std::string_view name, bool is_python) {
  const std::string_view around = is_python ? "\"'/\\{}" : "\"'/\\{}=,;()[] \t\r\n`";
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || around.find(text[at - 1]) != std::string_view::npos;
    const bool ends = end == text.size() || around.find(text[end]) != std::string_view::npos;
    if (begins && ends) {
      return true;
    }
  }
  return false;
}

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path[directory.size()] == '/' &&
         path.starts_with(directory);
}

/// A directory of the walk.
struct Branch {
  std::size_t at{0};   ///< in the walk
  std::size_t end{0};  ///< after everything in it
  std::uint64_t size{0};
  std::size_t files{0};
  bool has_code{false};
};

std::vector<const ContextEntry*> pointers_to(std::span<const ContextEntry> entries) {
  std::vector<const ContextEntry*> pointers(entries.size());
  std::ranges::transform(entries, pointers.begin(),
                         [](const ContextEntry& entry) { return &entry; });
  return pointers;
}

/// Returns the largest branches that are large and contain no code.
std::vector<Branch> heavy_branches(std::span<const ContextEntry* const> walked) {
  std::vector<Branch> open;
  std::vector<Branch> heavy;
  const auto close = [&](std::size_t end) {
    Branch branch = open.back();
    open.pop_back();
    branch.end = end;
    if (branch.size > much && !branch.has_code) {
      std::erase_if(heavy, [&](const Branch& inner) { return inner.at > branch.at; });
      heavy.push_back(branch);
    }
    if (!open.empty()) {
      open.back().size += branch.size;
      open.back().files += branch.files;
      open.back().has_code = open.back().has_code || branch.has_code;
    }
  };
  for (std::size_t i = 0; i < walked.size(); ++i) {
    const ContextEntry& entry = *walked[i];
    while (!open.empty() && !is_below(entry.path, walked[open.back().at]->path)) {
      close(i);
    }
    if (entry.type == source::EntryType::directory) {
      open.push_back({.at = i});
    } else if (!open.empty()) {
      open.back().size += entry.size;
      ++open.back().files;
      open.back().has_code = open.back().has_code || is_code_name(entry.path);
    }
  }
  while (!open.empty()) {
    close(walked.size());
  }
  return heavy;
}

/// Returns the texts that would name a branch: its own name, and those of its files if they are
/// few.
std::vector<std::string_view> names_of(const Branch& branch, std::span<const ContextEntry> walked) {
  const auto name_of = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  std::vector<std::string_view> names{name_of(walked[branch.at].path)};
  for (std::size_t i = branch.at + 1; i < branch.end && branch.files <= few_files; ++i) {
    names.push_back(name_of(walked[i].path));
  }
  return names;
}

/// Removes those of `branches` that a text of the tree names.
void drop_named(std::vector<Branch>& branches,
                std::span<const ContextEntry> walked,
                const PlacedTree& place) {
  std::uint64_t read = 0;
  std::vector<std::vector<std::string_view>> names;
  for (const Branch& branch : branches) {
    names.push_back(names_of(branch, walked));
  }
  for (std::size_t i = 0; i < walked.size() && !branches.empty() && read < most_read; ++i) {
    if (!is_read(walked[i])) {
      continue;
    }
    const std::string text = place.read(walked[i]);
    read += text.size();
    const bool is_python = walked[i].path.ends_with(".py");
    for (std::size_t b = branches.size(); b-- > 0;) {
      const bool is_own = i >= branches[b].at && i < branches[b].end;
      const auto is_named = [&](std::string_view name) { return mentions(text, name, is_python); };
      if (!is_own && std::any_of(names[b].begin(), names[b].end(), is_named)) {
        branches.erase(branches.begin() + static_cast<std::ptrdiff_t>(b));
        names.erase(names.begin() + static_cast<std::ptrdiff_t>(b));
      }
    }
  }
}

/// Returns whether a depth-first walk visits `a` before `b`: a comparison of bytes, where a slash
/// precedes every other byte.
bool is_walked_before(const ContextEntry* a, const ContextEntry* b) {
  const auto [at, other] =
      std::mismatch(a->path.begin(), a->path.end(), b->path.begin(), b->path.end());
  if (at == a->path.end() || other == b->path.end()) {
    return other != b->path.end();
  }
  return *other != '/' &&
         (*at == '/' || static_cast<unsigned char>(*at) < static_cast<unsigned char>(*other));
}

/// Returns the entries with the contents of directories directly after them; empty if their total
/// is not large.
std::vector<const ContextEntry*> as_walked(const std::vector<ContextEntry>& code) {
  const auto size = std::accumulate(
      code.begin(), code.end(), std::uint64_t{0},
      [](std::uint64_t sum, const ContextEntry& entry) { return sum + entry.size; });
  if (size <= much) {
    return {};
  }
  auto entries = pointers_to(code);
  if (!std::ranges::is_sorted(entries, is_walked_before)) {
    std::ranges::stable_sort(entries, is_walked_before);
  }
  return entries;
}

Problem heavy(std::string_view what, std::uint64_t size, std::string_view path) {
  return Problem::warning(
      {.message = fmt::format("{} is {} of the image", what, human_size(size)),
       .hints = {source::leave_out_command(path) +
                 "; jobs can read data from Cloud Storage, `/gcs/BUCKET/...`"}});
}

}  // namespace

bool is_code_name(std::string_view path) {
  return ends_with_one(path, code_suffixes) || path.find(".so.") != std::string_view::npos;
}

FoundLargeDirectories find_large_directories(std::span<const ContextEntry> walked,
                                             const PlacedTree& place,
                                             const source::Selection& selection) {
  FoundLargeDirectories found;
  auto branches = heavy_branches(pointers_to(walked));
  std::erase_if(branches, [&](const Branch& branch) {
    return selection.was_asked_for(place.path_of(walked[branch.at]));
  });
  drop_named(branches, walked, place);
  if (branches.empty()) {
    return found;
  }
  found.stays_out.resize(walked.size());
  for (const Branch& branch : branches) {
    found.directories.push_back({.path = std::string{place.path_of(walked[branch.at])},
                                 .size = branch.size,
                                 .files = branch.files});
    for (std::size_t i = branch.at; i < branch.end; ++i) {
      // Directories are added again as parents of requested files.
      found.stays_out[i] = walked[i].type == source::EntryType::directory ||
                           !selection.was_asked_for(place.path_of(walked[i]));
      found.keeps_some = found.keeps_some || !found.stays_out[i];
    }
  }
  return found;
}

Problems weight_advice(const Plan& plan) {
  Problems problems;
  for (const LargeDirectory& one : plan.large_directories) {
    problems.push_back(Problem::warning(
        {.message = fmt::format("`{}/` stays out: {} in {} file{}, no code, and nothing names it",
                                printable(one.path), human_size(one.size), one.files,
                                one.files == 1 ? "" : "s"),
         .hints = {fmt::format("`{}` includes it", source::include_flag(one.path))}}));
  }
  const auto entries = as_walked(plan.code);
  const auto branches = heavy_branches(entries);
  std::vector<std::pair<std::uint64_t, Problem>> reported;
  std::vector<bool> covered(entries.size());
  for (const Branch& branch : branches) {
    const std::string& path = entries[branch.at]->path;
    reported.emplace_back(branch.size,
                          heavy(fmt::format("`{}/`, {} file{} and no code,", printable(path),
                                            branch.files, branch.files == 1 ? "" : "s"),
                                branch.size, path));
    std::fill(covered.begin() + static_cast<std::ptrdiff_t>(branch.at),
              covered.begin() + static_cast<std::ptrdiff_t>(branch.end), true);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ContextEntry& entry = *entries[i];
    if (entry.size > much && !covered[i]) {
      reported.emplace_back(
          entry.size, heavy(fmt::format("`{}`", printable(entry.path)), entry.size, entry.path));
    }
  }
  std::ranges::stable_sort(reported,
                           [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(reported.size(), most_reported); ++i) {
    problems.push_back(std::move(reported[i].second));
  }
  if (reported.size() > most_reported) {
    problems.push_back(
        Problem::warning({.message = fmt::format("{} more files and directories are over {}",
                                                 reported.size() - most_reported, human_size(much)),
                          .hints = {"`autopack explain -v` lists them"}}));
  }
  return problems;
}

}  // namespace autopack::plan
