#include "cli/starter_files.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/settings_file.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

/// Any job runs on it; a GPU is a separate decision.
constexpr auto* first_machine = "n1-standard-4";

constexpr auto* settings_head =
    "# Settings of autopack for this project. Every flag has a key and overrides it.\n"
    "# `autopack explain` shows their effect, `autopack run` runs the program here.\n";

constexpr auto* ignore_head =
    "# What stays out of the image; docker reads the same file. The last rule that\n"
    "# fits decides, and `!` takes something in again. Version control, virtual\n"
    "# environments, caches and .env files stay out without a rule.\n"
    "# `autopack explain` prints which rule leaves out which files.\n";

constexpr auto* ignore_examples = "\n# data/\n# **/*.ckpt\n";

/// Returns a comment and the lines of a key.
std::string part(const std::string& comment, const std::string& key, const nlohmann::json& value) {
  return fmt::format("\n# {}\n{}", printable(comment), job::settings_entry(key, value));
}

/// Returns `key` as a comment, to be uncommented.
std::string open_part(const std::string& comment, const std::string& entry) {
  return fmt::format("\n# {}\n# {}\n", printable(comment), entry);
}

std::string chosen_part(const project::Inferred& chosen) {
  const std::string key = chosen.flag.substr(2);
  const std::string what = key == "executor-image-uri" ? "The image to start from" : "The program";
  const std::string comment = fmt::format("{}: {}.", what, chosen.reason);
  if (key == "command") {
    // A command starts an installed program of the project, so its directory is named too.
    return part(comment, key, nlohmann::json::array({chosen.value})) +
           job::settings_entry("local-package-path", ".");
  }
  return part(comment, key, chosen.value);
}

std::string because(const std::optional<job::Origin>& origin) {
  return origin ? fmt::format(", by {}", job::to_string(*origin)) : std::string{};
}

std::string location_parts(const job::Location& location) {
  std::string text;
  text += location.project
              ? part(fmt::format("The Google Cloud project of jobs and images{}.",
                                 because(location.project_origin)),
                     "project", *location.project)
              : open_part("The Google Cloud project of jobs and images.", "project: my-project");
  text += location.region ? part(fmt::format("Where jobs run{}.", because(location.region_origin)),
                                 "region", *location.region)
                          : open_part("Where jobs run.", "region: us-central1");
  return text;
}

}  // namespace

std::string starter_settings_text(const StarterSettings& settings) {
  std::string text = settings_head;
  for (const auto& chosen : settings.chosen) {
    text += chosen_part(chosen);
  }
  text += part("The name of jobs, and of the image.", "display-name", settings.name);
  text += open_part("The image that is made, where its default name is not the right one.",
                    "output-image-uri: " + settings.image);
  text += location_parts(settings.location);
  text += part("The machines of a job.", "worker-pool-spec",
               nlohmann::json::array({{{"machine-type", first_machine}}}));
  text += open_part("Variables and arguments of the program.", "env: {EPOCHS: 3}");
  text += "# args: [--epochs=3]\n";
  return text;
}

std::string starter_ignore_file(const std::string& rules) {
  return rules.empty() ? fmt::format("{}{}", ignore_head, ignore_examples)
                       : fmt::format("{}\n{}", ignore_head, rules);
}

}  // namespace autopack::cli
