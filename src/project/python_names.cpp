#include "project/python_names.hpp"

#include "base/text.hpp"
#include "project/package_names.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace autopack::project {

namespace {

/// sys.stdlib_module_names of Python 3.11, with what other versions have.
constexpr std::string_view standard_modules{
    "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit "
    "audioop base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk "
    "cmath cmd code codecs codeop collections colorsys compileall compression concurrent "
    "configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses "
    "datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings "
    "ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions "
    "ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib "
    "heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools "
    "json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math "
    "mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath "
    "nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle "
    "pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats "
    "pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline "
    "reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil "
    "signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile "
    "sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau "
    "symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios "
    "textwrap this threading time timeit tkinter token tokenize tomllib trace traceback "
    "tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv "
    "warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp "
    "zipfile zipimport zlib zoneinfo "};

using Row = std::pair<std::string_view, std::string_view>;

/// Import names that differ from their distribution's, or that several distributions bring.
constexpr std::array distributions{std::to_array<Row>({
    {"Bio", "biopython"},
    {"Crypto", "pycryptodome"},
    {"Cryptodome", "pycryptodomex"},
    {"IPython", "ipython"},
    {"Levenshtein", "python-Levenshtein Levenshtein"},
    {"MySQLdb", "mysqlclient"},
    {"OpenSSL", "pyOpenSSL"},
    {"PIL", "Pillow pillow-simd"},
    {"Xlib", "python-xlib"},
    {"absl", "absl-py"},
    {"airflow", "apache-airflow"},
    {"apache_beam", "apache-beam"},
    {"apex", "apex"},
    {"attr", "attrs"},
    {"attrs", "attrs"},
    {"box", "python-box"},
    {"bs4", "beautifulsoup4"},
    {"community", "python-louvain"},
    {"consul", "python-consul"},
    {"cv2",
     "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless"},
    {"dateutil", "python-dateutil"},
    {"detectron2", "detectron2"},
    {"dns", "dnspython"},
    {"docx", "python-docx"},
    {"dotenv", "python-dotenv"},
    {"edward2", "edward2"},
    {"faiss", "faiss-cpu faiss-gpu"},
    {"ffmpeg", "ffmpeg-python"},
    {"fitz", "PyMuPDF"},
    {"gi", "PyGObject"},
    {"git", "GitPython"},
    {"github", "PyGithub"},
    {"gitlab", "python-gitlab"},
    {"google.api_core", "google-api-core"},
    {"google.auth", "google-auth"},
    {"google.cloud.aiplatform", "google-cloud-aiplatform"},
    {"google.cloud.bigquery", "google-cloud-bigquery"},
    {"google.cloud.bigquery_storage", "google-cloud-bigquery-storage"},
    {"google.cloud.firestore", "google-cloud-firestore"},
    {"google.cloud.logging", "google-cloud-logging"},
    {"google.cloud.pubsub", "google-cloud-pubsub"},
    {"google.cloud.pubsub_v1", "google-cloud-pubsub"},
    {"google.cloud.secretmanager", "google-cloud-secret-manager"},
    {"google.cloud.storage", "google-cloud-storage"},
    {"google.generativeai", "google-generativeai"},
    {"google.oauth2", "google-auth"},
    {"google.protobuf", "protobuf"},
    {"googleapiclient", "google-api-python-client"},
    {"grpc", "grpcio"},
    {"grpc_status", "grpcio-status"},
    {"haiku", "dm-haiku"},
    {"huggingface_hub", "huggingface-hub"},
    {"hypertune", "cloudml-hypertune"},
    {"igraph", "python-igraph igraph"},
    {"imblearn", "imbalanced-learn"},
    {"importlib_metadata", "importlib-metadata"},
    {"importlib_resources", "importlib-resources"},
    {"jose", "python-jose"},
    {"jwt", "PyJWT"},
    {"kfp", "kfp"},
    {"ldap", "python-ldap"},
    {"lightning", "lightning pytorch-lightning"},
    {"magic", "python-magic"},
    {"memcache", "python-memcached"},
    {"mmcv", "mmcv mmcv-full"},
    {"mpl_toolkits", "matplotlib"},
    {"multipart", "python-multipart"},
    {"nacl", "PyNaCl"},
    {"netCDF4", "netCDF4"},
    {"open_clip", "open-clip-torch"},
    {"osgeo", "GDAL"},
    {"pkg_resources", "setuptools"},
    {"pptx", "python-pptx"},
    {"psycopg2", "psycopg2 psycopg2-binary"},
    {"pydub", "pydub"},
    {"pylab", "matplotlib"},
    {"pythonjsonlogger", "python-json-logger"},
    {"pytorch_lightning", "pytorch-lightning lightning"},
    {"rest_framework", "djangorestframework"},
    {"rlax", "rlax"},
    {"ruamel", "ruamel.yaml"},
    {"sentence_transformers", "sentence-transformers"},
    {"serial", "pyserial"},
    {"setuptools", "setuptools"},
    {"shapefile", "pyshp"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn scikit-learn-intelex"},
    {"skopt", "scikit-optimize"},
    {"skvideo", "scikit-video"},
    {"slugify", "python-slugify"},
    {"snappy", "python-snappy"},
    {"socks", "PySocks"},
    {"sonnet", "dm-sonnet"},
    {"soundfile", "soundfile"},
    {"tables", "tables"},
    {"telegram", "python-telegram-bot"},
    {"tensorboardX", "tensorboardX"},
    {"tensorflow",
     "tensorflow tensorflow-cpu tensorflow-gpu tensorflow-macos tf-nightly intel-tensorflow"},
    {"tensorflow_addons", "tensorflow-addons"},
    {"tf_agents", "tf-agents"},
    {"tf_slim", "tf-slim"},
    {"tree", "dm-tree"},
    {"typing_extensions", "typing-extensions"},
    {"umap", "umap-learn"},
    {"usb", "pyusb"},
    {"vertexai", "google-cloud-aiplatform"},
    {"wheel", "wheel"},
    {"win32api", "pywin32"},
    {"wx", "wxPython"},
    {"yacs", "yacs"},
    {"yaml", "PyYAML"},
    {"zmq", "pyzmq"},
})};

/// Left is brought by whatever stands right.
constexpr std::array companions{std::to_array<Row>({
    {"numpy",
     "pandas scipy scikit-learn tensorflow torchvision xgboost lightgbm matplotlib keras jax "
     "opencv-python transformers statsmodels seaborn scikit-image gym gymnasium"},
    {"pandas", "seaborn statsmodels"},
    {"scipy", "scikit-learn xgboost lightgbm statsmodels scikit-image"},
    {"keras", "tensorflow"},
    {"tensorboard", "tensorflow"},
    {"torch",
     "torchvision torchaudio pytorch-lightning lightning sentence-transformers accelerate"},
    {"requests",
     "google-cloud-storage google-cloud-aiplatform google-cloud-bigquery huggingface-hub"},
    {"google-auth", "google-cloud-storage google-cloud-aiplatform google-cloud-bigquery"},
    {"google-api-core", "google-cloud-storage google-cloud-aiplatform google-cloud-bigquery"},
    {"google-cloud-storage", "google-cloud-aiplatform"},
    {"google-cloud-bigquery", "google-cloud-aiplatform"},
    {"protobuf", "tensorflow google-cloud-aiplatform"},
    {"absl-py", "tensorflow"},
    {"pillow", "torchvision matplotlib"},
    {"matplotlib", "seaborn"},
})};

/// The row of the longest part of the dotted `module` that the table has.
std::string_view row_of(std::string_view module) {
  for (std::string_view name = module; !name.empty();) {
    const auto* const found = std::find_if(distributions.begin(), distributions.end(),
                                           [&](const Row& row) { return row.first == name; });
    if (found != distributions.end()) {
      return found->second;
    }
    const auto dot = name.rfind('.');
    name = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
  }
  return {};
}

std::string top_level(std::string_view module) {
  if (module.starts_with("google.cloud.")) {
    const auto end = module.find('.', 13);
    return "google-cloud-" +
           std::string{module.substr(13, end == std::string_view::npos ? end : end - 13)};
  }
  return std::string{module.substr(0, module.find('.'))};
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && name.find_first_of("0123456789") != 0 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_alphanumeric({&c, 1}, "_") || static_cast<unsigned char>(c) >= 0x80;
         });
}

bool is_standard_module(std::string_view module) {
  static const std::set<std::string, std::less<>> names = [] {
    const auto words = split(trim(standard_modules), ' ');
    return std::set<std::string, std::less<>>{words.begin(), words.end()};
  }();
  const auto name = module.substr(0, module.find('.'));
  return name.starts_with('_') || names.contains(name);
}

std::vector<std::string> distributions_of(std::string_view module) {
  const auto row = row_of(module);
  if (row.empty()) {
    return {normalise_name(top_level(module))};
  }
  std::vector<std::string> names;
  for (const auto& name : split(row, ' ')) {
    names.push_back(normalise_name(name));
  }
  return names;
}

std::string usual_distribution(std::string_view module) {
  const auto row = row_of(module);
  return row.empty() ? replace_all(top_level(module), "_", "-")
                     : std::string{row.substr(0, row.find(' '))};
}

bool is_brought_by(std::string_view module, const std::vector<std::string>& named) {
  auto wanted = distributions_of(module);
  for (const auto& [brought, by] : companions) {
    if (std::find(wanted.begin(), wanted.end(), brought) != wanted.end()) {
      const auto more = split(by, ' ');
      wanted.insert(wanted.end(), more.begin(), more.end());
    }
  }
  return std::any_of(named.begin(), named.end(), [&](const std::string& name) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
      return name == one || name.starts_with(one + "-");
    });
  });
}

}  // namespace autopack::project
