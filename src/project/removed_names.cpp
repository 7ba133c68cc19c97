#include "project/removed_names.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

/// From the sections "Removed" of "What's New In Python 3.8" to "3.13".
constexpr std::array removed{std::to_array<RemovedName>({
    {"cgi", "escape", 8, "`html.escape` takes its place"},
    {"cgi", "parse_qs parse_qsl", 8, "import it from `urllib.parse`"},
    {"macpath", "", 8, "`posixpath` is what this platform has"},
    {"platform", "popen", 8, "`os.popen` takes its place"},
    {"tarfile", "filemode", 8, "import it from `stat`"},
    {"time", "clock", 8, "`time.perf_counter` or `time.process_time` takes its place"},
    {"base64", "decodestring", 9, "`base64.decodebytes` takes its place"},
    {"base64", "encodestring", 9, "`base64.encodebytes` takes its place"},
    {"dummy_threading", "", 9, "`threading` takes its place"},
    {"fractions", "gcd", 9, "import it from `math`"},
    {"plistlib", "readPlist writePlist readPlistFromBytes writePlistToBytes", 9,
     "`plistlib.load`, `loads`, `dump` and `dumps` take its place"},
    {"sys", "getcheckinterval setcheckinterval", 9,
     "`sys.getswitchinterval` and `sys.setswitchinterval` take its place"},
    {"collections",
     "AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection "
     "Container Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping "
     "MappingView MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized "
     "ValuesView",
     10, "import it from `collections.abc`"},
    {"formatter", "", 10, {}},
    {"parser", "", 10, "`ast` takes its place"},
    {"symbol", "", 10, "`ast` takes its place"},
    {"asyncio", "coroutine", 11, "`async def` takes its place"},
    {"binhex", "", 11, {}},
    {"gettext", "ldgettext ldngettext lgettext lngettext", 11,
     "`gettext.gettext` and its like take its place"},
    {"inspect", "formatargspec", 11, "`inspect.signature` takes its place"},
    {"inspect", "getargspec", 11, "`inspect.getfullargspec` takes its place"},
    {"asynchat", "", 12, "`asyncio` takes its place"},
    {"asyncore", "", 12, "`asyncio` takes its place"},
    {"configparser", "SafeConfigParser", 12, "`configparser.ConfigParser` takes its place"},
    {"distutils", "", 12, "`setuptools` brings it"},
    {"imp", "", 12, "`importlib` takes its place"},
    {"locale", "format", 12, "`locale.format_string` takes its place"},
    {"pkgutil", "ImpImporter ImpLoader", 12, "`importlib` takes its place"},
    {"smtpd", "", 12, {}},
    {"ssl", "match_hostname wrap_socket", 12, "`ssl.SSLContext` takes its place"},
    {"aifc", "", 13, {}},
    {"audioop", "", 13, {}},
    {"cgi", "", 13, "`urllib.parse` and `email.message` take its place"},
    {"cgitb", "", 13, {}},
    {"chunk", "", 13, {}},
    {"crypt", "", 13, "`hashlib` takes its place where a hash is all that is wanted"},
    {"imghdr", "", 13, {}},
    {"lib2to3", "", 13, {}},
    {"mailcap", "", 13, "`mimetypes` takes its place"},
    {"msilib", "", 13, {}},
    {"nis", "", 13, {}},
    {"nntplib", "", 13, {}},
    {"ossaudiodev", "", 13, {}},
    {"pipes", "", 13, "`subprocess` takes its place, and `shlex.quote` that of `pipes.quote`"},
    {"sndhdr", "", 13, {}},
    {"spwd", "", 13, {}},
    {"sunau", "", 13, {}},
    {"telnetlib", "", 13, {}},
    {"uu", "", 13, "`base64` takes its place"},
    {"xdrlib", "", 13, {}},
    {"locale", "resetlocale", 13, "`locale.setlocale(locale.LC_ALL, \"\")` takes its place"},
    {"unittest", "findTestCases getTestCaseNames makeSuite", 13,
     "`unittest.TestLoader` takes its place"},
})};

bool is_gone(const RemovedName& row, const python::Version& python) {
  return python >= python::Version{.release = {3, row.minor}};
}

bool has_word(std::string_view words, std::string_view word) {
  const auto all = split(words, ' ');
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

const RemovedName* find_removed_module(std::string_view module, const python::Version& python) {
  const auto* const found = std::find_if(removed.begin(), removed.end(), [&](const auto& row) {
    return row.is_module() && row.module == module && is_gone(row, python);
  });
  return found == removed.end() ? nullptr : found;
}

std::optional<RemovedImport> find_removed(const Import& import, const python::Version& python) {
  const auto top = std::string_view{import.module}.substr(0, import.module.find('.'));
  if (const auto* const row = find_removed_module(top, python)) {
    return RemovedImport{.row = row, .name = top};
  }
  for (const RemovedName& row : removed) {
    if (row.is_module() || row.module != import.module || !is_gone(row, python)) {
      continue;
    }
    for (const auto& name : import.names) {
      if (has_word(row.names, name)) {
        return RemovedImport{.row = &row, .name = name};
      }
    }
  }
  return std::nullopt;
}

}  // namespace autopack::project
