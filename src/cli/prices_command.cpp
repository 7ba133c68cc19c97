#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/known_prices.hpp"
#include "cli/named_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace autopack::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_catalogue{100'000'000};

/// Returns `2026-11-20`, the day on which the file was written, in UTC.
std::string date_of(const fs::path& file) {
  std::error_code failure;
  const auto written = fs::last_write_time(file, failure);
  const auto time =
      failure ? std::chrono::system_clock::now() : std::chrono::file_clock::to_sys(written);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch());
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

std::string read_whole(const std::string& file) {
  std::error_code failure;
  const auto size = fs::file_size(file, failure);
  if (failure) {
    throw Error(ErrorKind::usage, fmt::format("`{}` of `--from` cannot be read", printable(file)))
        .cause(failure.message());
  }
  if (size > largest_catalogue) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` has {}; a catalogue has at most {}", printable(file),
                            human_size(size), human_size(largest_catalogue)));
  }
  std::string text;
  text.reserve(size);
  read_in_pieces(file, [&](std::string_view bytes) {
    text +=
        bytes.substr(0, largest_catalogue - std::min<std::size_t>(text.size(), largest_catalogue));
  });
  return text;
}

class PricesCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Prices");
    flags.list("--from", "FILE", files_, "the catalogue's JSON, as Google serves it; repeatable");
  }

  int run(Session& session) override {
    const auto& environment = session.services.environment;
    if (files_.empty()) {
      const auto known = known_prices(environment);
      if (!known) {
        throw Error(ErrorKind::usage, "no prices are known").hint("autopack prices --from=FILE");
      }
      return report(session, *known, "Found");
    }
    job::PriceList list;
    for (const auto& file : files_) {
      const auto prices = job::read_catalogue(read_whole(file));
      if (!prices) {
        throw Error(
            ErrorKind::usage,
            fmt::format("`{}` is not a page of the Cloud Billing Catalog API", printable(file)))
            .hint("it is a JSON object with a list `skus`, or a list of such pages");
      }
      list.prices.insert(list.prices.end(), prices->begin(), prices->end());
      const auto date = date_of(file);
      list.date = list.date.empty() ? date : std::min(list.date, date);
    }
    if (list.prices.empty()) {
      throw Error(ErrorKind::usage, "the catalogue has no price of a machine for training")
          .hint("the services Vertex AI and Compute Engine have them");
    }
    write_file(prices_file(environment), write_json(job::write_prices(list)));
    return report(session, list, "Read");
  }

private:
  static int report(Session& session, const job::PriceList& list, const char* verb) {
    std::set<std::string> regions;
    for (const auto& price : list.prices) {
      regions.insert(price.regions.begin(), price.regions.end());
    }
    session.console.done(verb, fmt::format("{} prices in {} regions, of {}", list.prices.size(),
                                           regions.size(), list.date));
    session.console.result(render(session, job::write_prices(list), ""));
    return 0;
  }

  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_prices_command() {
  return std::make_unique<PricesCommand>();
}

}  // namespace autopack::cli
