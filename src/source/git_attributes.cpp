#include "source/git_attributes.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace autopack::source {

namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::string_view macro{"[attr]"};
constexpr std::string_view spaces{" \t\r"};

/// Returns the names after the pattern of a line, without values and signs.
Names names_in(std::string_view attributes) {
  Names names;
  for (const auto& part : split(replace_all(std::string{attributes}, "\t", " "), ' ')) {
    std::string_view word = trim(part);
    word.remove_prefix(std::min(word.find_first_not_of("-!"), word.size()));
    names.emplace(word.substr(0, word.find('=')));
  }
  return names;
}

/// Returns attributes that change a checkout: git's own, and all macros, whatever they expand to.
Names changing(const std::vector<GitAttributesFile>& files) {
  Names names{"binary", "crlf", "eol", "filter", "ident", "text", "working-tree-encoding"};
  for (const auto& file : files) {
    for (const auto& line : split(file.text, '\n')) {
      std::string_view rest = trim(line);
      if (rest.starts_with(macro)) {
        rest.remove_prefix(macro.size());
        names.emplace(rest.substr(0, rest.find_first_of(spaces)));
      }
    }
  }
  return names;
}

}  // namespace

std::vector<fs::path> attributes_outside(git_repository* repository) {
  std::vector<fs::path> paths{fs::path{git().repository_commondir(repository)} / "info" /
                              "attributes"};
  const auto add_text = [&](git_buf& text, const char* name) {
    for (const std::string& path : split({text.ptr, text.size}, ':')) {
      paths.push_back(*name == 0 ? fs::path{path} : fs::path{path} / name);
    }
    git().buf_dispose(&text);
  };
  git_config* config = nullptr;
  git_buf set = GIT_BUF_INIT;
  if (git().repository_config(&config, repository) == 0) {
    const GitConfig owner{config};
    if (git().config_get_path(&set, config, "core.attributesfile") == 0) {
      add_text(set, "");
    }
  }
  for (const int level : {GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_SYSTEM}) {
    git_buf found = GIT_BUF_INIT;
    if (git().libgit2_opts(GIT_OPT_GET_SEARCH_PATH, level, &found) == 0) {
      add_text(found, level == GIT_CONFIG_LEVEL_XDG ? "attributes" : "gitattributes");
    }
  }
  std::erase_if(paths, [](const fs::path& path) {
    std::error_code code;
    return !fs::exists(path, code);
  });
  return paths;
}

void refuse_misread_patterns(const std::vector<GitAttributesFile>& files) {
  const Names changing_names = changing(files);
  const auto changes = [&](std::string_view attributes) {
    const Names names = names_in(attributes);
    return std::ranges::any_of(names,
                               [&](const auto& name) { return changing_names.contains(name); });
  };
  const auto refusal = [](const GitAttributesFile& file, std::size_t line, const char* kind) {
    return Error(ErrorKind::project,
                 fmt::format("`{}` line {} has a {} pattern, which autopack cannot follow",
                             printable(file.name), line, kind))
        .hint("`--source=worktree` takes the files as they are checked out");
  };
  for (const auto& file : files) {
    std::size_t number = 0;
    for (const auto& line : split(file.text, '\n')) {
      ++number;
      const auto rest = trim(line);
      const auto end = rest.rfind('"');
      if (rest.starts_with('"') && end > 0 && changes(rest.substr(end + 1))) {
        throw refusal(file, number, "quoted")
            .hint("write `[[:space:]]` for a space, and no quotes");
      }
      if (rest.starts_with('!') && changes(rest)) {
        throw refusal(file, number, "negative")
            .hint("git passes over such a line, with a warning: take it away");
      }
    }
  }
}

}  // namespace autopack::source
