#include "build/wheels/resolver_input.hpp"

#include "base/contains.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace autopack::build {

namespace {

/// Returns `text` with the lines that the installation has instead.
std::string edited(const std::string& path,
                   const std::string& text,
                   const std::vector<project::LineEdit>& edits) {
  if (std::ranges::none_of(edits, [&](const auto& edit) { return edit.file == path; })) {
    return text;
  }
  auto lines = split(text, '\n');
  for (const auto& edit : edits) {
    const auto last = static_cast<std::size_t>(edit.last_line);
    if (edit.file != path || last > lines.size()) {
      continue;
    }
    for (auto i = static_cast<std::size_t>(edit.first_line); i < last; ++i) {
      lines[i].clear();
    }
    lines[static_cast<std::size_t>(edit.first_line) - 1] = edit.text;
  }
  return join(lines, "\n");
}

}  // namespace

void ResolverInput::write(const std::filesystem::path& directory) {
  written_.clear();
  for (const auto& path : work_.plan().dependencies.requirement_files) {
    follow(directory, path);
  }
  for (const auto& entry : work_.plan().dependencies.inputs) {
    // A link leads to another input. uv reads no directory for itself.
    if (entry.type == source::EntryType::file && !written_.contains(entry.path)) {
      write_file(directory / entry.path, text_of(entry));
    }
  }
  std::string lines;
  for (const auto& line : lines_) {
    lines += named(line) + "\n";
  }
  write_file(directory / own_file, lines);
}

std::string ResolverInput::text_of(const plan::ContextEntry& entry) const {
  const auto& plan = work_.plan();
  return edited(entry.path, plan.read(entry), plan.dependencies.requirement_edits);
}

/// Writes the requirements file at `path`, and those that it includes.
void ResolverInput::follow(const std::filesystem::path& directory, const std::string& path) {
  const auto& inputs = work_.plan().dependencies.inputs;
  const auto entry = std::ranges::find(inputs, path, &plan::ContextEntry::path);
  if (entry == inputs.end() || !written_.insert(path).second) {
    return;
  }
  const auto text = project::decode_requirements(text_of(*entry)).text;
  for (const auto& line : project::split_requirements(text)) {
    for (const auto& [name, value] : line.options) {
      if (name == "--requirement" || name == "--constraint") {
        follow(directory,
               (std::filesystem::path{parent_path(path)} / value).lexically_normal().string());
      }
    }
  }
  write_file(directory / path, one_a_line(text));
}

/// Returns `requirement` with the name that its source was given.
std::string ResolverInput::named(const std::string& requirement) {
  auto parts = python::parse_requirement(requirement);
  const bool is_source =
      parts.kind == python::Requirement::Kind::path || parts.kind == python::Requirement::Kind::url;
  if (!is_source || parts.name || parts.target.ends_with(".whl")) {
    return requirement;
  }
  const auto& name = names_[parts.target];
  if (name.empty()) {
    return requirement;
  }
  const auto extras = parts.extras.empty() ? "" : "[" + join(parts.extras, ",") + "]";
  const auto marker = parts.marker ? " ; " + *parts.marker : "";
  return fmt::format("{}{} @ {}{}", name, extras, parts.target, marker);
}

/// Returns a requirements file without its choice of an index, with one requirement a line, at its
/// first line: uv splits a continued line in other places than pip.
std::string ResolverInput::one_a_line(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto& line : project::split_requirements(text)) {
    lines.resize(std::max(lines.size(), static_cast<std::size_t>(line.first)));
    auto words =
        line.requirement ? std::vector{named(*line.requirement)} : std::vector<std::string>{};
    for (const auto& [name, value] : line.options) {
      if (!contains(index_options, name)) {
        words.push_back(value.empty()      ? name
                        : name == "--hash" ? name + "=" + value
                                           : name + " " + value);
      }
    }
    auto& place = lines.at(static_cast<std::size_t>(line.first) - 1);
    place += (place.empty() ? "" : "\n") + join(words, " ");
  }
  return join(lines, "\n") + "\n";
}

std::vector<std::string> ResolverInput::name_sources() {
  std::vector<std::string> provisional;
  for (auto& [target, name] : names_) {
    if (name.empty()) {
      name = fmt::format("autopack-source-{}", provisional.size() + 1);
      provisional.push_back(name);
    }
  }
  return provisional;
}

bool ResolverInput::rename(const std::string& provisional, const std::string& actual) {
  const auto found =
      std::ranges::find_if(names_, [&](const auto& one) { return one.second == provisional; });
  if (found == names_.end()) {
    return false;
  }
  found->second = actual;
  return true;
}

}  // namespace autopack::build
