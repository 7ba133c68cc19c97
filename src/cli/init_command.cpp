#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "cli/settings.hpp"
#include "cli/starter_files.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/dockerfile.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "project/program/inference.hpp"
#include "project/tool_settings.hpp"
#include "source/ignore.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

namespace {

constexpr auto* ignore_file_name = ".dockerignore";
/// A longer list is not asked about.
constexpr std::size_t most_choices{20};

bool is_there(const char* path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

/// Returns the file that already contains the settings of `autopack.yaml`; nothing if there is
/// none.
std::optional<std::string> settings_there() {
  if (is_there(settings_file_name)) {
    return settings_file_name;
  }
  const auto toml = read_file_if_exists("pyproject.toml");
  const bool has_table = toml && !project::read_tool_settings(*toml, "pyproject.toml").empty();
  return has_table ? std::optional<std::string>{"pyproject.toml"} : std::nullopt;
}

/// Returns the file that already excludes files from the image; nothing if there is none.
std::optional<std::string> ignore_rules_there() {
  for (const auto* name : {ignore_file_name, ".gcloudignore"}) {
    if (is_there(name)) {
      return name;
    }
  }
  return std::nullopt;
}

class InitCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Settings to write");
    for (const auto& setting : packaging::settings) {
      if (setting.use == packaging::Setting::Use::often) {
        add_packaging_flag(flags, packaging_, setting);
      }
    }
    flags.text("--display-name", "NAME", packaging_.display_name,
               "job name; default: the directory's");
  }

  int run(Session& session) override {
    const auto settings = settings_there();
    const auto rules = ignore_rules_there();
    for (const auto& there : {settings, rules}) {
      if (there) {
        keep(session, *there);
      }
    }
    if (!settings || !rules) {
      const auto wanted = infer(session);
      // Computed before anything is written, which would count as part of the project.
      const auto ignored = rules ? std::nullopt : std::optional{ignore_text(session, wanted)};
      if (!settings) {
        write(session, settings_file_name, settings_text(session, *wanted));
      }
      if (ignored) {
        write(session, ignore_file_name, *ignored);
      }
    }
    if (session.format.kind != OutputFormat::Kind::text) {
      session.console.result(
          render(session, nlohmann::json{{"written", written_}, {"kept", kept_}}, ""));
    }
    return 0;
  }

private:
  void keep(Session& session, const std::string& file) {
    std::vector<std::string> unused;
    for (const auto& flag : session.flags.help()) {
      const bool is_written = file == settings_file_name && flag.section != "General" &&
                              flag.section != "What to print";
      if (is_written && session.flags.is_typed(flag.long_name)) {
        unused.push_back(flag.long_name);
      }
    }
    session.console.done(
        "Kept",
        fmt::format("{} as it is{}", file,
                    unused.empty() ? "" : ": it does not get `" + join(unused, "`, `") + "`"));
    kept_.push_back(file);
  }

  void write(Session& session, const std::string& file, const std::string& text) {
    NewFile fresh{file};
    fresh.write(text);
    if (!fresh.commit_if_absent()) {
      keep(session, file);
      return;
    }
    session.console.done("Wrote", file);
    written_.push_back(file);
  }

  std::shared_ptr<packaging::Wanted> infer(Session& session) {
    const BuildOptions build;
    auto request = package_request(packaging_, build, session.flags, session.services.environment);
    std::vector<project::Inferred> asked;
    if (!request.project.has_entry()) {
      if (auto entry = choose(session, request)) {
        asked.push_back(*std::move(entry));
      }
    }
    auto wanted = pipeline::scan_wanted(std::move(request));
    wanted->inferred.insert(wanted->inferred.begin(), asked.begin(), asked.end());
    wanted->name = image_name(packaging_, wanted->request, find_location(session));
    pipeline::report_inferred(session.console, wanted->inferred);
    return wanted;
  }

  /// Asks a person for the program, if there are several candidates and somebody is there.
  static std::optional<project::Inferred> choose(Session& session, packaging::Request& request) {
    auto choices = pipeline::program_choices(request);
    if (choices.size() < 2 || choices.size() > most_choices) {
      return std::nullopt;
    }
    std::string question = "Several programs could be meant to run:\n";
    for (std::size_t i = 0; i < choices.size(); ++i) {
      question += fmt::format("{:>4}  {}\n", i + 1, printable(choices[i].value));
    }
    const auto answer =
        session.console.ask(fmt::format("{}Which one? [1-{}] ", question, choices.size()));
    session.services.cancellation->throw_if_requested();
    for (std::size_t i = 0; answer && i < choices.size(); ++i) {
      if (*answer == std::to_string(i + 1) || *answer == choices[i].value) {
        choices[i].reason = "you chose it";
        project::choose_entry(choices[i], request.project);
        return choices[i];
      }
    }
    return std::nullopt;
  }

  std::string settings_text(Session& session, const packaging::Wanted& wanted) const {
    StarterSettings settings{
        .name = job_name(packaging_.display_name, wanted.request.project.directory),
        .image = wanted.name.reference.repository(),
        .location = find_location(session)};
    for (const char* flag : {"--script", "--python-module", "--executor-image-uri"}) {
      if (session.flags.is_typed(flag)) {
        settings.chosen.push_back({.value = session.flags.given(flag).front().values.back().text(),
                                   .reason = "you chose it",
                                   .flag = flag});
      }
    }
    settings.chosen.insert(settings.chosen.end(), wanted.inferred.begin(), wanted.inferred.end());
    return starter_settings_text(settings);
  }

  static std::string ignore_text(Session& session, const pipeline::WantedPtr& wanted) {
    auto& services = session.services;
    const auto work = pipeline::plan_packaging(services, wanted,
                                               executor::facts_offline(services, wanted->request));
    for (const auto& large : work.plan().large_directories) {
      session.console.done("Left out",
                           fmt::format("{}/ without a rule: {}, no code, named nowhere (`{}` "
                                       "includes it)",
                                       printable(large.path), human_size(large.size),
                                       source::include_flag(large.path)));
    }
    return starter_ignore_file(pipeline::starter_ignore_text(work));
  }

  PackagingOptions packaging_;
  std::vector<std::string> written_;
  std::vector<std::string> kept_;
};

}  // namespace

std::unique_ptr<Command> make_init_command() {
  return std::make_unique<InitCommand>();
}

}  // namespace autopack::cli
