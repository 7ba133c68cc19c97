#include "build/docker/own_dockerfile.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/dockerfile_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::build {

namespace {

namespace fs = std::filesystem;

/// Returns the arguments of COPY or ADD after its flags, the last one being the destination; empty
/// if the sources are not in the context.
std::vector<std::string> words_of(const engine::Instruction& instruction) {
  std::vector<std::string> words;
  for (auto& word : split(instruction.text.substr(instruction.keyword.size()), ' ')) {
    if (word.starts_with("--from=") || word.starts_with("<<")) {
      return {};
    }
    if (!trim(word).empty() && !(words.empty() && word.starts_with("--"))) {
      words.emplace_back(trim(word));
    }
  }
  const std::string all = join(words, " ");
  const auto list = all.starts_with('[') ? parse_json(all) : nlohmann::json{};
  if (!list.is_array()) {
    return words;
  }
  words.clear();
  for (const auto& word : list) {
    words.push_back(word.is_string() ? word.get<std::string>() : std::string{});
  }
  return words;
}

/// Returns a source as a path of the context; nothing if autopack cannot resolve it.
std::optional<std::string> path_of(std::string_view word) {
  if (word.find_first_of("$*?[\\\"'") != std::string_view::npos ||
      word.find("://") != std::string_view::npos || word.starts_with("git@")) {
    return std::nullopt;
  }
  word.remove_prefix(std::min(word.find_first_not_of('/'), word.size()));
  return source::normalise(word);
}

class DockerfileCheck {
public:
  DockerfileCheck(const plan::ReadablePlan& plan, const source::Selection& ignore)
      : plan_{plan}, ignore_{ignore}, context_{plan::context(plan)} {}

  Problems take() { return std::move(problems_); }

  void look_at_copies(const std::string& place);
  void look_at_modes(const fs::path& directory);

private:
  void look_at(const std::string& path, int line);

  bool is_in_context(const std::string& path) const {
    return std::ranges::any_of(context_, [&](const auto* entry) {
      return entry->path == path || entry->path.starts_with(path + "/");
    });
  }

  const plan::ReadablePlan& plan_;
  const source::Selection& ignore_;
  std::vector<const plan::ContextEntry*> context_;
  Problems problems_{};
};

void DockerfileCheck::look_at(const std::string& path, int line) {
  const auto entry = plan_.working_directory().find(path);
  const auto rule = entry ? ignore_.excludes(path) : std::nullopt;
  if (!rule || is_in_context(path)) {
    return;
  }
  const std::string file =
      rule->line > 0 ? fmt::format("{}:{}", printable(rule->file), rule->line) : rule->file;
  problems_.push_back(
      {.message = fmt::format("`{}` line {} copies `{}`, but the rule `{}` leaves it out",
                              printable(*plan_.user_dockerfile), line, printable(path),
                              printable(rule->pattern)),
       .origin = file,
       .hints = {
           source::bring_back_command(path, entry->type == source::EntryType::directory, *rule)}});
}

void DockerfileCheck::look_at_copies(const std::string& place) {
  for (const auto& instruction : engine::instructions_of(plan_.dockerfile)) {
    if (instruction.keyword != "COPY" && instruction.keyword != "ADD") {
      continue;
    }
    auto words = words_of(instruction);
    if (!words.empty()) {
      words.pop_back();
    }
    for (const auto& word : words) {
      const auto path = path_of(word);
      if (path && !path->empty()) {
        look_at(*path, instruction.line);
      } else if (path && place != plan_.user_dockerfile) {
        problems_.push_back(Problem::warning(
            {.message = fmt::format("`{}` line {} copies the whole context, and with it the "
                                    "Dockerfile as `{}`: the engine reads it there",
                                    printable(*plan_.user_dockerfile), instruction.line, place),
             .hints = {"a Dockerfile that no rule leaves out stays where it is"}}));
      }
    }
  }
}

void DockerfileCheck::look_at_modes(const fs::path& directory) {
  std::string first;
  std::size_t count = 0;
  for (const auto* entry : context_) {
    std::error_code code;
    if (entry->type != source::EntryType::file || entry->tree != 0) {
      continue;
    }
    const auto mode = fs::symlink_status(directory / entry->path, code).permissions();
    if (!code && (mode & fs::perms::others_read) == fs::perms::none) {
      first = first.empty() ? entry->path : first;
      ++count;
    }
  }
  if (count == 0) {
    return;
  }
  const std::string others = count == 1 ? "" : fmt::format(" and {} other files", count - 1);
  problems_.push_back(Problem::warning(
      {.message = fmt::format("`{}`{}, which not everybody may read here, can be read by everybody "
                              "in the image: modes are made 0644 or 0755",
                              printable(first), others),
       .hints = {
           "`COPY --chmod=600` keeps a file to its owner; BuildKit's `RUN --mount=type=secret` "
           "keeps it out of the image"}}));
}

}  // namespace

Problems own_dockerfile_findings(const plan::ReadablePlan& plan,
                                 const source::Selection& ignore,
                                 const std::string& place,
                                 const fs::path& directory) {
  DockerfileCheck findings{plan, ignore};
  findings.look_at_copies(place);
  if (!directory.empty()) {
    findings.look_at_modes(directory);
  }
  return findings.take();
}

}  // namespace autopack::build
