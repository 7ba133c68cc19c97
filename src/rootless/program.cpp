#include "rootless/program.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace autopack::rootless {

namespace {

using engine::ContainerSpec;

/// What an engine sets in a container whose image does not.
constexpr auto* usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Refuses what this machine's own network and devices cannot do.
void check_possible(const ContainerSpec& spec) {
  Problems problems;
  for (const auto& port : spec.ports) {
    const auto own = port.container_port.substr(0, port.container_port.find('/'));
    if (port.host_port && *port.host_port != own) {
      problems.push_back(
          {.message = fmt::format("without an engine, port {} of the program cannot be port {} of "
                                  "this machine",
                                  own, *port.host_port),
           .origin = "`--publish`",
           .hints = {fmt::format("`--publish {}:{}`: the program uses the network of this machine",
                                 own, own)}});
    }
  }
  if (spec.gpus) {
    problems.push_back(
        {.message = "without an engine, the program gets no GPUs",
         .origin = "`--gpus`",
         .hints = {"install a Docker Engine and nvidia-container-toolkit, and start the engine"}});
  }
  throw_if_errors(problems, ErrorKind::usage);
}

std::optional<unsigned> number(const std::string& text) {
  unsigned value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end && value < std::numeric_limits<unsigned>::max()
             ? std::optional{value}
             : std::nullopt;
}

/// Returns the fields of the line of a user database whose field `key` is `value`.
std::optional<std::vector<std::string>> find_line(const std::optional<std::string>& text,
                                                  std::size_t key,
                                                  const std::string& value) {
  constexpr std::size_t needed{3};  // name, password, number
  for (const auto& line : split(text.value_or(""), '\n')) {
    auto fields = split(line, ':');
    if (fields.size() >= needed && fields[key] == value) {
      return fields;
    }
  }
  return std::nullopt;
}

Error unknown(const char* kind, const std::string& name) {
  return std::move(
      Error(ErrorKind::environment, fmt::format("the image has no {} `{}`", kind, printable(name)))
          .hint("`USER` of the image names it"));
}

/// Sets user and group of `program` from `USER` of the image, `name[:group]`; returns the user's
/// home directory.
std::string set_user(Program& program, const std::string& text, const ReadFile& read) {
  const auto parts = split(text, ':');
  const std::string& name = parts.front();
  const auto passwords = read("etc/passwd");
  std::optional<std::vector<std::string>> line;
  if (!name.empty()) {
    line = find_line(passwords, 0, name);
    const auto id = line ? number((*line)[2]) : number(name);
    if (!id) {
      throw unknown("user", name);
    }
    program.user = *id;
  }
  if (!line) {
    line = find_line(passwords, 2, std::to_string(program.user));
  }
  if (line && line->size() > 3) {
    program.group = number((*line)[3]).value_or(0);
  }
  if (parts.size() > 1 && !parts[1].empty()) {
    const auto group = find_line(read("etc/group"), 0, parts[1]);
    const auto id = group ? number((*group)[2]) : number(parts[1]);
    if (!id) {
      throw unknown("group", parts[1]);
    }
    program.group = *id;
  }
  constexpr std::size_t home{5};
  return line && line->size() > home && !(*line)[home].empty() ? (*line)[home] : "/";
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::vector<std::string> words_of(const image::Configuration& configuration,
                                  const ContainerSpec& spec) {
  const bool is_replaced = !spec.command.empty();
  auto words = is_replaced ? spec.command : configuration.entrypoint();
  const auto rest =
      is_replaced || !spec.arguments.empty() ? spec.arguments : configuration.command();
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

/// Returns the variables in the order in which an engine sets them.
std::vector<std::pair<std::string, std::string>> variables_of(
    const image::Configuration& configuration,
    const ContainerSpec& spec,
    const engine::Proxies& proxies,
    const std::string& home) {
  auto wanted = spec.environment;
  for (const auto& [name, value] : proxies) {
    wanted.try_emplace(name, value.reveal());
  }
  std::vector<std::pair<std::string, std::string>> all{{"PATH", usual_path},
                                                       {"HOSTNAME", host_name()}};
  const auto set = [&](const std::string& name, const std::string& value) {
    const auto there =
        std::ranges::find_if(all, [&](const auto& variable) { return variable.first == name; });
    if (there == all.end()) {
      all.emplace_back(name, value);
    } else {
      there->second = value;
    }
  };
  if (spec.tty) {
    set("TERM", "xterm");
  }
  for (const auto& [name, value] : wanted) {
    set(name, value);
  }
  for (const auto& variable : configuration.environment()) {
    const auto mark = variable.find('=');
    const auto name = variable.substr(0, mark);
    if (!name.empty() && !wanted.contains(name)) {
      set(name, mark == std::string::npos ? "" : variable.substr(mark + 1));
    }
  }
  if (std::ranges::none_of(all, [](const auto& variable) { return variable.first == "HOME"; })) {
    set("HOME", home);
  }
  return all;
}

}  // namespace

Program program_of(const image::Configuration& configuration,
                   const ContainerSpec& spec,
                   const engine::Proxies& proxies,
                   const ReadFile& read) {
  check_possible(spec);
  Program program{.words = words_of(configuration, spec),
                  .directory = configuration.working_directory(),
                  .mounts = spec.mounts,
                  .has_terminal = spec.tty,
                  .size = spec.tty ? users_terminal_size() : std::nullopt};
  if (program.words.empty()) {
    throw Error(ErrorKind::environment, "the image starts no program")
        .hint("`autopack run IMAGE -- COMMAND` names one");
  }
  if (!program.directory.starts_with('/')) {
    program.directory.insert(0, "/");
  }
  const std::string home = set_user(program, configuration.user(), read);
  program.environment = variables_of(configuration, spec, proxies, home);
  return program;
}

}  // namespace autopack::rootless
