#include "cli/container_options.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/flag_words.hpp"
#include "cli/packaging_options.hpp"
#include "source/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace autopack::cli {

namespace {

namespace fs = std::filesystem;
using engine::ContainerSpec;

/// Parses `FILE` as docker does: a line is `NAME=VALUE`, or a NAME with this machine's value;
/// ignores empty lines and those that begin with `#`.
void read_env_file(const std::string& path,
                   const Environment& environment,
                   ContainerSpec& container,
                   Problems& problems) {
  const auto text = read_file_if_exists(expand_home(path, environment));
  if (!text) {
    problems.push_back(value_problem("--env-file", path, "does not exist",
                                     "each line of the file is `NAME=VALUE`"));
    return;
  }
  int number = 0;
  const std::size_t start = text->starts_with(source::byte_order_mark) ? 3 : 0;
  for (const auto& whole : split(text->substr(start), '\n')) {
    ++number;
    const auto line = std::string{trim(whole)};
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const auto mark = line.find('=');
    const auto name = line.substr(0, mark);
    if (name.empty() || name.find_first_of(" \t") != std::string::npos) {
      problems.push_back({.message = "this line is not `NAME=VALUE`",
                          .origin = fmt::format("{}:{}", printable(path), number)});
    } else if (mark != std::string::npos) {
      container.environment[name] = line.substr(mark + 1);
    } else if (const auto value = environment.get(name)) {
      container.environment[name] = *value;
    }
  }
}

/// Parses `HOST:CONTAINER[:ro|rw][,z|Z]`.
std::optional<ContainerSpec::Mount> read_volume(const std::string& text,
                                                const Environment& environment,
                                                Problems& problems) {
  constexpr auto* hint = "`--volume ./data:/data:ro` shows the program a directory of this machine";
  const auto parts = split(text, ':');
  const auto modes = parts.size() == 3 ? split(parts[2], ',') : std::vector<std::string>{};
  const bool all_known = std::ranges::all_of(modes, [](const auto& mode) {
    return mode == "ro" || mode == "rw" || mode == "z" || mode == "Z";
  });
  if (parts.size() < 2 || parts.size() > 3 || !all_known) {
    problems.push_back(value_problem("--volume", text, "is not `HOST:CONTAINER[:ro]`", hint));
    return std::nullopt;
  }
  if (!parts[1].starts_with('/')) {
    problems.push_back(
        value_problem("--volume", text, "has no absolute path in the container", hint));
    return std::nullopt;
  }
  std::error_code failure;
  const auto host = fs::canonical(expand_home(parts[0], environment), failure);
  if (failure) {
    problems.push_back(value_problem("--volume", text, "does not exist on this machine", hint));
    return std::nullopt;
  }
  return ContainerSpec::Mount{.host_path = host.string(),
                              .container_path = parts[1],
                              .read_only = contains(modes, "ro"),
                              .selinux_label = contains(modes, "Z")   ? "Z"
                                               : contains(modes, "z") ? "z"
                                                                      : ""};
}

bool is_port(const std::string& text) {
  constexpr int highest = 65'535;
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) >= 1 &&
         std::stoi(text) <= highest;
}

/// Parses `[[ADDRESS:]HOST:]CONTAINER[/udp]`, with port numbers.
void read_port(const std::string& text, ContainerSpec& container, Problems& problems) {
  const auto slash = text.find('/');
  const auto protocol = slash == std::string::npos ? "tcp" : text.substr(slash + 1);
  auto parts = split(text.substr(0, slash), ':');
  ContainerSpec::Port port;
  port.container_port = parts.back() + "/" + protocol;
  bool good = is_port(parts.back()) && (protocol == "tcp" || protocol == "udp");
  if (parts.size() > 1) {
    const auto& host_port = parts[parts.size() - 2];
    good = good && is_port(host_port);
    port.host_port = non_empty(host_port);
  }
  if (parts.size() > 2) {
    parts.resize(parts.size() - 2);
    port.host_address = non_empty(join(parts, ":"));
  }
  if (good) {
    container.ports.push_back(std::move(port));
  } else {
    problems.push_back(
        value_problem("--publish", text, "is not `HOST:CONTAINER` of port numbers",
                      "`--publish 6006:6006` shows a port of the program on this machine"));
  }
}

bool is_number_of_gpus(const std::string& text) {
  return !text.empty() && text.size() <= 3 && text.front() != '0' &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

bool is_gpu_name(const std::string& text) {
  return !text.empty() && is_alphanumeric(text, "-_.:");
}

/// Matches `nvidia.com/gpu=0`.
bool is_cdi_name(const std::string& text) {
  const auto slash = text.find('/');
  const auto mark = text.find('=');
  return slash != std::string::npos && mark != std::string::npos && slash < mark &&
         is_gpu_name(text.substr(0, slash)) &&
         is_gpu_name(text.substr(slash + 1, mark - slash - 1)) &&
         is_gpu_name(text.substr(mark + 1));
}

/// Parses `all`, a number, `device=0,GPU-8f...`, also in quotes as docker requires, or CDI's names.
void read_gpus(std::string text, ContainerSpec& container, Problems& problems) {
  constexpr std::string_view by_device{"device="};
  const std::string typed = text;
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  container.gpus = text != "none";
  if (text == "all" || text == "none") {
    return;
  }
  if (is_number_of_gpus(text)) {
    container.gpu_count = std::stoi(text);
    return;
  }
  const bool devices = text.starts_with(by_device);
  container.gpu_ids = split(devices ? text.substr(by_device.size()) : text, ',');
  const auto all_are = [&](bool (*fits)(const std::string&)) {
    return std::ranges::all_of(container.gpu_ids, fits);
  };
  if (!(devices && all_are(is_gpu_name)) && !all_are(is_cdi_name)) {
    problems.push_back(value_problem("--gpus", typed, "is not a list of GPUs",
                                     "`--gpus=all`, `--gpus=2`, `--gpus=device=0,2` or "
                                     "`--gpus=nvidia.com/gpu=0` gives the program GPUs"));
  }
}

}  // namespace

void add_container_flags(FlagSet& flags, ContainerOptions& options) {
  flags.list("--args", "ARG,...", options.args,
             "arguments of the program, before those after `--`");
  flags.list("-e,--env", "NAME=VALUE,...", options.env, "environment variables of the program");
  flags.toggle("--shell", options.shell, "run a shell in the image instead of the program");
  flags.toggle("--watch", options.watch, "run again whenever a file of the image changes");
  flags.section("The container", false);
  flags.list("--env-file", "FILE", options.env_files, "variables from a file, one per line");
  flags.list("--volume", "HOST:DIR[:ro]", options.volumes, "mount a directory or a file");
  flags.list("-p,--publish", "HOST:PORT", options.ports, "publish a port of the container");
}

void apply(const ContainerOptions& options,
           const std::vector<std::string>& typed_arguments,
           const Environment& environment,
           ContainerSpec& container) {
  Problems problems;
  auto of_program = job::all_elements(options.args, "--args", problems);
  if (!options.shell) {
    container.arguments = std::move(of_program);  // a shell has no use for them
  }
  container.arguments.insert(container.arguments.end(), typed_arguments.begin(),
                             typed_arguments.end());
  for (const auto& file : options.env_files) {
    read_env_file(file, environment, container, problems);
  }
  for (const auto& [name, value] : job::all_pairs(options.env, "--env", problems)) {
    container.environment[name] = value;
  }
  container.mounts = read_volumes(options.volumes, environment, problems);
  for (const auto& port : options.ports) {
    read_port(port, container, problems);
  }
  if (!options.gpus.empty()) {
    read_gpus(options.gpus, container, problems);
  }
  const bool has_command = !typed_arguments.empty() && !typed_arguments.front().starts_with('-');
  if (options.shell && has_command) {
    container.command = std::exchange(container.arguments, {});
  } else if (options.shell) {
    // Few images lack bash, none with a shell lack sh.
    container.command = {"/bin/sh", "-c",
                         R"(command -v bash >/dev/null && exec bash "$@"; exec sh "$@")", "shell"};
  }
  throw_if_errors(problems, ErrorKind::usage);
}

std::vector<std::string> find_gpus(const fs::path& directory) {
  constexpr std::size_t most{64};
  std::vector<std::string> ids;
  std::error_code ignored;
  while (ids.size() < most &&
         fs::exists(directory / fmt::format("nvidia{}", ids.size()), ignored)) {
    ids.push_back(std::to_string(ids.size()));
  }
  return ids;
}

std::vector<ContainerSpec::Mount> read_volumes(const std::vector<std::string>& volumes,
                                               const Environment& environment,
                                               Problems& problems) {
  std::vector<ContainerSpec::Mount> mounts;
  for (const auto& volume : volumes) {
    if (auto mount = read_volume(volume, environment, problems)) {
      mounts.push_back(std::move(*mount));
    }
  }
  return mounts;
}

std::optional<std::string> own_credentials(const Environment& environment) {
  const auto usual = environment.gcloud_directory() / "application_default_credentials.json";
  const fs::path file = environment.get("GOOGLE_APPLICATION_CREDENTIALS").value_or(usual.string());
  std::error_code failure;
  return fs::is_regular_file(file, failure) ? std::optional{fs::canonical(file, failure).string()}
                                            : std::nullopt;
}

}  // namespace autopack::cli
