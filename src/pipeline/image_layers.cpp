#include "pipeline/image_layers.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "compare/contents.hpp"
#include "executor/executor_image.hpp"
#include "executor/probe.hpp"
#include "image/file_reference.hpp"
#include "image/source.hpp"
#include "sbom/survey_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace autopack::pipeline {

namespace {

using packaging::MadeImage;
using packaging::Packaging;

/// Returns the executor image in the engine; nothing if the engine lacks it or may not be used.
std::optional<engine::LocalImage> base_in_engine(Services& services, const Packaging& work) {
  if (!work.request().may_use_engine()) {
    return std::nullopt;
  }
  try {
    return executor::image_in_engine(services.docker(), work.plan().base);
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

std::vector<Digest> layers_of(const engine::LocalImage& image) {
  std::vector<Digest> layers;
  for (const auto& text : image.layers) {
    if (auto digest = Digest::parse(text)) {
      layers.push_back(*std::move(digest));
    }
  }
  return layers;
}

/// Returns what made each of the `layers` of an image; empty texts if its history has another
/// number of layers.
std::vector<std::string> history_of(const std::string& configuration, std::size_t layers) {
  std::vector<std::string> made_by;
  const auto document = parse_json(configuration);
  const auto history = document.find("history");
  if (history != document.end() && history->is_array()) {
    for (const auto& step : *history) {
      if (step.is_object() && step.value("empty_layer", nlohmann::json{}) != true) {
        made_by.push_back(text_at(step, "created_by"));
      }
    }
  }
  return made_by.size() == layers ? made_by : std::vector<std::string>(layers);
}

class ImageSurvey {
public:
  ImageSurvey(Services& services, const Packaging& work, MadeImage& made)
      : services_{services}, work_{work}, made_{made}, cache_{services.environment} {}

  SurveyedImage make() {
    source_ = open();
    SurveyedImage survey{.digest = digest(),
                         .layers = source_->manifest.layers,
                         .diff_ids = image::check_layers(*source_),
                         .configuration = source_->configuration};
    survey.created_by = history_of(survey.configuration, survey.diff_ids.size());
    survey.base_layers = find_base(survey.diff_ids);
    survey.surveys.resize(survey.diff_ids.size());
    std::set<std::size_t> unknown;
    for (std::size_t i = 0; i < survey.diff_ids.size(); ++i) {
      if (auto known = cache_.get(survey.diff_ids[i])) {
        survey.surveys[i] = *std::move(known);
      } else {
        unknown.insert(i);
      }
    }
    if (!unknown.empty() && *unknown.begin() < survey.base_layers) {
      take_base_of_engine(survey, unknown);
    }
    read(*source_, survey, unknown);
    return survey;
  }

private:
  /// Returns the image where reading its own layers needs no network, if there is such a place.
  image::Source open() {
    if (made_.lazy) {
      return packaging::source_of(*made_.lazy);
    }
    const bool is_elsewhere = work_.wanted().is_pushed() || !work_.request().outputs.empty();
    if (made_.in_engine && !is_elsewhere) {
      return compare::find_image(services_, made_.image.image_id.value(), work_.plan().platform);
    }
    return made_.source.get();
  }

  Digest digest() const {
    if (made_.image.digest) {
      return *made_.image.digest;
    }
    const bool has_layout = std::ranges::any_of(work_.request().outputs, [](const auto& output) {
      return output.kind == packaging::Output::Kind::layout;
    });
    if (has_layout) {
      return sha256(image::to_json(image::as_oci(source_->manifest)));
    }
    const auto id = Digest::parse(made_.image.image_id.value_or(""));
    return id.value_or(source_->digest);
  }

  std::size_t find_base(const std::vector<Digest>& layers) {
    const auto base = base_layers();
    const bool is_below =
        base.size() <= layers.size() && std::equal(base.begin(), base.end(), layers.begin());
    return is_below ? base.size() : 0;
  }

  /// Returns the layers of the executor image; empty if they are unknown.
  std::vector<Digest> base_layers() {
    const auto& base = work_.plan().base;
    if (base.reference.empty()) {
      return {};
    }
    const bool is_in_files = image::names_files(base.reference);
    if (made_.in_engine && !is_in_files) {
      engines_base_ = base_in_engine(services_, work_);
    }
    if (!engines_base_ && (is_in_files || base.digest)) {
      return image::check_layers(
          executor::open_image(services_, base, work_.plan().platform).image);
    }
    return engines_base_ ? layers_of(*engines_base_) : std::vector<Digest>{};
  }

  /// Reads the unknown layers of the executor image from the engine, if it has them, and takes them
  /// out of `unknown`.
  void take_base_of_engine(SurveyedImage& survey, std::set<std::size_t>& unknown) {
    const bool is_here = image::names_files(work_.plan().base.reference) ||
                         (made_.in_engine && !work_.wanted().is_pushed());
    if (!is_here && !engines_base_) {
      engines_base_ = base_in_engine(services_, work_);
    }
    if (is_here || !engines_base_ || find_engines_layers(survey) == 0) {
      return;
    }
    std::set<std::size_t> wanted;
    std::ranges::copy_if(unknown, std::inserter(wanted, wanted.end()),
                         [&](std::size_t place) { return place < survey.base_layers; });
    read(compare::find_image(services_, engines_base_->id, work_.plan().platform), survey, wanted);
    for (const auto place : wanted) {
      unknown.erase(place);
    }
  }

  std::size_t find_engines_layers(const SurveyedImage& survey) const {
    const auto layers = layers_of(*engines_base_);
    const bool is_same = layers.size() == survey.base_layers &&
                         std::equal(layers.begin(), layers.end(), survey.diff_ids.begin());
    return is_same ? layers.size() : 0;
  }

  /// Reads the layers at `places` from `source`.
  void read(const image::Source& source,
            SurveyedImage& survey,
            const std::set<std::size_t>& places) {
    StepEvent step{.id = "packages", .name = "look for packages in " + source.name};
    for (const auto place : places) {
      step.total += source.manifest.layers.at(place).size;
    }
    for (const auto place : places) {
      const auto what = fmt::format("layer {} of `{}`", place + 1, printable(source.name));
      auto reader = [&, open = source.open(source.manifest.layers.at(place))](char* buffer,
                                                                              std::size_t size) {
        services_.cancellation->throw_if_requested();
        const auto count = open(buffer, size);
        step.state = StepEvent::State::progress;
        step.current = std::min(step.current + count, step.total);
        services_.reporter->step(step);
        return count;
      };
      auto [found, digest] = sbom::survey_layer(reader, what);
      if (digest != survey.diff_ids[place]) {
        throw image::broken_image(source, what + " does not match its configuration");
      }
      cache_.put(digest, found);
      survey.surveys[place] = std::move(found);
    }
    if (!places.empty()) {
      step.state = StepEvent::State::completed;
      services_.reporter->step(step);
    }
  }

  Services& services_;
  const Packaging& work_;
  MadeImage& made_;
  sbom::SurveyCache cache_;
  std::optional<image::Source> source_{};
  std::optional<engine::LocalImage> engines_base_{};
};

}  // namespace

SurveyedImage survey_image(Services& services, const Packaging& work, MadeImage& made) {
  return ImageSurvey{services, work, made}.make();
}

}  // namespace autopack::pipeline
