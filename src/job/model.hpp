#pragma once

#include "job/message.hpp"
#include "job/pool.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

/// The parts of a training pipeline besides its job, with the API's names.
namespace autopack::job {

struct Port {
  Number number{};
  Bag others{};

  static constexpr auto fields() { return std::tuple{field("containerPort", &Port::number)}; }
};

struct ServingContainer {
  Text image{};
  Text predict_route{};
  Text health_route{};
  std::optional<std::vector<Port>> ports{};
  std::optional<std::vector<Variable>> env{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("imageUri", &ServingContainer::image),
                      field("predictRoute", &ServingContainer::predict_route),
                      field("healthRoute", &ServingContainer::health_route),
                      field("ports", &ServingContainer::ports),
                      field("env", &ServingContainer::env)};
  }
};

/// The model that a pipeline uploads.
struct Model {
  Text display_name{};
  Text description{};
  Text version_description{};
  Text artifact_uri{};
  std::optional<ServingContainer> container{};
  std::optional<std::vector<std::string>> version_aliases{};
  std::optional<std::map<std::string, std::string>> labels{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("displayName", &Model::display_name),
                      field("description", &Model::description),
                      field("versionDescription", &Model::version_description),
                      field("artifactUri", &Model::artifact_uri),
                      field("containerSpec", &Model::container),
                      field("versionAliases", &Model::version_aliases),
                      field("labels", &Model::labels)};
  }
};

/// The parts of a dataset, as fractions of the whole.
struct Split {
  Real training{};
  Real validation{};
  Real test{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("trainingFraction", &Split::training),
                      field("validationFraction", &Split::validation),
                      field("testFraction", &Split::test)};
  }
};

/// The dataset that a pipeline trains on.
struct InputData {
  Text dataset_id{};
  Text saved_query_id{};
  Text annotation_schema_uri{};
  std::optional<Split> fractions{};
  std::optional<Split> stratified{};
  std::optional<Split> by_time{};
  std::optional<Bag> to_storage{};
  std::optional<Bag> to_bigquery{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("datasetId", &InputData::dataset_id),
                      field("savedQueryId", &InputData::saved_query_id),
                      field("annotationSchemaUri", &InputData::annotation_schema_uri),
                      field("fractionSplit", &InputData::fractions),
                      field("stratifiedSplit", &InputData::stratified),
                      field("timestampSplit", &InputData::by_time),
                      field("gcsDestination", &InputData::to_storage),
                      field("bigqueryDestination", &InputData::to_bigquery)};
  }
};

}  // namespace autopack::job
