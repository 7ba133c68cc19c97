#include "publish/reporting.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <chrono>

namespace autopack::publish {

void tell_reused(const Services& services, const packaging::Image& image) {
  services.reporter->done("Reused", fmt::format("{}: {}", image.uri(), image.outcome.reason));
}

void tell_pushed(const Services& services, const packaging::MadeImage& made, Precision precision) {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - made.started;
  services.reporter->done(
      "Pushed",
      fmt::format("{} in {:.{}f} s, {} uploaded", made.image.uri(), time.count(),
                  precision == Precision::tenths ? 1 : 2, human_size(made.image.bytes_uploaded)));
}

}  // namespace autopack::publish
