#include "pipeline/package.hpp"

#include "pipeline/advice.hpp"
#include "pipeline/base.hpp"
#include "pipeline/base_modules.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/files.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/reuse.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/scanned_text.hpp"
#include "pipeline/secrets.hpp"
#include "plan/start_advice.hpp"

#include <filesystem>

namespace autopack::pipeline {

namespace {

plan::Plan plan_on(const Services& services,
                   const PackageRequest& request,
                   const Scanned& scanned,
                   const image::BaseFacts& base) {
  const auto directory = std::filesystem::weakly_canonical(request.project.directory);
  state::FileHashes hashes{
      services.environment.cache_directory() / "files" /
          sha256(directory.string() + (is_from_git(request) ? " git" : "")).hex(),
      services.cancellation};
  plan::Options options = request.options;
  if (request.label_git && scanned.git) {
    options.labels = git_labels(*scanned.git);
  }
  options.hashes = &hashes;
  auto plan = plan::make_plan(scanned.tree, scanned.project, request.project, base, options);
  hashes.save();
  return plan;
}

/// Tells what may stop the program or the installation, and throws what will.
void tell_start(Services& services, const Scanned& scanned, const plan::Plan& plan) {
  const auto problems = plan::start_advice(plan, scanned.project, [&](const auto& names) {
    return known_contents(services, plan.base, names, true);
  });
  Problems errors;
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    } else {
      errors.push_back(problem);
    }
  }
  throw_if_errors(errors, ErrorKind::project);
}

void tell(Services& services, const Scanned& scanned, const plan::Plan& plan) {
  for (const auto& warning : plan.warnings) {  // the project's are among them
    services.reporter->warn(warning);
  }
  tell_start(services, scanned, plan);
  services.reporter->done("Scanned", scanned_text(plan));
  if (const auto kept = kept_text(scanned); !kept.empty()) {
    services.reporter->done("Took", kept);
  }
  if (const auto ignored = ignored_text(scanned); !ignored.empty()) {
    services.reporter->done("Left out", ignored);
  }
}

/// A plan on the executor image as it was seen last, and what its target has for it.
struct Guess {
  std::optional<plan::Plan> plan{};
  bool changed{true};  ///< since the last build
  std::optional<Reasons> why{};
  std::optional<TargetQuestion> question{};
  std::vector<Assembly::Layer> layers{};  ///< of `plan`, where it is, as far as they are made
};

/// So that what needs no network is checked before anybody is asked, and the target is asked at the
/// same time as the executor image's registry.
Guess guess_plan(Services& services,
                 const PackageRequest& request,
                 const Scanned& scanned,
                 const image::BaseFacts& base) {
  Guess guess;
  try {
    guess.plan = plan_on(services, request, scanned, base);
  } catch (const Error&) {
    return {};  // what is wrong with it is told of the image as it is now
  }
  refuse_secrets(services, *guess.plan);
  return guess;
}

}  // namespace

plan::Plan decide(Services& services,
                  const PackageRequest& request,
                  const Scanned& scanned,
                  const image::BaseFacts& base) {
  auto plan = plan_on(services, request, scanned, base);
  tell(services, scanned, plan);
  return plan;
}

namespace {

Image make(Services& services,
           const PackageRequest& request,
           const Scanned& scanned,
           const ImageName& name,
           bool pushed,
           Guess& guess) {
  const plan::Plan& plan = *guess.plan;
  const Reasons& why = *guess.why;
  if (!pushed && !request.outputs.empty()) {
    return package_to_files(services, request, scanned, plan, why, name);
  }
  const auto obstacle = obstacle_to_direct(request, plan, pushed);
  if (!obstacle && pushed) {
    auto question = guess.question ? std::move(*guess.question)
                                   : ask_target(services, request, plan, guess.changed, name);
    auto layers = guess.layers.empty() ? layers_ahead(services, plan, guess.changed)
                                       : std::move(guess.layers);
    return package_directly(services, request, scanned, plan, why, name, std::move(question),
                            std::move(layers));
  }
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::usage, "`--engine=direct` cannot make this image")
        .cause(obstacle.value())
        .hint("`--engine=auto` takes the docker engine where it is needed");
  }
  if (pushed && !request.no_cache) {
    if (auto image = pushed_before(services, request, scanned, plan, why, name)) {
      return *image;
    }
  }
  Image image = build(services, request, scanned, plan, why, name);
  if (pushed) {
    push(services, name, image);
  }
  return image;
}

}  // namespace

void check_offline(Services& services, const PackageRequest& request, const Scanned& scanned) {
  const image::BaseFacts base =
      request.executor_image.empty()
          ? image::BaseFacts{.platform = request.options.platform}
          : base_offline(services, request.executor_image, request.options.platform);
  const auto plan = decide(services, request, scanned, base);
  refuse_secrets(services, plan);
  const auto advice = AdviceQuestion{services, request, scanned, plan}.answer(LookInto::memory);
  for (const auto& warning : advice.warnings) {
    services.reporter->warn(warning);
  }
  if (request.strict) {
    refuse_warnings(scanned, plan, advice);
  }
}

Image package(Services& services,
              const PackageRequest& request,
              const Scanned& scanned,
              const ImageName& name,
              Push push_it) {
  const bool pushed = push_it == Push::yes && name.has_registry;
  refuse_direct(request, pushed);
  std::optional<BaseQuestion> base_question;
  if (!request.executor_image.empty()) {
    base_question.emplace(services, request.executor_image, request.options.platform,
                          request.engine);
  }
  Guess guess;
  if (base_question && base_question->guess()) {
    guess = guess_plan(services, request, scanned, *base_question->guess());
  }
  if (base_question) {
    base_question->ask();
  }
  const auto before = last_build(services, request);
  if (guess.plan) {
    guess.changed = !is_as_before(before, *guess.plan);
    if (pushed && !obstacle_to_direct(request, *guess.plan, true)) {
      guess.question = ask_target(services, request, *guess.plan, guess.changed, name);
      guess.layers = layers_ahead(services, *guess.plan, guess.changed);
    }
    guess.why = reasons(before, scanned, *guess.plan);
  }
  const image::BaseFacts base = base_question
                                    ? base_question->answer()
                                    : image::BaseFacts{.platform = request.options.platform};
  if (!guess.plan || !(guess.plan->base == base)) {
    guess = {.plan = plan_on(services, request, scanned, base)};
    refuse_secrets(services, *guess.plan);
    guess.changed = !is_as_before(before, *guess.plan);
    guess.why = reasons(before, scanned, *guess.plan);
  }
  tell(services, scanned, *guess.plan);
  AdviceQuestion question{services, request, scanned, *guess.plan};
  std::optional<plan::Advice> advice;
  if (request.strict) {
    advice = question.answer();
    refuse_warnings(scanned, *guess.plan, *advice);
  } else if (guess.why->first || !guess.why->changes.dependencies.empty()) {
    // What takes minutes is not begun before people know; an edit does not wait.
    advice = question.answer();
    tell_briefly(services, *advice);
  }
  Image image = make(services, request, scanned, name, pushed, guess);
  if (!advice) {
    tell_briefly(services, question.answer());
  }
  if (pushed && !request.outputs.empty()) {
    write_pushed(services, request, *guess.plan, name, image);
  }
  remember(services, request, *guess.why);
  image.git = scanned.git;
  return image;
}

}  // namespace autopack::pipeline
