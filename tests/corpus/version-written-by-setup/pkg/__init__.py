from pkg.version import __version__  # noqa: F401
