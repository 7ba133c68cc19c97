#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config.hpp"
#include "job/legacy_job.hpp"
#include "job/message_json.hpp"
#include "job/tables.hpp"
#include "support/job_arguments.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <tuple>
#include <type_traits>

namespace autopack::job_json_test {

using nlohmann::json;

namespace {

template <class Owner, class Member>
void check_field(const job::MessageField<Owner, Member>& field,
                 const job::tables::Message& message) {
  CAPTURE(field.name);
  const auto* const known = job::tables::find_field(message, field.name);
  REQUIRE(known != nullptr);
  if (std::is_same_v<Member, job::Number>) {
    CHECK((field.form == job::NumberForm::text) == (known->type == job::tables::Type::int64));
  }
}

/// Checks that the message's fields are in the schema, with numbers in the required form.
template <class T>
void check_fields(const char* name) {
  CAPTURE(name);
  const auto& message = job::tables::message(name);
  std::apply([&](const auto&... fields) { (check_field(fields, message), ...); }, T::fields());
}

/// Adds an unknown field at every level of an object.
void add_unknown(json& value) {
  if (value.is_array()) {
    for (auto& element : value) {
      add_unknown(element);
    }
  }
  if (value.is_object()) {
    for (auto& inner : value) {
      add_unknown(inner);
    }
    value["newerField"] = {{"list", json::array({1, "two", nullptr})}};
  }
}

}  // namespace

TEST_CASE("a request that was sent becomes a job and the same request again") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{std::filesystem::path{TEST_DATA} /
                                                               ".." / ".." / "golden" / "bodies"}) {
    CAPTURE(entry.path());
    const auto body = autopack::parse_json(read_file(entry.path()))["body"];
    Problems problems;
    const auto config = job::parse_config(body.dump(), "body.json", problems);
    CHECK(problems.empty());
    CHECK(job::resource(config.job).dump(2) == body.dump(2));
    ++count;
  }
  CHECK(count > 30);
}

TEST_CASE("fields that are not known are carried along") {
  const json pool{{"machineSpec", {{"machineType", "m"}, {"reservationAffinity", {{"key", "k"}}}}},
                  {"replicaCount", "1"},
                  {"diskSpec", {{"bootDiskSizeGb", 100}}},
                  {"containerSpec", {{"imageUri", "i"}, {"env", {{{"name", "a"}}}}}},
                  {"nfsMounts", {{{"server", "s"}}}}};
  json spec{{"workerPoolSpecs", {pool, json::object()}},
            {"scheduling", {{"timeout", "1s"}}},
            {"pscInterfaceConfig", {{"dnsPeeringConfigs", {{{"domain", "d"}}}}}},
            {"baseOutputDirectory", {{"outputUriPrefix", "gs://b"}}}};
  add_unknown(spec);
  CHECK(job::write_message(job::read_message<job::Spec>(spec)).dump(2) == spec.dump(2));

  json parameter{
      {"parameterId", "x"},
      {"integerValueSpec", {{"minValue", "1"}, {"maxValue", "9007199254740993"}}},
      {"conditionalParameterSpecs",
       {{{"parentIntValues", {{"values", {"1", "2"}}}},
         {"parameterSpec", {{"parameterId", "y"}, {"doubleValueSpec", {{"minValue", 0.5}}}}}}}}};
  json body{{"displayName", "d"},
            {"jobSpec", spec},
            {"encryptionSpec", {{"kmsKeyName", "k"}}},
            {"studySpec",
             {{"metrics", {{{"metricId", "m"}, {"safetyConfig", {{"safetyThreshold", 0.25}}}}}},
              {"parameters", {parameter}},
              {"medianAutomatedStoppingSpec", json::object()},
              {"studyStoppingConfig", {{"maxNumTrials", 3}}}}},
            {"maxTrialCount", 3},
            {"modelToUpload",
             {{"containerSpec", {{"ports", {{{"containerPort", 80}}}}, {"env", json::array()}}}}},
            {"inputDataConfig", {{"fractionSplit", {{"testFraction", 0.5}}}}}};
  add_unknown(body);
  body["labels"] = {{"team", "ml"}};
  CHECK(job::write_message(job::read_message<job::Job>(body)).dump(2) == body.dump(2));
}

TEST_CASE("the names and numbers of fields are the schema's") {
  check_fields<job::Spec>("CustomJobSpec");
  check_fields<job::Scheduling>("Scheduling");
  check_fields<job::PscInterface>("PscInterfaceConfig");
  check_fields<job::DnsPeering>("DnsPeeringConfig");
  check_fields<job::Directory>("GcsDestination");
  check_fields<job::Encryption>("EncryptionSpec");
  check_fields<job::Pool>("WorkerPoolSpec");
  check_fields<job::Machine>("MachineSpec");
  check_fields<job::ReservationAffinity>("ReservationAffinity");
  check_fields<job::Disk>("DiskSpec");
  check_fields<job::Container>("ContainerSpec");
  check_fields<job::PythonPackage>("PythonPackageSpec");
  check_fields<job::Variable>("EnvVar");
  check_fields<job::NfsMount>("NfsMount");
  check_fields<job::LustreMount>("LustreMount");
  check_fields<job::Study>("StudySpec");
  check_fields<job::Metric>("StudySpecMetricSpec");
  check_fields<job::Parameter>("StudySpecParameterSpec");
  check_fields<job::ConditionalParameter>("StudySpecParameterSpecConditionalParameterSpec");
  check_fields<job::RealRange>("StudySpecParameterSpecDoubleValueSpec");
  check_fields<job::WholeRange>("StudySpecParameterSpecIntegerValueSpec");
  check_fields<job::DiscreteValues>("StudySpecParameterSpecDiscreteValueSpec");
  check_fields<job::Categories>("StudySpecParameterSpecCategoricalValueSpec");
  check_fields<job::Model>("Model");
  check_fields<job::ServingContainer>("ModelContainerSpec");
  check_fields<job::Port>("Port");
  check_fields<job::InputData>("InputDataConfig");
  check_fields<job::Split>("FractionSplit");
  check_fields<job::LegacyJob>("LegacyJob");
  check_fields<job::LegacyInput>("TrainingInput");
  check_fields<job::LegacyReplica>("ReplicaConfig");
  check_fields<job::LegacyAccelerator>("AcceleratorConfig");
  check_fields<job::LegacyDisk>("DiskConfig");
  check_fields<job::LegacyStudy>("HyperparameterSpec");
  check_fields<job::LegacyParameter>("ParameterSpec");
  check_fields<job::LegacyScheduling>("LegacyScheduling");
  check_fields<job::LegacyEncryption>("EncryptionConfig");
}

TEST_CASE("a flag of one field sets the field at its path, and records the source of the value") {
  for (const auto& flag : job::field_flags()) {
    CAPTURE(flag.flag);
    CHECK(job::find_field_flag(flag.flag) == &flag);
    job::Job job;
    job.spec.pools.resize(1);
    Problems problems;
    const job::GivenField given{
        .flag = &flag,
        .value = std::visit(testing::FieldValueReader{"7d", true}, flag.place),
        .origin = job::Origin::variable("AUTOPACK_X")};
    job::set_field(given, job, problems);
    job::set_field(given, job.spec.pools[0], job::pool_path(0), job.origins);
    CHECK(problems.empty());
    const bool of_pool = job::is_of_pool(flag);
    const auto path =
        of_pool ? fmt::format("{}.{}", job::pool_path(0), flag.path) : std::string{flag.path};
    REQUIRE(job.origins.size() == 1);
    CHECK(job.origins.at(path) == job::Origin::variable("AUTOPACK_X"));
    const std::string in_json =
        of_pool ? fmt::format("jobSpec.workerPoolSpecs.0.{}", flag.path) : std::string{flag.path};
    const json::json_pointer pointer{"/" + replace_all(in_json, ".", "/")};
    CHECK(job::write_message(job).contains(pointer));
  }
}

}  // namespace autopack::job_json_test
