#pragma once

#include "job/message.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

/// The search space of a tuning job, with the API's names.
namespace autopack::job {

struct Metric {
  Text id{};
  Text goal{};
  std::optional<Bag> safety{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("metricId", &Metric::id), field("goal", &Metric::goal),
                      field("safetyConfig", &Metric::safety)};
  }
};

struct RealRange {
  Real least{};
  Real most{};
  Real otherwise{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("minValue", &RealRange::least), field("maxValue", &RealRange::most),
                      field("defaultValue", &RealRange::otherwise)};
  }
};

struct WholeRange {
  Number least{};
  Number most{};
  Number otherwise{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("minValue", &WholeRange::least, NumberForm::text),
                      field("maxValue", &WholeRange::most, NumberForm::text),
                      field("defaultValue", &WholeRange::otherwise, NumberForm::text)};
  }
};

struct DiscreteValues {
  std::optional<std::vector<double>> values{};
  Real otherwise{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("values", &DiscreteValues::values),
                      field("defaultValue", &DiscreteValues::otherwise)};
  }
};

struct Categories {
  std::optional<std::vector<std::string>> values{};
  Text otherwise{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("values", &Categories::values),
                      field("defaultValue", &Categories::otherwise)};
  }
};

/// The values of a parent for which a conditional parameter is searched.
template <class Value>
struct ParentValues {
  std::vector<Value> values{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("values", &ParentValues::values, NumberForm::text)};
  }
};

struct Parameter;

/// A parameter that is searched only for some values of its parent.
struct ConditionalParameter {
  std::optional<ParentValues<std::string>> parent_categories{};
  std::optional<ParentValues<std::int64_t>> parent_numbers{};
  std::optional<ParentValues<double>> parent_discrete{};
  std::shared_ptr<const Parameter> parameter{};  ///< null when it is missing
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("parentCategoricalValues", &ConditionalParameter::parent_categories),
                      field("parentIntValues", &ConditionalParameter::parent_numbers),
                      field("parentDiscreteValues", &ConditionalParameter::parent_discrete),
                      field("parameterSpec", &ConditionalParameter::parameter)};
  }
};

/// A parameter that the program accepts as a flag. It has one of the four kinds of values.
struct Parameter {
  Text id{};
  std::optional<RealRange> real{};
  std::optional<WholeRange> whole{};
  std::optional<DiscreteValues> discrete{};
  std::optional<Categories> categories{};
  Text scale{};
  std::vector<ConditionalParameter> children{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("parameterId", &Parameter::id),
                      field("doubleValueSpec", &Parameter::real),
                      field("integerValueSpec", &Parameter::whole),
                      field("discreteValueSpec", &Parameter::discrete),
                      field("categoricalValueSpec", &Parameter::categories),
                      field("scaleType", &Parameter::scale),
                      field("conditionalParameterSpecs", &Parameter::children)};
  }
};

struct Study {
  std::optional<std::vector<Metric>> metrics{};
  std::optional<std::vector<Parameter>> parameters{};
  Text algorithm{};
  Text measurement_selection{};
  Text observation_noise{};
  std::optional<Bag> median_stopping{};
  std::optional<Bag> decay_curve_stopping{};
  std::optional<Bag> convex_stopping{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("metrics", &Study::metrics),
                      field("parameters", &Study::parameters),
                      field("algorithm", &Study::algorithm),
                      field("measurementSelectionType", &Study::measurement_selection),
                      field("observationNoise", &Study::observation_noise),
                      field("medianAutomatedStoppingSpec", &Study::median_stopping),
                      field("decayCurveStoppingSpec", &Study::decay_curve_stopping),
                      field("convexAutomatedStoppingSpec", &Study::convex_stopping)};
  }
};

}  // namespace autopack::job
