#include "pipeline/dockerfile.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "source/docker_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::pipeline {

namespace {

constexpr std::string_view by_path{"# By path, because docker's rules cannot express these.\n"};

enum class LargeData { compared, passed_over };

/// Finds the differences between docker and the plan.
class Comparison {
public:
  /// `large_data`: whether the directories of Plan::large_directories count.
  Comparison(std::string_view rules,
             const source::Tree& tree,
             const plan::Plan& plan,
             LargeData large_data = LargeData::compared)
      : tree_{tree}, context_{plan::context(plan)}, walk_{rules_} {
    rules_.add(rules, "the rules");
    for (std::size_t i = 0;
         large_data == LargeData::passed_over && i < plan.large_directories.size(); ++i) {
      passed_over_.insert(plan.large_directories[i].path);
    }
  }

  /// Returns lines that make docker select the plan's files.
  std::string lines() {
    look("");
    return lines_;
  }

private:
  bool is_ours(const std::string& path, bool or_below) const {
    const auto before = [](const plan::ContextEntry* entry, const std::string& one) {
      return entry->path < one;
    };
    const auto at = std::lower_bound(context_.begin(), context_.end(), path, before);
    if (at != context_.end() && (*at)->path == path) {
      return true;
    }
    const auto below = std::lower_bound(context_.begin(), context_.end(), path + "/", before);
    return or_below && below != context_.end() && (*below)->path.starts_with(path + "/");
  }

  void look(const std::string& directory) {
    for (const auto& entry : tree_.list(directory)) {
      const bool is_directory = entry.type == source::EntryType::directory;
      if (passed_over_.contains(entry.path)) {
        continue;
      }
      const bool is_left_out = walk_.excludes(entry.path).has_value();
      const bool is_ours = this->is_ours(entry.path, is_directory);
      const bool is_entered =
          is_directory && (is_ours || (is_left_out && rules_.may_hold_exceptions(entry.path)));
      const bool has_more = is_directory && is_ours && !tree_.list(entry.path).empty();
      if (is_ours == is_left_out && !has_more) {
        lines_ += (is_ours ? "!" : "") + source::docker_path(entry.path) + "\n";
      } else if (is_entered) {
        look(entry.path);
      }
    }
  }

  const source::Tree& tree_;
  std::vector<const plan::ContextEntry*> context_;
  source::IgnoreRules rules_;
  source::IgnoreWalk walk_;
  std::string lines_;
  std::set<std::string> passed_over_;
};

/// Returns the `.gitignore` files of included directories, the deepest last.
std::string git_text(const source::Tree& tree, const plan::Plan& plan) {
  std::vector<std::string> directories{""};
  for (const auto& entry : plan.code) {
    if (entry.type == source::EntryType::directory && entry.tree == 0) {
      directories.push_back(entry.path);
    }
  }
  std::string text;
  for (const auto& directory : directories) {
    const std::string file = directory.empty() ? ".gitignore" : directory + "/.gitignore";
    const auto entry = tree.find(file);
    if (!entry || entry->type != source::EntryType::file) {
      continue;
    }
    const auto lines =
        source::docker_rules(source::GitIgnoreFile{tree.read(file), file, "", 0}, directory);
    text += lines.empty() ? "" : fmt::format("# {}\n{}\n", printable(file), lines);
  }
  return text;
}

/// Returns git's rules that apply, in docker's syntax.
std::string git_rules(const packaging::Packaging& work) {
  const auto& scanned = work.scanned();
  const bool has_own_rules =
      scanned.tree->find(".dockerignore") || scanned.tree->find(".gcloudignore");
  const bool counts_git =
      !has_own_rules && (work.request().is_from_git() || scanned.project.ignore.asks_git());
  return counts_git ? git_text(*scanned.tree, work.plan()) : std::string{};
}

/// Removes the rules by path, and the seal.
std::string_view general(std::string_view text) {
  return text.substr(0, std::min(text.find(by_path), text.find("# autopack-text: ")));
}

}  // namespace

std::string dockerignore_text(const packaging::Packaging& work) {
  const auto& scanned = work.scanned();
  const auto& plan = work.plan();
  if (plan.user_dockerfile) {
    return plan.ignore_text;
  }
  const std::string text = git_rules(work) + plan.ignore_text;
  const std::string lines = Comparison{text, *scanned.tree, plan}.lines();
  return lines.empty() ? text : fmt::format("{}\n{}{}", text, by_path, lines);
}

std::string starter_ignore_text(const packaging::Packaging& work) {
  const std::string rules = git_rules(work);
  const std::string lines = Comparison{work.plan().ignore_text + "\n" + rules, *work.scanned().tree,
                                       work.plan(), LargeData::passed_over}
                                .lines();
  return lines.empty() ? rules : fmt::format("{}{}{}", rules, by_path, lines);
}

bool is_as_good(std::string_view committed,
                std::string_view text,
                const packaging::Packaging& work) {
  if (trim(general(committed)) != trim(general(text))) {
    return false;
  }
  try {
    return Comparison{committed, *work.scanned().tree, work.plan()}.lines().empty();
  } catch (const Error&) {
    return false;
  }
}

namespace {

constexpr std::string_view seal_prefix = "# autopack-text: ";

std::string seal_line(std::string_view text) {
  return std::string{seal_prefix} + sha256(text).hex().substr(0, 16) + "\n";
}

}  // namespace

DockerfileText write_dockerfile(Services& services,
                                const packaging::Request& request,
                                bool pin,
                                const CommittedText& committed) {
  const auto wanted = scan_wanted(request);
  report_choices(services, wanted.get(), wanted->inferred);
  wanted->request.options.contents = false;
  const auto base = executor::facts_as_seen(
      services, wanted->request.executor_image, request.options.platform,
      committed.dockerfile ? plan::recorded_facts(*committed.dockerfile) : std::nullopt);
  const auto work = plan_packaging(services, wanted, base);
  Adviser adviser{services, work};
  adviser.assume_pip();
  adviser.report_plan();
  report_scanned(*services.reporter, work);
  for (const auto& problem : work.scanned().project.unread_by_pip) {
    services.reporter->warn(problem);
  }
  const auto& plan = work.plan();
  std::string text = plan.dockerfile;
  if (pin) {
    if (!base.digest) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` cannot be pinned: no registry has it, so it has no digest",
                              printable(base.reference)));
    }
    const auto pinned = image::Reference::parse(base.reference).with_digest(*base.digest);
    text = plan::render_dockerfile(plan, {.base = pinned}, work.request().options);
  }
  DockerfileText result{.dockerfile = seal(std::move(text)),
                        .dockerignore = seal(dockerignore_text(work))};
  if (committed.dockerignore && is_as_good(*committed.dockerignore, result.dockerignore, work)) {
    result.dockerignore = *committed.dockerignore;
  }
  return result;
}

std::string seal(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) {
    text += '\n';
  }
  return text + seal_line(text);
}

bool is_unedited(std::string_view text) {
  const auto at = text.rfind(seal_prefix);
  return at != std::string_view::npos && text.substr(at) == seal_line(text.substr(0, at));
}

}  // namespace autopack::pipeline
