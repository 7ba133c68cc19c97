#include "publish/target.hpp"

#include "services/repositories.hpp"

namespace autopack::publish {

namespace {

/// A layer and the configuration.
constexpr std::size_t blobs_of_an_edit{2};

using Answer = std::optional<image::Descriptor>;

struct Question {
  std::string key{};
  std::optional<std::string> dependencies{};  ///< absent: no query
  std::optional<std::string> own{};           ///< absent: no query
  std::optional<registry::StoredManifest> last{};
};

/// Sends each query in its own thread, except the first.
TargetContents look_for(const std::shared_ptr<registry::Repository>& repository,
                        const Question& question) {
  if (question.last) {
    // Something changed, so the image will hardly be there under its key.
    repository->begin_uploads(blobs_of_an_edit);
  }
  const auto ask = [&](const std::optional<std::string>& reference) {
    return reference ? in_background([repository, name = *reference] {
      return repository->head_manifest(name);
    })
                     : Background<Answer>{};
  };
  const auto answer = [](Background<Answer> asked) {
    return asked.valid() ? asked.get() : Answer{};
  };
  auto dependencies = ask(question.dependencies);
  auto own = ask(question.own);
  std::optional<LastPushed> last;
  if (question.last) {
    last = LastPushed{
        .manifest = image::parse_manifest(question.last->text, "the manifest pushed last"),
        .digest = question.last->digest};
  }
  TargetContents found{.image = repository->head_manifest(question.key),
                       .asked_own = question.own.has_value(),
                       .last = std::move(last)};
  found.dependencies = answer(std::move(dependencies));
  found.own = answer(std::move(own));
  return found;
}

std::optional<registry::StoredManifest> last_pushed(const Services& services,
                                                    const packaging::ImageName& name) {
  const auto digest = services.pushed_images.get(name.reference.repository());
  auto text = digest ? services.blob_cache.get(*digest) : std::nullopt;
  if (!text) {
    return std::nullopt;
  }
  return registry::StoredManifest{.text = std::move(*text), .digest = *digest};
}

}  // namespace

Target::Target(Services& services, const packaging::Packaging& work)
    : repository_{open_target(services, work.name())} {
  if (work.request().no_cache) {
    contents_.emplace();
    return;
  }
  const bool changed = work.is_changed();
  const bool asks_dependencies = changed || work.request().max_dependency_age;
  Question question{.key = work.key_tag(),
                    .dependencies = work.needs_dependencies() && asks_dependencies
                                        ? std::optional{work.dependency_tag()}
                                        : std::nullopt,
                    .own = changed ? std::nullopt : work.name().reference.tag,
                    .last = changed ? last_pushed(services, work.name()) : std::nullopt};
  asked_ =
      in_background([repository = repository_, question = std::move(question), asks_dependencies] {
        auto found = look_for(repository, question);
        found.asked_dependencies = asks_dependencies;
        return found;
      });
}

TargetContents& Target::contents() {
  if (!contents_) {
    contents_ = asked_.get();
  }
  return *contents_;
}

bool Target::has_image(const packaging::Packaging& work) {
  const auto& there = contents();
  if (!there.image) {
    return false;
  }
  const auto& own = work.name().reference.tag;
  const auto tagged = there.asked_own || !own ? there.own : repository_->head_manifest(*own);
  if (!own || (tagged && tagged->digest == there.image->digest)) {
    return true;
  }
  to_be_tagged_ = repository_->manifest(there.image->digest.str());
  return to_be_tagged_.has_value();
}

}  // namespace autopack::publish
