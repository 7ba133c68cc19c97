#include "job/config_document.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_reader.hpp"
#include "job/config_scalar.hpp"
#include "job/message_json.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// A form of the file; its message is the one with most of the file's keys.
struct Form {
  std::string_view message;
  std::string_view path;  ///< the path of the message in the request body
  JobKind kind;
};

constexpr std::array forms{
    Form{"CustomJobSpec", "jobSpec", JobKind::custom_job},
    Form{"CustomJob", "", JobKind::custom_job},
    Form{"HyperparameterTuningJob", "", JobKind::tuning_job},
    Form{"TrainingPipeline", "", JobKind::training_pipeline},
    Form{"StudySpec", "studySpec", JobKind::tuning_job},
};

std::size_t known_keys(const YAML::Node& node, std::string_view message) {
  std::size_t count = 0;
  for (const auto& pair : node) {
    const auto name = camel_case(pair.first.as<std::string>(""));
    count += tables::find_field(tables::message(message), name) != nullptr ? 1U : 0U;
  }
  return count;
}

/// Returns the form that knows most of the keys; the first one if several do.
const Form& form_of(const YAML::Node& node) {
  const Form* best = forms.data();
  std::size_t most = known_keys(node, best->message);
  for (const auto& form : forms) {
    if (const auto count = known_keys(node, form.message); count > most) {
      best = &form;
      most = count;
    }
  }
  return *best;
}

/// Returns the node of a key in either case; undefined if there is none.
YAML::Node find_key(const YAML::Node& node, std::string_view name) {
  for (const auto& pair : node) {
    if (camel_case(pair.first.as<std::string>("")) == name) {
      return pair.second;
    }
  }
  return YAML::Node{YAML::NodeType::Undefined};
}

/// Moves the origins at and below path `from` to the path `to`.
void move_origins(Origins& origins, const std::string& from, const std::string& to) {
  Origins moved;
  for (auto& [path, origin] : origins) {
    const auto rest = path.starts_with(from) ? path.substr(from.size()) : std::string{};
    const bool inside = path == from || rest.starts_with('.') || rest.starts_with('[');
    moved[inside ? to + (to.empty() && !rest.empty() ? rest.substr(1) : rest) : path] =
        std::move(origin);
  }
  origins = std::move(moved);
}

void rename_key(json& body, Origins& origins, const std::string& from, const std::string& to) {
  if (body.contains(from)) {
    body[to] = std::move(body[from]);
    body.erase(from);
  }
  move_origins(origins, from, to);
}

class DocumentReader {
public:
  DocumentReader(Config& config, Problems& problems)
      : config_{config}, reader_{config.name, config.job.origins, problems} {}

  json run(const YAML::Node& node);

private:
  bool is_mapping(const YAML::Node& node);
  json pipeline(const YAML::Node& node);
  void check_definition(const YAML::Node& node, const YAML::Node& definition);
  void task_inputs(const YAML::Node& inputs, json& body);

  Config& config_;
  ConfigReader reader_;
};

bool DocumentReader::is_mapping(const YAML::Node& node) {
  if (node.IsNull() || !node.IsDefined()) {
    reader_.fault(node, fmt::format("`{}` is empty", config_.name));
    return false;
  }
  if (!node.IsMap()) {
    reader_.fault(node,
                  fmt::format("`{}` is {}, not a mapping", config_.name, describe_node(node)));
    return false;
  }
  const bool is_legacy =
      find_key(node, "trainingInput").IsDefined() || find_key(node, "predictionInput").IsDefined();
  if (is_legacy) {
    const std::string translate = config_.printed_by
                                      ? *config_.printed_by + " | autopack translate --config=-"
                                      : "autopack translate --config=" + shell_quote(config_.name);
    reader_.fault(
        node, fmt::format("`{}` is a job of the legacy AI Platform, which has ended", config_.name),
        {translate + " | autopack submit --config=-"});
  }
  return !is_legacy;
}

/// The task determines the inputs, and whether autopack supports them.
void DocumentReader::check_definition(const YAML::Node& node, const YAML::Node& definition) {
  const bool tunes = find_key(node, "studySpec").IsDefined();
  config_.job.kind = tunes ? JobKind::tuning_pipeline : JobKind::training_pipeline;
  if (!definition.IsDefined() || definition.IsNull()) {
    return;
  }
  const auto text = definition.as<std::string>("");
  for (const auto kind : {JobKind::training_pipeline, JobKind::tuning_pipeline}) {
    if (text == task_definition(kind)) {
      config_.job.kind = kind;
      return;
    }
  }
  reader_.fault(definition,
                fmt::format("`{}` is not a task that autopack can submit", printable(text)),
                {fmt::format("leave `trainingTaskDefinition` out, or name `{}` or `{}`",
                             *task_definition(JobKind::training_pipeline),
                             *task_definition(JobKind::tuning_pipeline))});
}

void DocumentReader::task_inputs(const YAML::Node& inputs, json& body) {
  const std::string path = "trainingTaskInputs";
  if (config_.job.kind == JobKind::training_pipeline) {
    body["jobSpec"] = reader_.read_message(inputs, tables::message("CustomJobSpec"), path);
    move_origins(config_.job.origins, path, "jobSpec");
    return;
  }
  auto task = reader_.read_message(inputs, tables::message("HyperparameterTuningJob"), path);
  for (const auto* key : {"displayName", "labels", "encryptionSpec"}) {
    if (task.contains(key)) {
      reader_.fault(inputs, fmt::format("`{}` is in `{}`, but belongs to the pipeline", key, path));
      task.erase(key);
    }
  }
  body.update(task);
  move_origins(config_.job.origins, path, "");
  rename_key(body, config_.job.origins, "trialJobSpec", "jobSpec");
}

json DocumentReader::pipeline(const YAML::Node& node) {
  auto body = reader_.read_message(node, tables::message("TrainingPipeline"), "");
  body.erase("trainingTaskDefinition");
  body.erase("trainingTaskInputs");
  const auto inputs = find_key(node, "trainingTaskInputs");
  check_definition(inputs.IsDefined() && inputs.IsMap() ? inputs : YAML::Node{},
                   find_key(node, "trainingTaskDefinition"));
  if (inputs.IsDefined() && !inputs.IsNull()) {
    task_inputs(inputs, body);
  }
  return body;
}

json DocumentReader::run(const YAML::Node& node) {
  if (!is_mapping(node)) {
    return json::object();
  }
  const auto& form = form_of(node);
  config_.job.kind = form.kind;
  if (form.message == "TrainingPipeline") {
    return pipeline(node);
  }
  const std::string path{form.path};
  const auto& message = tables::message(form.message);
  if (!path.empty()) {
    reader_.hide_prefix(path);
    return {{path, reader_.read_message(node, message, path)}};
  }
  auto body = reader_.read_message(node, message, path);
  if (form.kind == JobKind::tuning_job) {
    rename_key(body, config_.job.origins, "trialJobSpec", "jobSpec");
  }
  return body;
}

}  // namespace

void read_document(const YAML::Node& node, Config& config, Problems& problems) {
  const auto body = DocumentReader{config, problems}.run(node);
  auto job = read_message<Job>(body);
  job.kind = config.job.kind;
  job.origins = std::move(config.job.origins);
  config.job = std::move(job);
}

}  // namespace autopack::job
