#include "executor/executor_image.hpp"

#include "base/text.hpp"
#include "engine/transfer.hpp"
#include "executor/gpu_code.hpp"
#include "executor/image_view.hpp"
#include "executor/layers.hpp"
#include "executor/probe.hpp"
#include "executor/programs.hpp"
#include "executor/python_survey.hpp"
#include "executor/record_cache.hpp"
#include "executor/remembered_facts.hpp"
#include "image/file_image.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

// The facts about an executor image have these sources, nearest first:
//
//   1. the cache of this machine, then the cached facts of the target repository
//   2. the facts that the target repository remembers
//   3. the docker engine, which pulls the image if it lacks it
//   4. the layers of the image, in files or in its registry
//   5. an assumption
//
// The functions that find, probe, read or assume facts are the sources; they write no cache. The
// functions that get facts ask several sources and cache the result. The public functions, at the
// end, decide how far each caller goes.

namespace autopack::executor {

namespace {

using Facts = std::optional<image::BaseFacts>;

/// Returns the cached facts of the digest of `reference`, or those of the last run if it has none.
Facts find_cached(const Services& services,
                  const image::Reference& reference,
                  const std::string& platform) {
  for (const auto& cache : record_caches(services)) {
    if (auto facts = cache.find(reference, platform)) {
      return facts;
    }
  }
  return std::nullopt;
}

/// Returns the facts and the Python in the layers of `source`, all of which it reads.
Record read_record(Services& services, const image::Source& source, const std::string& platform) {
  check_platform(image::Configuration::parse(source.configuration,
                                             "the configuration of `" + source.name + "`")
                     .platform(),
                 source.name, platform);
  const auto tree = read_layers(services, source);
  Record record{.facts = facts_of(source, tree)};
  record.python = survey_python(*view_of(tree), record.facts, source.manifest.layers.size());
  cache_gpu_libraries(services, record.facts, gpu_libraries(tree));
  return record;
}

image::BaseFacts assume(const image::Reference& reference, const std::string& platform) {
  image::BaseFacts facts{.reference = reference.text,
                         .digest = reference.digest,
                         .platform = platform,
                         .pip = true,
                         .vertex_prebuilt = image::is_vertex_prebuilt(reference.text)};
  facts.python = facts.vertex_prebuilt ? "python3" : "python";
  return facts;
}

/// Gets the facts of the digest of `reference` without the image itself; nothing if they are
/// unknown. Caches them under the requested name, so that the next run can begin with them even if
/// the image was first seen under another name, or the tag moved.
Facts get_known(Services& services,
                const image::Reference& reference,
                const std::string& platform) {
  for (const auto& cache : record_caches(services)) {
    if (auto facts = cache.find(reference, platform)) {
      if (cache.facts.by_reference(reference.text, platform) != facts) {
        cache.facts.store(*facts);
      }
      return facts;
    }
  }
  if (auto record = find_remembered(services, reference, platform)) {
    remembered_records(services)->store(*record);
    return under_name(std::move(record->facts), reference.text);
  }
  return std::nullopt;
}

/// Gets the facts in the layers of `source`.
image::BaseFacts get_by_layers(Services& services,
                               const image::Source& source,
                               const std::string& platform) {
  auto record = read_record(services, source, platform);
  own_records(services).store(record);
  return std::move(record.facts);
}

/// Gets the facts of an image in files; nothing if `text` names none.
Facts get_from_files(Services& services, const std::string& text, const std::string& platform) {
  const auto files = image::FileReference::parse(text);
  if (!files) {
    return std::nullopt;
  }
  const auto source = image::open_files(*files, platform);
  auto facts = own_records(services).facts.by_digest(source.digest, platform);
  return facts ? under_name(std::move(*facts), source.name)
               : get_by_layers(services, source, platform);
}

/// Gets the last known facts without asking anybody. Without an image, only the platform is known.
Facts get_here(Services& services, const std::string& text, const std::string& platform) {
  if (text.empty()) {
    return image::BaseFacts{.platform = platform};
  }
  if (auto facts = get_from_files(services, text, platform)) {
    return facts;
  }
  return find_cached(services, image::Reference::parse(text), platform);
}

/// Gets the current facts in a registry, without an engine.
image::BaseFacts get_from_registry(Services& services,
                                   image::Reference reference,
                                   const std::string& platform) {
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services, reference, registry::Access::pull);
  if (!reference.digest) {
    const auto found = repository->head_manifest(reference.tag.value_or("latest"));
    if (!found) {
      throw Error(ErrorKind::remote, fmt::format("the registry has no image `{}`", reference.text));
    }
    reference.digest = found->digest;
  }
  if (auto facts = get_known(services, reference, platform)) {
    return std::move(*facts);
  }
  return get_by_layers(services, registry_image(services, repository, reference, platform),
                       platform);
}

/// Reports why the engine's own image is used, if that may be wrong.
void report_doubt(Services& services, const image::Reference& reference, const Error& doubt) {
  const auto message = fmt::format(
      "`{}` is the image that the engine has: no registry could say whether there is a "
      "newer one",
      printable(reference.text));
  const auto reason = join(doubt.causes(), ": ");
  // An image with a short name may never have been in a registry; some engines do not know that.
  const bool was_there = reference.names_registry() || services.docker().info().reports_origin;
  if (was_there && engine::is_unreachable(reason)) {
    services.reporter->warn(Problem::warning({.message = message, .reason = non_empty(reason)}));
  } else {
    services.reporter->detail(fmt::format("{}: {}", message, reason));
  }
}

/// Gets the current facts through the engine. `engines_own` is the id of an image that the engine
/// had from no registry.
image::BaseFacts get_by_engine(Services& services,
                               const image::Reference& reference,
                               const std::string& platform,
                               const std::optional<std::string>& engines_own = {}) {
  const auto now = reference.digest ? DigestNow{.digest = reference.digest}
                                    : digest_now(services.docker(), reference, engines_own);
  if (now.digest) {
    auto current = reference;
    current.digest = now.digest;
    if (auto facts = get_known(services, current, platform)) {
      services.reporter->detail(
          fmt::format("`{}` is {}, known", reference.text, now.digest->str()));
      return std::move(*facts);
    }
  }
  auto facts = probe_image(services.docker(), reference, now.digest, platform);
  if (now.doubt) {
    report_doubt(services, reference, *now.doubt);
  }
  if (!now.doubt || !engine::is_unreachable(join(now.doubt->causes(), ": "))) {
    own_records(services).facts.store(facts);
  }
  return facts;
}

/// Gets the current facts through the engine; if no engine is available, from the registry.
image::BaseFacts get_current(Services& services,
                             const image::Reference& reference,
                             const std::string& platform,
                             const std::optional<std::string>& engines_own = {}) {
  try {
    return get_by_engine(services, reference, platform, engines_own);
  } catch (Error& no_engine) {
    if (no_engine.kind() != ErrorKind::environment) {
      throw;
    }
    services.reporter->detail(no_engine.what());
    try {
      return get_from_registry(services, reference, platform);
    } catch (const Error& error) {
      no_engine.cause(fmt::format("without an engine, autopack asked its registry for `{}`: {}",
                                  printable(reference.text), error.what()));
    }
    throw;
  }
}

/// Returns the registry's digest for a tag; nothing if there is no response.
std::optional<Digest> ask_registry(registry::Repository& repository,
                                   Reporter& reporter,
                                   const std::string& tag) {
  try {
    const auto found = repository.head_manifest(tag);
    return found ? std::optional{found->digest} : std::nullopt;
  } catch (const Error& error) {
    reporter.detail(error.what());
    return std::nullopt;
  }
}

}  // namespace

ExecutorImage::ExecutorImage(Services& services, const packaging::Request& request)
    : services_{services},
      text_{request.executor_image},
      platform_{request.options.platform},
      engine_{request.engine},
      may_use_engine_{request.may_use_engine()} {
  if (!text_.empty() && !image::names_files(text_)) {
    seen_ = get_here(services, text_, platform_);
  }
}

void ExecutorImage::ask() {
  if (is_asked_ || !seen_ || !seen_->digest) {
    return;
  }
  is_asked_ = true;
  const auto reference = image::Reference::parse(text_);
  if (reference.digest) {
    return;
  }
  // A single attempt: without a response there is another way, and an offline engine should not
  // wait.
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services_, reference, registry::Access::pull, {.attempts = 1});
  digest_ = in_background(
      [repository, reporter = services_.reporter, tag = reference.tag.value_or("latest")] {
        return ask_registry(*repository, *reporter, tag);
      });
}

image::BaseFacts ExecutorImage::confirmed() {
  if (text_.empty()) {
    return {.platform = platform_};
  }
  if (auto facts = get_from_files(services_, text_, platform_)) {
    return std::move(*facts);
  }
  ask();
  auto reference = image::Reference::parse(text_);
  if (digest_.valid()) {
    reference.digest = digest_.get();
  }
  if (!may_use_engine_) {
    return get_from_registry(services_, reference, platform_);
  }
  const auto engines_own = seen_ && !seen_->digest ? seen_->image_id : std::nullopt;
  return engine_ == packaging::Engine::docker
             ? get_by_engine(services_, reference, platform_, engines_own)
             : get_current(services_, reference, platform_, engines_own);
}

image::BaseFacts facts_as_seen(Services& services,
                               const std::string& text,
                               const std::string& platform,
                               const std::optional<image::BaseFacts>& recorded) {
  if (recorded && recorded->reference == text && recorded->platform == platform) {
    return *recorded;
  }
  if (auto facts = get_here(services, text, platform)) {
    return std::move(*facts);
  }
  return get_current(services, image::Reference::parse(text), platform);
}

image::BaseFacts facts_offline(Services& services, const packaging::Request& request) {
  const auto& text = request.executor_image;
  const auto& platform = request.options.platform;
  if (auto facts = get_here(services, text, platform)) {
    return std::move(*facts);
  }
  auto facts = assume(image::Reference::parse(text), platform);
  facts.apt = true;
  return facts;
}

Facts facts_at_hand(Services& services, const packaging::Request& request) {
  const auto& text = request.executor_image;
  const auto& platform = request.options.platform;
  if (auto facts = get_here(services, text, platform)) {
    return facts;
  }
  try {
    if (services.docker().inspect(text)) {
      return get_by_engine(services, image::Reference::parse(text), platform);
    }
  } catch (const Error& error) {
    services.reporter->detail(error.what());
  }
  return std::nullopt;
}

image::BaseFacts facts_or_assumed(Services& services, const packaging::Request& request) {
  if (auto facts = facts_at_hand(services, request)) {
    return std::move(*facts);
  }
  const auto& text = request.executor_image;
  auto facts = assume(image::Reference::parse(text), request.options.platform);
  services.reporter->warn(Problem::warning(
      {.message = fmt::format(
           "the executor image `{}` is not on this machine yet: that it has `{}` and pip "
           "is a guess until it is fetched, so the tag of the new image may change",
           printable(text), *facts.python)}));
  return facts;
}

packaging::ParentImage open_image(Services& services,
                                  const image::BaseFacts& facts,
                                  const std::string& platform) {
  if (const auto files = image::FileReference::parse(facts.reference)) {
    return {.image = image::open_files(*files, platform)};
  }
  auto reference = image::Reference::parse(facts.reference);
  reference.digest = facts.digest;
  return {.image = registry_image(services, reference, platform), .reference = reference};
}

}  // namespace autopack::executor
