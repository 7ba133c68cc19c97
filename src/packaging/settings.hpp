#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace autopack::packaging {

struct Request;

/// The settings that the user gave for the contents of the image. Absent ones were not given.
struct Settings {
  using Text = std::optional<std::string>;
  using List = std::optional<std::vector<std::string>>;

  Text executor_image_uri{};
  Text local_package_path{};
  Text script{};
  Text python_module{};
  List requirements{};
  List extra_packages{};
  List extra_dirs{};
  List include{};
  List exclude{};
  List system_packages{};
  Text output_image_uri{};
  Text launcher{};
  List command{};
  List requirements_file{};
  Text lock{};
  List extra{};
  List group{};
  List build_env{};  ///< `NAME=VALUE`

  bool operator==(const Settings&) const = default;
};

/// A packaging setting: a flag of every command that packages, a key of a worker pool, and a key of
/// `autopack.yaml`. Help, completions, schema, and the rules about settings that exclude each other
/// are derived from its row in `settings`. `apply` applies it to a request.
struct Setting {
  using Member = std::variant<Settings::Text Settings::*, Settings::List Settings::*>;

  /// `often`: in the short help of every command. `usual`: not in that of a job.
  enum class Use { often, usual, rare };
  /// `content` goes in besides the program and what it starts from.
  enum class Role { place, base, entry, content, name };
  enum class Completion { none, files, directories, executor_images, launchers };
  /// What its value can name outside the project: one path of this machine, or several.
  enum class Reach { nothing, path, paths };

  std::string_view key{};    ///< `executor-image-uri`
  std::string_view alias{};  ///< another name of the flag; empty if it has none
  std::string_view label{};  ///< `IMAGE`
  std::string_view help{};
  Use use{Use::rare};
  Role role{Role::content};
  Member member{&Settings::script};
  Completion completion{Completion::none};
  Reach reach{Reach::nothing};

  bool is_list() const { return std::holds_alternative<Settings::List Settings::*>(member); }

  /// A job has one command for all its pools.
  bool is_pool_key() const { return key != "command"; }

  bool is_given(const Settings& given) const;
};

/// Every packaging setting, in the order of the help.
inline constexpr auto settings = std::to_array<Setting>({
    {.key = "executor-image-uri",
     .alias = "base-image",
     .label = "IMAGE",
     .help = "image to start from; default: Python's",
     .use = Setting::Use::often,
     .role = Setting::Role::base,
     .member = &Settings::executor_image_uri,
     .completion = Setting::Completion::executor_images},
    {.key = "local-package-path",
     .alias = "work-dir",
     .label = "DIR",
     .help = "project directory; default: this one",
     .use = Setting::Use::usual,
     .role = Setting::Role::place,
     .member = &Settings::local_package_path,
     .completion = Setting::Completion::directories,
     .reach = Setting::Reach::path},
    {.key = "script",
     .label = "FILE",
     .help = "entry point: .py, .ipynb, or a script for bash",
     .use = Setting::Use::often,
     .role = Setting::Role::entry,
     .member = &Settings::script,
     .completion = Setting::Completion::files},
    {.key = "python-module",
     .label = "MODULE",
     .help = "entry point: python -m MODULE",
     .use = Setting::Use::often,
     .role = Setting::Role::entry,
     .member = &Settings::python_module},
    {.key = "requirements",
     .label = "REQ,...",
     .help = "additional packages for pip",
     .use = Setting::Use::usual,
     .member = &Settings::requirements},
    {.key = "extra-packages",
     .label = "FILE,...",
     .help = "local packages for pip",
     .use = Setting::Use::usual,
     .member = &Settings::extra_packages,
     .completion = Setting::Completion::files,
     .reach = Setting::Reach::paths},
    {.key = "extra-dirs",
     .label = "PATH,...",
     .help = "additional directories or files to copy",
     .use = Setting::Use::usual,
     .member = &Settings::extra_dirs,
     .completion = Setting::Completion::files,
     .reach = Setting::Reach::paths},
    {.key = "include",
     .label = "PATTERN,...",
     .help = "include paths that rules leave out",
     .use = Setting::Use::usual,
     .member = &Settings::include,
     .completion = Setting::Completion::files},
    {.key = "exclude",
     .label = "PATTERN,...",
     .help = "leave out paths: data, '*.ckpt'",
     .use = Setting::Use::usual,
     .member = &Settings::exclude,
     .completion = Setting::Completion::files},
    {.key = "system-packages",
     .label = "NAME,...",
     .help = "Debian packages for apt",
     .use = Setting::Use::usual,
     .member = &Settings::system_packages},
    {.key = "output-image-uri",
     .label = "IMAGE",
     .help = "name of the resulting image",
     .use = Setting::Use::usual,
     .role = Setting::Role::name,
     .member = &Settings::output_image_uri},
    {.key = "launcher",
     .label = "COMMAND",
     .help = "starts the entry point: torchrun, accelerate, deepspeed, mpirun, with arguments",
     .member = &Settings::launcher,
     .completion = Setting::Completion::launchers},
    {.key = "command",
     .label = "WORD,...",
     .help = "entry point: a command and its arguments",
     .role = Setting::Role::entry,
     .member = &Settings::command},
    {.key = "requirements-file",
     .label = "FILE,...",
     .help = "requirements files to use instead of those found",
     .member = &Settings::requirements_file,
     .completion = Setting::Completion::files,
     .reach = Setting::Reach::paths},
    {.key = "lock",
     .label = "FILE",
     .help = "lock to install instead of the one found; none: no lock",
     .member = &Settings::lock,
     .completion = Setting::Completion::files,
     .reach = Setting::Reach::path},
    {.key = "extra",
     .label = "NAME,...",
     .help = "extras of the project's own package",
     .member = &Settings::extra},
    {.key = "group",
     .label = "NAME,...",
     .help = "dependency groups of pyproject.toml or the lock",
     .member = &Settings::group},
    {.key = "build-env",
     .label = "NAME=VALUE,...",
     .help = "environment variables while packages are installed",
     .member = &Settings::build_env},
});

/// Copies `given` into `request`, except `build_env` and `output_image_uri`, which the caller
/// reads.
void apply(const Settings& given, Request& request);

/// Returns the settings of `request`, including inferred ones, except `local_package_path` and
/// `output_image_uri`.
Settings settings_of(const Request& request);

}  // namespace autopack::packaging
