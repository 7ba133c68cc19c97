#include "base/json.hpp"
#include "job/make_job.hpp"
#include "job/tables.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace autopack::job_fields_test {

using job::tables::Field;
using job::tables::Message;
using job::tables::Type;
using nlohmann::json;

namespace {

/// Values of fields whose form a rule checks; others get one by their type.
const std::map<std::string, json> special_values{
    {"network", "projects/12/global/networks/n"},
    {"serviceAccount", "trainer@p.iam.gserviceaccount.com"},
    {"tensorboard", "projects/p/locations/us-central1/tensorboards/7"},
    {"kmsKeyName", "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"},
    {"outputUriPrefix", "gs://bucket/out"},
    {"parentModel", "projects/p/locations/us-central1/models/7"},
    {"modelId", "model_1"},
    {"bootDiskSizeGb", 200},
    {"bootDiskType", "pd-standard"},
    {"replicaCount", "1"},
    {"maxTrialCount", 9},
    {"trainingTaskDefinition", *job::task_definition(job::JobKind::training_pipeline)},
    {"trainingFraction", 0.25},
    {"validationFraction", 0.25},
    {"testFraction", 0.25},
    {"minValue", 0.5},
    {"maxValue", 8.5},
};

json sample(const Field& field);

/// Returns a message with its required fields.
json required_part(const Message& message) {
  auto result = json::object();
  for (const auto& field : message.fields) {
    if (field.required) {
      result[std::string{field.name}] = sample(field);
    }
  }
  if (message.name == "StudySpecParameterSpec") {
    result["doubleValueSpec"] = {{"minValue", 0.5}, {"maxValue", 8.5}};
  }
  if (message.name == "StudySpecParameterSpecIntegerValueSpec") {
    result = {{"minValue", "1"}, {"maxValue", "8"}};
  }
  if (message.name == "MachineSpec") {
    result["machineType"] = "n1-standard-8";
  }
  if (message.name == "WorkerPoolSpec") {
    result["machineSpec"] = {{"machineType", "n1-standard-8"}};
    result["containerSpec"] = {{"imageUri", "gcr.io/p/i"}};
  }
  return result;
}

json value_of(const Field& field) {
  const auto found = special_values.find(std::string{field.name});
  if (found != special_values.end() &&
      found->second.is_string() == (field.type == Type::string || field.type == Type::int64)) {
    return found->second;
  }
  if (field.type == Type::int64 && field.name == "maxValue") {
    return "8";
  }
  switch (field.type) {
    case Type::int32: return 3;
    case Type::int64: return "4";
    case Type::floating: return 1.5;
    case Type::boolean: return true;
    case Type::duration: return "3600s";
    case Type::timestamp: return "2026-11-20T12:00:00Z";
    case Type::string_map: return {{"team", "ml"}};
    case Type::any: return {{"anything", json::array({1, "two", 2.5, false})}};
    case Type::enumeration: return std::string{field.values.back()};
    case Type::message: return required_part(job::tables::message(field.message));
    case Type::string: return fmt::format("a_{}", field.name);
    case Type::output: break;
  }
  return nullptr;
}

json sample(const Field& field) {
  auto value = value_of(field);
  if (field.list) {
    return json::array({std::move(value)});
  }
  return field.keyed ? json{{"one", std::move(value)}} : value;
}

/// A field of a resource: its path, and its message.
struct Way {
  std::vector<const Field*> fields{};
  std::vector<const Message*> messages{};

  std::string text() const {
    std::string result;
    for (const auto* field : fields) {
      result += fmt::format(".{}", field->name);
    }
    return result;
  }
};

/// Finds every path from `message` to a field that a client may set; visits a message once on each
/// path.
void find_ways(const Message& message, const Way& so_far, std::vector<Way>& ways) {
  if (std::count(so_far.messages.begin(), so_far.messages.end(), &message) > 0) {
    return;
  }
  for (const auto& field : message.fields) {
    if (field.type == Type::output) {
      continue;
    }
    Way way = so_far;
    way.fields.push_back(&field);
    way.messages.push_back(&message);
    ways.push_back(way);
    const bool is_task = field.name == "trainingTaskInputs";
    if (field.type == Type::message || is_task) {
      find_ways(job::tables::message(is_task ? "CustomJobSpec" : field.message), way, ways);
    }
  }
}

void drop_rivals(json& object, const Message& message, std::string_view name) {
  for (const auto& group : message.groups) {
    if (std::find(group.fields.begin(), group.fields.end(), name) == group.fields.end()) {
      continue;
    }
    for (const auto rival : group.fields) {
      if (rival != name) {
        object.erase(std::string{rival});
      }
    }
  }
}

/// Puts the sample of the path's last field into `resource`, with the fields that it requires;
/// returns its place.
json::json_pointer put(json& resource, const Way& way) {
  json* object = &resource;
  std::string pointer;
  for (std::size_t i = 0; i < way.fields.size(); ++i) {
    const auto& field = *way.fields[i];
    const std::string name{field.name};
    drop_rivals(*object, *way.messages[i], field.name);
    const bool is_task = name == "trainingTaskInputs";
    if (!object->contains(name) || (i + 1 == way.fields.size() && !is_task)) {
      (*object)[name] = sample(field);
    }
    pointer += "/" + name;
    object = &(*object)[name];
    if (i + 1 < way.fields.size() && (field.list || field.keyed)) {
      pointer += field.list ? "/0" : "/one";
      object = field.list ? &object->at(0) : &object->at("one");
    }
  }
  return json::json_pointer{pointer};
}

json base_of(std::string_view resource) {
  const json spec{
      {"workerPoolSpecs", json::array({required_part(job::tables::message("WorkerPoolSpec"))})}};
  json base{{"displayName", "name"}};
  if (resource == "CustomJob") {
    base["jobSpec"] = spec;
  } else if (resource == "HyperparameterTuningJob") {
    base = required_part(job::tables::message(resource));
    base["trialJobSpec"] = spec;
  } else {
    base["trainingTaskInputs"] = spec;
    base["trainingTaskDefinition"] = *job::task_definition(job::JobKind::training_pipeline);
  }
  return base;
}

/// Adds the fields that a rule requires beside one field.
void add_companions(json& resource, json& spec, const std::string& way) {
  const auto has = [&](const char* part) { return way.find(part) != std::string::npos; };
  auto& pool = spec["workerPoolSpecs"][0];
  if (has(".acceleratorType")) {
    pool["machineSpec"]["acceleratorCount"] = 1;
  }
  if (has(".acceleratorCount")) {
    pool["machineSpec"]["acceleratorType"] = "NVIDIA_TESLA_T4";
  }
  if (has(".tensorboard")) {
    spec["serviceAccount"] = special_values.at("serviceAccount");
  }
  if (has(".modelId") || has(".parentModel") || has(".modelToUpload")) {
    auto& model = resource["modelToUpload"];
    if (!model.contains("displayName")) {
      model["displayName"] = "model";
    }
    if (!model["containerSpec"].contains("imageUri")) {
      model["containerSpec"]["imageUri"] = "gcr.io/p/serve";
    }
  }
  if (has(".conditionalParameterSpecs")) {
    auto& parameter = resource["studySpec"]["parameters"][0];
    auto& child = parameter["conditionalParameterSpecs"][0];
    parameter.erase("doubleValueSpec");
    if (child.contains("parentIntValues")) {
      parameter["integerValueSpec"] = {{"minValue", "1"}, {"maxValue", "8"}};
    } else if (child.contains("parentDiscreteValues")) {
      parameter["discreteValueSpec"] = {{"values", child["parentDiscreteValues"]["values"]}};
    } else {
      parameter["categoricalValueSpec"] = {{"values", {"a_values", "b"}}};
      child["parentCategoricalValues"] = {{"values", json::array({"a_values"})}};
    }
  }
}

}  // namespace

TEST_CASE("every field that a client may set arrives from a file") {
  std::set<std::string> tried;
  for (const auto* resource : {"CustomJob", "HyperparameterTuningJob", "TrainingPipeline"}) {
    std::vector<Way> ways;
    find_ways(job::tables::message(resource), {}, ways);
    for (const auto& way : ways) {
      CAPTURE(resource);
      CAPTURE(way.text());
      auto file = base_of(resource);
      const auto pointer = put(file, way);
      auto& spec = file.contains("jobSpec")        ? file["jobSpec"]
                   : file.contains("trialJobSpec") ? file["trialJobSpec"]
                                                   : file["trainingTaskInputs"];
      add_companions(file, spec, way.text());
      const auto wanted = file.at(pointer);
      Problems problems;
      const auto config = job::parse_config(file.dump(), "job.json", problems);
      try {
        const auto made = job::make_job({}, &config, {.project = "p", .region = "us-central1"},
                                        {.skip_tables = true}, problems);
        const auto body = job::resource(made.job);
        REQUIRE(body.contains(pointer));
        CHECK(body.at(pointer) == wanted);
      } catch (const Error& error) {
        for (const auto& problem : error.problems()) {
          FAIL_CHECK(problem.message);
        }
      }
      tried.insert(resource + way.text());
    }
  }
  CHECK(tried.size() > 300);
}

}  // namespace autopack::job_fields_test
