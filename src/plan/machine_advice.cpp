#include "plan/machine_advice.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_tokens.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/opened_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

namespace autopack::plan {

namespace {

/// Directories that a container has of its own, and those that it mounts.
bool is_of_containers(std::string_view path) {
  static constexpr std::array<std::string_view, 15> places{
      "/bin/",  "/dev/", "/etc/",  "/gcs/", "/lib/", "/lib64/", "/media/", "/mnt/",
      "/proc/", "/run/", "/sbin/", "/sys/", "/tmp/", "/usr/",   "/var/"};
  return std::ranges::any_of(places, [&](auto place) { return path.starts_with(place); });
}

bool exists_here(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// True if the code may do without a file: it asks whether one exists, or handles failures.
bool is_careful(std::string_view text) {
  static constexpr std::array<std::string_view, 5> words{"exists(", "isfile(", "is_file(", "isdir(",
                                                         "is_dir("};
  return text.find("except") != std::string_view::npos ||
         std::ranges::any_of(words,
                             [&](auto word) { return text.find(word) != std::string_view::npos; });
}

bool surely_imports(const project::PythonFile& file, std::string_view module) {
  return std::ranges::any_of(file.imports, [&](const auto& import) {
    return import.level == 0 && import.module == module && !import.optional && !import.nested;
  });
}

class MachineCheck {
public:
  MachineCheck(const ReadablePlan& plan,
               const project::Project& project,
               const BaseModules& in_base)
      : plan_{plan}, project_{project}, in_base_{in_base} {}

  Problems run(const std::vector<ReachedFile>& reached) {
    for (const auto& file : reached) {
      if (file.sure) {
        read(file);
      }
    }
    return std::move(problems_);
  }

private:
  void read(const ReachedFile& file) {
    const auto text = plan_.read(*file.entry);
    const auto holds = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    const bool is_of_interest =
        holds("\"/") || holds("'/") || holds("zoneinfo") || holds("getpass");
    if (!is_of_interest || is_careful(text)) {
      return;
    }
    const auto code = project::read_python_file(text);
    const bool has_zones = surely_imports(code, "zoneinfo");
    const bool has_users = surely_imports(code, "getpass");
    std::string before;
    project::PythonTokens tokens{text};
    for (project::Token token; tokens.next(token);) {
      if (token.kind == project::Token::Kind::string && !token.computed) {
        if (token.text.starts_with('/')) {
          check_path(file, text, token);
        } else if (has_zones && before.ends_with("ZoneInfo(")) {
          check_zone(file, token);
        }
        before.clear();
        continue;
      }
      before += token.text;
      if (has_users && before.ends_with("getpass.getuser(")) {
        check_user(file, token);
      }
      if (token.kind == project::Token::Kind::line_end) {
        before.clear();
      }
    }
  }

  void check_path(const ReachedFile& file, std::string_view text, const project::Token& string) {
    const std::string& path = string.text;
    const bool is_mounted = project_.given_at.contains("volume");
    const bool is_plain = source::normalise(path.substr(1)) == path.substr(1) && path.size() > 1;
    if (is_mounted || !is_plain || is_of_containers(path) || !exists_here(path) ||
        project::opened_from(text, string.line, path) != project::OpenedFrom::directory ||
        !base_lacks({"file:" + path}) || !reported_.insert(path).second) {
      return;
    }
    Problem problem{.severity = Problem::Severity::warning,
                    .message = fmt::format("`{}` line {} opens `{}`, which this machine has and "
                                           "the image does not",
                                           printable(file.path), string.line, printable(path))};
    if (const auto inside = path_in_image(path)) {
      problem.hints = {fmt::format("write `{}`, which is in the image", printable(*inside))};
    } else {
      problem.hints = {"copy it into the project, and open it by its path there",
                       fmt::format("`--volume={0}:{0}:ro` gives it to a run on this machine",
                                   shell_quote(path))};
    }
    problems_.push_back(std::move(problem));
  }

  /// The longest end of `path` that names something in the image: `data/x.csv`.
  std::optional<std::string> path_in_image(std::string_view path) const {
    for (auto slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      const std::string end{path.substr(slash + 1)};
      if (entry_behind_links(plan_, end) != nullptr) {
        return end;
      }
    }
    return std::nullopt;
  }

  void check_zone(const ReachedFile& file, const project::Token& string) {
    const std::string& zone = string.text;
    if (reported_zone_ || may_install_zones() ||
        !base_lacks({"tzdata", "program:conda", "file:/usr/share/zoneinfo/" + zone,
                     "file:/usr/lib/zoneinfo/" + zone, "file:/usr/share/lib/zoneinfo/" + zone,
                     "file:/etc/zoneinfo/" + zone})) {
      return;
    }
    reported_zone_ = true;
    problems_.push_back(Problem::warning(
        {.message = fmt::format("`{}` line {} uses the time zone `{}`, and the "
                                "image has no data of time zones",
                                printable(file.path), string.line, printable(zone)),
         .hints = {"`--requirements=tzdata`"}}));
  }

  /// True unless it is known that no requirement brings the data: a lock lists everything.
  bool may_install_zones() {
    const auto& dependencies = plan_.dependencies;
    const auto& environment = plan_.base.environment;
    const bool has_path = std::ranges::any_of(
        environment, [](const auto& pair) { return pair.starts_with("PYTHONTZPATH="); });
    if (has_path || !dependencies.apt_packages.empty() ||
        (dependencies.needs_pip() && !dependencies.lock)) {
      return true;
    }
    const auto named = project::named_distributions(plan_.working_directory(), project_);
    return !named.certain || contains(named.names, "tzdata");
  }

  /// A user that is a number needs an entry in /etc/passwd, or a variable that names it.
  void check_user(const ReachedFile& file, const project::Token& call) {
    const auto user = plan_.user.substr(0, plan_.user.find(':'));
    const bool is_number =
        !user.empty() && user != "0" && user.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || reported_user_ || names_user() || !base_lacks({"user:" + user})) {
      return;
    }
    reported_user_ = true;
    problems_.push_back(
        Problem::warning({.message = fmt::format("`{}` line {} asks for the name of the user, and "
                                                 "the image's user {} has none",
                                                 printable(file.path), call.line, user),
                          .hints = {"`--env=USER=NAME`"}}));
  }

  bool names_user() const {
    static constexpr std::array<std::string_view, 4> variables{
        "LOGNAME=", "USER=", "LNAME=", "USERNAME="};
    const auto& environment = plan_.base.environment;
    return project_.given_at.contains("env") || project_.given_at.contains("env-file") ||
           !plan_.dependencies.apt_packages.empty() ||
           std::ranges::any_of(environment, [](const auto& pair) {
             return std::ranges::any_of(variables,
                                        [&](auto variable) { return pair.starts_with(variable); });
           });
  }

  bool base_lacks(const std::vector<std::string>& names) const {
    const auto known = in_base_(names);
    return known.size() == names.size() &&
           std::ranges::none_of(known, [](const auto& one) { return one.second; });
  }

  const ReadablePlan& plan_;
  const project::Project& project_;
  const BaseModules& in_base_;
  std::set<std::string> reported_{};
  bool reported_zone_{false};
  bool reported_user_{false};
  Problems problems_{};
};

}  // namespace

Problems machine_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const std::vector<ReachedFile>& reached,
                        const BaseModules& in_base) {
  return in_base ? MachineCheck{plan, project, in_base}.run(reached) : Problems{};
}

}  // namespace autopack::plan
