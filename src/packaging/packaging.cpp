#include "packaging/packaging.hpp"

#include "image/file_reference.hpp"
#include "plan/pinned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::packaging {

AgeLimit::AgeLimit(const Request& request, const project::Project& project, const plan::Plan& plan)
    : limit_{request.max_dependency_age.value_or(std::chrono::seconds{0})},
      applies_{request.max_dependency_age && !plan.user_dockerfile &&
               plan::has_unpinned(plan, project)},
      installed_after_code_{plan.dependencies.install && request.options.templates} {}

bool AgeLimit::is_past(std::vector<std::int64_t> times,
                       bool is_dependency_image,
                       std::int64_t now) const {
  if (installed_after_code_ && !is_dependency_image && !times.empty()) {
    times.pop_back();  // the project itself
  }
  const auto newest = std::ranges::max_element(times);
  return newest == times.end() || now - *newest > limit_.count();
}

std::string AgeLimit::reason() const {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };

  static constexpr std::array units{Unit{86'400, "day"}, Unit{3'600, "hour"}, Unit{60, "minute"},
                                    Unit{1, "second"}};
  const auto* const unit = std::ranges::find_if(
      units, [&](const Unit& candidate) { return limit_.count() % candidate.seconds == 0; });
  const auto count = limit_.count() / unit->seconds;
  return fmt::format("they are older than {} {}{}", count, unit->name, count == 1 ? "" : "s");
}

Packaging::Packaging(std::shared_ptr<const Wanted> wanted,
                     plan::ReadablePlan plan,
                     std::optional<state::BuildRecord> before)
    : wanted_{std::move(wanted)},
      plan_{std::make_shared<const plan::ReadablePlan>(std::move(plan))},
      before_{std::make_shared<const std::optional<state::BuildRecord>>(std::move(before))} {}

bool Packaging::is_changed() const {
  return !*before_ || (*before_)->image_key != plan_->keys.value().image;
}

const Comparison& Packaging::comparison() const {
  if (!comparison_) {
    Comparison made{.is_first = !*before_};
    if (is_changed()) {
      made.record = plan::record_of(*plan_, scanned().project);
    }
    if (is_changed() && *before_) {
      made.changes = plan::changes(**before_, *made.record);
    }
    comparison_ = std::make_shared<const Comparison>(std::move(made));
  }
  return *comparison_;
}

std::optional<std::string> Packaging::key_before() const {
  return *before_ ? std::optional{(*before_)->image_key} : std::nullopt;
}

std::string Packaging::name_in_engine() const {
  const auto& own = name().reference;
  return own.tag ? own.tagged() : keyed_name().tagged();
}

image::Reference Packaging::keyed_name() const {
  return image::Reference::parse(name().reference.with_tag(key_tag()));
}

std::string Packaging::dependency_name() const {
  return name().reference.with_tag(dependency_tag());
}

Image Packaging::named_image() const {
  return {.repository = name().reference.repository(), .tag = key_tag()};
}

std::map<std::string, std::string> Packaging::labels() const {
  const auto& base = plan_->base;
  const auto& keys = plan_->keys.value();
  std::map<std::string, std::string> labels{{key_label, keys.image},
                                            {dependency_key_label, keys.dependencies}};
  // A path of this machine has no meaning elsewhere.
  if (!base.reference.empty() && !image::names_files(base.reference)) {
    labels[base_name_label] = base.reference;
  }
  if (base.digest) {
    labels[base_digest_label] = base.digest->str();
  }
  labels.insert(plan_->labels.begin(), plan_->labels.end());
  return labels;
}

}  // namespace autopack::packaging
