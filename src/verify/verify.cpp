#include "verify/verify.hpp"

#include "attest/provenance.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "build/wheels/published_wheels.hpp"
#include "compare/contents.hpp"
#include "executor/executor_image.hpp"
#include "executor/python_facts.hpp"
#include "http/client.hpp"
#include "http/offline_client.hpp"
#include "image/file_reference.hpp"
#include "image/rebased.hpp"
#include "image/reference.hpp"
#include "image/tar.hpp"
#include "packaging/packaging.hpp"
#include "pipeline/rebuild.hpp"
#include "pipeline/scan.hpp"
#include "source/git.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace autopack::verify {

namespace {

/// Further steps are counted, not named.
constexpr std::size_t most_steps{3};
constexpr std::size_t most_of_a_step{80};

Error cannot_tell(const image::Source& image, const std::string& why) {
  return Error(ErrorKind::environment,
               fmt::format("it cannot be determined whether `{}` equals a rebuild",
                           printable(image.name)))
      .cause(why);
}

/// Returns the name of the base by its digest, as an executor image.
std::string base_of(const image::Source& image,
                    const Recorded& recorded,
                    const packaging::Request& request) {
  if (!recorded.base_digest) {
    throw cannot_tell(image, "its labels name no base by digest: only an engine had the base");
  }
  if (recorded.base_name) {
    return image::Reference::parse(*recorded.base_name).with_digest(*recorded.base_digest);
  }
  if (!image::names_files(request.executor_image)) {
    throw cannot_tell(image, "its base was in files, and its labels do not say where")
        .hint("`--executor-image-uri=oci:DIR` or `tar:FILE` names the base")
        .hint("its digest is " + recorded.base_digest->str());
  }
  return request.executor_image;
}

/// True for a path in the project.
bool is_inside(const std::string& path) {
  const auto normal = std::filesystem::path{path}.lexically_normal();
  return normal.is_relative() && *normal.begin() != ".." && !path.starts_with('~');
}

std::vector<std::string> values_of(const packaging::Settings::Text& text) {
  return text ? std::vector{*text} : std::vector<std::string>{};
}

std::vector<std::string> values_of(const packaging::Settings::List& list) {
  return list.value_or(std::vector<std::string>{});
}

/// Throws Error(environment) if `settings`, which strangers may have written, name something
/// outside the project.
void require_inside(const image::Source& image, const packaging::Settings& settings) {
  for (const auto& setting : packaging::settings) {
    if (setting.reach == packaging::Setting::Reach::nothing) {
      continue;
    }
    const auto values =
        std::visit([&](const auto member) { return values_of(settings.*member); }, setting.member);
    for (const auto& value : values) {
      if (!is_inside(value)) {
        throw cannot_tell(image, fmt::format("it was made with `--{}={}`, which is outside the "
                                             "project",
                                             setting.key, printable(value)))
            .hint(fmt::format("`--{}={}` allows it", setting.key, printable(value)));
      }
    }
  }
}

/// Applies the settings in the provenance, except those that the user typed.
void apply_provenance(const image::Source& image,
                      const attest::Provenance& provenance,
                      const packaging::Settings& typed,
                      packaging::Request& request) {
  if (provenance.dockerfile || provenance.templates) {
    throw cannot_tell(image,
                      "it was made with a Dockerfile or templates of the user, in an engine");
  }
  using Role = packaging::Setting::Role;
  const bool has_entry = std::ranges::any_of(packaging::settings, [&](const auto& setting) {
    return setting.role == Role::entry && setting.is_given(typed);
  });
  auto recorded = provenance.settings;
  auto settings = typed;
  for (const auto& setting : packaging::settings) {
    const bool is_replaced = has_entry && setting.role == Role::entry;
    std::visit(
        [&](const auto member) {
          if (is_replaced || settings.*member) {
            (recorded.*member).reset();
          } else {
            settings.*member = recorded.*member;
          }
        },
        setting.member);
  }
  require_inside(image, recorded);
  packaging::apply(settings, request);
  for (const auto& line : settings.build_env.value_or(std::vector<std::string>{})) {
    const auto mark = std::min(line.find('='), line.size());
    request.options.build_environment[line.substr(0, mark)] =
        line.substr(std::min(mark + 1, line.size()));
  }
  request.options.compile_bytecode = provenance.compiles_bytecode;
  request.resolver =
      provenance.resolver == "engine" ? packaging::Resolver::engine : packaging::Resolver::uv;
  if (const auto* const lock = provenance.input(attest::Input::Role::resolution)) {
    request.resolution = lock->content;
  }
}

/// The commit that an image was made from.
struct RecordedCommit {
  std::optional<std::string> commit{};
  bool is_dirty{false};
};

RecordedCommit commit_of(const Recorded& recorded) {
  if (!recorded.provenance) {
    return {.commit = recorded.commit, .is_dirty = recorded.is_dirty};
  }
  const auto& source = recorded.provenance->source;
  return {.commit = source.commit && is_commit(*source.commit) ? source.commit : std::nullopt,
          .is_dirty = source.is_dirty};
}

/// Applies what the image says of itself to the request.
void apply(const image::Source& image, const Recorded& recorded, Wish& wish, Services& services) {
  auto& request = wish.request;
  if (recorded.provenance) {
    apply_provenance(image, *recorded.provenance, wish.typed, request);
  }
  request.options.platform = recorded.platform;
  request.options.labels = recorded.labels;
  request.label_git = false;
  if (!wish.has_byte_code && !recorded.provenance) {
    request.options.compile_bytecode = recorded.has_byte_code;
  }
  const auto made_from = commit_of(recorded);
  if (!wish.has_source && made_from.commit && !made_from.is_dirty) {
    request.source = *made_from.commit;
  }
  if (recorded.time) {
    auto variables = services.environment.all();
    variables["SOURCE_DATE_EPOCH"] = std::to_string(*recorded.time);
    services.environment = Environment{std::move(variables)};
  }
}

/// Throws Error(environment) if the files must come from a commit that is not there.
void require_commit(const image::Source& image, const packaging::Request& request) {
  if (!request.is_from_git()) {
    return;
  }
  try {
    source::make_git_tree(request.project.directory, request.source, request.environment);
  } catch (const Error& error) {
    throw cannot_tell(image, fmt::format("the commit `{}` that it was made from is not here: {}",
                                         printable(request.source), error.message()))
        .hint("git fetch --unshallow --tags")
        .hint("`--source=worktree` compares with the files as they are");
  }
}

image::BaseFacts find_base(Services& services,
                           const image::Source& image,
                           const Recorded& recorded,
                           packaging::Request request) {
  request.executor_image = base_of(image, recorded, request);
  request.engine = packaging::Engine::direct;
  auto facts =
      with_context(fmt::format("the base of `{}` cannot be read", printable(image.name)), [&] {
        return executor::ExecutorImage{services, request}.confirmed();
      });
  if (facts.digest != recorded.base_digest) {
    throw cannot_tell(image, fmt::format("`{}` is not its base: the digest is {} instead of {}",
                                         printable(request.executor_image),
                                         facts.digest ? facts.digest->str() : "unknown",
                                         recorded.base_digest->str()));
  }
  facts.reference = recorded.base_name.value_or(facts.reference);
  return facts;
}

/// Returns the steps above the base whose layers no rebuild gives again.
std::vector<std::string> steps_of_engines(const image::Source& image, const image::Source& base) {
  const auto steps = image::own_steps(
      {.image = image.configuration, .before = base.configuration, .after = base.configuration});
  if (!steps) {
    return {"a history that does not continue that of the base"};
  }
  std::vector<std::string> found;
  for (const auto& step : *steps) {
    if (step.has_layer && !step.is_ours) {
      found.push_back(printable(step.created_by));
    }
  }
  return found;
}

/// Compares the project's files with those in the image, whoever made its layers.
void compare_code(Services& services,
                  const image::Source& image,
                  const image::Source& base,
                  const packaging::Packaging& work,
                  Comparison& found) {
  const auto of_base = image::check_layers(base);
  const auto contents =
      compare::read_image(*services.cancellation, image, {of_base.begin(), of_base.end()});
  const auto project = compare::contents_of(work, "the project");
  ComparedLayer layer{.name = "the project's files"};
  for (const auto& change : compare::difference(project, contents).files) {
    // The installation of the project's package may have written it.
    if (!change.before && work.plan().dependencies.install) {
      continue;
    }
    layer.difference.files.push_back({.path = change.name,
                                      .what = !change.after    ? "the image does not have it"
                                              : !change.before ? "the project does not have it"
                                                               : "its content, mode or target"});
  }
  layer.difference.count = layer.difference.files.size();
  layer.verdict =
      layer.difference.count == 0 ? ComparedLayer::Verdict::equal : ComparedLayer::Verdict::differs;
  found.layers.push_back(std::move(layer));
}

/// For an image with layers of an engine: other runs of the same steps give other bytes.
Comparison compare_files(Services& services,
                         const image::Source& image,
                         const image::Source& base,
                         const packaging::Packaging& work,
                         const std::vector<std::string>& steps) {
  Comparison found;
  compare_code(services, image, base, work, found);
  for (std::size_t i = 0; i < steps.size() && i < most_steps; ++i) {
    found.unknown.push_back(
        fmt::format("an engine made the layer of `{}`, and would make another "
                    "one today",
                    steps[i].substr(0, most_of_a_step)));
  }
  if (steps.size() > most_steps) {
    found.unknown.push_back(
        fmt::format("{} further layers of an engine", steps.size() - most_steps));
  }
  return found;
}

/// Compares the hashes of the wheels with those that their indexes list now.
void check_wheels(Services& services, const packaging::Packaging& work, Comparison& found) {
  const auto wheels = build::find_installed_wheels(services, work);
  if (!wheels) {
    return;
  }
  const auto python = executor::known_python(services, work.plan().base);
  const auto published =
      build::ask_for_wheels(services, work, python ? python->default_index : std::nullopt, *wheels);
  found.wheels = published.differing;
  if (published.obstacle) {
    found.remarks.push_back("the hashes of wheels were not compared with their indexes: " +
                            *published.obstacle);
  } else if (published.wheels > 0) {
    found.remarks.push_back(fmt::format("{} of {} wheels have the hash that their index lists",
                                        published.listed, published.wheels));
  }
  for (const auto& file : published.unlisted) {
    found.remarks.push_back(fmt::format("no index lists a hash of `{}` any more", printable(file)));
  }
}

/// A moved image has other labels than a built one.
void allow_rebase(const Recorded& recorded, Comparison& found) {
  if (!recorded.rebased_from) {
    return;
  }
  std::erase_if(found.configuration, [](const compare::Change<std::string>& change) {
    return change.name == fmt::format("Labels {}", packaging::key_label) ||
           change.name == fmt::format("Labels {}", packaging::dependency_key_label) ||
           change.name == fmt::format("Labels {}", packaging::rebased_label);
  });
  found.remarks.push_back(fmt::format("`autopack rebase` moved it to its base; it was {} before",
                                      printable(*recorded.rebased_from)));
}

std::vector<std::string> remarks_about(const Recorded& recorded,
                                       const packaging::Request& request) {
  const auto made_from = commit_of(recorded);
  std::string files = request.is_from_git()
                          ? fmt::format("the files of `{}`", printable(request.source))
                          : std::string{"the files as they are"};
  if (made_from.is_dirty && !request.is_from_git()) {
    files += ", because it was made from files that differed from the commit";
  }
  return {fmt::format("it is compared with {}; the settings are those of {}", files,
                      recorded.provenance ? "its provenance" : "this directory")};
}

}  // namespace

Comparison verify(Services& services,
                  const image::Source& image,
                  const Recorded& recorded,
                  Wish wish) {
  apply(image, recorded, wish, services);
  require_commit(image, wish.request);
  const auto online = wish.offline ? services.client.replace(nullptr) : nullptr;
  if (wish.offline) {
    services.client.replace(
        http::make_offline_client(online ? online : services.new_client(services.cancellation)));
  }
  const auto facts = find_base(services, image, recorded, wish.request);
  auto remarks = remarks_about(recorded, wish.request);
  wish.request.executor_image = facts.reference;
  const auto wanted = pipeline::scan_wanted(std::move(wish.request));
  wanted->name.reference = image::Reference::parse("autopack/verify");
  wanted->may_push = false;
  pipeline::Rebuild rebuild{services, wanted, facts};
  const auto base = executor::open_image(services, facts, recorded.platform).image;
  if (const auto steps = steps_of_engines(image, base); !steps.empty()) {
    return compare_files(services, image, base, rebuild.work(), steps);
  }
  std::string obstacle;
  const auto rebuilt = rebuild.make(obstacle);
  if (!rebuilt) {
    throw cannot_tell(image, obstacle);
  }
  auto found = compare_images(*services.cancellation, image, *rebuilt);
  found.remarks = std::move(remarks);
  allow_rebase(recorded, found);
  if (wish.offline) {
    found.remarks.emplace_back("the hashes of wheels were not compared with their indexes");
  } else {
    check_wheels(services, rebuild.work(), found);
  }
  return found;
}

}  // namespace autopack::verify
