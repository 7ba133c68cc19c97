#include "pipeline/secrets.hpp"

#include "base/text.hpp"
#include "source/docker_rules.hpp"
#include "source/secrets.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace autopack::pipeline {

namespace {

using source::AllowedSecret;
using source::FoundSecret;

// Limits for a project that cannot be planned.
constexpr std::size_t most_unplanned{5'000};
constexpr std::uint64_t largest_unplanned{1'000'000};

std::vector<FoundSecret> secrets_of(const plan::ReadablePlan& plan) {
  std::vector<FoundSecret> all;
  for (const plan::ContextEntry* entry : plan::context(plan)) {
    if (entry->type != source::EntryType::file || entry->cleared) {
      continue;
    }
    const auto& [tree, prefix] = plan.trees.at(entry->tree);
    for (FoundSecret& secret : source::find_secrets(*tree, entry->path.substr(prefix.size()))) {
      secret.path = entry->path;
      all.push_back(std::move(secret));
    }
  }
  return all;
}

std::vector<AllowedSecret> allowed_by(const source::Tree& tree) {
  const std::string file{source::allowed_secrets_file};
  const auto entry = tree.find(file);
  return entry && entry->type == source::EntryType::file
             ? source::read_allowed_secrets(tree.read(file))
             : std::vector<AllowedSecret>{};
}

/// Suggests a line for an existing `.dockerignore`: a new file would replace other rules.
std::string leaving_out(const std::string& path, const source::Tree& tree) {
  const std::string file{".dockerignore"};
  return tree.find(file) ? source::append_command(source::docker_path(path), file)
                         : source::leave_out_command(path);
}

/// Suggests how to remove a login from the URL in a file that the image needs; nothing for other
/// secrets.
std::optional<std::string> way_without(const FoundSecret& secret) {
  if (!source::is_login_in_url(secret)) {
    return std::nullopt;
  }
  if (secret.kind == "git-login") {
    return "remove the login from the URL; git's credential helper or ~/.netrc of this machine "
           "may hold it";
  }
  const bool is_read_by_pip = secret.path.ends_with(".txt") || secret.path.ends_with(".in");
  return fmt::format("{}pip.conf or ~/.netrc of this machine may hold it",
                     is_read_by_pip ? "write `${NAME}` instead of the login and set that variable, "
                                      "or remove it from the URL: "
                                    : "remove the login from the URL; ");
}

Problem problem_of(const FoundSecret& secret, const source::Tree& tree) {
  const std::string where = secret.line == 0 ? "" : fmt::format(" line {}", secret.line);
  return {
      .message = fmt::format("`{}`{} holds {}, which would be in the image", printable(secret.path),
                             where, source::secret_in_words(secret.kind)),
      .hints = {way_without(secret).value_or(leaving_out(secret.path, tree)),
                "if it may be seen: " + source::append_command(source::allowing_line(secret),
                                                               source::allowed_secrets_file)}};
}

Problem stale(const AllowedSecret& allowed) {
  return Problem::warning(
      {.message = fmt::format("`{}` allows a secret in `{}` that is not there",
                              source::allowed_secrets_file, allowed.path),
       .origin = fmt::format("{}:{}", source::allowed_secrets_file, allowed.line),
       .hints = {"remove the line"}});
}

Problems problems_of(const std::vector<FoundSecret>& found, const source::Tree& tree) {
  Problems problems;
  const auto allowed = allowed_by(tree);
  for (const FoundSecret& secret : found) {
    if (std::ranges::none_of(allowed, [&](const auto& entry) { return allows(entry, secret); })) {
      problems.push_back(problem_of(secret, tree));
    }
  }
  for (const AllowedSecret& entry : allowed) {
    if (std::ranges::none_of(found, [&](const auto& secret) { return allows(entry, secret); })) {
      problems.push_back(stale(entry));
    }
  }
  return problems;
}

}  // namespace

Problems find_secrets(const plan::ReadablePlan& plan) {
  return problems_of(secrets_of(plan), plan.working_directory());
}

Problems find_secrets(const source::Tree& tree, const source::Selection& selection) {
  std::vector<FoundSecret> found;
  std::size_t looked_at = 0;
  source::SelectionWalk selected{selection};
  const auto is_kept = [&](const source::Entry& entry) {
    return looked_at < most_unplanned && !selected.excludes(entry);
  };
  source::walk(tree, "", is_kept, [&](const source::Entry& entry) {
    if (entry.type != source::EntryType::file || entry.size > largest_unplanned ||
        !is_kept(entry)) {
      return;
    }
    ++looked_at;
    for (FoundSecret& secret : source::find_secrets(tree, entry.path)) {
      secret.path = entry.path;
      found.push_back(std::move(secret));
    }
  });
  auto problems = problems_of(found, tree);
  std::erase_if(problems, [](const Problem& one) {
    return one.severity == Problem::Severity::warning;  // not every file was read
  });
  return problems;
}

}  // namespace autopack::pipeline
