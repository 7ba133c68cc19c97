#include "cli/flag_words.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace autopack::cli {

std::optional<bool> truth_of(const std::string& value) {
  const std::string lower = to_lower(value);
  for (const auto* word : {"true", "1", "yes", "on"}) {
    if (lower == word) {
      return true;
    }
  }
  for (const auto* word : {"false", "0", "no", "off"}) {
    if (lower == word) {
      return false;
    }
  }
  return std::nullopt;
}

bool to_bool(const std::string& value, const std::string& origin) {
  if (const auto truth = truth_of(value)) {
    return *truth;
  }
  throw Error(ErrorKind::usage,
              fmt::format("`{}` of {} is neither true nor false", printable(value), origin));
}

std::int64_t to_number(const std::string& value, const std::string& origin) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc{} || end != value.data() + value.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` of {} is not a whole number", printable(value), origin));
  }
  return number;
}

std::vector<std::string> words_of(const std::string& label) {
  if (label.find('|') == std::string::npos) {
    return {};
  }
  auto words = split(label, '|');
  std::erase(words, "...");
  return words;
}

void check_word(const std::string& value,
                const std::vector<std::string>& words,
                const std::string& origin) {
  if (contains(words, value)) {
    return;
  }
  Error error{ErrorKind::usage, fmt::format("`{}` is not a value of {}", printable(value), origin)};
  if (const auto near = nearest(value, words)) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  }
  throw error.hint(fmt::format("the values are `{}`", join(words, "`, `")));
}

Problem value_problem(const char* flag,
                      const std::string& value,
                      const char* what,
                      const char* hint) {
  return {.message = fmt::format("`{}` of `{}` {}", printable(value), flag, what), .hints = {hint}};
}

std::optional<std::string> known_elsewhere(const std::string& name) {
  static const std::map<std::string, std::string> names{
      {"--base-image", "--executor-image-uri"},
      {"--image", "--executor-image-uri"},
      {"--work-dir", "--local-package-path"},
      {"--context", "--local-package-path"},
      {"--machine", "--machine-type"},
      {"--accelerator", "--accelerator-type"},
      {"--replicas", "--replica-count"},
      {"--module", "--python-module"},
      {"--module-name", "--python-module"},
      {"--tag", "--output-image-uri"},
      {"-t", "--output-image-uri"},
      {"--output", "--output-image-uri"},
      {"--name", "--display-name"},
      {"--location", "--region"},
      {"--file", "--dockerfile"},
      {"--spot", "--strategy"},
      {"--json", "--format=json"},
  };
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::string> instead_of_dockers(const std::string& name) {
  constexpr auto* network =
      "`run` has no flag for the network: the container is on the engine's default network, and "
      "`--publish=PORT:PORT` opens a port of it on this machine";
  constexpr auto* memory = "the container shares this machine's shared memory already";
  constexpr auto* image =
      "`autopack build --no-push` makes the image for `docker run OPTIONS IMAGE`";
  static const std::map<std::string, std::string> others{
      {"--network", network},
      {"--net", network},
      {"--shm-size", memory},
      {"--ipc", memory},
      {"--rm", "the container is removed when the program ends"},
      {"-it", "the program has your terminal already"},
      {"-i", "the program has your terminal already"},
      {"-t", "the program has your terminal already"},
      {"-ti", "the program has your terminal already"},
      {"--interactive", "the program has your terminal already"},
      {"--tty", "the program has your terminal already"},
      {"-d", "`autopack submit --submitter=local --detach` leaves a job running"},
      {"--mount", "`--volume=HOST:DIR[:ro]` shows the program a directory or a file"},
      {"--device", "`--gpus=nvidia.com/gpu=0` gives the program a GPU"},
      {"--entrypoint", "`--shell` starts a shell instead of the program"},
      {"--detach", "`autopack submit --submitter=local --detach` leaves a job running"},
      {"--memory", image},
      {"--cpus", image},
      {"--user", image},
      {"--workdir", image},
      {"--privileged", image},
      {"--ulimit", image},
      {"--cap-add", image},
      {"--add-host", image},
      {"--label", image},
      {"--restart", image},
      {"--hostname", image},
      {"--tmpfs", image}};
  const auto found = others.find(name);
  return found == others.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace autopack::cli
