#pragma once

#include "cli/console.hpp"
#include "cli/flags.hpp"
#include "cli/global_options.hpp"
#include "cli/output_format.hpp"
#include "job/location.hpp"
#include "services/services.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// The inputs of a command after its flags are parsed.
struct Session {
  const GlobalOptions& global;
  const FlagSet& flags;
  OutputFormat format{};
  Console& console;
  Services& services;
  std::vector<std::string> program_arguments{};  ///< after `--`
  std::vector<std::string> arguments{};          ///< positional, at most `most_arguments`
};

/// A command of the command line. There is one file for each.
class Command {
public:
  virtual ~Command() = default;
  virtual void add_flags(FlagSet& flags) = 0;
  /// Returns the exit status.
  virtual int run(Session& session) = 0;
};

/// A line of the table of commands.
struct CommandEntry {
  std::string_view name{};
  std::string_view summary{};
  std::string_view usage{};    ///< after `autopack NAME`
  std::string_view example{};  ///< whole command lines
  std::unique_ptr<Command> (*make)(){nullptr};
  bool takes_program_arguments{false};  ///< after `--`
  bool asks_servers{false};             ///< almost always
  std::size_t most_arguments{0};        ///< positional ones
  /// The possible words of the first argument: `bash|zsh|fish`. Absent: anything. Other words are
  /// refused before the command runs.
  std::optional<std::string_view> first_argument{};
  /// Exit status of autopack's own failures; absent: by the error's kind.
  std::optional<int> own_failure{};
};

std::span<const CommandEntry> commands();

std::unique_ptr<Command> make_submit_command();
std::unique_ptr<Command> make_tune_command();
std::unique_ptr<Command> make_translate_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_init_command();
std::unique_ptr<Command> make_images_command();
std::unique_ptr<Command> make_clean_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_rebase_command();
std::unique_ptr<Command> make_verify_command();
std::unique_ptr<Command> make_build_command();
std::unique_ptr<Command> make_dockerfile_command();
std::unique_ptr<Command> make_lock_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_jobs_command();
std::unique_ptr<Command> make_prices_command();
std::unique_ptr<Command> make_trust_command();
std::unique_ptr<Command> make_completion_command();

/// Returns `object` in the requested `--format`; `text` is for people. Warns about keys that it
/// lacks.
std::string render(const Session& session, const nlohmann::json& object, const std::string& text);

/// Prints the result of a command in the requested `--format`; `text` is for people, so the locale
/// may restrict its characters.
void report_result(const Session& session, const nlohmann::json& object, const std::string& text);

/// Returns the project directory's own name, for unnamed jobs and images.
std::string directory_name(const std::filesystem::path& directory);

/// Returns the name of a job whose `--display-name` is `typed`; without one, the project
/// directory's.
std::string job_name(const std::optional<std::string>& typed,
                     const std::filesystem::path& directory);

/// The number of regions in which a command works.
enum class Regions { one, several };

/// Returns project and region from flags, environment and gcloud's configuration; parts may be
/// missing. With `infers`, gcloud's region for machines replaces a missing one for its `ai`
/// commands. Of several regions in a file, a command that works in one uses the first; throws
/// Error(usage) if they were typed for it.
job::Location find_location(const Session& session,
                            bool infers = false,
                            Regions regions = Regions::one);

}  // namespace autopack::cli
