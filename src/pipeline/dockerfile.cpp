#include "pipeline/dockerfile.hpp"

#include "base/text.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/dockerignore.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

constexpr std::string_view seal_prefix = "# autopack-text: ";

std::string seal_line(std::string_view text) {
  return std::string{seal_prefix} + sha256(text).hex().substr(0, 16) + "\n";
}

}  // namespace

DockerfileText write_dockerfile(Services& services,
                                const packaging::Request& request,
                                bool pin,
                                const CommittedText& committed) {
  const auto wanted = scan_wanted(request);
  report_inferred(*services.reporter, wanted->inferred);
  wanted->request.options.contents = false;
  const auto base = executor::facts_as_seen(
      services, wanted->request.executor_image, request.options.platform,
      committed.dockerfile ? plan::recorded_facts(*committed.dockerfile) : std::nullopt);
  const auto work = plan_packaging(services, wanted, base);
  Adviser{services, work}.report_plan();
  report_scanned(*services.reporter, work);
  const auto& plan = work.plan();
  std::string text = plan.dockerfile;
  if (pin) {
    if (!base.digest) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` cannot be pinned: no registry has it, so it has no digest",
                              printable(base.reference)));
    }
    const auto pinned = image::Reference::parse(base.reference).with_digest(*base.digest);
    text = plan::render_dockerfile(plan, {.base = pinned}, work.request().options);
  }
  DockerfileText result{.dockerfile = seal(std::move(text)),
                        .dockerignore = seal(dockerignore_text(work))};
  if (committed.dockerignore && is_as_good(*committed.dockerignore, result.dockerignore, work)) {
    result.dockerignore = *committed.dockerignore;
  }
  return result;
}

std::string seal(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) {
    text += '\n';
  }
  return text + seal_line(text);
}

bool is_unedited(std::string_view text) {
  const auto at = text.rfind(seal_prefix);
  return at != std::string_view::npos && text.substr(at) == seal_line(text.substr(0, at));
}

}  // namespace autopack::pipeline
