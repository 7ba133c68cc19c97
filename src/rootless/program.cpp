#include "rootless/program.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/runtime_configuration.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace autopack::rootless {

namespace {

using engine::ContainerSpec;

/// What an engine sets in a container whose image does not.

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
  std::vector<std::pair<std::string, std::string>> all{{"PATH", std::string{image::usual_path}},
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
                   const image::ReadFile& read) {
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
  const auto user = image::process_user(configuration.user(), read);
  program.user = user.user;
  program.group = user.group;
  program.environment = variables_of(configuration, spec, proxies, user.home);
  return program;
}

}  // namespace autopack::rootless
