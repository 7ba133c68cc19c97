#include "cli/job_object.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/message_json.hpp"
#include "project/requirements/build_environment.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::cli {

namespace {

using nlohmann::json;

constexpr std::string_view hidden = "***";

/// Returns `api_key` for `--api-key`.
std::string variable_name(std::string_view flag) {
  const auto start = flag.find_first_not_of('-');
  return start == std::string_view::npos ? std::string{}
                                         : replace_all(std::string{flag.substr(start)}, "-", "_");
}

/// Returns `word` without a secret; `flag` is the word before it, whose value it may be.
std::string without_secret(const std::string& word, const std::string& flag) {
  const bool is_flag = word.starts_with('-');
  const auto equals = word.find('=');
  if (equals != std::string::npos && (is_flag || flag.empty()) &&
      project::looks_secret(variable_name(word.substr(0, equals)), word.substr(equals + 1))) {
    return word.substr(0, equals + 1) + std::string{hidden};
  }
  return project::looks_secret(is_flag ? "" : flag, word) ? std::string{hidden} : word;
}

/// Handles `--name=VALUE` and `--name VALUE`.
std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  std::string flag;
  for (const auto& word : words) {
    shown.push_back(without_secret(word, flag));
    const bool takes_next = word.starts_with('-') && word.find('=') == std::string::npos;
    flag = takes_next ? variable_name(word) : std::string{};
  }
  return shown;
}

std::vector<std::string> names_of(const std::vector<job::Variable>& variables) {
  std::vector<std::string> names;
  std::ranges::transform(variables, std::back_inserter(names),
                         [](const auto& variable) { return variable.name.value_or(""); });
  return names;
}

json pool_object(const job::Pool& pool, const std::optional<std::string>& made, std::size_t index) {
  json object{{"name", "workerpool" + std::to_string(index)}};
  if (pool.is_empty()) {
    return object;
  }
  const auto machine = pool.machine.value_or(job::Machine{});
  const auto disk = pool.disk.value_or(job::Disk{});
  const auto container = pool.container.value_or(job::Container{});
  object.update({{"replicas", pool.replicas.value_or(1)},
                 {"machine", machine.type.value_or("")},
                 {"accelerator", machine.accelerator.value_or("")},
                 {"accelerators", machine.accelerators.value_or(0)},
                 {"disk", {{"type", disk.type.value_or("")}, {"size", disk.size.value_or(0)}}},
                 {"image", (pool.is_packaged ? made : container.image).value_or("")},
                 {"is_packaged", pool.is_packaged},
                 {"command", without_secrets(container.command)},
                 {"args", without_secrets(container.args)},
                 {"variables", names_of(container.env)}});
  if (const auto& package = pool.package) {
    object.update({{"image", package->executor_image.value_or("")},
                   {"module", package->module.value_or("")},
                   {"packages", package->uris},
                   {"args", without_secrets(package->args)},
                   {"variables", names_of(package->env)}});
  }
  return object;
}

}  // namespace

json job_object(const job::Job& job,
                const std::optional<std::string>& image,
                const job::Location& location) {
  auto pools = json::array();
  for (const auto& pool : job.spec.pools) {
    pools.push_back(pool_object(pool, image, pools.size()));
  }
  json object{{"kind", job::resource_name(job.kind)},
              {"name", job.display_name.value_or("")},
              {"project", location.project.value_or("")},
              {"region", location.region.value_or("")},
              {"scheduling", job::write_message(job.spec.scheduling.value_or(job::Scheduling{}))},
              {"pools", std::move(pools)}};
  if (job::is_tuning(job.kind)) {
    object["trials"] = {{"most", job.max_trials.value_or(1)},
                        {"at_once", job.parallel_trials.value_or(1)}};
  }
  return object;
}

}  // namespace autopack::cli
