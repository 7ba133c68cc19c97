#include "sbom/licence.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

namespace autopack::sbom {

namespace {

constexpr std::size_t longest_expression{4096};
constexpr int deepest_expression{20};

/// Returns SPDX's spelling of an identifier; nothing if SPDX does not have it.
std::optional<std::string> spdx_spelling(std::string_view name) {
  const auto lower = to_lower(name);
  const auto all = known_licences();
  const auto found =
      std::ranges::lower_bound(all, lower, {}, [](auto known) { return to_lower(known); });
  return found != all.end() && to_lower(*found) == lower ? std::optional{std::string{*found}}
                                                         : std::nullopt;
}

/// Returns the words of an expression; parentheses are words.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  };
  for (const char c : text) {
    if (c == '(' || c == ')') {
      finish();
      words.emplace_back(1, c);
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return words;
}

/// Parses an SPDX expression (SPDX 2.3, annex D), and writes it in the usual spelling.
class ExpressionParser {
public:
  explicit ExpressionParser(std::vector<std::string> words) : words_{std::move(words)} {}

  std::optional<std::string> parse() {
    auto found = alternatives(0);
    return found && next_ == words_.size() ? found : std::nullopt;
  }

private:
  bool take(std::string_view word) {
    if (next_ == words_.size() || to_upper(words_[next_]) != word) {
      return false;
    }
    ++next_;
    return true;
  }

  std::optional<std::string> alternatives(int depth) {
    return joined("OR", [&] { return joined("AND", [&] { return one(depth); }); });
  }

  template <class Part>
  std::optional<std::string> joined(const std::string& word, const Part& part) {
    auto all = part();
    while (all && take(word)) {
      const auto more = part();
      all = more ? std::optional{*all + " " + word + " " + *more} : std::nullopt;
    }
    return all;
  }

  std::optional<std::string> one(int depth) {
    if (take("(")) {
      auto inner = depth < deepest_expression ? alternatives(depth + 1) : std::nullopt;
      return inner && take(")") ? std::optional{"(" + *inner + ")"} : std::nullopt;
    }
    if (next_ == words_.size()) {
      return std::nullopt;
    }
    auto licence = identifier(words_[next_++]);
    if (licence && take("WITH")) {
      const auto exception = next_ == words_.size() ? std::nullopt : spdx_spelling(words_[next_++]);
      licence = exception ? std::optional{*licence + " WITH " + *exception} : std::nullopt;
    }
    return licence;
  }

  /// `GPL-2.0+` is an identifier in itself; `Apache-2.0+` is one with a sign.
  static std::optional<std::string> identifier(const std::string& word) {
    auto known = spdx_spelling(word);
    if (!known && word.ends_with('+')) {
      known = spdx_spelling(std::string_view{word}.substr(0, word.size() - 1));
      return known ? std::optional{*known + "+"} : std::nullopt;
    }
    return known;
  }

  std::vector<std::string> words_;
  std::size_t next_{0};
};

using Row = std::pair<std::string_view, std::string_view>;

template <std::size_t Size>
std::optional<std::string> find_in(const std::array<Row, Size>& rows, std::string_view name) {
  const auto* const found =
      std::ranges::find_if(rows, [&](const Row& row) { return row.first == name; });
  return found != rows.end() ? std::optional{std::string{found->second}} : std::nullopt;
}

/// Classifiers below `License :: OSI Approved :: ` that mean one licence (PEP 639, appendix). Those
/// without a version, such as "Apache Software License", are not here.
constexpr std::array osi_classifiers{
    Row{"MIT License", "MIT"},
    Row{"MIT No Attribution License (MIT-0)", "MIT-0"},
    Row{"ISC License (ISCL)", "ISC"},
    Row{"Python Software Foundation License", "PSF-2.0"},
    Row{"Mozilla Public License 1.1 (MPL 1.1)", "MPL-1.1"},
    Row{"Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0"},
    Row{"GNU General Public License v2 (GPLv2)", "GPL-2.0-only"},
    Row{"GNU General Public License v2 or later (GPLv2+)", "GPL-2.0-or-later"},
    Row{"GNU General Public License v3 (GPLv3)", "GPL-3.0-only"},
    Row{"GNU General Public License v3 or later (GPLv3+)", "GPL-3.0-or-later"},
    Row{"GNU Lesser General Public License v2 (LGPLv2)", "LGPL-2.0-only"},
    Row{"GNU Lesser General Public License v2 or later (LGPLv2+)", "LGPL-2.0-or-later"},
    Row{"GNU Lesser General Public License v3 (LGPLv3)", "LGPL-3.0-only"},
    Row{"GNU Lesser General Public License v3 or later (LGPLv3+)", "LGPL-3.0-or-later"},
    Row{"GNU Affero General Public License v3", "AGPL-3.0-only"},
    Row{"GNU Affero General Public License v3 or later (AGPLv3+)", "AGPL-3.0-or-later"},
    Row{"Boost Software License 1.0 (BSL-1.0)", "BSL-1.0"},
    Row{"Eclipse Public License 1.0 (EPL-1.0)", "EPL-1.0"},
    Row{"Eclipse Public License 2.0 (EPL-2.0)", "EPL-2.0"},
    Row{"European Union Public Licence 1.1 (EUPL 1.1)", "EUPL-1.1"},
    Row{"European Union Public Licence 1.2 (EUPL 1.2)", "EUPL-1.2"},
    Row{"PostgreSQL License", "PostgreSQL"},
    Row{"The Unlicense (Unlicense)", "Unlicense"},
    Row{"Universal Permissive License (UPL)", "UPL-1.0"},
    Row{"University of Illinois/NCSA Open Source License", "NCSA"},
    Row{"Zero-Clause BSD (0BSD)", "0BSD"},
    Row{"zlib/libpng License", "Zlib"},
    Row{"Blue Oak Model License (BlueOak-1.0.0)", "BlueOak-1.0.0"},
};

/// What people write in place of an identifier, with the version.
constexpr std::array other_spellings{
    Row{"mit license", "MIT"},
    Row{"the mit license", "MIT"},
    Row{"the mit license (mit)", "MIT"},
    Row{"apache 2.0", "Apache-2.0"},
    Row{"apache license 2.0", "Apache-2.0"},
    Row{"apache license, version 2.0", "Apache-2.0"},
    Row{"apache software license 2.0", "Apache-2.0"},
    Row{"bsd 2-clause", "BSD-2-Clause"},
    Row{"bsd 3-clause", "BSD-3-Clause"},
    Row{"3-clause bsd license", "BSD-3-Clause"},
    Row{"bsd 3-clause license", "BSD-3-Clause"},
    Row{"mpl 2.0", "MPL-2.0"},
};

/// Short names of Debian's copyright format 1.0 that SPDX spells otherwise.
constexpr std::array debian_names{
    Row{"expat", "MIT"},
    Row{"gpl-1", "GPL-1.0-only"},
    Row{"gpl-1+", "GPL-1.0-or-later"},
    Row{"gpl-2", "GPL-2.0-only"},
    Row{"gpl-2+", "GPL-2.0-or-later"},
    Row{"gpl-3", "GPL-3.0-only"},
    Row{"gpl-3+", "GPL-3.0-or-later"},
    Row{"lgpl-2", "LGPL-2.0-only"},
    Row{"lgpl-2+", "LGPL-2.0-or-later"},
    Row{"lgpl-2.1", "LGPL-2.1-only"},
    Row{"lgpl-2.1+", "LGPL-2.1-or-later"},
    Row{"lgpl-3", "LGPL-3.0-only"},
    Row{"lgpl-3+", "LGPL-3.0-or-later"},
    Row{"agpl-3", "AGPL-3.0-only"},
    Row{"agpl-3+", "AGPL-3.0-or-later"},
    Row{"gfdl-1.2", "GFDL-1.2-only"},
    Row{"gfdl-1.2+", "GFDL-1.2-or-later"},
    Row{"gfdl-1.3", "GFDL-1.3-only"},
    Row{"gfdl-1.3+", "GFDL-1.3-or-later"},
    Row{"cc0", "CC0-1.0"},
    Row{"zlib", "Zlib"},
    Row{"isc", "ISC"},
};

/// Returns a licence of Debian's format as SPDX writes it: `GPL-2+ or Expat`.
std::optional<std::string> of_debian(std::string_view text) {
  std::string expression;
  for (const auto& word : words_of(text)) {
    const auto lower = to_lower(word);
    // A comma groups what is around it, and Debian knows several licences by the name `MIT`.
    if (word.find(',') != std::string::npos || lower == "mit") {
      return std::nullopt;
    }
    const auto known = find_in(debian_names, lower);
    expression += (expression.empty() ? "" : " ") + known.value_or(word);
  }
  return licence_expression(expression);
}

/// A paragraph of a `debian/copyright`, as far as it matters.
struct Paragraph {
  bool has_files{false};
  std::optional<std::string> licence{};
};

/// Returns the paragraphs of a machine-readable copyright file; empty for another file.
std::vector<Paragraph> paragraphs_of(std::string_view copyright) {
  std::vector<Paragraph> all(1);
  bool is_machine_readable = false;
  for (const auto& line : split(copyright, '\n')) {
    if (trim(line).empty()) {
      all.emplace_back();
      continue;
    }
    const auto colon = std::min(line.find(':'), line.size());
    const auto key = to_lower(std::string_view{line}.substr(0, colon));
    const std::string value{trim(std::string_view{line}.substr(std::min(colon + 1, line.size())))};
    if (key == "format") {
      is_machine_readable = value.find("copyright-format/1.0") != std::string::npos;
    } else if (key == "files") {
      all.back().has_files = true;
    } else if (key == "license") {
      all.back().licence = value;
    }
  }
  return is_machine_readable ? std::move(all) : std::vector<Paragraph>{};
}

}  // namespace

std::optional<std::string> licence_expression(std::string_view text) {
  return text.size() > longest_expression ? std::nullopt : ExpressionParser{words_of(text)}.parse();
}

std::optional<std::string> licence_of_classifier(std::string_view classifier) {
  constexpr std::string_view osi{"License :: OSI Approved :: "};
  if (classifier == "License :: CC0 1.0 Universal (CC0 1.0) Public Domain Dedication") {
    return "CC0-1.0";
  }
  return classifier.starts_with(osi) ? find_in(osi_classifiers, classifier.substr(osi.size()))
                                     : std::nullopt;
}

std::optional<std::string> python_licence(const std::optional<std::string>& expression,
                                          const std::optional<std::string>& field,
                                          const std::vector<std::string>& classifiers) {
  if (expression) {
    return licence_expression(*expression);
  }
  if (field) {
    if (auto known = find_in(other_spellings, to_lower(*field))) {
      return known;
    }
    if (auto known = licence_expression(*field)) {
      return known;
    }
  }
  // `License :: OSI Approved` alone names none.
  std::set<std::string> named{classifiers.begin(), classifiers.end()};
  named.erase("License :: OSI Approved");
  return named.size() == 1 ? licence_of_classifier(*named.begin()) : std::nullopt;
}

std::optional<std::string> debian_licence(std::string_view copyright) {
  std::set<std::string> all;
  for (const auto& paragraph : paragraphs_of(copyright)) {
    if (!paragraph.has_files) {
      continue;
    }
    const auto licence = paragraph.licence ? of_debian(*paragraph.licence) : std::nullopt;
    if (!licence) {
      return std::nullopt;
    }
    const bool has_choice = licence->find(" OR ") != std::string::npos;
    all.insert(has_choice ? "(" + *licence + ")" : *licence);
  }
  if (all.empty()) {
    return std::nullopt;
  }
  const std::vector<std::string> sorted{all.begin(), all.end()};
  const auto text = join(sorted, " AND ");
  const bool is_one_choice = sorted.size() == 1 && text.starts_with('(');
  return is_one_choice ? text.substr(1, text.size() - 2) : text;
}

}  // namespace autopack::sbom
