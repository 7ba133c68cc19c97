#include "pipeline/explanation.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_rules = 10;

/// Lines `title  text`, the title only before the first.
class Table {
public:
  void row(const std::string& title, const std::string& text) {
    text_ += fmt::format("{:<13} {}\n", title == last_ ? "" : title, printable(text));
    last_ = title;
  }

  const std::string& text() const { return text_; }

private:
  std::string text_;
  std::string last_;
};

std::string origin_of(const source::Rule& rule) {
  return rule.line == 0 ? rule.file : fmt::format("{} line {}", rule.file, rule.line);
}

struct LeftOut {
  std::string rule{};
  std::string example{};
  std::size_t paths{0};
};

/// What each rule leaves out, the rule with most paths first; directories count once.
std::vector<LeftOut> left_out(const Scanned& scanned) {
  std::map<std::string, LeftOut> rules;
  const auto note = [&](const source::Entry& entry) {
    const bool directory = entry.type == source::EntryType::directory;
    const auto rule = scanned.project.ignore.excludes(entry.path, directory);
    if (rule) {
      auto& left = rules[rule->pattern + "\n" + rule->file];
      left.rule = fmt::format("`{}` of {}", rule->pattern, origin_of(*rule));
      left.example = left.paths++ == 0 ? entry.path + (directory ? "/" : "") : left.example;
    }
    return rule.has_value();
  };
  source::walk(
      *scanned.tree, "",
      [&](const source::Entry& directory) {
        return !scanned.project.ignore.excludes(directory.path, true);
      },
      [&](const source::Entry& entry) { note(entry); });
  std::vector<LeftOut> sorted;
  for (const auto& [key, left] : rules) {
    sorted.push_back(left);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.paths > b.paths; });
  return sorted;
}

bool is_below(const std::string& path, const plan::Copy& copy) {
  return copy.source.empty() || path == copy.source || path.starts_with(copy.source + "/");
}

void tell_copies(Table& table, const plan::Plan& plan) {
  for (const auto& copy : plan.copies) {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    for (const auto& entry : plan.code) {
      if (entry.entry.type != source::EntryType::directory && is_below(entry.path, copy)) {
        ++files;
        bytes += entry.entry.size;
      }
    }
    table.row("copied", fmt::format("{}: {} file{}, {}",
                                    copy.source.empty() ? "the whole directory" : copy.source,
                                    files, files == 1 ? "" : "s", human_size(bytes)));
  }
}

void tell_dependencies(Table& table, const plan::Dependencies& dependencies) {
  if (dependencies.empty()) {
    table.row("installed", "nothing");
  }
  for (const auto& name : dependencies.apt_packages) {
    table.row("installed", name + " (apt)");
  }
  for (const auto& file : dependencies.requirement_files) {
    table.row("installed", "what " + file + " names");
  }
  for (const auto& requirement : dependencies.requirements) {
    table.row("installed", requirement);
  }
  for (const auto& package : dependencies.packages) {
    table.row("installed", package);
  }
  if (dependencies.install != plan::Install::none) {
    table.row("installed",
              dependencies.install == plan::Install::real
                  ? "the project itself, after the code: " + dependencies.install_reason
                  : "the project itself, its code taken from " + dependencies.import_path);
  }
  for (const auto& input : dependencies.inputs) {
    if (input.entry.type != source::EntryType::directory) {
      table.row("read for that", fmt::format("{} ({})", input.path, human_size(input.entry.size)));
    }
  }
}

}  // namespace

std::string explain(const Scanned& scanned, const plan::Plan& plan) {
  Table table;
  if (plan.user_dockerfile.empty()) {
    table.row("entry", fmt::format("{} ({})", join(plan.entrypoint, " "), plan.entry.file));
    table.row("base", plan.base.reference +
                          (plan.base.digest ? " " + plan.base.digest->str() : std::string{}));
  } else {
    table.row("Dockerfile", plan.user_dockerfile);
  }
  table.row("platform", plan.platform);
  tell_dependencies(table, plan.dependencies);
  tell_copies(table, plan);
  const auto rules = left_out(scanned);
  for (std::size_t i = 0; i < std::min(rules.size(), most_rules); ++i) {
    const auto& left = rules[i];
    table.row("left out", left.paths == 1 ? fmt::format("{} by {}", left.example, left.rule)
                                          : fmt::format("{} and {} more by {}", left.example,
                                                        left.paths - 1, left.rule));
  }
  if (rules.size() > most_rules) {
    table.row("left out", fmt::format("and more by {} further rules", rules.size() - most_rules));
  }
  table.row("keys", fmt::format("dependencies apd-{}", plan.dependency_key.substr(0, 16)));
  table.row("keys", "image " + key_tag(plan.image_key));
  return table.text();
}

}  // namespace autopack::pipeline
