#include "build/direct/direct_builder.hpp"

#include "build/direct/installation.hpp"
#include "executor/executor_image.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

// An image in a registry is a manifest, a configuration and layers. If the layers below the code
// are there, an edit needs one small layer, a new configuration and a new manifest, and no engine
// at all.

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Image;
using packaging::MadeImage;
using packaging::Packaging;
using packaging::ParentImage;

bool is_past_limit(Services& services,
                   const Packaging& work,
                   registry::Repository& repository,
                   const Digest& digest,
                   bool is_dependency_image) {
  const auto limit = work.age_limit();
  return limit.applies() &&
         limit.is_past(run_times(services, repository, digest, work.plan().platform),
                       is_dependency_image, std::time(nullptr));
}

ParentImage dependency_image(Services& services,
                             const std::shared_ptr<registry::Repository>& repository,
                             const Packaging& work,
                             const Digest& digest) {
  auto reference = work.name().reference;
  reference.digest = digest;
  return {.image = registry_image(services, repository, reference, work.plan().platform),
          .reference = reference};
}

class DirectBuilder : public packaging::Builder {
public:
  DirectBuilder(Services& services,
                std::shared_ptr<publish::Target> target,
                std::vector<RecipeLayer> ahead,
                MakeDependencies make_dependencies)
      : services_{services},
        target_{std::move(target)},
        ahead_{std::move(ahead)},
        make_dependencies_{std::move(make_dependencies)} {}

  MadeImage make(const Packaging& work) override {
    MadeImage made{.image = work.named_image()};
    made.image.engine = "direct";
    const auto left_out_ahead = last_made(services_, work.plan());
    if (!work.needs_dependencies() && !ahead_.empty()) {
      parent_ = executor::open_image(services_, work.plan().base, work.plan().platform);
    }
    drop_old(work);
    if (target_->has_image(work)) {
      made.in_registry = true;
      made.image.digest = target_->contents().image->digest;
      made.image.outcome = reused_image(work);
      made.image.dependencies = reused_dependencies(work);
      return made;
    }
    const auto freshness =
        work.request().no_cache || too_old_ ? Freshness::anew : Freshness::cached;
    if (work.needs_dependencies()) {
      find_dependency_image(work);
    }
    foresee(work, made.image);
    services_.reporter->done("Planned", planned_text(made.image));
    if (!parent_) {
      parent_ = work.needs_dependencies()
                    ? make_dependency_image(work, freshness, made.image)
                    : executor::open_image(services_, work.plan().base, work.plan().platform);
    }
    if (ahead_.empty() || installation_.made != left_out_ahead) {
      ahead_ = make_code_layers(services_, work.plan(), installation_.made);
    }
    made.parent = parent_->reference;
    made.lazy = put_together(services_, work, std::move(parent_->image), ahead_);
    return made;
  }

private:
  /// Removes from the target's contents everything older than the user allows.
  void drop_old(const Packaging& work) {
    auto& there = target_->contents();
    for (auto* const part : {&there.dependencies, &there.image}) {
      const bool is_dependency_image = part == &there.dependencies;
      if (*part && is_past_limit(services_, work, target_->repository(), (*part)->digest,
                                 is_dependency_image)) {
        part->reset();
        too_old_ = work.age_limit().reason();
      }
    }
  }

  void find_dependency_image(const Packaging& work) {
    auto& there = target_->contents();
    if (!there.asked_dependencies) {
      there.dependencies = target_->repository().head_manifest(work.dependency_tag());
    }
    if (!there.dependencies) {
      return;
    }
    parent_ =
        dependency_image(services_, target_->shared_repository(), work, there.dependencies->digest);
    installation_ = installation_in(services_, work.plan(), parent_->image);
    if (installation_.outdated) {
      too_old_ = installation_.outdated;
      there.dependencies.reset();
      parent_.reset();
    }
  }

  /// Predicts the outcome and its reason.
  void foresee(const Packaging& work, Image& image) const {
    image.outcome = expected_image(work);
    if (target_->contents().dependencies) {
      image.dependencies = reused_dependencies(work);
    } else if (work.needs_dependencies()) {
      image.dependencies = rebuilt_dependencies(
          work, too_old_.value_or(fmt::format("the registry has no {}", work.dependency_tag())));
    }
    const auto& comparison = work.comparison();
    const bool code_is_as_before = !comparison.is_first && comparison.changes.code.empty();
    if (code_is_as_before && image.dependencies && !image.dependencies->reused) {
      image.outcome = *image.dependencies;
    } else if (code_is_as_before && too_old_) {
      image.outcome = {.reason = *too_old_};
    }
  }

  ParentImage make_dependency_image(const Packaging& work, Freshness freshness, Image& image) {
    const auto pushed = make_dependencies_(work, freshness, image.dependencies.value());
    image.bytes_uploaded = pushed.bytes_uploaded;
    image.wheels = pushed.wheels;
    auto parent = dependency_image(services_, target_->shared_repository(), work, pushed.digest);
    installation_ = installation_in(services_, work.plan(), parent.image);
    return parent;
  }

  Services& services_;
  std::shared_ptr<publish::Target> target_;
  std::vector<RecipeLayer> ahead_;
  MakeDependencies make_dependencies_;
  std::optional<ParentImage> parent_{};
  Installation installation_{};
  /// The reason why existing content is not reused; absent if all of it is.
  std::optional<std::string> too_old_{};
};

/// Returns why an image is assembled; if nothing changed, because the user requested a file.
packaging::Outcome outcome_for_output(const Packaging& work) {
  const auto& comparison = work.comparison();
  const bool changed = comparison.is_first || !comparison.changes.code.empty() ||
                       !comparison.changes.dependencies.empty();
  if (changed || work.request().no_cache) {
    return expected_image(work);
  }
  using packaging::Output;
  const bool is_file = std::ranges::any_of(work.request().outputs, [](const Output& output) {
    return output.kind != Output::Kind::taken;
  });
  return is_file ? packaging::Outcome{.reason = "--output requests it"} : reused_image(work);
}

class BuilderOn : public packaging::Builder {
public:
  BuilderOn(Services& services, ParentImage parent, ParentOrigin origin)
      : services_{services}, parent_{std::move(parent)}, origin_{origin} {}

  MadeImage make(const Packaging& work) override {
    MadeImage made{.image = work.named_image(), .parent = parent_.reference};
    made.image.outcome = outcome_for_output(work);
    made.image.dependencies =
        origin_ == ParentOrigin::found ? reused_dependencies(work) : expected_dependencies(work);
    made.image.engine = "direct";
    services_.reporter->done("Planned", planned_text(made.image));
    const auto& plan = work.plan();
    made.lazy = put_together(services_, work, std::move(parent_.image),
                             make_code_layers(services_, plan, last_made(services_, plan)));
    auto source = packaging::source_of(*made.lazy);
    made.image.image_id = source.manifest.config.digest.str();
    made.image.layers = own_layers(*made.lazy);
    made.source = packaging::LazySource{[source = std::move(source)] { return source; }};
    return made;
  }

private:
  Services& services_;
  ParentImage parent_;
  ParentOrigin origin_;
};

}  // namespace

std::vector<RecipeLayer> layers_ahead(Services& services, const Packaging& work) {
  return work.is_changed()
             ? make_code_layers(services, work.plan(), last_made(services, work.plan()))
             : std::vector<RecipeLayer>{};
}

std::optional<std::string> obstacle_to_direct(const Packaging& work) {
  if (work.request().engine == packaging::Engine::docker) {
    return "`--engine=docker`";
  }
  if (work.request().options.templates) {
    return "`--templates` changes how the image is built";
  }
  if (const auto& own = work.plan().user_dockerfile) {
    return fmt::format("`{}` is the user's own Dockerfile", *own);
  }
  return std::nullopt;
}

std::unique_ptr<packaging::Builder> make_direct_builder(Services& services,
                                                        std::shared_ptr<publish::Target> target,
                                                        std::vector<RecipeLayer> ahead,
                                                        MakeDependencies make_dependencies) {
  return std::make_unique<DirectBuilder>(services, std::move(target), std::move(ahead),
                                         std::move(make_dependencies));
}

std::unique_ptr<packaging::Builder> make_builder_on(Services& services,
                                                    ParentImage parent,
                                                    ParentOrigin origin) {
  return std::make_unique<BuilderOn>(services, std::move(parent), origin);
}

std::optional<ParentImage> find_dependencies(Services& services, const Packaging& work) {
  if (!work.name().has_registry || work.request().no_cache) {
    return std::nullopt;
  }
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services, work.name().reference, registry::Access::pull);
  const auto found = repository->head_manifest(work.dependency_tag());
  if (!found || is_past_limit(services, work, *repository, found->digest, true)) {
    return std::nullopt;
  }
  auto parent = dependency_image(services, repository, work, found->digest);
  return installation_in(services, work.plan(), parent.image).outdated
             ? std::nullopt
             : std::optional{std::move(parent)};
}

}  // namespace autopack::build
