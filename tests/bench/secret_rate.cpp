// Prints what the secret firewall finds in whole trees, and what looking costs beside hashing.
//   secret_rate DIRECTORY...
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "source/secrets.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

using namespace autopack;

namespace {

using Clock = std::chrono::steady_clock;

struct Totals {
  std::size_t files{0};
  std::size_t found{0};
  std::uint64_t bytes{0};
  Clock::duration hashing{};
  Clock::duration looking{};
};

void look_at(const source::Tree& tree, const source::Entry& entry, Totals& totals) {
  const std::string text = tree.read(entry.path);
  const auto start = Clock::now();
  sha256(text);
  const auto hashed = Clock::now();
  source::SecretScan scan{entry.path, source::SecretScan::Detail::whether};
  scan.feed(text);
  const bool found = !scan.finish().empty();
  totals.looking += Clock::now() - hashed;
  totals.hashing += hashed - start;
  totals.bytes += text.size();
  ++totals.files;
  if (found) {
    ++totals.found;
    for (const auto& secret : source::find_secrets(tree, entry.path)) {
      fmt::print("{}:{}: {} {}\n", printable(secret.path), secret.line, secret.kind,
                 secret.fingerprint);
    }
  }
}

double megabytes_per_second(std::uint64_t bytes, Clock::duration time) {
  return static_cast<double>(bytes) / 1e6 / std::chrono::duration<double>(time).count();
}

Totals measure(const std::string& directory) {
  const auto tree = source::make_disk_tree(directory);
  Totals totals;
  source::walk(
      *tree, "", [](const source::Entry&) { return true; },
      [&](const source::Entry& entry) {
        if (entry.type == source::EntryType::file) {
          look_at(*tree, entry, totals);
        }
      });
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      const Totals totals = measure(argv[i]);
      fmt::print(
          "{}: {} of {} files stopped, {}; looking {:.3f} s, {:.0f} MB/s, hashing {:.0f} MB/s\n",
          argv[i], totals.found, totals.files, human_size(totals.bytes),
          std::chrono::duration<double>(totals.looking).count(),
          megabytes_per_second(totals.bytes, totals.looking),
          megabytes_per_second(totals.bytes, totals.hashing));
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
