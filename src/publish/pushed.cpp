#include "publish/pushed.hpp"

#include "base/elapsed.hpp"
#include "base/text.hpp"
#include "services/registry_image.hpp"

#include <fmt/format.h>

#include <chrono>

namespace autopack::publish {

void report_reused(const Services& services, const packaging::Image& image) {
  services.reporter->done("Reused", fmt::format("{}: {}", image.uri(), image.outcome.reason));
}

void report_pushed(const Services& services, const packaging::MadeImage& made) {
  const auto time = std::chrono::steady_clock::now() - made.started;
  services.reporter->done("Pushed",
                          fmt::format("{} in {}, {} uploaded", made.image.uri(), elapsed_text(time),
                                      human_size(made.image.bytes_uploaded)));
}

void read_from_registry(Services& services,
                        const packaging::Packaging& work,
                        packaging::MadeImage& made) {
  auto reference = work.name().reference;
  reference.digest = made.image.digest;
  made.source = packaging::LazySource{[&services, reference, platform = work.plan().platform] {
    return registry_image(services, reference, platform);
  }};
}

}  // namespace autopack::publish
