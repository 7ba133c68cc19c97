from lab.version import __version__
